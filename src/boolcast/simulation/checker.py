"""Was everything delivered that should have been, once, in order, and nothing else?

The checker knows what clients asked for and got, the moments of calm and rest, the crashes, and
the reference evaluator: nothing of brokers and policies. A subscription is *settled* for an event
if it was made before the last moment of calm (no control message on its way) before the event was
accepted, and its end was not asked for before the next moment of rest (nothing on its way). Such a
pair must be delivered exactly once, or more often if a broker crashed meanwhile. Any other pair
may be delivered, if the filter accepts the event. What was inside a broker that crashed without
its disk is exempt.

Events of one publisher reach a subscription in the order in which they were published; a repeat
does not count.
"""

from bisect import bisect_left
from collections.abc import Iterable
from typing import Final, Literal

import msgspec

from boolcast.filters.expressions import Node
from boolcast.model.events import Event
from boolcast.model.identifiers import BrokerId, ClientId, PublicationId
from boolcast.simulation.observation import Observer

Subscriber = tuple[BrokerId, ClientId, str]
"""A subscription as its client knows it."""

Kind = Literal["missing", "repeated", "unwanted", "unknown", "after its end", "out of order"]

_KEPT: Final = 100
"""How many violations are told in full."""


class Violation(msgspec.Struct, frozen=True):
    """A delivery that should not have been, or should have been."""

    kind: Kind
    subscriber: Subscriber
    publication: PublicationId
    time: float

    def __str__(self) -> str:
        broker, client, name = self.subscriber
        return (
            f"{self.kind}: {self.publication} for {name} of {client} at {broker}, {self.time:.3f} s"
        )


class Verdict(msgspec.Struct, frozen=True):
    """What the checker found. `settled` pairs of subscription and event were to be delivered.

    `lost` events were inside a broker that crashed without its disk. `evaluated` of the
    `publications` were held against all subscriptions.
    """

    violations: tuple[Violation, ...]
    count: int
    publications: int
    evaluated: int
    deliveries: int
    repeats: int
    settled: int
    lost: int

    def __bool__(self) -> bool:
        return not self.count


class _Period:
    """A subscription from one asking to the next end. Ends are counted in moments of rest."""

    __slots__ = ("calms", "confirmed", "filter", "opened", "rests")

    def __init__(self, filter: Node, opened: float, calms: int) -> None:
        self.filter = filter
        self.opened = opened
        self.calms = calms
        self.rests: int | None = None
        self.confirmed: float | None = None


class _Publication:
    __slots__ = ("calms", "event", "number", "publisher", "rests", "time")

    def __init__(
        self, publisher: tuple[BrokerId, ClientId], event: Event, number: int, time: float
    ) -> None:
        self.publisher = publisher
        self.event = event
        self.number = number
        self.time = time
        self.calms = self.rests = -1
        """Counted when it was accepted; -1 if it never was."""


class Checker(Observer):
    """Listens to a simulation; `verdict` judges it.

    Every delivery is checked. Whether one is missing is asked of all subscriptions for each event,
    or for a share of the events, evenly spread, where that would take more than `evaluations`.
    """

    def __init__(self, evaluations: int = 3_000_000) -> None:
        self._evaluations = evaluations
        self._periods: dict[Subscriber, list[_Period]] = {}
        self._publications: dict[PublicationId, _Publication] = {}
        self._times: dict[tuple[Subscriber, PublicationId], int] = {}
        self._last: dict[tuple[Subscriber, tuple[BrokerId, ClientId]], int] = {}
        self._crashes: list[float] = []
        self._lost: set[PublicationId] = set()
        self._calms = self._rests = 0
        self._violations: list[Violation] = []
        self._count = self._deliveries = self._repeats = 0

    def subscribes(
        self, time: float, broker: BrokerId, client: ClientId, name: str, filter: Node
    ) -> None:
        periods = self._periods.setdefault((broker, client, name), [])
        # A client that asks again, before its broker is up, asks for the same.
        if not periods or periods[-1].rests is not None:
            periods.append(_Period(filter, time, self._calms))

    def unsubscribes(self, time: float, broker: BrokerId, client: ClientId, name: str) -> None:  # noqa: ARG002
        self._end(self._periods[broker, client, name])

    def confirms(self, time: float, broker: BrokerId, client: ClientId, name: str) -> None:
        for period in self._periods[broker, client, name]:
            if period.rests is not None and period.confirmed is None:
                period.confirmed = time

    def publishes(
        self,
        time: float,
        broker: BrokerId,
        client: ClientId,
        publication: PublicationId,
        event: Event,
    ) -> None:
        number = len(self._publications)
        self._publications[publication] = _Publication((broker, client), event, number, time)

    def accepts(self, time: float, broker: BrokerId, publication: PublicationId) -> None:  # noqa: ARG002
        known = self._publications[publication]
        known.calms, known.rests = self._calms, self._rests

    def crashes(
        self, time: float, broker: BrokerId, lost: Iterable[PublicationId], *, with_disk: bool
    ) -> None:
        self._crashes.append(time)
        self._lost.update(lost)
        if not with_disk:
            for (at, _, _), periods in self._periods.items():
                if at == broker:
                    self._end(periods)

    def calms(self, time: float) -> None:  # noqa: ARG002 - what counts is what comes between
        self._calms += 1

    def rests(self, time: float) -> None:  # noqa: ARG002 - as above
        self._rests += 1

    def _end(self, periods: list[_Period]) -> None:
        if periods[-1].rests is None:
            periods[-1].rests = self._rests

    def delivers(
        self,
        time: float,
        broker: BrokerId,
        client: ClientId,
        publication: PublicationId,
        event: Event,
        names: tuple[str, ...],
    ) -> None:
        for name in names:
            self._deliver(time, (broker, client, name), publication, event)

    def _deliver(
        self, time: float, subscriber: Subscriber, publication: PublicationId, event: Event
    ) -> None:
        self._deliveries += 1
        known = self._publications.get(publication)
        periods = self._periods.get(subscriber)
        if known is None or periods is None or known.event != event:
            self._blame("unknown", subscriber, publication, time)
            return
        accepting = [each for each in periods if each.filter.accepts(event)]
        if not accepting:
            self._blame("unwanted", subscriber, publication, time)
        elif all(each.confirmed is not None and each.confirmed < time for each in accepting):
            self._blame("after its end", subscriber, publication, time)
        times = self._times.get((subscriber, publication), 0)
        self._times[subscriber, publication] = times + 1
        if times:
            self._repeats += 1
            if not self._has_crashed(known.time, time):
                self._blame("repeated", subscriber, publication, time)
            return
        line = (subscriber, known.publisher)
        if known.number < self._last.get(line, -1):
            self._blame("out of order", subscriber, publication, time)
        self._last[line] = known.number

    def _has_crashed(self, start: float, end: float) -> bool:
        place = bisect_left(self._crashes, start)
        return place < len(self._crashes) and self._crashes[place] <= end

    def _blame(
        self, kind: Kind, subscriber: Subscriber, publication: PublicationId, time: float
    ) -> None:
        self._count += 1
        if len(self._violations) < _KEPT:
            self._violations.append(Violation(kind, subscriber, publication, time))

    def settled(self, *, every: int = 1) -> Iterable[tuple[Subscriber, PublicationId]]:
        """The pairs that must have been delivered, for each so many-th event."""
        periods = [(key, each) for key, rows in self._periods.items() for each in rows]
        for number, (publication, known) in enumerate(self._publications.items()):
            if number % every or known.calms < 0 or publication in self._lost:
                continue
            event = known.event
            for subscriber, period in periods:
                if (
                    period.calms < known.calms
                    and (period.rests is None or period.rests > known.rests)
                    and period.filter.accepts(event)
                ):
                    yield subscriber, publication

    def was_delivered(self, subscriber: Subscriber, publication: PublicationId) -> bool:
        """True if the subscription got the event."""
        return (subscriber, publication) in self._times

    def verdict(self) -> Verdict:
        """Judge, when all is over and nothing is on its way any more."""
        periods = sum(map(len, self._periods.values()))
        work = periods * len(self._publications)
        every = max(1, -(-work // self._evaluations))
        settled = 0
        for subscriber, publication in self.settled(every=every):
            settled += 1
            if (subscriber, publication) not in self._times:
                time = self._publications[publication].time
                self._blame("missing", subscriber, publication, time)
        return Verdict(
            tuple(self._violations),
            self._count,
            len(self._publications),
            -(-len(self._publications) // every),
            self._deliveries,
            self._repeats,
            settled,
            len(self._lost),
        )
