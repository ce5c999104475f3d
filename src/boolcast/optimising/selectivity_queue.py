"""Post-pruning: many entries, the pruning that costs least first (P1-B7).

The queue holds the best pruning of each entry. One is done, and the entry's next best takes its
place, until the entry is exhausted. Entries are removed by their ids, and nothing else happens
then (P1-B10). Only the pruned form of an entry is kept: what for would memory be saved.

Give it entries that came from neighbours and no others (R1). A pruned form is private to the
broker that made it: it must not keep other subscriptions from being forwarded.
"""

from collections.abc import Iterator
from functools import partial
from heapq import heapify, heappop, heappush
from typing import NamedTuple

import msgspec

from boolcast.errors import UnknownSubscriptionError
from boolcast.filters.expressions import Filter
from boolcast.model.identifiers import SubscriptionId
from boolcast.optimising.changes import ChangePolicy, Regardless
from boolcast.optimising.estimates import AnyOf
from boolcast.optimising.selectivities import Knowledge, Selectivities
from boolcast.optimising.stopping import Operations, Standing, StoppingRule, cut_off
from boolcast.optimising.trees import Pruning, Tree, best_pruning, floor, prepared, pruned


class PruningRun(msgspec.Struct, frozen=True, kw_only=True):
    """What a run of prunings did.

    `floor` is a number of predicates below which no pruning could have gone. `changed` are the
    new forms of the entries that were pruned. `stopped_by` is the rule that
    ended it; None: nothing was left to prune. `knowledge` is about the predicates of all
    entries before the run.
    """

    before: Standing
    after: Standing
    floor: int
    changed: dict[SubscriptionId, Filter]
    stopped_by: StoppingRule | None
    knowledge: Knowledge

    def __str__(self) -> str:
        removed = self.before.predicates - self.after.predicates
        end = "nothing is left to prune" if self.stopped_by is None else f"{self.stopped_by}"
        return (
            f"{self.after.operations:,} prunings removed {removed:,} of"
            f" {self.before.predicates:,} predicates and let an expected"
            f" {self.after.false_positives:.2%} of events pass for nothing; stopped: {end};"
            f" {self.knowledge}"
        )


class _Entry(NamedTuple):
    """An entry as it is now, its best pruning, and by what both were estimated.

    `original_average` is the average share that was estimated when it came, `average` that and
    what each pruning added to it, estimated at the time.
    """

    tree: Tree
    pruning: Pruning | None
    estimated_by: Selectivities
    original_average: float
    average: float
    ticket: int


class _Queued(NamedTuple):
    """A place in the queue; `ticket` tells whether it is still the entry's last one."""

    degradation: float
    removed: int
    position: int
    subscription: SubscriptionId
    ticket: int


class SelectivityQueue:
    """Entries by id, and what to prune next.

    Every step computes with the selectivities of its time; `learn` brings newer ones, and the
    policy of change says what becomes of what is queued.
    """

    def __init__(self, selectivities: Selectivities, change: ChangePolicy | None = None) -> None:
        self._selectivities = selectivities
        self._change: ChangePolicy = change or Regardless()
        self._entries: dict[SubscriptionId, _Entry] = {}
        self._heap: list[_Queued] = []
        self._tickets = 0
        self._now = AnyOf()
        self._originally = AnyOf()
        self._predicates = 0

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, subscription: SubscriptionId) -> bool:
        return subscription in self._entries

    def __iter__(self) -> Iterator[SubscriptionId]:
        return iter(self._entries)

    def add(self, subscription: SubscriptionId, filter: Filter) -> None:
        """Take up an entry, or replace it: then what was pruned from the old one is forgotten."""
        if subscription in self._entries:
            self.remove(subscription)
        tree = Tree.of(prepared(filter), self._selectivities)
        self._put(subscription, tree, best_pruning(tree), *[tree.estimate.average] * 2)

    def remove(self, subscription: SubscriptionId) -> None:
        """Forget an entry (P1-B10). Raises UnknownSubscriptionError."""
        self._book(self._entry(subscription), -1)
        del self._entries[subscription]
        # What is queued in vain must not outgrow what is queued.
        if len(self._heap) > 2 * len(self._entries) + 64:
            self._heap = [queued for queued in self._heap if self._is_valid(queued)]
            heapify(self._heap)

    def filter_of(self, subscription: SubscriptionId) -> Filter:
        """The entry as it is now, in negation normal form. Raises UnknownSubscriptionError."""
        return self._entry(subscription).tree.node

    def learn(self, selectivities: Selectivities) -> None:
        """Use newer selectivities from now on."""
        self._selectivities = selectivities

    def top(self) -> tuple[SubscriptionId, float] | None:
        """The first entry and the degradation stored with it; None if nothing can be pruned."""
        self._clean()
        return (self._heap[0].subscription, self._heap[0].degradation) if self._heap else None

    def standing(self, operations: int = 0) -> Standing:
        """How things stand now; the number of operations is the caller's."""
        return Standing(
            operations=operations,
            predicates=self._predicates,
            share=self._now.share(),
            original_share=self._originally.share(),
        )

    def prune(self, *rules: StoppingRule) -> PruningRun:
        """Prune until a rule says no or nothing is left to prune.

        Costs a pass over all entries, and for each operation the size of a tree times its depth:
        ask for many operations at once rather than for one many times. Raises
        PruningTargetError, before anything is pruned, if a rule asks for what no pruning can
        give.
        """
        before = at = self.standing()
        lowest = sum(floor(entry.tree) for entry in self._entries.values())
        for rule in rules:
            rule.check(lowest)
        knowledge = self._selectivities.knowledge(e.tree.node for e in self._entries.values())
        changed: dict[SubscriptionId, Filter] = {}
        stopped_by: StoppingRule | None = None
        while (subscription := self._next()) is not None:
            whole = self._entries[subscription]
            self._shorten(subscription)
            after = self.standing(at.operations + 1)
            stopped_by = next((rule for rule in rules if not rule.admits(at, after)), None)
            if stopped_by is not None:
                self._put(subscription, *whole[:2], *whole[3:5], by=whole.estimated_by)
                break
            at = after
            changed[subscription] = self.filter_of(subscription)
        return PruningRun(
            before=before,
            after=at,
            floor=lowest,
            changed=changed,
            stopped_by=stopped_by,
            knowledge=knowledge,
        )

    def forecast(self) -> list[float]:
        """The expected share of matching events after 0, 1, 2, … prunings, until none is left.

        Prunes a copy of all entries, by the selectivities of now, and costs as much as that.
        """
        copy = SelectivityQueue(self._selectivities)
        for subscription, entry in self._entries.items():
            copy.add(subscription, entry.tree.node)
        shares = [copy.standing().share]
        while (cheapest := copy._next()) is not None:
            copy._shorten(cheapest)
            shares.append(copy.standing().share)
        return shares

    def cut_off(self) -> Operations:
        """The rule that stops at the cut-off, as far as a forecast can tell where it is."""
        return Operations(cut_off(self.forecast()))

    def _entry(self, subscription: SubscriptionId) -> _Entry:
        entry = self._entries.get(subscription)
        if entry is None:
            raise UnknownSubscriptionError(subscription)
        return entry

    def _put(
        self,
        subscription: SubscriptionId,
        tree: Tree,
        pruning: Pruning | None,
        original_average: float,
        average: float,
        *,
        by: Selectivities | None = None,
    ) -> None:
        """Make this the entry of that id, and queue its pruning."""
        former = self._entries.get(subscription)
        if former is not None:
            self._book(former, -1)
        self._tickets += 1
        ticket = self._tickets
        entry = _Entry(tree, pruning, by or self._selectivities, original_average, average, ticket)
        self._entries[subscription] = entry
        self._book(entry, +1)
        if pruning is not None:
            heappush(self._heap, _Queued(*pruning[:3], subscription, ticket))

    def _book(self, entry: _Entry, count: int) -> None:
        self._now.add(entry.average, count)
        self._originally.add(entry.original_average, count)
        self._predicates += count * entry.tree.predicates

    def _shorten(self, subscription: SubscriptionId) -> None:
        """Do the entry's best pruning."""
        entry = self._estimated_anew(self._entries[subscription])
        # The one that is queued, even if another would be chosen by now.
        pruning = self._entries[subscription].pruning
        assert pruning is not None
        shorter = pruned(entry.tree, pruning)
        growth = max(shorter.estimate.average - entry.tree.estimate.average, 0.0)
        average = min(entry.average + growth, 1.0)
        self._put(subscription, shorter, best_pruning(shorter), entry.original_average, average)

    def _estimated_anew(self, entry: _Entry) -> _Entry:
        """The entry by the selectivities of now."""
        if entry.estimated_by is self._selectivities:
            return entry
        tree = Tree.of(entry.tree.node, self._selectivities)
        return entry._replace(
            tree=tree, pruning=best_pruning(tree), estimated_by=self._selectivities
        )

    def _next(self) -> SubscriptionId | None:
        """The entry to prune, taken from the queue; those not trusted any more go back."""
        while True:
            self._clean()
            if not self._heap:
                return None
            queued = heappop(self._heap)
            self._clean()
            following = self._heap[0].degradation if self._heap else None
            if self._change.trusts(
                queued.degradation, partial(self._look_again, queued.subscription), following
            ):
                return queued.subscription
            entry = self._entries[queued.subscription]
            self._put(queued.subscription, *entry[:2], *entry[3:5])

    def _look_again(self, subscription: SubscriptionId) -> float:
        """The degradation of the entry's best pruning by the selectivities of now."""
        entry = self._entries[subscription] = self._estimated_anew(self._entries[subscription])
        assert entry.pruning is not None
        return entry.pruning.degradation

    def _is_valid(self, queued: _Queued) -> bool:
        entry = self._entries.get(queued.subscription)
        return entry is not None and entry.ticket == queued.ticket

    def _clean(self) -> None:
        while self._heap and not self._is_valid(self._heap[0]):
            heappop(self._heap)
