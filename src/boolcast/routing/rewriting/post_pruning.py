"""Entries of neighbours pruned after they came, by a queue of prunings (P1-B7, P3-B8)."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from boolcast.errors import PruningTargetError
from boolcast.filters.expressions import Filter
from boolcast.optimising.pruning.changes import CHANGES, ChangePolicy
from boolcast.optimising.pruning.queues import LearntMeasure, PruningQueue
from boolcast.optimising.pruning.stopping import (
    FalsePositiveBudget,
    MemoryTarget,
    MissedTarget,
    RankBudget,
    Standing,
    StoppingRule,
)
from boolcast.optimising.statistics.selectivities import Knowledge

if TYPE_CHECKING:
    from boolcast.routing.protocol.configuration import ReviewSettings

Name = TypeVar("Name", bound=str)
M = TypeVar("M", bound=LearntMeasure)


class Rewritten(NamedTuple, Generic[Name]):
    """What a review of all entries came to.

    `changed` are the entries to hold by another filter from now on, perhaps by their own again.
    With a `problem` nothing more was rewritten. A `missed` target was not reached. `may_narrow`:
    some may be less general than they were.
    """

    changed: dict[Name, Filter]
    knowledge: Knowledge
    problem: PruningTargetError | None = None
    missed: MissedTarget | None = None
    may_narrow: bool = False


class PostPruning(Generic[Name, M]):
    """Holds entries as they came, and says by which filters to hold them.

    What was pruned stays so, and each review prunes further where the rules allow it. It begins
    anew from the entries as they came where the reason is gone: entries have left and made room
    under the memory target, more than a budget allows is spent by what is known now, or the
    cut-off may lie elsewhere.
    """

    def __init__(
        self,
        queue: Callable[[M, ChangePolicy], PruningQueue[Name, M]],
        reviews: "ReviewSettings",
        rules: tuple[StoppingRule, ...],
        *,
        stops_at_cut_off: bool,
    ) -> None:
        self.rewritten: dict[Name, Filter] = {}
        self._make_queue = queue
        self._rules = rules
        self._stops_at_cut_off = stops_at_cut_off
        self._change = CHANGES[reviews.changes](reviews.change_bound)
        self._originals: dict[Name, Filter] = {}
        self._ways: dict[Name, str] = {}
        self._new: dict[Name, None] = {}
        self._have_left = False
        self._queue: PruningQueue[Name, M] | None = None

    @property
    def is_reviewed(self) -> bool:
        """True if nothing has come or gone since the last review."""
        return not self._new and not self._have_left

    def add(self, name: Name, filter: Filter, way: str = "") -> None:
        """An entry came by that way; it is held as it is until the next review."""
        self._originals[name] = filter
        self._ways[name] = way
        self._new[name] = None

    def resume(self, name: Name, filter: Filter) -> None:
        """An entry was held by this filter when it was last reviewed, before a restart."""
        self.rewritten[name] = filter

    def remove(self, name: Name) -> None:
        """An entry is gone (P1-B10)."""
        del self._originals[name], self._ways[name]
        self.rewritten.pop(name, None)
        if name in self._new:
            del self._new[name]
        else:
            assert self._queue is not None, "only a review takes entries from the new ones"
            self._queue.remove(name)
            self._have_left = True

    def rewrite(self, measure: M, *limits: StoppingRule) -> Rewritten[Name]:
        """Review the entries, some of which have come or gone since the last time.

        `limits` hold beside those of the configuration, and for this review only.
        """
        former = self.rewritten
        queue = self._continued(measure)
        may_narrow = queue is None and bool(former)
        if queue is None:
            queue = self._make_queue(measure, self._change)
            for name, filter in self._originals.items():
                queue.add(name, filter, self._ways[name])
            self.rewritten = {}
        self._queue = queue
        self._new, self._have_left = {}, False
        problem = missed = None
        try:
            cut_offs = [queue.cut_off()] if self._stops_at_cut_off else []
            run = queue.prune(*self._rules, *cut_offs, *limits)
            knowledge, missed = run.knowledge, run.missed
            self.rewritten = {**self.rewritten, **run.changed}
        except PruningTargetError as error:
            knowledge = measure.knowledge(self._originals.values())
            problem = error
        changed = difference(self._originals, former, self.rewritten)
        return Rewritten(changed, knowledge, problem, missed, may_narrow)

    def spent(self, measure: M) -> float:
        """What rewriting costs by this measure: a share of events, or of the overlapping rank."""
        if self._queue is None:
            return 0.0
        self._queue.learn(measure)
        return self._queue.standing().spent

    def is_overspent(self, measure: M) -> bool:
        """True if it costs more by this measure than a budget allows."""
        budgets = [r for r in self._rules if isinstance(r, (FalsePositiveBudget, RankBudget))]
        if self._queue is None or not self.rewritten or not budgets:
            return False
        self._queue.learn(measure)
        standing = self._queue.standing()
        return not all(budget.admits(standing, standing) for budget in budgets)

    def _continued(self, measure: M) -> PruningQueue[Name, M] | None:
        """The queue with the entries that are new; None if it is to begin anew."""
        queue = self._queue
        if queue is None or self._stops_at_cut_off:
            return None
        queue.learn(measure)
        for name in self._new:
            queue.add(name, self._originals[name], self._ways[name])
        return None if self._has_room(queue.standing()) or self.is_overspent(measure) else queue

    def _has_room(self, standing: Standing) -> bool:
        """True if entries have left, and some that were pruned for them may be whole again."""
        return self._have_left and any(
            isinstance(rule, MemoryTarget) and standing.predicates < rule.predicates
            for rule in self._rules
        )

    def removed(self) -> int:
        """How many predicates pruning has saved."""
        return sum(
            _occurrences(self._originals[name]) - _occurrences(pruned)
            for name, pruned in self.rewritten.items()
        )


def difference(
    originals: Mapping[Name, Filter], former: Mapping[Name, Filter], current: Mapping[Name, Filter]
) -> dict[Name, Filter]:
    """The filters to change for a holder of the former ones, to get to the current ones."""
    restored = {name: originals[name] for name in former if name not in current}
    return restored | {name: each for name, each in current.items() if former.get(name) != each}


def _occurrences(filter: Filter) -> int:
    return sum(1 for _ in filter.predicates())
