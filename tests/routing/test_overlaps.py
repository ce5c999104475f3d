"""Three ways to find out what overlaps: they agree, and the second stage says what it removed."""

from itertools import count

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from boolcast.filters.expressions import Filter
from boolcast.filters.parsing import parse
from boolcast.matching.relations.analysed_filters import FilterAnalyser
from boolcast.matching.relations.overlap_index import OverlapIndex
from boolcast.model.identifiers import AdvertisementId, BrokerId, ClientId
from boolcast.routing.core.broker import Broker
from boolcast.routing.policies.registry import OVERLAPS
from boolcast.routing.protocol.configuration import configure
from boolcast.routing.protocol.effects import Send
from boolcast.routing.protocol.messages import Advertise, Subscribe, Unadvertise
from boolcast.routing.protocol.stimuli import ClientSubscribes, LinkUp, Received
from boolcast.routing.tables import overlaps
from boolcast.routing.tables.entries import Entry
from boolcast.routing.tables.overlaps import ByIndex, ByIndexAndProof, ByPairs, OverlapCounts
from tests.routing.network import Network, chain
from tests.strategies import filters

LINK = BrokerId("A")
FALSE_OVERLAP = ("x > 5 and x < 8 and y = 1", "x < 6 and x > 7 or z = 1 and z = 2")
"""Of the second every single predicate goes with the first, and nothing satisfies it."""


def anything(entry: Entry) -> bool:
    del entry
    return True


@pytest.fixture
def always_indexed(monkeypatch):
    monkeypatch.setattr(overlaps, "FEW", 0)
    monkeypatch.setattr(overlaps, "INDEXED_COSTS", 0)
    monkeypatch.setattr(overlaps, "HANDFUL", 0)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    changes=st.lists(st.tuples(st.booleans(), filters(small=True, max_leaves=4)), max_size=12),
    asked=filters(small=True, max_leaves=4),
)
def test_all_ways_agree(always_indexed, changes: list[tuple[bool, Filter]], asked: Filter):
    analyser, figures = FilterAnalyser(), OverlapCounts()
    pairs, index = ByPairs(analyser, figures), ByIndex(OverlapIndex(), figures)
    both = ByIndexAndProof(OverlapIndex, analyser, figures)
    ways = (pairs, index, both)
    entries: list[Entry] = []
    form = analyser.analyse(asked)
    orders = count()
    for is_removal, filter in changes:
        if is_removal and entries:
            gone = entries.pop(len(entries) // 2)
            for way in ways:
                way.remove(gone)
        else:
            order = next(orders)
            entries.append(Entry(str(order), analyser.analyse(filter), order, link=LINK))
            for way in ways:
                way.add(entries[-1])
        true = pairs.all(form, anything)
        assert both.all(form, anything) == true
        assert pairs.has_any(form) is both.has_any(form) is bool(true)
        found = index.all(form, anything)
        assert [entry for entry in found if entry in true] == true
        assert index.has_any(form) is bool(found)
        assert pairs.all(form, lambda entry: entry.order % 2 == 0) == [
            entry for entry in true if entry.order % 2 == 0
        ]


def test_the_second_stage_removes_false_overlaps_and_says_how_many(always_indexed):
    analyser, figures = FilterAnalyser(), OverlapCounts()
    both = OVERLAPS["index-exact"](analyser, figures)
    asked, impossible = map(parse, FALSE_OVERLAP)
    for order in range(3):
        both.add(Entry(str(order), analyser.analyse(impossible), order, link=LINK))
    assert not both.has_any(analyser.analyse(asked))
    assert (figures.checked, figures.refuted) == (3, 3)
    both.add(Entry("3", analyser.analyse(parse("y = 1")), 3, link=LINK))
    assert both.has_any(analyser.analyse(asked))
    assert figures.false_share == pytest.approx(6 / 7)


def test_a_handful_of_pairs_comes_first(always_indexed, monkeypatch):
    """Where one of them overlaps, the index is left alone; where none does, nothing is missed."""
    monkeypatch.setattr(overlaps, "HANDFUL", 2)
    analyser, figures = FilterAnalyser(), OverlapCounts()
    both = OVERLAPS["index-exact"](analyser, figures)
    for order in range(3):
        both.add(Entry(str(order), analyser.analyse(parse(f"x = {order}")), order, link=LINK))
    for text, is_found, checked in (("x < 2", True, 0), ("x > 1", True, 1), ("x > 2", False, 1)):
        assert both.has_any(analyser.analyse(parse(text))) is is_found
        assert figures.checked == checked
    assert (figures.asked, figures.found) == (3, 2)
    assert len(both.all(analyser.analyse(parse("x < 2")), anything)) == 2
    assert (figures.asked, figures.found) == (4, 4)


class Watched(OverlapIndex):
    """Counts what it is asked for."""

    made = 0

    def __init__(self) -> None:
        super().__init__()
        type(self).made += 1


def test_an_index_is_made_once_it_pays(monkeypatch):
    monkeypatch.setattr(Watched, "made", 0)
    analyser = FilterAnalyser()
    both = ByIndexAndProof(Watched, analyser, OverlapCounts())
    for order in range(overlaps.FEW):
        both.add(Entry(str(order), analyser.analyse(parse(f"x = {order}")), order, link=LINK))
    asked = analyser.analyse(parse("x = -1"))
    for _ in range(10 * overlaps.INDEXED_COSTS):
        both.has_any(asked)
    assert Watched.made == 0, "of few there is never one"
    both.add(Entry("one more", analyser.analyse(parse("x = 0")), overlaps.FEW, link=LINK))
    assert not both.has_any(asked)
    assert Watched.made == 1
    assert [entry.id for entry in both.all(analyser.analyse(parse("x = 0")), anything)] == [
        "0",
        "one more",
    ]


def told(network: Network, receiver: str) -> list[str]:
    return [
        str(sent.message.filter)
        for sent in network.sent
        if isinstance(sent.message, Subscribe) and sent.receiver == receiver
    ]


@pytest.mark.parametrize(
    ("overlap", "expected"),
    [("exact", []), ("index", [FALSE_OVERLAP[1]]), ("index-exact", [])],
)
def test_a_false_overlap_costs_a_message(always_indexed, overlap, expected):
    """And nothing else; the algebra would have known."""
    network = Network(
        chain("A", "B"), configure({"engine": "scan", "propagation.overlap": overlap})
    )
    network.advertise("A", "p", "a", FALSE_OVERLAP[0])
    network.subscribe("B", "c", "s", FALSE_OVERLAP[1])
    network.settle()
    assert told(network, "A") == expected
    figures = network.brokers[BrokerId("B")].overlap_figures
    assert (figures.refuted > 0) is (overlap == "index-exact")


@pytest.mark.parametrize("overlap", ["index", "index-exact"])
@pytest.mark.parametrize("with_disk", [True, False])
def test_a_restored_broker_has_its_index_again(always_indexed, overlap, with_disk):
    configuration = configure({"engine": "scan", "durable": True, "propagation.overlap": overlap})
    network = Network(chain("A", "B", "C"), configuration)
    network.advertise("A", "p", "a", "x >= 0")
    network.subscribe("C", "c", "early", "x > 5")
    # Nothing calls for it yet, so B alone has to remember it.
    network.subscribe("B", "c", "elsewhere", "x < 0 or y = 1 and y = 2")
    network.settle()
    network.restart("B", with_disk=with_disk)
    network.mend_links()
    network.settle()
    # By the restored advertisements, and by the restored subscriptions.
    network.subscribe("C", "c", "late", "x = 3")
    if not with_disk:
        network.subscribe("B", "c", "elsewhere", "x < 0 or y = 1 and y = 2")
    network.advertise("A", "p", "b", "x < -5")
    network.settle()
    network.publish("A", "p", "one", x=3)
    network.publish("A", "p", "two", x=-9)
    network.settle()
    assert {each.publication for each in network.deliveries} == {"one", "two"}
    network.unadvertise("A", "p", "b")
    network.settle()
    network.publish("A", "p", "three", x=9)
    network.settle()
    assert len(network.deliveries) == 3


@pytest.mark.parametrize("overlap", ["exact", "index", "index-exact"])
def test_a_neighbour_may_advertise_what_nothing_satisfies(always_indexed, overlap):
    """It calls for nothing, or for what single predicates let pass, and it can be withdrawn."""
    broker = Broker(
        BrokerId("B"),
        configure({"engine": "scan", "propagation.overlap": overlap}),
        neighbours=[LINK],
    )
    broker.handle(LinkUp(LINK), now=0)
    broker.handle(ClientSubscribes(ClientId("c"), "s", node("x = 1")), now=0)
    for number, text in enumerate(("false", "x between 2 and 1", "x = 1 and y = 1 and y = 2")):
        advertisement = AdvertisementId(f"A:1:{number}")
        message = Advertise(number, advertisement, node(text))
        effects = broker.handle(Received(LINK, message), now=0)
        broker.validate()
        sent = [each.message for each in effects if isinstance(each, Send)]
        is_called_for = any(isinstance(each, Subscribe) for each in sent)
        assert is_called_for is (overlap == "index" and number == 2)
        broker.handle(Received(LINK, Unadvertise(advertisement)), now=0)
        broker.validate()


def node(text: str) -> Filter:
    parsed = parse(text)
    assert isinstance(parsed, Filter)
    return parsed


def test_what_is_gone_calls_for_nothing(always_indexed):
    network = Network(
        chain("A", "B"), configure({"engine": "scan", "propagation.overlap": "index"})
    )
    network.advertise("A", "p", "a", "x > 0")
    network.subscribe("B", "c", "s", "x = 5")
    network.settle()
    network.unsubscribe("B", "c", "s")
    network.unadvertise("A", "p", "a")
    network.settle()
    network.subscribe("B", "c", "t", "x = 1")
    network.advertise("A", "p", "b", "x = 5")
    network.settle()
    assert told(network, "A") == ["x = 5"]
    network.subscribe("B", "c", "u", "x > 4")
    network.settle()
    assert told(network, "A") == ["x = 5", "x > 4"]
