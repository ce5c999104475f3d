"""All that a broker remembers, and the effects of the step that it is in.

The modules that act (`advertising`, `subscribing`, `acknowledging`, `publishing`,
`synchronising`, `clients`) are functions over this; `broker` says which stimulus calls which.
"""

import math
from collections.abc import Iterable
from functools import partial
from typing import Protocol

from boolcast.errors import ProtocolError
from boolcast.filters.expressions import Filter
from boolcast.matching.relations.analysed_filters import AnalysedFilter, FilterAnalyser
from boolcast.model.events import Event
from boolcast.model.identifiers import AdvertisementId, BrokerId, ClientId, SubscriptionId
from boolcast.model.statistics import Statistics
from boolcast.optimising.merging.mergers import Mergers
from boolcast.optimising.statistics.selectivities import Knowledge
from boolcast.routing.core.neighbours import Neighbour
from boolcast.routing.persistence.journal import Journal, KeptJournal, NoJournal
from boolcast.routing.policies.registry import (
    ADVERTISEMENT_REWRITING,
    COVERING,
    COVERING_TESTS,
    ENGINES,
    MERGING,
    OVERLAPS,
    PROPAGATION,
    REWRITING,
    SENDING,
    UNSUBSCRIPTION,
)
from boolcast.routing.protocol.configuration import Configuration
from boolcast.routing.protocol.effects import Complain, Effect, Send
from boolcast.routing.protocol.messages import Message
from boolcast.routing.protocol.records import CounterRecord
from boolcast.routing.rewriting.post_pruning import Rewritten
from boolcast.routing.rewriting.selectivity_source import learning
from boolcast.routing.tables.entries import Entry, Table
from boolcast.routing.tables.overlaps import OverlapCounts


class EntryEngine(Protocol):
    """What a broker asks of a match engine; every `matching.inputs.protocol.Engine` will do."""

    def add(self, subscription: str, filter: Filter) -> None: ...

    def remove(self, subscription: str) -> None: ...

    def __len__(self) -> int: ...

    def match(self, event: Event) -> list[str]: ...


class Operation:
    """An advertisement or a removal on its way: who has yet to acknowledge it, who waits for that.

    A neighbour waits with the number that it gave, a client with the name of its subscription.
    `advertisement` is the id of the one whose acknowledgement is awaited, if it is just that.
    """

    def __init__(self, key: int, deadline: float) -> None:
        self.key = key
        self.deadline = deadline
        self.awaited: dict[tuple[BrokerId, int], None] = {}
        self.waiting: list[tuple[BrokerId, int]] = []
        self.client: ClientId | None = None
        self.name = ""
        self.advertisement = ""


class State:
    """The tables (F1), the policies, and the journal of a broker."""

    def __init__(
        self,
        broker: BrokerId,
        configuration: Configuration,
        neighbours: Iterable[BrokerId],
        epoch: int,
        analyser: FilterAnalyser,
        engine: EntryEngine | None = None,
        statistics: Statistics | None = None,
    ) -> None:
        self.broker = broker
        self.configuration = configuration
        self.epoch = epoch
        self.analyser = analyser
        self.now = 0.0
        self.effects: list[Effect] = []
        self.journal: Journal = KeptJournal() if configuration.durable else NoJournal()
        policies = configuration.policies
        self.overlap_figures = OverlapCounts()
        self.propagation = PROPAGATION[policies.propagation.kind](
            partial(OVERLAPS[policies.propagation.overlap], analyser, self.overlap_figures)
        )
        coverings = partial(COVERING_TESTS[policies.covering.test], policies.covering, analyser)
        self.covering = COVERING[policies.covering.kind](coverings)
        self.advertisement_covering = COVERING[policies.covering.advertisements](coverings)
        unsubscription = UNSUBSCRIPTION[policies.unsubscription.kind]
        self.reach = unsubscription.reach(policies.unsubscription)
        self.wrapping = unsubscription.wrapping()
        self.engine: EntryEngine = ENGINES[configuration.engine]() if engine is None else engine
        self.learning = learning(configuration, statistics, self.engine)
        self.rewriting = REWRITING[policies.rewriting.kind](configuration)
        self.advertisement_rewriting = ADVERTISEMENT_REWRITING[
            policies.advertisement_rewriting.kind
        ](policies)
        self.sending = SENDING[policies.sending.kind](policies.sending)
        self.merging = MERGING[policies.merging.kind](policies.merging)
        self.advertisements = Table()
        self.subscriptions = Table()
        self.mergers = Mergers()
        self.constituents = Table()
        """What mergers stand for: kept and neither matched nor told (R5)."""
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
        """How many entries accepted the last event: for who counts costs."""
        self.events = 0
        self.is_reviewed = True
        """Whether no subscription of a neighbour has come or gone since the last review."""
        self.reviewed_advertisements: frozenset[str] = frozenset()
        """What was advertised then."""
        self.rewriting_result: Rewritten[SubscriptionId] = Rewritten({}, Knowledge())
        """What the last review of subscriptions came to, and that of advertisements."""
        self.advertisement_result: Rewritten[AdvertisementId] = Rewritten({}, Knowledge())
        self.next_review = float(policies.reviews.events) if policies.reviews_entries else math.inf
        """The number of events after which entries are reviewed."""

    def meet(self, link: BrokerId) -> Neighbour:
        """The neighbour at the other end of a link, perhaps a new one."""
        known = self.neighbours.get(link)
        if known is None:
            known = Neighbour(link, self.covering, self.advertisement_covering)
            self.neighbours[link] = known
        return known

    def others(self, link: BrokerId | None) -> list[Neighbour]:
        """The neighbours that are told things, but for the one at that link."""
        return [each for each in self.neighbours.values() if each.is_open and each.link != link]

    def next_number(self) -> int:
        """A number that this broker has not used before."""
        self.number += 1
        self._keep_counters()
        return self.number

    def next_order(self) -> int:
        """A number above that of all entries."""
        self.order += 1
        self._keep_counters()
        return self.order

    def _keep_counters(self) -> None:
        self.journal.put("counter", CounterRecord(self.number, self.order))

    def new_id(self) -> str:
        """An id that nobody in the network has used before."""
        return f"{self.broker}:{self.epoch}:{self.next_number()}"

    def is_own_id(self, identifier: str) -> bool:
        """True of the ids that this broker gives, gave or may give one day: no neighbour's to use.

        In a tree what a broker said never comes back to it.
        """
        return _maker(identifier) == self.broker

    def rival(self, link: BrokerId, identifier: str) -> BrokerId | None:
        """The neighbour that gave this id, if not the one at the link: it is not theirs to use.

        An id of a broker further off is believed from wherever it comes first, because nothing
        here tells behind which link that broker is.
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
        self.engine.add(entry.id, entry.form.filter)
        if entry.sent is not entry.form:
            # What it was chosen by is told with the next review.
            self.is_reviewed = False
        if entry.link is not None:
            self.is_reviewed = False
            self.link_of[entry.id] = entry.link
            self.rewriting.add(SubscriptionId(entry.id), entry.form.filter, entry.link)

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
            self.advertisement_rewriting.add(AdvertisementId(entry.id), entry.form.filter)

    def unindex_advertisement(self, entry: Entry) -> None:
        """Let an advertisement say nothing any longer."""
        self.advertisements.remove(entry)
        self.propagation.remove_advertisement(entry)
        if _may_be_pruned(entry):
            self.advertisement_rewriting.remove(AdvertisementId(entry.id))

    def held_form(self, advertisement: Entry) -> AnalysedFilter:
        """The form in which an advertisement is asked for overlaps, perhaps a pruned one (R8)."""
        rewritten = self.advertisement_rewriting.rewritten.get(AdvertisementId(advertisement.id))
        return advertisement.form if rewritten is None else self.form(rewritten)

    def known(self, subscription: str) -> Entry | None:
        """The subscription of that id, perhaps one that a merger stands for."""
        return self.subscriptions.get(subscription) or self.constituents.get(subscription)

    def form_of(self, neighbour: Neighbour, subscription: str) -> AnalysedFilter:
        """The form in which a neighbour must know a subscription, perhaps a ghost (R3)."""
        entry = self.subscriptions.get(subscription)
        return neighbour.forwarded[subscription].form if entry is None else entry.sent

    def wanted_form(self, neighbour: Neighbour, subscription: str) -> AnalysedFilter:
        """What is wanted of a neighbour: the original where it is known (R8)."""
        entry = self.subscriptions.get(subscription)
        return neighbour.forwarded[subscription].form if entry is None else entry.form

    def advertisements_from(self, link: BrokerId) -> dict[str, Entry]:
        """What was advertised over a link."""
        return self.advertisements.by_link.get(link, {})

    def send(self, link: BrokerId, message: Message) -> None:
        """Send a message to a neighbour."""
        self.effects.append(Send(link, message))

    def complain(self, link: BrokerId, problem: str) -> None:
        """Tell a neighbour that it broke the protocol."""
        self.effects.append(Complain(link, ProtocolError(problem)))

    def form(self, filter: Filter) -> AnalysedFilter:
        """The form of a filter."""
        return self.analyser.analyse(filter)


def _may_be_pruned(advertisement: Entry) -> bool:
    """True of those of neighbours, unless nothing satisfies them: pruned, something might."""
    return advertisement.link is not None and not advertisement.form.is_never


def _maker(identifier: str) -> str:
    """The broker that gave an id; it is part of it (decision 20)."""
    return identifier.rpartition(":")[0].rpartition(":")[0]
