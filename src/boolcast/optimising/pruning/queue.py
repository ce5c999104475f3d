"""Many entries, the pruning that costs least first (P1-B7, P3-B8).

The queue holds the best pruning of each entry. One is done, and the entry's next best takes its
place, until the entry is exhausted. Entries are removed by their ids, and nothing else happens
then (P1-B10).

What is best is for a measure to say, so the same queue prunes subscriptions and advertisements.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from heapq import heapify, heappop, heappush
from typing import Generic, NamedTuple, Protocol, TypeVar

import msgspec

from boolcast.errors import InputError
from boolcast.filters.expressions import Filter
from boolcast.optimising.pruning.changes import ChangePolicy, Regardless
from boolcast.optimising.pruning.stopping import (
    MissedTarget,
    Operations,
    Standing,
    StoppingRule,
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
from boolcast.optimising.statistics.selectivities import Knowledge

Name = TypeVar("Name", bound=str)


class LearntMeasure(Measure, Protocol):
    """A measure that was learnt from statistics, and says how well."""

    def knowledge(self, filters: Iterable[Filter]) -> Knowledge:
        """How well the predicates are known by which these filters are estimated."""


M = TypeVar("M", bound=LearntMeasure)


class Tally(Protocol):
    """What all entries together amount to."""

    def add(self, way: str, original: float, average: float, count: int) -> None:
        """Take up an entry of that way with these averages, or with a count of -1 take it out."""

    def standing(self, operations: int, predicates: int) -> Standing:
        """How things stand after so many operations, with so many predicates left."""


class PruningRun(msgspec.Struct, Generic[Name], frozen=True, kw_only=True):
    """What a run of prunings did.

    `floor` is a number of predicates below which no pruning could have gone. `changed` are the
    new forms of the entries that were pruned. `stopped_by` is the rule that
    ended it; None: nothing was left to prune. `missed` is the memory target that was not reached,
    if there is one. `knowledge` is about the predicates of all entries before the run.
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
    """An entry as it is now, its best pruning, and by what both were estimated.

    `original` is the entry as it came. Its average and that of the entry as it is now are by the
    newest measure, whatever measure the tree has.
    """

    tree: Tree
    pruning: Pruning | None
    estimated_by: Measure
    way: str
    original: Filter
    original_average: float
    average: float
    ticket: int = 0


class _Queued(NamedTuple, Generic[Name]):
    """A place in the queue; `ticket` tells whether it is still the entry's last one."""

    degradation: float
    removed: int
    position: int
    name: Name
    ticket: int


class PruningQueue(Generic[Name, M]):
    """Entries by id, and what to prune next.

    Every step computes with the measure of its time; `learn` brings a newer one, and the policy
    of change says what becomes of what is queued. `standing` always goes by the newest.
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

    def add(self, name: Name, filter: Filter, way: str = "") -> None:
        """Take up an entry, or replace it: then what was pruned from the old one is forgotten.

        `way` says where the events go that it matches, such as a neighbour.
        """
        if name in self._entries:
            self.remove(name)
        tree = Tree.of(prepared(filter), self._measure)
        average = tree.estimate.average
        self._put(
            name,
            _Entry(tree, best_pruning(tree), self._measure, way, tree.node, average, average),
        )

    def remove(self, name: Name) -> None:
        """Forget an entry (P1-B10). Raises an InputError if there is none."""
        self._book(self._entry(name), -1)
        del self._entries[name]
        # What is queued in vain must not outgrow what is queued.
        if len(self._heap) > 2 * len(self._entries) + 64:
            self._heap = [queued for queued in self._heap if self._is_valid(queued)]
            heapify(self._heap)

    def filter_of(self, name: Name) -> Filter:
        """The entry as it is now, in negation normal form. Raises as `remove` does."""
        return self._entry(name).tree.node

    def learn(self, measure: M) -> None:
        """Use a newer measure from now on. Costs a pass over all entries, as they came and are."""
        if measure is self._measure:
            return
        self._measure = measure
        self._tally = self._new_tally()
        for name, entry in self._entries.items():
            original = now = estimated(entry.original, measure).average
            if entry.tree.node is not entry.original:
                now = estimated(entry.tree.node, measure).average
            average = measure.rules.further(original, now)
            self._tally.add(entry.way, original, average, +1)
            self._entries[name] = entry._replace(original_average=original, average=average)

    def top(self) -> tuple[Name, float] | None:
        """The first entry and the degradation stored with it; None if nothing can be pruned."""
        self._clean()
        return (self._heap[0].name, self._heap[0].degradation) if self._heap else None

    def standing(self, operations: int = 0) -> Standing:
        """How things stand now; the number of operations is the caller's."""
        return self._tally.standing(operations, self._predicates)

    def prune(self, *rules: StoppingRule) -> PruningRun[Name]:
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

        Prunes a copy of all entries, by the measure of now, and costs as much as that.
        """
        copy = PruningQueue(self._measure, None, tally=self._new_tally, unknown=self._unknown)
        for name, entry in self._entries.items():
            copy.add(name, entry.tree.node, entry.way)
        shares = [copy.standing().share]
        while (cheapest := copy._next()) is not None:
            copy._shorten(cheapest)
            shares.append(copy.standing().share)
        return shares

    def cut_off(self) -> Operations:
        """The rule that stops at the cut-off, as far as a forecast can tell where it is."""
        return Operations(cut_off(self.forecast()))

    def _entry(self, name: Name) -> _Entry:
        entry = self._entries.get(name)
        if entry is None:
            raise self._unknown(name)
        return entry

    def _put(self, name: Name, entry: _Entry) -> None:
        """Make this the entry of that id, and queue its pruning."""
        former = self._entries.get(name)
        if former is not None:
            self._book(former, -1)
        self._tickets += 1
        self._entries[name] = entry._replace(ticket=self._tickets)
        self._book(entry, +1)
        best = entry.pruning
        if best is not None:
            place = _Queued(best.degradation, best.removed, best.position, name, self._tickets)
            heappush(self._heap, place)

    def _book(self, entry: _Entry, count: int) -> None:
        self._tally.add(entry.way, entry.original_average, entry.average, count)
        self._predicates += count * entry.tree.predicates

    def _shorten(self, name: Name) -> None:
        """Do the entry's best pruning."""
        entry = self._estimated_anew(self._entries[name])
        # The one that is queued, even if another would be chosen by now.
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
        """The entry by the measure of now."""
        if entry.estimated_by is self._measure:
            return entry
        tree = Tree.of(entry.tree.node, self._measure)
        return entry._replace(tree=tree, pruning=best_pruning(tree), estimated_by=self._measure)

    def _next(self) -> Name | None:
        """The entry to prune, taken from the queue; those not trusted any more go back."""
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
        """The degradation of the entry's best pruning by the measure of now."""
        entry = self._entries[name] = self._estimated_anew(self._entries[name])
        assert entry.pruning is not None
        return entry.pruning.degradation

    def _is_valid(self, queued: _Queued[Name]) -> bool:
        entry = self._entries.get(queued.name)
        return entry is not None and entry.ticket == queued.ticket

    def _clean(self) -> None:
        while self._heap and not self._is_valid(self._heap[0]):
            heappop(self._heap)
