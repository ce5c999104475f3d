"""Time, wires and costs, one at a time."""

import pytest

from boolcast.filters.expressions import TRUE
from boolcast.model.events import Event
from boolcast.model.identifiers import AdvertisementId, BrokerId, PublicationId, SubscriptionId
from boolcast.routing.protocol.messages import Acknowledge, Publish, Subscribe, Unsubscribe
from boolcast.routing.protocol.stimuli import Received
from boolcast.simulation.chance import stream
from boolcast.simulation.network.costs import Costs, Tariff
from boolcast.simulation.network.timeline import Timeline
from boolcast.simulation.network.wires import Wire, WireSettings


def test_what_is_due_at_the_same_time_keeps_its_order():
    timeline, seen = Timeline(), []
    for name, time in (("b", 2.0), ("a", 1.0), ("c", 2.0), ("late", 3.5)):
        timeline.at(time, lambda each: seen.append((timeline.now, each)), name)
    timeline.run(3.0)
    assert seen == [(1.0, "a"), (2.0, "b"), (2.0, "c")]
    assert timeline.now == 3.0
    timeline.run(4.0)
    assert seen[-1] == (3.5, "late")


def test_what_is_repeated_begins_now_and_ends_in_time():
    timeline, seen = Timeline(), []
    timeline.run(1.0)
    timeline.repeat(0.5, 2.0, lambda: seen.append(timeline.now))
    timeline.run(9.0)
    assert seen == [1.0, 1.5, 2.0]


def arrivals(settings: WireSettings, count: int, size: int = 100):
    timeline, seen = Timeline(), []
    wire = Wire(
        settings, timeline, stream(1, "wire"), lambda packet: seen.append((timeline.now, packet))
    )
    for number in range(count):
        wire.put(number, size)
    timeline.run(1e6)
    return seen, wire


def test_a_wire_has_latency_and_bandwidth():
    seen, wire = arrivals(WireSettings(latency_ms=10, bytes_per_second=1_000), count=2)
    assert seen == [(pytest.approx(0.11), 0), (pytest.approx(0.21), 1)]
    assert (wire.packets, wire.bytes) == (2, 200)


def test_a_slow_wire_takes_longer_and_lets_nobody_overtake():
    timeline, seen = Timeline(), list[object]()
    wire = Wire(WireSettings(), timeline, stream(1, "wire"), seen.append)
    wire.slowness = 100.0
    wire.put("first", 1)
    wire.slowness = 1.0
    wire.put("second", 1)
    timeline.run(0.5)
    assert seen == []
    timeline.run(1.0)
    assert seen == ["first", "second"]


@pytest.mark.parametrize(
    ("settings", "arrived", "in_order"),
    [
        (WireSettings(loss=0.3), range(600, 800), True),
        (WireSettings(repetition=0.3), range(1_200, 1_400), True),
        (WireSettings(lateness=0.3), range(1_000, 1_001), False),
    ],
)
def test_an_imperfect_wire_loses_repeats_and_delays(settings, arrived, in_order):
    seen, _ = arrivals(settings, count=1_000)
    packets = [packet for _, packet in seen]
    assert len(packets) in arrived
    assert (packets == sorted(packets)) is in_order
    assert not settings.is_perfect


def test_a_clog_holds_up_until_the_last_one_is_gone():
    timeline, seen = Timeline(), list[object]()
    wire = Wire(WireSettings(), timeline, stream(1, "wire"), seen.append)
    wire.clog()
    wire.clog()
    wire.put("a", 1)
    wire.unclog()
    timeline.run(1.0)
    assert seen == []
    wire.unclog()
    timeline.run(2.0)
    assert seen == ["a"]


def seconds(message, matched: int = 0, entries: int = 0, **costs: float) -> float:
    return Tariff(Costs(**costs)).seconds([Received(BrokerId("A"), message)], matched, entries)


def test_costs_are_those_of_table_2():
    subscribe = Subscribe(SubscriptionId("s"), TRUE)
    event = Publish(PublicationId("e"), AdvertisementId("a"), Event())
    assert seconds(subscribe) == pytest.approx(0.01281)
    assert seconds(event, 50, 1_000) == pytest.approx(0.003)
    assert seconds(event, 50, matched_entry_ms=0.1) == pytest.approx(0.008)
    assert seconds(event, 50, 1_000, table_entry_ms=0.001) == pytest.approx(0.004)
    assert seconds(Acknowledge(1)) == 0
    packed = Unsubscribe(1, SubscriptionId("s"), payload=(subscribe, subscribe))
    assert seconds(packed) == pytest.approx(0.0014 + 2 * 0.00081)
