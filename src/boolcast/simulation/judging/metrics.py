"""What a simulation shows over virtual time: queues, tables, traffic, delays, wasted forwards.

`Metrics` looks at brokers and links at regular intervals; the longest queue is the longest since
the look before.

- A *triggered* subscription is sent to a broker because the one that covered it is gone. It counts
  at every broker that it travels to (P4-D's NRS messages).
- A *false positive* is an event that crossed a link although nobody behind it wanted the event.
  That is known at the end of the run, from the events' ways and deliveries.
- *Pruned* predicates are those that rewriting has removed from a broker's entries. Each occurrence
  counts; with replacement each predicate counts once.
- *Merged* entries are those that mergers stand for.
- Brokers *ask* which subscriptions and advertisements overlap. An index *finds* overlaps; proofs
  *check* some of these and *refute* the wrong ones. The counts begin when a broker starts.
"""

from array import array
from collections import Counter
from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np
import pyarrow as pa

from boolcast.model.events import Event
from boolcast.model.identifiers import BrokerId, ClientId, PublicationId
from boolcast.routing.protocol.effects import Effect, ReviewReport
from boolcast.routing.protocol.messages import Publish, Subscribe, Unsubscribe
from boolcast.routing.protocol.stimuli import ClientLeaves, ClientUnsubscribes, Received
from boolcast.routing.protocol.topology import Topology
from boolcast.simulation.network.broker_process import Job, Step
from boolcast.simulation.network.observation import Observer

if TYPE_CHECKING:
    from boolcast.simulation.network.simulator import Direction, Simulation

BROKER_COLUMNS: Final = pa.schema(
    [
        ("time", pa.float64()),
        ("broker", pa.string()),
        ("queue", pa.int64()),
        ("longest_queue", pa.int64()),
        ("subscriptions", pa.int64()),
        ("advertisements", pa.int64()),
        ("forwarded", pa.int64()),
        ("triggered", pa.int64()),
        ("handled", pa.int64()),
        ("pruned", pa.int64()),
        ("merged", pa.int64()),
        ("pruned_from_advertisements", pa.int64()),
        ("overlaps_asked", pa.int64()),
        ("overlaps_found", pa.int64()),
        ("overlaps_checked", pa.int64()),
        ("overlaps_refuted", pa.int64()),
    ]
)
LINK_COLUMNS: Final = pa.schema(
    [
        ("time", pa.float64()),
        ("sender", pa.string()),
        ("receiver", pa.string()),
        ("events", pa.int64()),
        ("messages", pa.int64()),
        ("packets", pa.int64()),
        ("bytes", pa.int64()),
    ]
)
DELAY_COLUMNS: Final = pa.schema([("time", pa.float64()), ("seconds", pa.float64())])


class Delays(msgspec.Struct, frozen=True):
    """Seconds from a client's publication to the delivery; None if nothing was delivered."""

    count: int
    mean: float | None
    p50: float | None
    p99: float | None


class Overlaps(msgspec.Struct, frozen=True):
    """The overlap tests of all brokers.

    `false_share` of the checked overlaps were refuted; None if nothing was checked.
    """

    asked: int
    found: int
    checked: int
    refuted: int
    false_share: float | None


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """The totals of a run."""

    seconds: float
    deliveries: Delays
    messages: dict[str, int]
    packets: int
    bytes: int
    longest_queue: int
    largest_table: int
    triggered: int
    forwards: int
    """How often an event crossed a link."""
    false_positives: int
    pruned: int
    """Predicates that rewriting has saved at all brokers, at the last look."""
    merged: int
    pruned_from_advertisements: int
    overlaps: Overlaps
    warnings: dict[str, list[BrokerId]]
    """The warnings in the brokers' last reports, each with the brokers that gave it."""


class _Travel:
    """Where an event began, how many links it crossed, and where it was delivered."""

    __slots__ = ("asked", "delivered", "hops", "origin")

    def __init__(self, origin: BrokerId, asked: float) -> None:
        self.origin = origin
        self.asked = asked
        self.hops = 0
        self.delivered: dict[BrokerId, None] = {}


class Metrics(Observer):
    """Listens to a simulation, and looks at it when `watch` has scheduled that."""

    def __init__(self, topology: Topology) -> None:
        self._neighbours = topology.neighbours()
        self._travels: dict[PublicationId, _Travel] = {}
        self._delivered_at = array("d")
        self._delays = array("d")
        self._kinds: Counter[str] = Counter()
        self._events: Counter[Direction] = Counter()
        self._messages: Counter[Direction] = Counter()
        self._handled: Counter[BrokerId] = Counter()
        self._triggered: Counter[BrokerId] = Counter()
        self._triggered_ids: set[str] = set()
        self._broker_rows: list[tuple[object, ...]] = []
        self._link_rows: list[tuple[object, ...]] = []
        self._longest_queue = self._largest_table = 0
        self._packets = self._bytes = 0
        self._pruned = self._merged = self._pruned_from_advertisements = 0
        self._overlaps = Counter[str]()
        self._reports: dict[BrokerId, ReviewReport] = {}
        self._now = 0.0
        self._has_looked = False

    def watch(self, simulation: "Simulation", every: float, until: float) -> None:
        """Look at brokers and links now and at regular intervals, until the end."""
        simulation.timeline.repeat(every, until, lambda: self.look(simulation))

    def publishes(
        self,
        time: float,
        broker: BrokerId,
        client: ClientId,  # noqa: ARG002
        publication: PublicationId,
        event: Event,  # noqa: ARG002
    ) -> None:
        self._travels[publication] = _Travel(broker, time)

    def delivers(
        self,
        time: float,
        broker: BrokerId,
        client: ClientId,  # noqa: ARG002
        publication: PublicationId,
        event: Event,  # noqa: ARG002
        names: tuple[str, ...],  # noqa: ARG002
    ) -> None:
        travel = self._travels[publication]
        travel.delivered[broker] = None
        self._delivered_at.append(time)
        self._delays.append(time - travel.asked)

    def remarks(self, time: float, broker: BrokerId, effect: Effect) -> None:  # noqa: ARG002
        if isinstance(effect, ReviewReport):
            self._reports[broker] = effect

    def steps(self, time: float, broker: BrokerId, job: Job, step: Step) -> None:  # noqa: ARG002
        self._handled[broker] += len(step.work)
        is_removal = False
        for stimulus in step.work:
            if type(stimulus) is Received:
                if type(stimulus.message) is Publish:
                    self._travels[stimulus.message.publication].hops += 1
                elif type(stimulus.message) is Unsubscribe:
                    is_removal = True
            elif type(stimulus) is ClientUnsubscribes or type(stimulus) is ClientLeaves:
                is_removal = True
        for effect in step.sent:
            link, message = effect.link, effect.message
            kind = type(message)
            self._kinds[kind.__name__] += 1
            if kind is Publish:
                self._events[broker, link] += 1
                continue
            self._messages[broker, link] += 1
            if type(message) is Subscribe:
                self._count_triggered(link, [message], is_removal=is_removal)
            elif type(message) is Unsubscribe:
                self._count_triggered(link, message.payload, is_removal=is_removal)

    def _count_triggered(
        self,
        receiver: BrokerId,
        subscriptions: "list[Subscribe] | tuple[Subscribe, ...]",
        *,
        is_removal: bool,
    ) -> None:
        for each in subscriptions:
            if is_removal:
                self._triggered_ids.add(each.subscription)
            if each.subscription in self._triggered_ids:
                self._triggered[receiver] += 1

    def look(self, simulation: "Simulation") -> None:
        """Record the state of brokers and links."""
        now = self._now = simulation.now
        self._pruned = self._merged = self._pruned_from_advertisements = 0
        self._overlaps.clear()
        for name, jobs in simulation.queues.items():
            broker = simulation.broker(name)
            state = broker.state
            queue, table = jobs.length, len(state.subscriptions)
            # Counting begins with the first look: set-up before it takes no time.
            longest = jobs.restart_longest()
            if not self._has_looked:
                longest = queue
            self._longest_queue = max(self._longest_queue, longest)
            self._largest_table = max(self._largest_table, table)
            pruned, merged = state.rewriting.removed(), len(state.constituents)
            self._pruned += pruned
            self._merged += merged
            pruned_advertisements = state.advertisement_rewriting.removed()
            self._pruned_from_advertisements += pruned_advertisements
            overlaps = msgspec.structs.asdict(broker.overlap_figures)
            self._overlaps.update(overlaps)
            forwarded = sum(len(each.forwarded) for each in state.neighbours.values())
            self._broker_rows.append(
                (
                    now,
                    name,
                    queue,
                    longest,
                    table,
                    len(state.advertisements),
                    forwarded,
                    self._triggered[name],
                    self._handled[name],
                    pruned,
                    merged,
                    pruned_advertisements,
                    *overlaps.values(),
                )
            )
        self._has_looked = True
        self._packets = self._bytes = 0
        for direction, wire in simulation.wires.items():
            self._packets += wire.packets
            self._bytes += wire.bytes
            events = self._events[direction]
            messages = events + self._messages[direction]
            self._link_rows.append((now, *direction, events, messages, wire.packets, wire.bytes))

    def tables(self) -> dict[str, pa.Table]:
        """`brokers` and `links` at each look, counts since the beginning; `delays` one by one."""
        delays = [np.frombuffer(each, np.float64) for each in (self._delivered_at, self._delays)]
        return {
            "brokers": _table(self._broker_rows, BROKER_COLUMNS),
            "links": _table(self._link_rows, LINK_COLUMNS),
            "delays": pa.Table.from_arrays(
                [pa.array(each) for each in delays], schema=DELAY_COLUMNS
            ),
        }

    def summary(self) -> Summary:
        """The totals, as of the last look."""
        return Summary(
            seconds=self._now,
            deliveries=self._summary_of_delays(),
            messages=dict(sorted(self._kinds.items())),
            packets=self._packets,
            bytes=self._bytes,
            longest_queue=self._longest_queue,
            largest_table=self._largest_table,
            triggered=self._triggered.total(),
            forwards=self._kinds["Publish"],
            false_positives=sum(self.wasted_hops().values()),
            pruned=self._pruned,
            merged=self._merged,
            pruned_from_advertisements=self._pruned_from_advertisements,
            overlaps=self._summary_of_overlaps(),
            warnings=self._warnings(),
        )

    def _warnings(self) -> dict[str, list[BrokerId]]:
        found: dict[str, list[BrokerId]] = {}
        for broker, report in sorted(self._reports.items()):
            for warning in report.warnings:
                found.setdefault(warning, []).append(broker)
        return found

    def _summary_of_overlaps(self) -> Overlaps:
        asked, found, checked, refuted = (
            self._overlaps[name] for name in ("asked", "found", "checked", "refuted")
        )
        return Overlaps(asked, found, checked, refuted, refuted / checked if checked else None)

    def _summary_of_delays(self) -> Delays:
        if not self._delays:
            return Delays(0, None, None, None)
        delays = np.frombuffer(self._delays, np.float64)
        p50, p99 = np.quantile(delays, [0.5, 0.99])
        return Delays(len(delays), float(delays.mean()), float(p50), float(p99))

    def wasted_hops(self) -> dict[PublicationId, int]:
        """How many links each event crossed although nobody behind them wanted it."""
        parents: dict[BrokerId, dict[BrokerId, BrokerId]] = {}
        wasted: dict[PublicationId, int] = {}
        for publication, travel in self._travels.items():
            up = parents.get(travel.origin)
            if up is None:
                up = parents[travel.origin] = self._parents(travel.origin)
            needed: set[BrokerId] = set()
            for broker in travel.delivered:
                at = broker
                while at != travel.origin and at not in needed:
                    needed.add(at)
                    at = up[at]
            # A repeat after a crash is no false positive, and may make fewer hops than needed.
            wasted[publication] = max(travel.hops - len(needed), 0)
        return wasted

    def _parents(self, origin: BrokerId) -> dict[BrokerId, BrokerId]:
        """The next broker towards the origin, for each."""
        found: dict[BrokerId, BrokerId] = {}
        waiting = [origin]
        for broker in waiting:
            for other in self._neighbours[broker]:
                if other != origin and other not in found:
                    found[other] = broker
                    waiting.append(other)
        return found


def _table(rows: list[tuple[object, ...]], schema: pa.Schema) -> pa.Table:
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(schema)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)
