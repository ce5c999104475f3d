"""Everything that a broker remembers, and the effects of the step it is in.

State is plain data with the bookkeeping that keeps its tables in step: it sends nothing and decides
nothing. The other modules of `core` act on it.
"""

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from boolcast.matching.relations.analysed_filters import AnalysedFilter, FilterAnalyser
from boolcast.model.identifiers import AdvertisementId, BrokerId, SubscriptionId
from boolcast.optimising.merging.mergers import Mergers
from boolcast.optimising.statistics.selectivities import Knowledge
from boolcast.routing.rewriting.post_pruning import Rewritten
from boolcast.routing.tables.entries import Entry, Table
from boolcast.routing.tables.neighbours import Neighbour
from boolcast.routing.tables.operations import Operation

if TYPE_CHECKING:
    from boolcast.routing.policies.registry import BrokerPolicies
    from boolcast.routing.protocol.configuration import Configuration
    from boolcast.routing.protocol.effects import Effect


class NoJournal:
    """The journal of a broker without a disk: nothing is recorded.

    `core.persistence.KeptJournal` records. It is told of each thing that has changed, and looks up
    in the state what to keep of it, or that it is gone.
    """

    def keep_counters(self) -> None:
        """The counters have changed."""

    def keep_advertisement(self, entry: Entry) -> None:
        """An advertisement has come, changed or gone."""

    def keep_subscription(self, entry: Entry) -> None:
        """A subscription has come, changed or gone."""

    def keep_forwarded_advertisement(self, neighbour: Neighbour, name: str) -> None:
        """A neighbour has got an advertisement from us, answered it or lost it."""

    def keep_forwarded_subscription(self, neighbour: Neighbour, name: str) -> None:
        """A neighbour has got a subscription from us, or lost it."""

    def keep_operation(self, operation: Operation) -> None:
        """An operation has begun, advanced or ended."""

    def keep_link(self, neighbour: Neighbour) -> None:
        """The two sides of a link have come further."""

    def take(self) -> "list[Effect]":
        """The records of this step, each key once, in the order of first mention."""
        return []


class State:
    """The tables (F1), the policies, and the journal of a broker."""

    def __init__(
        self,
        broker: BrokerId,
        configuration: "Configuration",
        policies: "BrokerPolicies",
        neighbours: Iterable[BrokerId],
        epoch: int,
        analyser: FilterAnalyser,
    ) -> None:
        self.broker = broker
        self.configuration = configuration
        self.epoch = epoch
        self.analyser = analyser
        self.now = 0.0
        self.effects: list[Effect] = []
        self.journal = NoJournal()
        self.overlap_figures = policies.overlap_figures
        self.propagation = policies.propagation
        self.covering = policies.covering
        self.advertisement_covering = policies.advertisement_covering
        self.reach = policies.reach
        self.wrapping = policies.wrapping
        self.engine = policies.engine
        self.learning = policies.learning
        self.rewriting = policies.rewriting
        self.advertisement_rewriting = policies.advertisement_rewriting
        self.sending = policies.sending
        self.merging = policies.merging
        self.advertisements = Table()
        self.subscriptions = Table()
        self.mergers = Mergers()
        self.constituents = Table()
        """What mergers stand for: kept, but neither matched nor told (R5)."""
        self.link_of: dict[str, BrokerId] = {}
        """The link of each subscription that came over one: what an event needs to know."""
        self.neighbours: dict[BrokerId, Neighbour] = {}
        for link in neighbours:
            self.meet(link)
        self.operations: dict[int, Operation] = {}
        self.awaited: dict[tuple[BrokerId, int], list[Operation]] = {}
        self.number = 0
        self.order = 0
        self.matched = 0
        """How many entries accepted the last event."""
        self.events = 0
        self.is_reviewed = True
        """Whether no subscription of a neighbour has come or gone since the last review."""
        self.reviewed_advertisements: frozenset[str] = frozenset()
        """What was advertised then."""
        self.rewriting_result: Rewritten[SubscriptionId] = Rewritten({}, Knowledge())
        """The result of the last review of subscriptions, and of advertisements."""
        self.advertisement_result: Rewritten[AdvertisementId] = Rewritten({}, Knowledge())
        settings = configuration.policies
        self.next_review = float(settings.reviews.events) if settings.reviews_entries else math.inf
        """The number of events after which entries are reviewed."""

    def meet(self, link: BrokerId) -> Neighbour:
        """The neighbour at the other end of a link, perhaps a new one."""
        known = self.neighbours.get(link)
        if known is None:
            known = Neighbour(link, self.covering.told, self.advertisement_covering.told)
            self.neighbours[link] = known
        return known

    def others(self, link: BrokerId | None) -> list[Neighbour]:
        """The open neighbours, but for the one at that link."""
        return [each for each in self.neighbours.values() if each.is_open and each.link != link]

    def next_number(self) -> int:
        """A number that this broker has not used before."""
        self.number += 1
        self.journal.keep_counters()
        return self.number

    def next_order(self) -> int:
        """A number above that of all entries."""
        self.order += 1
        self.journal.keep_counters()
        return self.order

    def new_id(self) -> str:
        """An id that nobody in the network has used before."""
        return f"{self.broker}:{self.epoch}:{self.next_number()}"

    def is_own_id(self, identifier: str) -> bool:
        """True of every id that this broker gives or ever gave: no neighbour may use it.

        In a tree, nothing that a broker said ever comes back to it.
        """
        return _maker(identifier) == self.broker

    def foreign_owner(self, link: BrokerId, identifier: str) -> BrokerId | None:
        """The neighbour that gave this id, if it is not the one at the link, which may not use it.

        An id of a broker further off is believed from the link over which it comes first, because
        nothing here tells behind which link that broker is.
        """
        maker = BrokerId(_maker(identifier))
        return maker if maker != link and maker in self.neighbours else None

    def is_ghost(self, subscription: str) -> bool:
        """True if nobody asks for it any more and a neighbour was left with it (P4-B6)."""
        held = (each.forwarded.get(subscription) for each in self.neighbours.values())
        return any(each is not None and each.is_ghost for each in held)

    def index(self, entry: Entry) -> None:
        """Match a subscription from now on."""
        self.subscriptions.add(entry)
        self.propagation.add_subscription(entry)
        self.advertisement_rewriting.note_subscriptions()
        self.engine.add(entry.id, entry.analysed.filter)
        if entry.sent is not entry.analysed:
            # The next review reports the statistics by which it was pruned.
            self.is_reviewed = False
        if entry.link is not None:
            self.is_reviewed = False
            self.link_of[entry.id] = entry.link
            self.rewriting.add(SubscriptionId(entry.id), entry.analysed.filter, entry.link)

    def unindex(self, entry: Entry) -> None:
        """Match a subscription no longer."""
        self.subscriptions.remove(entry)
        self.propagation.remove_subscription(entry)
        self.advertisement_rewriting.note_subscriptions()
        self.engine.remove(entry.id)
        if entry.link is not None:
            self.is_reviewed = False
            del self.link_of[entry.id]
            self.rewriting.remove(SubscriptionId(entry.id))

    def index_advertisement(self, entry: Entry) -> None:
        """Let an advertisement say where subscriptions go from now on."""
        self.advertisements.add(entry)
        self.propagation.add_advertisement(entry)
        if _may_be_pruned(entry):
            self.advertisement_rewriting.add(AdvertisementId(entry.id), entry.analysed.filter)

    def unindex_advertisement(self, entry: Entry) -> None:
        """Let an advertisement say so no longer."""
        self.advertisements.remove(entry)
        self.propagation.remove_advertisement(entry)
        if _may_be_pruned(entry):
            self.advertisement_rewriting.remove(AdvertisementId(entry.id))

    def held(self, advertisement: Entry) -> AnalysedFilter:
        """The filter that overlaps are tested with, perhaps a pruned one (R8)."""
        rewritten = self.advertisement_rewriting.rewritten.get(AdvertisementId(advertisement.id))
        return advertisement.analysed if rewritten is None else self.analyser.analyse(rewritten)

    def known(self, subscription: str) -> Entry | None:
        """The subscription of that id, perhaps one that a merger stands for."""
        return self.subscriptions.get(subscription) or self.constituents.get(subscription)

    def told_filter(self, neighbour: Neighbour, subscription: str) -> AnalysedFilter:
        """The filter by which a neighbour must know a subscription, perhaps a ghost (R3)."""
        entry = self.subscriptions.get(subscription)
        return neighbour.forwarded[subscription].analysed if entry is None else entry.sent

    def wanted_filter(self, neighbour: Neighbour, subscription: str) -> AnalysedFilter:
        """The original filter where it is known, and else what the neighbour was told (R8)."""
        entry = self.subscriptions.get(subscription)
        return neighbour.forwarded[subscription].analysed if entry is None else entry.analysed

    def advertisements_from(self, link: BrokerId) -> dict[str, Entry]:
        """What was advertised over a link."""
        return self.advertisements.by_link.get(link, {})


def _may_be_pruned(advertisement: Entry) -> bool:
    """True of those of neighbours, unless nothing satisfies them: pruned, something might."""
    return advertisement.link is not None and not advertisement.analysed.is_never


def _maker(identifier: str) -> str:
    """The broker that gave an id; its name is part of the id (decision 20)."""
    return identifier.rpartition(":")[0].rpartition(":")[0]
