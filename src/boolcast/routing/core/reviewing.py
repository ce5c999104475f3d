"""After a number of events the broker reviews its entries of neighbours: it merges, then rewrites.

Reviews are counted in events, so that the same stimuli lead to the same effects, and so that a
counting engine has something to learn from. Merging comes first, because a rewritten filter is for
matching only (R4). Advertisements of neighbours come last, because what they rule out depends on
the subscriptions. If nothing has come or gone, newer statistics may still show that a budget is
overspent; only then entries are rewritten anew. Clients never notice a review.
"""

from itertools import chain

from boolcast.model.identifiers import AdvertisementId, BrokerId, SubscriptionId
from boolcast.optimising.merging.mergers import Merger
from boolcast.optimising.statistics.selectivities import Knowledge, Selectivities
from boolcast.routing.core.forwarding import (
    install_subscription,
    take_apart,
    withdraw,
    withdraw_unneeded,
)
from boolcast.routing.core.outgoing import begin, new_operation
from boolcast.routing.core.state import State
from boolcast.routing.protocol.effects import ReviewReport
from boolcast.routing.rewriting.merging import Situation
from boolcast.routing.rewriting.post_pruning import Rewritten
from boolcast.routing.tables.entries import Entry


def review(state: State) -> None:
    """Learn selectivities, merge, rewrite, and tell the operator what came of it."""
    state.next_review = state.events + state.configuration.policies.reviews.events
    has_news = state.merging.asks_for_advertisements and _has_news(state)
    has_changed = has_news or not state.is_reviewed
    advertisements = state.advertisement_rewriting
    if not has_changed and not advertisements.has_news and not state.learning.has_news:
        return
    entries = state.subscriptions.entries
    selectivities = state.learning.learn(
        chain(
            (entries[name].analysed.filter for name in state.rewriting.rewritten),
            (entry.analysed.filter for entry in state.constituents),
        )
    )
    if has_news:
        _look_again(state, selectivities)
    if has_changed:
        _merge(state, selectivities)
    is_rewritten = has_changed or state.rewriting.is_overspent(selectivities)
    if is_rewritten:
        state.rewriting_result = state.rewriting.rewrite(selectivities)
        for name, filter in state.rewriting_result.changed.items():
            state.engine.add(name, filter)
    is_pruned = advertisements.is_due(state.subscriptions, selectivities)
    if is_pruned:
        state.advertisement_result = _prune_advertisements(state, selectivities)
    state.is_reviewed = True
    if is_rewritten or is_pruned:
        state.effects.append(_report(state, selectivities))


def _report(state: State, selectivities: Selectivities) -> ReviewReport:
    advertisements = state.advertisement_rewriting
    return ReviewReport(
        entries=len(state.link_of),
        rewritten=len(state.rewriting.rewritten),
        removed=state.rewriting.removed(),
        false_positives=state.rewriting.spent(selectivities),
        mergers=len(state.mergers),
        constituents=len(state.constituents),
        knowledge=_knowledge(state, selectivities),
        problem=state.rewriting_result.problem,
        missed=state.rewriting_result.missed,
        pruned_advertisements=len(advertisements.rewritten),
        removed_from_advertisements=advertisements.removed(),
        lost_rank=advertisements.lost(state.subscriptions, selectivities),
        advertisement_problem=state.advertisement_result.problem,
        missed_by_advertisements=state.advertisement_result.missed,
    )


def _has_news(state: State) -> bool:
    """Whether other advertisements are known than at the last review."""
    former, state.reviewed_advertisements = (
        state.reviewed_advertisements,
        frozenset(state.advertisements.entries),
    )
    return former != state.reviewed_advertisements


def _knowledge(state: State, selectivities: Selectivities) -> Knowledge:
    """How well the predicates are known by which entries were rewritten, or merged and sent."""
    known = state.rewriting_result.knowledge
    if known.predicates:
        return known
    return selectivities.knowledge(entry.analysed.filter for entry in state.subscriptions)


def _prune_advertisements(state: State, selectivities: Selectivities) -> Rewritten[AdvertisementId]:
    """Hold advertisements of neighbours pruned, and withdraw what none calls for now.

    What begins to overlap only by that is not told afterwards (P3-B9).
    """
    rewriting = state.advertisement_rewriting.review(state.subscriptions, selectivities)
    links: dict[BrokerId, None] = {}
    for name, filter in rewriting.changed.items():
        entry = state.advertisements.entries[name]
        assert entry.link is not None
        state.propagation.hold_advertisement(entry, state.analyser.analyse(filter))
        state.journal.keep_advertisement(entry)
        links[entry.link] = None
    if rewriting.may_narrow:
        for link in links:
            withdraw_unneeded(state, state.neighbours[link])
    return rewriting


def _situation(state: State, link: BrokerId, selectivities: Selectivities) -> Situation:
    return Situation(
        link=link,
        entries={
            SubscriptionId(entry.id): entry.analysed.filter
            for entry in state.subscriptions.of_link(link)
            if entry.id not in state.mergers
        },
        mergers={each.id: each for each in state.mergers if state.link_of[each.id] == link},
        selectivities=selectivities,
        # An event that comes from there does not go back.
        advertisements=[
            entry.analysed.filter for entry in state.advertisements if entry.link != link
        ],
        new_id=state.new_id,
    )


def _look_again(state: State, selectivities: Selectivities) -> None:
    """Take mergers apart that have become too imperfect (P2-E15)."""
    for link in state.neighbours:
        situation = _situation(state, link, selectivities)
        for merger in state.merging.unfit(situation):
            removal = new_operation(state)
            take_apart(state, state.mergers.cancel(merger), None, removal)
            begin(state, removal)


def _merge(state: State, selectivities: Selectivities) -> None:
    for link in state.neighbours:
        for merger in state.merging.propose(_situation(state, link, selectivities)):
            _put_in_place(state, link, merger)


def _put_in_place(state: State, link: BrokerId, merger: Merger) -> None:
    """Tell a merger, then withdraw what it stands for and set that aside (P2-B10, R2, R5)."""
    exchange = state.mergers.add(merger)
    if exchange.forward:
        install_subscription(
            state,
            Entry(merger.id, state.analyser.analyse(merger.filter), state.next_order(), link=link),
        )
    else:
        state.journal.keep_subscription(state.subscriptions.entries[merger.id])
    for name in exchange.withdraw:
        entry = state.subscriptions.entries[name]
        state.unindex(entry)
        if name in merger.constituents:
            entry.order = state.next_order()
            state.constituents.add(entry)
        state.journal.keep_subscription(entry)
    for neighbour in state.others(link):
        told = [name for name in exchange.withdraw if name in neighbour.subscriptions]
        withdraw(state, neighbour, told)
