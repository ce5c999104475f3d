"""How far a removal travels, and how the subscriptions that it uncovers travel with it.

Two small choices make the four policies. The *reach* is everywhere, or up to the critical broker:
where enough of the events that the subscription attracted are wanted by others anyway, so that
beyond it the subscription may stay as a ghost (P4-B5, P4-B6). The *wrapping* is one message for
each subscription, or one for all (P4-B3).
"""

from collections import deque
from collections.abc import Iterable
from typing import NamedTuple, Protocol

from boolcast.model.identifiers import AdvertisementId
from boolcast.routing.protocol.configuration import UnsubscriptionSettings
from boolcast.routing.protocol.messages import (
    Message,
    PruningDistance,
    Publish,
    Subscribe,
    Unsubscribe,
)
from boolcast.routing.tables.entries import Entry

Distances = tuple[PruningDistance, ...] | None


class Wrapping(Protocol):
    """Puts a removal, and the subscriptions to be installed before it, into messages."""

    def wrap(self, removal: Unsubscribe, uncovered: tuple[Subscribe, ...]) -> list[Message]: ...


class Separately:
    """The subscriptions one by one, then the removal."""

    def wrap(self, removal: Unsubscribe, uncovered: tuple[Subscribe, ...]) -> list[Message]:
        return [*uncovered, removal]


class Packed:
    """One message; its receiver installs the payload first (P4-B3)."""

    def wrap(self, removal: Unsubscribe, uncovered: tuple[Subscribe, ...]) -> list[Message]:
        return [Unsubscribe(removal.number, removal.subscription, removal.distances, uncovered)]


class Reach(Protocol):
    """Decides how far removals go, from what it learns of publications."""

    learns: bool
    """Whether it needs to see publications."""

    def pass_on(self, publish: Publish, wanted: int) -> Publish:
        """The publication for the next broker; here `wanted` subscriptions want its event."""

    def record(self, publish: Publish, subscription: str, now: float) -> None:
        """A publication has reached a local subscription, with the header of this broker."""

    def begin(self, subscription: str, advertisements: Iterable[Entry], now: float) -> Distances:
        """The distances of a removal at its first broker; the history ends here."""

    def onward(self, distances: Distances, advertisements: dict[str, Entry]) -> "Onward":
        """What the neighbour that sent these advertisements gets."""


class Onward(NamedTuple):
    """Whether a removal goes on to a neighbour, and with which distances."""

    goes_on: bool
    distances: Distances


class Everywhere:
    """A removal goes wherever the subscription is known."""

    learns = False

    def __init__(self, settings: UnsubscriptionSettings) -> None:
        pass

    def pass_on(self, publish: Publish, wanted: int) -> Publish:  # noqa: ARG002 - no header
        return publish

    def record(self, publish: Publish, subscription: str, now: float) -> None:
        pass

    def begin(self, subscription: str, advertisements: Iterable[Entry], now: float) -> Distances:  # noqa: ARG002
        return None

    def onward(self, distances: Distances, advertisements: dict[str, Entry]) -> Onward:  # noqa: ARG002
        # A limit that a neighbour has set does not count here.
        return Onward(True, None)


class _Row(NamedTuple):
    time: float
    advertisement: AdvertisementId
    distance: int | None
    """None: no other broker on the way wanted the event (P4-T8)."""


class UpToTheCriticalBroker:
    """A removal ends where more than θ of the events are wanted by others anyway."""

    learns = True

    def __init__(self, settings: UnsubscriptionSettings) -> None:
        self._threshold = settings.threshold
        self._slack = settings.slack
        self._window_seconds = settings.window_seconds
        self._rows: dict[str, deque[_Row]] = {}

    def pass_on(self, publish: Publish, wanted: int) -> Publish:
        """P4-B4: a meeting point resets the distance, every other broker adds a hop."""
        is_meeting = wanted > 1
        return Publish(
            publish.publication,
            publish.advertisement,
            publish.event,
            0 if is_meeting else publish.distance + 1,
            publish.count + is_meeting,
            publish.everywhere,
        )

    def record(self, publish: Publish, subscription: str, now: float) -> None:
        rows = self._rows.setdefault(subscription, deque())
        distance = publish.distance if publish.count > 0 else None
        rows.append(_Row(now, publish.advertisement, distance))
        self._expire(rows, now)

    def _expire(self, rows: deque[_Row], now: float) -> None:
        while rows and rows[0].time < now - self._window_seconds:
            rows.popleft()

    def begin(self, subscription: str, advertisements: Iterable[Entry], now: float) -> Distances:
        rows = self._rows.pop(subscription, deque())
        self._expire(rows, now)
        seen: dict[str, list[int | None]] = {}
        for row in rows:
            seen.setdefault(row.advertisement, []).append(row.distance)
        return tuple(
            PruningDistance(
                AdvertisementId(each.id),
                self._with_slack(pruning_distance(seen.get(each.id, []), self._threshold)),
            )
            for each in advertisements
        )

    def _with_slack(self, hops: int | None) -> int | None:
        """P4-E1: slack 1 removes the subscription at the critical broker too, 0 keeps it there."""
        return None if hops is None else hops - 1 + self._slack

    def onward(self, distances: Distances, advertisements: dict[str, Entry]) -> Onward:
        if distances is None:
            return Onward(True, None)
        further = tuple(
            PruningDistance(advertisement, None if hops is None else hops - 1)
            for advertisement, hops in map(_parts, distances)
            if advertisement in advertisements and (hops is None or hops > 0)
        )
        return Onward(bool(further), further)


def _parts(distance: PruningDistance) -> tuple[AdvertisementId, int | None]:
    return distance.advertisement, distance.hops


def pruning_distance(distances: list[int | None], threshold: float) -> int | None:
    """The least d ≥ 1 such that more than θ of the distances are below it (P4-B5).

    None stands for infinity, as a distance and as the result: without history the removal goes
    everywhere (P4-E13).
    """
    known = sorted(distance for distance in distances if distance is not None)
    # The share below d grows only at the distances themselves, so the first that suffices decides.
    for rank, distance in enumerate(known, start=1):
        if rank / len(distances) > threshold:
            return distance + 1
    return None
