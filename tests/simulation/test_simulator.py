"""Small simulations, fault by fault: what is delivered, when, and what a crash loses."""

from typing import Any

import pytest

from boolcast.errors import UsageError
from boolcast.filters.parsing import parse
from boolcast.model.events import Event
from boolcast.model.identifiers import BrokerId, ClientId, PublicationId
from boolcast.routing.protocol.configuration import Configuration, configure
from boolcast.routing.protocol.stimuli import (
    ClientAdvertises,
    ClientLeaves,
    ClientPublishes,
    ClientSubscribes,
    ClientUnsubscribes,
)
from boolcast.simulation.judging.checker import Checker
from boolcast.simulation.judging.metrics import Metrics
from boolcast.simulation.network.costs import FREE, Costs
from boolcast.simulation.network.observation import Observer
from boolcast.simulation.network.simulator import Simulation
from boolcast.simulation.network.wires import WireSettings
from boolcast.simulation.scenarios import topologies
from boolcast.simulation.scenarios.faults import BrokenLink, Clog, Crash, Fault, Pause, Slow, plan

B0, B1, B2 = (BrokerId(f"B{number}") for number in range(3))
C, P = ClientId("c"), ClientId("p")


class Deliveries(Observer):
    def __init__(self) -> None:
        self.seen: list[tuple[str, float]] = []

    def delivers(self, time, broker, client, publication, event, names):
        self.seen.append((publication, round(time, 6)))


class Line:
    """Three brokers: the publisher at B0, a subscriber at B2; at rest at 1 s."""

    def __init__(self, *, direct: bool = False, **settings: Any) -> None:
        self.checker, self.deliveries = Checker(), Deliveries()
        self.simulation = Simulation(
            topologies.line(3),
            Configuration(engine="scan", durable=not direct),
            observers=[self.checker, self.deliveries],
            is_direct=direct,
            **settings,
        )
        self.simulation.request(B0, ClientAdvertises(P, "a", parse("true")))
        self.simulation.request(B2, ClientSubscribes(C, "s", parse("x > 5")))
        assert self.simulation.settle()
        self.simulation.timeline.run(1.0)

    def publish(self, name: str) -> None:
        self.simulation.look_for_rest()
        self.simulation.request(B0, ClientPublishes(P, PublicationId(name), Event(x=9)))

    def play(self, *faults: Fault, at: dict[float, str]) -> list[tuple[str, float]]:
        plan(self.simulation, faults)
        for time, name in at.items():
            self.simulation.timeline.at(time, self.publish, name)
        self.simulation.timeline.run(60.0)
        assert self.simulation.settle()
        verdict = self.checker.verdict()
        assert verdict, verdict.violations
        return self.deliveries.seen


@pytest.mark.parametrize("direct", [True, False])
def test_an_event_takes_the_time_of_its_brokers_and_links(direct):
    line = Line(direct=direct, wires=WireSettings(latency_ms=20), costs=Costs(publication_ms=5))
    assert line.play(at={2.0: "e"}) == [("e", 2.055)]


def test_events_queue_up_before_a_slow_broker():
    line = Line(direct=True, wires=WireSettings(latency_ms=0), costs=Costs(publication_ms=100))
    seen = line.play(at={2.0: "a", 2.01: "b", 2.02: "c"})
    assert seen == [("a", 2.3), ("b", 2.4), ("c", 2.5)]


@pytest.mark.parametrize("direct", [True, False])
def test_a_cut_holds_up_and_loses_nothing(direct):
    line = Line(direct=direct, costs=FREE)
    broken = BrokenLink(at=2.0, seconds=3.0, links=((B0, B1),))
    ((name, time),) = line.play(broken, at={3.0: "e"})
    assert name == "e"
    assert 5.0 < time < 5.2


def test_broken_links_that_overlap_last_until_the_last_is_over():
    line = Line(costs=FREE)
    cuts = [
        BrokenLink(at=2.0, seconds=3.0, links=((B0, B1), (B1, B2))),
        BrokenLink(at=4.0, seconds=3.0, links=((B1, B0),)),
    ]
    ((_, time),) = line.play(*cuts, at={3.0: "e"})
    assert 7.0 < time < 7.2


@pytest.mark.parametrize("direct", [True, False])
def test_a_clog_is_noticed_by_nobody(direct):
    line = Line(direct=direct, costs=FREE)
    clog = Clog(at=2.0, seconds=3.0, sender=B1, receiver=B2)
    ((_, time),) = line.play(clog, at={3.0: "e"})
    assert time == pytest.approx(5.01)


def test_a_slow_link_is_slow_in_both_directions():
    line = Line(direct=True, costs=FREE)
    slow = Slow(at=2.0, seconds=3.0, link=(B1, B0), factor=50)
    assert line.play(slow, at={3.0: "e", 6.0: "f"}) == [("e", 3.51), ("f", 6.02)]


@pytest.mark.parametrize("direct", [True, False])
def test_a_paused_broker_goes_on_where_it_stopped(direct):
    line = Line(direct=direct, costs=FREE)
    pause = Pause(at=2.0, seconds=3.0, broker=B1)
    assert line.play(pause, at={3.0: "e", 4.0: "f"}) == [("e", 5.01), ("f", 5.01)]


@pytest.mark.parametrize("noticed", [True, False])
@pytest.mark.parametrize("broker", [B0, B1, B2])
def test_a_crash_with_the_disk_loses_nothing(broker, noticed):
    line = Line()
    crash = Crash(at=2.0, seconds=3.0, broker=broker, with_disk=True, noticed=noticed)
    seen = line.play(crash, at={1.999: "a", 3.0: "b", 5.5: "c"})
    assert list(dict.fromkeys(name for name, _ in seen)) == ["a", "b", "c"]
    assert line.checker.verdict().lost == 0


def test_an_event_inside_a_broker_that_loses_its_disk_is_lost_and_counted():
    """It has left the publisher's broker, and the next link has not taken it yet."""
    line = Line(costs=FREE)
    broken = BrokenLink(at=2.0, seconds=4.0, links=((B1, B2),))
    crash = Crash(at=3.0, seconds=1.0, broker=B1, with_disk=False)
    assert line.play(broken, crash, at={2.5: "e", 8.0: "f"}) == [("f", 8.02)]
    assert line.checker.verdict().lost == 1


def test_clients_subscribe_again_at_a_broker_that_has_forgotten_them():
    line = Line(costs=FREE)
    crash = Crash(at=2.0, seconds=1.0, broker=B2, with_disk=False)
    assert line.play(crash, at={5.0: "e"}) == [("e", 5.02)]
    crash = Crash(at=2.0, seconds=1.0, broker=B0, with_disk=False)
    assert Line(costs=FREE).play(crash, at={5.0: "e"}) == [("e", 5.02)]


def test_a_crash_between_delivery_and_record_repeats_the_delivery():
    repeats = 0
    for millisecond in range(20):
        line = Line(seed=millisecond, costs=Costs(publication_ms=20))
        # B2 has it in hand from 2.060 to 2.080 s.
        at = 2.061 + 0.0005 * millisecond
        crash = Crash(at=at, seconds=1.0, broker=B2, with_disk=True)
        seen = line.play(crash, at={2.0: "e"})
        assert {name for name, _ in seen} == {"e"}
        repeats += len(seen) - 1
    assert 0 < repeats < 20


def test_a_client_that_leaves_gets_nothing_more():
    line = Line(costs=FREE)
    line.simulation.request(B2, ClientLeaves(C))
    assert line.simulation.settle()
    assert line.play(at={2.0: "e"}) == []


def test_the_end_of_what_nobody_asked_for_is_refused():
    line = Line(costs=FREE)
    line.simulation.request(B2, ClientUnsubscribes(C, "nothing"))
    assert line.play(at={2.0: "e"}) == [("e", 2.02)]


def test_packets_that_are_lost_repeated_and_late_do_not_show():
    wires = WireSettings(loss=0.3, repetition=0.3, lateness=0.3)
    line = Line(costs=FREE, wires=wires)
    names = {20.0 + 0.01 * number: f"e{number}" for number in range(50)}
    assert [name for name, _ in line.play(at=names)] == list(names.values())


def test_without_the_link_protocol_wires_must_be_perfect():
    with pytest.raises(UsageError, match="need the link protocol"):
        Line(direct=True, wires=WireSettings(loss=0.1))


def test_rest_is_told_only_when_it_is_true():
    line = Line(costs=FREE)
    assert line.simulation.in_flight() == (0, 0)
    line.publish("e")
    assert line.simulation.in_flight() == (0, 1)
    line.simulation.request(B2, ClientSubscribes(C, "t", parse("x > 1")))
    # The wider one goes out, and takes the place of the other.
    assert line.simulation.in_flight()[0] == 2
    line.simulation.timeline.run(1.5)
    line.simulation.crash(B1, with_disk=False)
    assert line.simulation.in_flight()[0] > 0
    line.simulation.restart(B1)
    assert line.simulation.in_flight()[0] > 0
    assert line.simulation.settle()


@pytest.mark.parametrize(
    ("policy", "installed"),
    [
        ({"covering": "none"}, 0),
        ({"covering": "active"}, 2),
        ({"covering": "lazy"}, 2),
        ({"covering": "active", "unsubscription": "packing"}, 2),
        (
            {
                "covering": "active",
                "unsubscription": "incremental",
                "unsubscription.threshold": 1.0,
            },
            2,
        ),
        (
            {
                "covering": "active",
                "unsubscription": "incremental",
                "unsubscription.threshold": 0.0,
                "unsubscription.slack": 0,
            },
            0,
        ),
        (
            {
                "covering": "active",
                "unsubscription": "incremental-packing",
                "unsubscription.threshold": 0.0,
            },
            1,
        ),
    ],
)
@pytest.mark.parametrize("latency_ms", [0.1, 3.0, 40.0])
def test_deregistration_with_events_in_flight(policy, installed, latency_ms):
    """F5: s1 ⊇ s2 at B0, the publisher at B2; s2 gets every event while s1 goes.

    Both want it at B0, so with θ = 0 the removal ends there, or with slack one hop further.
    """
    checker, metrics = Checker(), Metrics(topologies.line(3))
    simulation = Simulation(
        topologies.line(3),
        configure(policy),
        wires=WireSettings(latency_ms=latency_ms),
        observers=[checker, metrics],
        is_direct=True,
    )
    simulation.request(B2, ClientAdvertises(P, "a", parse("true")))
    for name, text in (("s1", "x > 0"), ("s2", "x > 5")):
        assert simulation.settle()
        simulation.request(B0, ClientSubscribes(C, name, parse(text)))
    simulation.request(B1, ClientSubscribes(C, "meeting", parse("x > 7")))
    assert simulation.settle()
    start = simulation.now

    def publish(number: int) -> None:
        simulation.look_for_rest()
        event = ClientPublishes(P, PublicationId(f"e{number}"), Event(x=8 + number % 2))
        simulation.request(B2, event)

    for number in range(200):
        simulation.timeline.at(start + 0.004 * number, publish, number)
    simulation.timeline.at(
        start + 0.4, lambda _: simulation.request(B0, ClientUnsubscribes(C, "s1"))
    )
    simulation.timeline.run(start + 1.0)
    assert simulation.settle()
    verdict = checker.verdict()
    assert verdict, verdict.violations
    assert verdict.settled >= 400, "all events are due to s2 and to the one at B1"
    assert metrics.summary().triggered == installed
