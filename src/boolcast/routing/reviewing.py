"""After so many events, the entries of neighbours are looked at anew: merged, then rewritten.

The moment is counted in events, so that the same stimuli lead to the same effects, and so that
an engine that counts has something to tell. Merging comes first, because a rewritten form is
good for matching only (R4). Advertisements of neighbours come last, because what they rule out
depends on the subscriptions. Nothing of this can be seen in what clients get.
"""

from boolcast.model.identifiers import AdvertisementId, BrokerId, SubscriptionId
from boolcast.optimising.mergers import Merger
from boolcast.optimising.selectivities import Knowledge, Selectivities
from boolcast.routing.advertising import withdraw_unneeded
from boolcast.routing.effects import Report
from boolcast.routing.keeping import keep_advertisement, keep_subscription
from boolcast.routing.post_pruning import Rewriting
from boolcast.routing.state import State
from boolcast.routing.subscribing import install, withdraw
from boolcast.routing.tables import Entry


def review(state: State) -> None:
    """Learn selectivities, merge, rewrite, and tell the operator what came of it."""
    state.next_review = state.events + state.configuration.review_events
    entries = state.subscriptions.entries
    selectivities = state.learning.learn(
        entries[name].form.filter for name in state.rewriting.rewritten
    )
    if state.is_reviewed and state.advertisement_rewriting.is_reviewed:
        return
    if not state.is_reviewed:
        _merge(state, selectivities)
        state.rewriting_result = state.rewriting.rewrite(selectivities)
        for name, filter in state.rewriting_result.changed.items():
            state.engine.add(name, filter)
    if not state.advertisement_rewriting.is_reviewed:
        state.advertisement_result = _prune_advertisements(state, selectivities)
    state.is_reviewed = True
    rewriting, advertisements = state.rewriting_result, state.advertisement_result
    state.effects.append(
        Report(
            entries=len(state.link_of),
            rewritten=len(state.rewriting.rewritten),
            removed=state.rewriting.removed(),
            false_positives=rewriting.cost,
            mergers=len(state.mergers),
            constituents=len(state.constituents),
            knowledge=_knowledge(state, selectivities),
            problem=rewriting.problem,
            pruned_advertisements=len(state.advertisement_rewriting.rewritten),
            removed_from_advertisements=state.advertisement_rewriting.removed(),
            lost_rank=advertisements.cost,
            advertisement_problem=advertisements.problem,
        )
    )


def _knowledge(state: State, selectivities: Selectivities) -> Knowledge:
    """How well the predicates are known by which entries were rewritten, or merged and sent."""
    known = state.rewriting_result.knowledge
    if known.predicates:
        return known
    return selectivities.knowledge(entry.form.filter for entry in state.subscriptions)


def _prune_advertisements(state: State, selectivities: Selectivities) -> Rewriting[AdvertisementId]:
    """Hold advertisements of neighbours in another form, and withdraw what none calls for now.

    What begins to overlap only by that is not told afterwards (P3-B9).
    """
    rewriting = state.advertisement_rewriting.review(state.subscriptions, selectivities)
    links: dict[BrokerId, None] = {}
    for name, filter in rewriting.changed.items():
        entry = state.advertisements.entries[name]
        assert entry.link is not None
        state.propagation.hold_advertisement(entry, state.form(filter))
        keep_advertisement(state, entry)
        links[entry.link] = None
    if rewriting.may_narrow:
        for link in links:
            withdraw_unneeded(state, state.neighbours[link])
    return rewriting


def _merge(state: State, selectivities: Selectivities) -> None:
    for link in state.neighbours:
        entries = {
            SubscriptionId(entry.id): entry.form.filter
            for entry in state.subscriptions.of_link(link)
            if entry.id not in state.mergers
        }
        for merger in state.merging.propose(link, entries, selectivities, state.new_id):
            _put_in_place(state, link, merger)


def _put_in_place(state: State, link: BrokerId, merger: Merger) -> None:
    """Tell a merger, then withdraw what it stands for and set that aside (P2-B10, R2, R5)."""
    state.mergers.add(merger)
    install(state, Entry(merger.id, state.form(merger.filter), state.next_order(), link=link))
    constituents = [state.subscriptions.entries[name] for name in merger.constituents]
    for entry in constituents:
        state.let_go(entry)
        entry.order = state.next_order()
        state.constituents.add(entry)
        keep_subscription(state, entry)
    for neighbour in state.others(link):
        told = [each.id for each in constituents if each.id in neighbour.subscriptions]
        withdraw(state, neighbour, told)
