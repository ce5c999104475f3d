"""The broker: covering relations of many subscriptions, and events through one broker.

`make bench` measures; as tests they run once and small.
"""

from collections.abc import Callable
from typing import Any, Final

import pytest

from boolcast.filters.expressions import Filter
from boolcast.filters.parsing import parse
from boolcast.matching.relations.analysed_filters import FilterAnalyser
from boolcast.matching.relations.covering_index import ByProofs
from boolcast.model.events import Event
from boolcast.model.identifiers import AdvertisementId, BrokerId, PublicationId, SubscriptionId
from boolcast.routing.core.broker import Broker
from boolcast.routing.protocol.configuration import configure
from boolcast.routing.protocol.messages import (
    Acknowledge,
    Advertise,
    Publish,
    Subscribe,
    Synchronised,
)
from boolcast.routing.protocol.stimuli import LinkUp, Received
from boolcast.routing.tables.covering_graph import RelationGraph
from boolcast.workloads import Auction

pytestmark = pytest.mark.slow

Benchmark = Callable[..., Any]

GROUPS: Final = 4
CHILDREN: Final = 500
A, C = BrokerId("A"), BrokerId("C")


def groups() -> list[Filter]:
    """The workload of P4-X1, smaller: a root for each group, and ranges of one width in it."""
    texts = [f"group = {group}" for group in range(GROUPS)]
    for number in range(GROUPS * CHILDREN):
        low = number * 7_919 % 100_000
        texts.append(f"group = {number % GROUPS} and x between {low} and {low + 2_000}")
    # By a step that has no factor in common with the count: roots come between their children.
    return [parse(texts[number * 1_201 % len(texts)]) for number in range(len(texts))]


def auction() -> list[Filter]:
    return list(Auction(seed=1).subscription_filters(0, 300))


@pytest.mark.benchmark(group="relation graph")
@pytest.mark.parametrize("filters", [groups, auction])
def test_insert_into_the_relation_graph(
    benchmark: Benchmark, filters: Callable[[], list[Filter]]
) -> None:
    analyser = FilterAnalyser()
    rows = [analyser.analyse(each) for each in filters()]

    def insert() -> int:
        graph = RelationGraph(ByProofs(analyser), adopts_roots=True)
        for number, form in enumerate(rows):
            graph.insert(str(number), form)
        return len(graph)

    assert benchmark(insert) == len(rows)


@pytest.mark.benchmark(group="publish")
def test_an_event_through_a_broker(benchmark: Benchmark) -> None:
    broker = Broker(BrokerId("B"), configure({"covering": "none"}), neighbours=[A, C])
    for link in (A, C):
        broker.handle(LinkUp(link), now=0)
    for link in (A, C):
        broker.handle(Received(link, Synchronised("advertisements")), now=0)
        broker.handle(Received(link, Synchronised("subscriptions")), now=0)
    broker.handle(Received(A, Advertise(1, AdvertisementId("a"), parse("true"))), now=0)
    for link, number in list(broker.state.awaited):
        broker.handle(Received(link, Acknowledge(number)), now=0)
    for number, filter in enumerate(groups()):
        message = Subscribe(SubscriptionId(str(number)), filter)
        broker.handle(Received(C, message), now=0)
    events = [
        Received(
            A,
            Publish(
                PublicationId(str(number)),
                AdvertisementId("a"),
                Event(group=number % 8, x=number * 104_729 % 100_000),
            ),
        )
        for number in range(1_000)
    ]

    def publish() -> int:
        return sum(len(broker.handle(event, now=0)) for event in events)

    assert benchmark(publish) == 500
