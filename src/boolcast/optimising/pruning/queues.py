"""Post-pruning: prune many entries, the cheapest pruning first (P1-B7, P3-B8).

A queue holds the best pruning of each entry. It does the cheapest one, and queues the next best of
that entry, until the entry is exhausted. Removing an entry by its id has no further consequences
(P1-B10). A measure says what is best, so the same queue serves subscriptions and advertisements.

Add only entries that came from neighbours (R1). A pruned entry is private to the broker that made
it: it must not keep other subscriptions from being forwarded, and the publisher's broker checks
events by the original advertisement (P3-B9).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from heapq import heapify, heappop, heappush
from typing import Generic, NamedTuple, Protocol, TypeVar

import msgspec

from boolcast.errors import InputError, UnknownAdvertisementError, UnknownSubscriptionError
from boolcast.filters.expressions import Filter
from boolcast.model.identifiers import AdvertisementId, SubscriptionId
from boolcast.optimising.pruning.changes import ChangePolicy, Regardless
from boolcast.optimising.pruning.overlap_ranks import OverlapRanks
from boolcast.optimising.pruning.stopping import (
    LostRank,
    MatchingShare,
    MissedTarget,
    Operations,
    Standing,
    StoppingRule,
    Tally,
    cut_off,
    missed_target,
)
from boolcast.optimising.pruning.trees import (
    Measure,
    Pruning,
    Tree,
    best_pruning,
    estimated,
    floor,
    prepared,
    pruned,
)
from boolcast.optimising.statistics.selectivities import Knowledge, Selectivities

Name = TypeVar("Name", bound=str)


class LearntMeasure(Measure, Protocol):
    """A measure from statistics that says how well they fit."""

    def knowledge(self, filters: Iterable[Filter]) -> Knowledge:
        """How well the predicates are known that decide about these filters."""


M = TypeVar("M", bound=LearntMeasure)


class PruningRun(msgspec.Struct, Generic[Name], frozen=True, kw_only=True):
    """What a run of prunings did.

    `floor` is a lower bound for the predicates that pruning leaves. `changed` has the pruned
    entries. `stopped_by` is the rule that ended the run, None if nothing was left to prune.
    `missed` is the memory target if it was not reached. `knowledge` is about the predicates of
    all entries before the run.
    """

    before: Standing
    after: Standing
    floor: int
    changed: dict[Name, Filter]
    stopped_by: StoppingRule | None
    missed: MissedTarget | None
    knowledge: Knowledge

    def __str__(self) -> str:
        removed = self.before.predicates - self.after.predicates
        end = "nothing is left to prune" if self.stopped_by is None else f"{self.stopped_by}"
        missed = "" if self.missed is None else f"{self.missed}; "
        return (
            f"{self.after.operations:,} prunings removed {removed:,} of"
            f" {self.before.predicates:,} predicates and {self.after.cost()}; stopped: {end};"
            f" {missed}{self.knowledge}"
        )


class _Entry(NamedTuple):
    """An entry as it is now, its best pruning, and the measure that estimated both.

    `original` is the entry as it came. Its average and the current one are by the newest measure,
    even if the tree is by an older one.
    """

    tree: Tree
    pruning: Pruning | None
    estimated_by: Measure
    destination: str
    original: Filter
    original_average: float
    average: float
    ticket: int = 0


class _Queued(NamedTuple, Generic[Name]):
    """An item of the heap; it is valid if `ticket` is still that of the entry."""

    degradation: float
    removed: int
    position: int
    name: Name
    ticket: int


class PruningQueue(Generic[Name, M]):
    """Entries by id, and what to prune next.

    `learn` brings a newer measure, and the change policy decides about prunings that were queued
    by the old one. `standing` always uses the newest.
    """

    def __init__(
        self,
        measure: M,
        change: ChangePolicy | None,
        *,
        tally: Callable[[], Tally],
        unknown: Callable[[Name], InputError],
    ) -> None:
        self._measure = measure
        self._change: ChangePolicy = change or Regardless()
        self._new_tally = tally
        self._unknown = unknown
        self._entries: dict[Name, _Entry] = {}
        self._heap: list[_Queued[Name]] = []
        self._tickets = 0
        self._tally = tally()
        self._predicates = 0

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, name: Name) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[Name]:
        return iter(self._entries)

    def add(self, name: Name, filter: Filter, destination: str = "") -> None:
        """Add an entry, or replace it and forget what was pruned.

        `destination` says where matching events go, such as a neighbour.
        """
        if name in self._entries:
            self.remove(name)
        tree = Tree.of(prepared(filter), self._measure)
        average = tree.estimate.average
        self._put(
            name,
            _Entry(
                tree, best_pruning(tree), self._measure, destination, tree.node, average, average
            ),
        )

    def remove(self, name: Name) -> None:
        """Remove an entry (P1-B10). Raises an InputError if there is none."""
        self._book(self._entry(name), -1)
        del self._entries[name]
        # Invalid items must not outgrow the valid ones.
        if len(self._heap) > 2 * len(self._entries) + 64:
            self._heap = [queued for queued in self._heap if self._is_valid(queued)]
            heapify(self._heap)

    def filter_of(self, name: Name) -> Filter:
        """The entry as it is now, in negation normal form. Raises as `remove` does."""
        return self._entry(name).tree.node

    def learn(self, measure: M) -> None:
        """Use a newer measure from now on. Costs a pass over all entries, original and current."""
        if measure is self._measure:
            return
        self._measure = measure
        self._tally = self._new_tally()
        for name, entry in self._entries.items():
            original = now = estimated(entry.original, measure).average
            if entry.tree.node is not entry.original:
                now = estimated(entry.tree.node, measure).average
            average = measure.rules.further(original, now)
            self._tally.add(entry.destination, original, average, +1)
            self._entries[name] = entry._replace(original_average=original, average=average)

    def standing(self, operations: int = 0) -> Standing:
        """The current standing; the caller counts the operations."""
        return self._tally.standing(operations, self._predicates)

    def prune(self, *rules: StoppingRule) -> PruningRun[Name]:
        """Prune until a rule says no or nothing is left to prune.

        Costs a pass over all entries, and for each operation the size of a tree times its depth.
        So ask for many operations at once rather than for one many times. Raises
        PruningTargetError, before anything is pruned, if a rule asks for the impossible.
        """
        before = at = self.standing()
        lowest = sum(floor(entry.tree) for entry in self._entries.values())
        for rule in rules:
            rule.check(lowest)
        knowledge = self._measure.knowledge(e.tree.node for e in self._entries.values())
        changed: dict[Name, Filter] = {}
        stopped_by: StoppingRule | None = None
        while (name := self._next()) is not None:
            whole = self._entries[name]
            self._shorten(name)
            after = self.standing(at.operations + 1)
            stopped_by = next((rule for rule in rules if not rule.admits(at, after)), None)
            if stopped_by is not None:
                self._put(name, whole)
                break
            at = after
            changed[name] = self.filter_of(name)
        return PruningRun(
            before=before,
            after=at,
            floor=lowest,
            changed=changed,
            stopped_by=stopped_by,
            missed=missed_target(rules, at.predicates, stopped_by),
            knowledge=knowledge,
        )

    def forecast(self) -> list[float]:
        """The share of `standing` after 0, 1, 2, … prunings, until none is left.

        Prunes a copy of all entries by the current measure, and costs as much.
        """
        copy = PruningQueue(self._measure, None, tally=self._new_tally, unknown=self._unknown)
        for name, entry in self._entries.items():
            copy.add(name, entry.tree.node, entry.destination)
        shares = [copy.standing().share]
        while (cheapest := copy._next()) is not None:
            copy._shorten(cheapest)
            shares.append(copy.standing().share)
        return shares

    def cut_off(self) -> Operations:
        """A rule that stops at the cut-off, according to the forecast."""
        return Operations(cut_off(self.forecast()))

    def _entry(self, name: Name) -> _Entry:
        entry = self._entries.get(name)
        if entry is None:
            raise self._unknown(name)
        return entry

    def _put(self, name: Name, entry: _Entry) -> None:
        """Store an entry under its id, and queue its pruning."""
        former = self._entries.get(name)
        if former is not None:
            self._book(former, -1)
        self._tickets += 1
        self._entries[name] = entry._replace(ticket=self._tickets)
        self._book(entry, +1)
        best = entry.pruning
        if best is not None:
            item = _Queued(best.degradation, best.removed, best.position, name, self._tickets)
            heappush(self._heap, item)

    def _book(self, entry: _Entry, count: int) -> None:
        self._tally.add(entry.destination, entry.original_average, entry.average, count)
        self._predicates += count * entry.tree.predicates

    def _shorten(self, name: Name) -> None:
        """Do the entry's best pruning."""
        entry = self._estimated_anew(self._entries[name])
        # The queued one, even if another is better by now.
        pruning = self._entries[name].pruning
        assert pruning is not None
        shorter = pruned(entry.tree, pruning)
        further = self._measure.rules.further
        self._put(
            name,
            entry._replace(
                tree=shorter,
                pruning=best_pruning(shorter),
                average=further(entry.original_average, shorter.estimate.average),
            ),
        )

    def _estimated_anew(self, entry: _Entry) -> _Entry:
        """The entry by the current measure."""
        if entry.estimated_by is self._measure:
            return entry
        tree = Tree.of(entry.tree.node, self._measure)
        return entry._replace(tree=tree, pruning=best_pruning(tree), estimated_by=self._measure)

    def _next(self) -> Name | None:
        """Take the entry to prune from the queue; those no longer trusted are queued again."""
        while True:
            self._clean()
            if not self._heap:
                return None
            queued = heappop(self._heap)
            self._clean()
            following = self._heap[0].degradation if self._heap else None
            if self._change.trusts(
                queued.degradation, partial(self._look_again, queued.name), following
            ):
                return queued.name
            self._put(queued.name, self._entries[queued.name])

    def _look_again(self, name: Name) -> float:
        """The degradation of the entry's best pruning by the current measure."""
        entry = self._entries[name] = self._estimated_anew(self._entries[name])
        assert entry.pruning is not None
        return entry.pruning.degradation

    def _is_valid(self, queued: _Queued[Name]) -> bool:
        entry = self._entries.get(queued.name)
        return entry is not None and entry.ticket == queued.ticket

    def _clean(self) -> None:
        while self._heap and not self._is_valid(self._heap[0]):
            heappop(self._heap)


class SelectivityQueue(PruningQueue[SubscriptionId, Selectivities]):
    """Subscriptions by id, pruned where the fewest further events are expected to match (P1-B7).

    An unknown id is an UnknownSubscriptionError.
    """

    def __init__(self, selectivities: Selectivities, change: ChangePolicy | None = None) -> None:
        super().__init__(
            selectivities, change, tally=MatchingShare, unknown=UnknownSubscriptionError
        )


def matching_share(
    originals: Mapping[SubscriptionId, Filter],
    rewritten: Mapping[SubscriptionId, Filter],
    selectivities: Selectivities,
    destinations: Mapping[SubscriptionId, str],
) -> Standing:
    """The standing of entries, some of them rewritten. Costs a pass over all."""
    tally = MatchingShare()
    for name, filter in originals.items():
        original = now = estimated(prepared(filter), selectivities).average
        if name in rewritten:
            now = estimated(prepared(rewritten[name]), selectivities).average
        tally.add(destinations[name], original, max(original, now), +1)
    current = {**originals, **rewritten}.values()
    return tally.standing(0, sum(1 for each in current for _ in each.predicates()))


class AdvertisementQueue(PruningQueue[AdvertisementId, OverlapRanks]):
    """Advertisements by id, pruned where the least of the overlapping rank is lost (P3-B8).

    A pruned advertisement covers the original, so it overlaps with the same subscriptions and
    perhaps with more: subscriptions travel too far, and no event is lost. An unknown id is an
    UnknownAdvertisementError.
    """

    def __init__(self, ranks: OverlapRanks, change: ChangePolicy | None = None) -> None:
        super().__init__(ranks, change, tally=LostRank, unknown=UnknownAdvertisementError)
