"""Metrics of small networks whose figures are known."""

import pyarrow.compute as pc
import pytest

from boolcast.filters.parsing import parse
from boolcast.model.events import Event
from boolcast.model.identifiers import BrokerId, ClientId, PublicationId
from boolcast.model.statistics import Statistics
from boolcast.routing.protocol.configuration import Configuration, configure
from boolcast.routing.protocol.stimuli import (
    ClientAdvertises,
    ClientLeaves,
    ClientPublishes,
    ClientSubscribes,
    ClientUnadvertises,
    ClientUnsubscribes,
)
from boolcast.routing.tables import overlaps as overlaps_module
from boolcast.simulation.judging.metrics import BROKER_COLUMNS, DELAY_COLUMNS, LINK_COLUMNS, Metrics
from boolcast.simulation.network.simulator import Simulation
from boolcast.simulation.network.wires import WireSettings
from boolcast.simulation.runs import Run
from boolcast.simulation.scenarios import topologies
from boolcast.simulation.scenarios.plans import Plan
from boolcast.simulation.scenarios.scenarios import Load

B = [BrokerId(f"B{number}") for number in range(4)]
C, P = ClientId("c"), ClientId("p")


def network(**policy: object) -> tuple[Simulation, Metrics]:
    """F5's scenario on four brokers: the publisher at B[3], s1 ⊇ s2 at B0."""
    topology = topologies.line(4)
    metrics = Metrics(topology)
    simulation = Simulation(
        topology,
        configure(policy),
        observers=[metrics],
        wires=WireSettings(latency_ms=10),
        is_direct=True,
    )
    simulation.request(B[3], ClientAdvertises(P, "a", parse("true")))
    simulation.request(B[0], ClientSubscribes(C, "s1", parse("x > 0")))
    assert simulation.settle()
    simulation.request(B[0], ClientSubscribes(C, "s2", parse("x > 5")))
    assert simulation.settle()
    return simulation, metrics


def publish(simulation: Simulation, name: str, x: int) -> None:
    simulation.request(B[3], ClientPublishes(P, PublicationId(name), Event(x=x)))
    assert simulation.settle()


def test_delays_and_hops():
    simulation, metrics = network()
    publish(simulation, "e", 9)
    metrics.look(simulation)
    summary = metrics.summary()
    # Four brokers at 3 ms and three links at 10 ms.
    assert summary.deliveries.count == 1
    assert summary.deliveries.mean == pytest.approx(0.042)
    assert summary.deliveries.p99 == summary.deliveries.p50
    assert (summary.forwards, summary.false_positives) == (3, 0)
    assert summary.largest_table == 2


@pytest.mark.parametrize("unsubscription", ["plain", "packing"])
def test_triggered_subscriptions_are_counted_wherever_they_travel(unsubscription):
    simulation, metrics = network(unsubscription=unsubscription)
    simulation.request(B[0], ClientUnsubscribes(C, "s1"))
    assert simulation.settle()
    metrics.look(simulation)
    brokers = metrics.tables()["brokers"]
    assert brokers.schema == BROKER_COLUMNS
    assert brokers["triggered"].to_pylist() == [0, 1, 1, 1]
    assert metrics.summary().triggered == 3


def test_without_covering_nothing_is_triggered():
    simulation, metrics = network(covering="none")
    simulation.request(B[0], ClientUnsubscribes(C, "s1"))
    assert simulation.settle()
    assert metrics.summary().triggered == 0


def test_an_event_that_a_ghost_attracts_is_a_false_positive():
    """s1 is preserved beyond B1: what only it wanted goes that far, and no further."""
    simulation, metrics = network(
        unsubscription="incremental", **{"unsubscription.threshold": 0.0, "unsubscription.slack": 0}
    )
    for broker in (B[1], B[2]):
        simulation.request(broker, ClientSubscribes(C, "meeting", parse("x > 7")))
    assert simulation.settle()
    for number in range(5):
        publish(simulation, f"e{number}", 9)
    before = metrics.summary().false_positives
    simulation.request(B[0], ClientUnsubscribes(C, "s1"))
    assert simulation.settle()
    publish(simulation, "unwanted", 3)
    assert before == 0
    assert metrics.summary().false_positives > 0


def simplified(**policy: object) -> tuple[Simulation, Metrics]:
    """At B0 two want half of what x = 1 gives; an event that neither wants has been published."""
    topology = topologies.line(4)
    metrics = Metrics(topology)
    simulation = Simulation(
        topology,
        configure({"covering": "none", "reviews.events": 1, **policy}),
        observers=[metrics],
        statistics=Statistics(events=10, predicates={"x = 1": 1, "y < 5": 5, "y > 6": 5}),
    )
    simulation.request(B[3], ClientAdvertises(P, "a", parse("true")))
    for name, text in (("s1", "x = 1 and y < 5"), ("s2", "x = 1 and y > 6")):
        simulation.request(B[0], ClientSubscribes(C, name, parse(text)))
    assert simulation.settle()
    for number, y in enumerate((4, 6)):
        publication = PublicationId(f"e{number}")
        simulation.request(B[3], ClientPublishes(P, publication, Event(x=1, y=y)))
        assert simulation.settle()
    metrics.look(simulation)
    return simulation, metrics


@pytest.mark.parametrize(
    ("policy", "false_positives", "pruned", "merged"),
    [
        ({}, 0, 0, 0),
        ({"rewriting": "pruning"}, 3, 6, 0),
        ({"sending": "pruned", "sending.degradation": 0.5}, 3, 0, 0),
        # B1 merges what came from B0, and so the others hear of one entry only.
        ({"merging": "pruning", "merging.imperfection": 0.5}, 3, 0, 2),
    ],
    ids=["whole", "pruning", "pre-pruning", "merging"],
)
def test_simpler_entries_attract_false_positives(policy, false_positives, pruned, merged):
    """Three links in vain, and nothing comes of it: e0 has been delivered, e1 has not."""
    _, metrics = simplified(**policy)
    summary = metrics.summary()
    assert summary.deliveries.count == 1
    assert summary.forwards == 3 + false_positives
    assert summary.false_positives == false_positives
    assert (summary.pruned, summary.merged) == (pruned, merged)
    last = metrics.tables()["brokers"].slice(0, 4)
    assert sum(last["pruned"].to_pylist()) == pruned
    assert sum(last["merged"].to_pylist()) == merged


def test_what_is_pruned_from_advertisements_of_neighbours():
    """At B0 to B2: B3 has it from a client."""
    simulation, metrics = simplified(advertisement_rewriting="pruning")
    simulation.request(B[3], ClientAdvertises(P, "more", parse("x = 1 and z = 1")))
    simulation.request(B[3], ClientPublishes(P, PublicationId("e"), Event(x=1, y=4)))
    assert simulation.settle()
    metrics.look(simulation)
    assert metrics.summary().pruned_from_advertisements == 3
    last = metrics.tables()["brokers"].slice(4, 4)
    assert last["pruned_from_advertisements"].to_pylist() == [1, 1, 1, 0]


def test_what_was_asked_of_overlaps(monkeypatch):
    """B0 asks for its two subscriptions, and B1 and B2 for those; each overlaps with `true`."""
    monkeypatch.setattr(overlaps_module, "FEW", 0)
    monkeypatch.setattr(overlaps_module, "INDEXED_COSTS", 0)
    monkeypatch.setattr(overlaps_module, "HANDFUL", 0)
    simulation, metrics = simplified()
    overlaps = metrics.summary().overlaps
    assert (overlaps.found, overlaps.checked, overlaps.refuted) == (6, 6, 0)
    assert overlaps.false_share == 0.0
    assert overlaps.asked >= overlaps.found
    # What only the algebra knows to be none.
    simulation.request(B[3], ClientAdvertises(P, "b", parse("x > 5 and x < 8")))
    simulation.request(B[3], ClientUnadvertises(P, "a"))
    assert simulation.settle()
    filter = parse("x != 6 and x != 7 and (x = 7 or x = 6)")
    simulation.request(B[0], ClientSubscribes(C, "none", filter))
    assert simulation.settle()
    metrics.look(simulation)
    assert metrics.summary().overlaps.refuted > 0
    assert Metrics(topologies.line(2)).summary().overlaps.false_share is None


def test_links_carry_what_was_sent():
    simulation, metrics = network()
    publish(simulation, "e", 9)
    metrics.look(simulation)
    links = metrics.tables()["links"]
    assert links.schema == LINK_COLUMNS
    row = links.filter((pc.field("sender") == "B3") & (pc.field("receiver") == "B2")).to_pylist()[0]
    # Two Synchronised, one Advertise and the event.
    assert (row["events"], row["messages"], row["packets"]) == (1, 4, 4)
    assert row["bytes"] > 4 * 24


def test_the_longest_queue_does_not_depend_on_the_looks():
    load = Load(subscriptions=120, publications=150, unsubscriptions=3, groups=3)
    plan = Plan(
        seed=1, topology="tree:2x2", workload="groups", policy="active", faults="none", load=load
    )
    found, seen = [], []
    for looks in (2, 300):
        run = Run(plan, looks=looks)
        assert run.outcome().is_right
        assert run.metrics is not None
        found.append(run.metrics.summary().longest_queue)
        seen.append(max(run.metrics.tables()["brokers"]["queue"].to_pylist()))
    assert found[0] == found[1] >= seen[1] > seen[0]


@pytest.mark.parametrize("end", [ClientUnsubscribes(C, "wide"), ClientLeaves(C)], ids=str)
def test_a_client_that_leaves_triggers_and_costs_as_much_as_its_ends_do(end):
    metrics = Metrics(topologies.line(4))
    simulation = Simulation(
        topologies.line(4), Configuration(), observers=[metrics], is_direct=True
    )
    simulation.request(B[3], ClientAdvertises(P, "a", parse("true")))
    for client, name, text in ((C, "wide", "x > 0"), (ClientId("d"), "narrow", "x > 5")):
        assert simulation.settle()
        simulation.request(B[0], ClientSubscribes(client, name, parse(text)))
    assert simulation.settle()
    simulation.request(B[0], end)
    job, _ = simulation.queues[B[0]].current or (None, None)
    assert job == end, "it takes time"
    assert simulation.settle()
    metrics.look(simulation)
    assert metrics.summary().triggered == 3


def test_what_a_run_shows_over_time():
    load = Load(subscriptions=60, publications=200, unsubscriptions=2, groups=4)
    plan = Plan(
        seed=1, topology="tree:2x2", workload="groups", policy="active", faults="none", load=load
    )
    run = Run(plan, looks=4)
    run.begin()
    outcome = run.finish()
    assert outcome.is_right
    assert run.metrics is not None
    tables = run.metrics.tables()
    times = tables["brokers"]["time"].unique().to_pylist()
    assert len(times) == 6, "at 0, 0.5, 1.0, 1.5, 2.0 s, and when all is over"
    assert tables["delays"].schema == DELAY_COLUMNS
    verdict = outcome.verdict
    assert verdict is not None
    # A delivery may be for several subscriptions of a client; here each has its own.
    assert len(tables["delays"]) == verdict.deliveries
    last = tables["brokers"].slice(len(tables["brokers"]) - 7)
    assert sum(last["handled"].to_pylist()) > outcome.messages
