"""Which neighbours must know a subscription at all.

*Flooding* sends subscriptions to every neighbour, and advertisements to none: they only say what
their publisher may publish. *Towards advertisements*, the other way round: advertisements go
everywhere, and a subscription goes to the neighbours from which one came that it overlaps with.
In both, an event goes only where a subscription came from.
"""

from collections.abc import Callable
from typing import Protocol

from boolcast.matching.relations.analysed_filters import AnalysedFilter
from boolcast.model.identifiers import BrokerId
from boolcast.routing.tables.entries import Entry
from boolcast.routing.tables.overlaps import Overlaps


class PropagationPolicy(Protocol):
    """Decides who must know what. It hears of every entry that comes or goes, also when a broker
    is restored. A pruned filter may be held in place of an advertisement.
    """

    sends_advertisements: bool

    def add_advertisement(self, entry: Entry) -> None: ...

    def hold_advertisement(self, entry: Entry, analysed: AnalysedFilter) -> None:
        """Test overlaps with this filter in place of the advertisement from now on."""

    def remove_advertisement(self, entry: Entry) -> None: ...

    def add_subscription(self, entry: Entry) -> None: ...

    def remove_subscription(self, entry: Entry) -> None: ...

    def is_needed(self, subscription: AnalysedFilter, link: BrokerId) -> bool:
        """True if the neighbour at that link must know the subscription."""

    def awakened(
        self, advertisement: AnalysedFilter, is_waiting: Callable[[Entry], bool]
    ) -> list[Entry]:
        """The waiting subscriptions that an advertisement concerns, in their order."""


class Flooding:
    """Every neighbour must know every subscription that can ever be satisfied."""

    sends_advertisements = False

    def __init__(self, overlaps: Callable[[], Overlaps]) -> None:
        pass

    def add_advertisement(self, entry: Entry) -> None:
        pass

    def hold_advertisement(self, entry: Entry, analysed: AnalysedFilter) -> None:
        pass

    def remove_advertisement(self, entry: Entry) -> None:
        pass

    def add_subscription(self, entry: Entry) -> None:
        pass

    def remove_subscription(self, entry: Entry) -> None:
        pass

    def is_needed(self, subscription: AnalysedFilter, link: BrokerId) -> bool:  # noqa: ARG002
        return not subscription.is_never

    def awakened(
        self,
        advertisement: AnalysedFilter,  # noqa: ARG002 - every neighbour knows them all already
        is_waiting: Callable[[Entry], bool],  # noqa: ARG002 - as above
    ) -> list[Entry]:
        return []


class TowardsAdvertisements:
    """A neighbour must know the subscriptions that overlap with an advertisement from it."""

    sends_advertisements = True

    def __init__(self, overlaps: Callable[[], Overlaps]) -> None:
        self._overlaps = overlaps
        self._advertisements: dict[BrokerId, Overlaps] = {}
        self._subscriptions = overlaps()

    def add_advertisement(self, entry: Entry) -> None:
        # What clients of this broker advertise calls for nothing from elsewhere.
        if entry.link is not None:
            if entry.link not in self._advertisements:
                self._advertisements[entry.link] = self._overlaps()
            self._advertisements[entry.link].add(entry)

    def hold_advertisement(self, entry: Entry, analysed: AnalysedFilter) -> None:
        self.remove_advertisement(entry)
        self.add_advertisement(Entry(entry.id, analysed, entry.order, link=entry.link))

    def remove_advertisement(self, entry: Entry) -> None:
        if entry.link is not None:
            self._advertisements[entry.link].remove(entry)

    def add_subscription(self, entry: Entry) -> None:
        self._subscriptions.add(entry)

    def remove_subscription(self, entry: Entry) -> None:
        self._subscriptions.remove(entry)

    def is_needed(self, subscription: AnalysedFilter, link: BrokerId) -> bool:
        advertisements = self._advertisements.get(link)
        return advertisements is not None and advertisements.has_any(subscription)

    def awakened(
        self, advertisement: AnalysedFilter, is_waiting: Callable[[Entry], bool]
    ) -> list[Entry]:
        return self._subscriptions.all(advertisement, is_waiting)
