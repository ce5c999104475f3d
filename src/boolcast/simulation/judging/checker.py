"""Was every event delivered that should have been, once, in order, and nothing else?

The checker knows what clients asked for and got, the moments of calm and rest, the crashes, and
the reference evaluator. It knows nothing of brokers and policies.

A subscription is *settled* for an event if a moment of calm (no control message under way) lies
between its beginning and the moment when the event was accepted, and if its client did not
unsubscribe before the next moment of rest (nothing under way). A settled pair must be delivered
exactly once; after a crash it may be delivered more often.

Any other pair may be delivered if the filter accepts the event and no moment of rest lies between
the end of the subscription and the event, or between the event and the beginning of the
subscription. One exception: neighbours of a broker that crashed without its disk send again what
it had not acknowledged, and new subscriptions there may get these events, however old they are.
Events that were inside such a broker may be lost.

Events of one publisher reach a subscription in the order in which they were published; repeats
do not count. A broker accepts the events that their publisher has advertised, and no others. It
confirms every removal that a client asks for, unless it has lost its memory.
"""

from bisect import bisect_left
from collections.abc import Iterable
from typing import Final, Literal

import msgspec

from boolcast.filters.expressions import Filter
from boolcast.model.events import Event
from boolcast.model.identifiers import BrokerId, ClientId, PublicationId
from boolcast.simulation.chance import stream
from boolcast.simulation.network.observation import Observer

Subscriber = tuple[BrokerId, ClientId, str]
"""A subscription as its client knows it."""

Kind = Literal[
    "missing",
    "repeated",
    "unwanted",
    "unknown",
    "before its beginning",
    "after its end",
    "out of order",
    "unconfirmed",
    "refused although advertised",
    "accepted although unadvertised",
]

_KEPT: Final = 100
"""How many violations are kept in full; the others are only counted."""


class Violation(msgspec.Struct, frozen=True):
    """A wrong or missing delivery.

    Without a subscriber it is an event that was wrongly accepted or refused. Without a publication
    it is a removal that was never confirmed.
    """

    kind: Kind
    subscriber: Subscriber | None
    publication: PublicationId | None
    time: float

    def __str__(self) -> str:
        words: list[str] = [] if self.publication is None else [self.publication]
        if self.subscriber is not None:
            broker, client, name = self.subscriber
            words.append(f"{'for ' if words else ''}{name} of {client} at {broker}")
        return f"{self.kind}: {' '.join(words)}, {self.time:.3f} s"


class Verdict(msgspec.Struct, frozen=True):
    """What the checker found. `settled` pairs of subscription and event had to be delivered.

    `lost` events were inside a broker that crashed without its disk. `evaluated` of the
    `publications` were checked against all subscriptions.
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
    """One life of a subscription; beginning and end are counted in moments of rest."""

    __slots__ = ("began", "calms", "confirmed", "ended", "filter", "needs_confirmation", "opened")

    def __init__(self, filter: Filter, opened: float, calms: int, began: int) -> None:
        self.filter = filter
        self.opened = opened
        self.calms = calms
        self.began = began
        self.ended: int | None = None
        self.confirmed: float | None = None
        self.needs_confirmation = False
        """True if its client unsubscribed at a broker that remembers the subscription."""

    def may_get(self, rests: int, time: float) -> bool:
        """False if a rest lies between event and period, or if the end is confirmed by then."""
        if self.began > rests:
            return False
        if self.ended is None:
            return True
        return self.ended >= rests and (self.confirmed is None or self.confirmed >= time)


class _Publication:
    __slots__ = (
        "calms",
        "event",
        "is_advertised",
        "is_refused",
        "number",
        "publisher",
        "rests",
        "time",
    )

    def __init__(
        self,
        publisher: tuple[BrokerId, ClientId],
        event: Event,
        number: int,
        time: float,
        rests: int,
    ) -> None:
        self.publisher = publisher
        self.event = event
        self.number = number
        self.time = time
        self.rests = rests
        """Counted when the client published, and again when the broker accepted."""
        self.calms = -1
        """Counted when it was accepted; -1 if it never was."""
        self.is_advertised: bool | None = None
        """Whether its broker should accept it; None if that cannot be known."""
        self.is_refused = False


def _why_not(periods: list[_Period], known: _Publication) -> Kind:
    """What is wrong with a delivery that none of the periods may get."""
    accepting = [each for each in periods if each.filter.accepts(known.event)]
    if not accepting:
        return "unwanted"
    is_early = all(each.began > known.rests for each in accepting)
    return "before its beginning" if is_early else "after its end"


class Checker(Observer):
    """Listens to a simulation; `verdict` judges it.

    It checks every delivery. To find missing ones it evaluates all subscriptions on each event; if
    that takes more than `evaluations`, on a sample of the events that the seed draws.
    """

    def __init__(self, evaluations: int = 3_000_000, *, seed: int = 0) -> None:
        self._evaluations = evaluations
        self._seed = seed
        self._advertised: dict[tuple[BrokerId, ClientId], dict[str, Filter]] = {}
        self._forgetful: dict[BrokerId, int] = {}
        """The calms when a broker lost its memory: requests up to the next may get lost too."""
        self._last_amnesia: dict[BrokerId, float] = {}
        self._periods: dict[Subscriber, list[_Period]] = {}
        self._publications: dict[PublicationId, _Publication] = {}
        self._times: dict[tuple[Subscriber, PublicationId], int] = {}
        self._last: dict[tuple[Subscriber, tuple[BrokerId, ClientId]], int] = {}
        self._crashes: list[float] = []
        self._lost: set[PublicationId] = set()
        self._calms = self._rests = 0
        self._violations: list[Violation] = []
        self._count = self._deliveries = self._repeats = 0

    def advertises(
        self,
        time: float,  # noqa: ARG002
        broker: BrokerId,
        client: ClientId,
        name: str,
        filter: Filter,
    ) -> None:
        self._advertised.setdefault((broker, client), {}).setdefault(name, filter)

    def unadvertises(self, time: float, broker: BrokerId, client: ClientId, name: str) -> None:  # noqa: ARG002
        self._advertised.get((broker, client), {}).pop(name, None)

    def subscribes(
        self, time: float, broker: BrokerId, client: ClientId, name: str, filter: Filter
    ) -> None:
        periods = self._periods.setdefault((broker, client, name), [])
        # A client that subscribes again before its broker is up repeats its request.
        if not periods or periods[-1].ended is not None:
            periods.append(_Period(filter, time, self._calms, self._rests))

    def unsubscribes(self, time: float, broker: BrokerId, client: ClientId, name: str) -> None:  # noqa: ARG002
        # A broker refuses to end what never began or has ended, and nothing follows from it.
        period = self._periods.get((broker, client, name), [None])[-1]
        if period is not None and period.ended is None:
            period.ended = self._rests
            period.needs_confirmation = not self._is_forgetful(broker)

    def confirms(self, time: float, broker: BrokerId, client: ClientId, name: str) -> None:
        for period in self._periods.get((broker, client, name), []):
            if period.ended is not None and period.confirmed is None:
                period.confirmed = time

    def publishes(
        self,
        time: float,
        broker: BrokerId,
        client: ClientId,
        publication: PublicationId,
        event: Event,
    ) -> None:
        publisher = (broker, client)
        known = _Publication(publisher, event, len(self._publications), time, self._rests)
        # A broker handles requests in order, so what is advertised by now counts.
        if not self._is_forgetful(broker):
            filters = self._advertised.get(publisher, {}).values()
            known.is_advertised = any(filter.accepts(event) for filter in filters)
        self._publications[publication] = known

    def accepts(self, time: float, broker: BrokerId, publication: PublicationId) -> None:  # noqa: ARG002
        known = self._publications[publication]
        known.calms, known.rests = self._calms, self._rests
        if known.is_advertised is False:
            self._blame("accepted although unadvertised", None, publication, time)

    def refuses(self, time: float, broker: BrokerId, publication: PublicationId) -> None:  # noqa: ARG002
        known = self._publications[publication]
        known.is_refused = True
        if known.is_advertised:
            self._blame("refused although advertised", None, publication, time)

    def crashes(
        self, time: float, broker: BrokerId, lost: Iterable[PublicationId], *, with_disk: bool
    ) -> None:
        self._crashes.append(time)
        self._lost.update(lost)
        if with_disk:
            return
        self._forgetful[broker] = self._calms
        self._last_amnesia[broker] = time
        for (at, _, _), periods in self._periods.items():
            if at == broker:
                if periods[-1].ended is None:
                    periods[-1].ended = self._rests
                for period in periods:
                    period.needs_confirmation = False

    def _is_forgetful(self, broker: BrokerId) -> bool:
        return self._forgetful.get(broker) == self._calms

    def calms(self, time: float) -> None:  # noqa: ARG002 - only their order counts
        self._calms += 1

    def rests(self, time: float) -> None:  # noqa: ARG002 - as above
        self._rests += 1

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
        for period in periods:
            if period.filter.accepts(event) and period.may_get(known.rests, time):
                break
        else:
            problem = _why_not(periods, known)
            if problem != "before its beginning" or not self._comes_again(
                subscriber[0], known.time, time
            ):
                self._blame(problem, subscriber, publication, time)
        if known.is_refused:
            self._blame("unwanted", subscriber, publication, time)
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
        first = bisect_left(self._crashes, start)
        return first < len(self._crashes) and self._crashes[first] <= end

    def _comes_again(self, broker: BrokerId, start: float, end: float) -> bool:
        """True if the broker lost its memory in between, so that neighbours send events again."""
        return start <= self._last_amnesia.get(broker, -1.0) <= end

    def _blame(
        self,
        kind: Kind,
        subscriber: Subscriber | None,
        publication: PublicationId | None,
        time: float,
    ) -> None:
        self._count += 1
        if len(self._violations) < _KEPT:
            self._violations.append(Violation(kind, subscriber, publication, time))

    def settled(
        self, among: Iterable[PublicationId] | None = None
    ) -> Iterable[tuple[Subscriber, PublicationId]]:
        """The pairs that had to be delivered, of all events or of these."""
        periods = [(key, each) for key, rows in self._periods.items() for each in rows]
        for publication in self._publications if among is None else among:
            known = self._publications[publication]
            if known.calms < 0 or publication in self._lost:
                continue
            event = known.event
            for subscriber, period in periods:
                if (
                    period.calms < known.calms
                    and (period.ended is None or period.ended > known.rests)
                    and period.filter.accepts(event)
                ):
                    yield subscriber, publication

    def verdict(self) -> Verdict:
        """Judge the run; call it when nothing is under way any more."""
        periods = sum(map(len, self._periods.values()))
        count = min(len(self._publications), self._evaluations // max(periods, 1))
        # Not every n-th: errors may be periodic too.
        among = stream(self._seed, "checker").sample(list(self._publications), count)
        settled = 0
        for subscriber, publication in self.settled(among):
            settled += 1
            if (subscriber, publication) not in self._times:
                time = self._publications[publication].time
                self._blame("missing", subscriber, publication, time)
        for subscriber, rows in self._periods.items():
            for period in rows:
                if period.needs_confirmation and period.confirmed is None:
                    self._blame("unconfirmed", subscriber, None, period.opened)
        return Verdict(
            tuple(self._violations),
            self._count,
            len(self._publications),
            count,
            self._deliveries,
            self._repeats,
            settled,
            len(self._lost),
        )
