"""In which form entries of neighbours are matched: as they came, pruned, predicates replaced.

A rewritten form lets more events pass and never fewer, so an event may go to a neighbour for
nothing. It is private to the match engine of this broker (R4): what is forwarded, covered and
merged are the entries as they came, which the tables keep. So an entry is removed by its id and
nothing else happens (P1-B10), and it is put back to what it was when the reason for its
rewriting is gone. Entries of local clients never come here (R1).
"""

from collections.abc import Mapping
from typing import NamedTuple, Protocol

from boolcast.errors import FilterLimitError, PruningTargetError
from boolcast.filters.expressions import Filter
from boolcast.filters.limits import DEFAULT_LIMITS
from boolcast.filters.size_check import check_limits
from boolcast.model.identifiers import SubscriptionId
from boolcast.optimising.changes import CHANGES
from boolcast.optimising.replacement import replace_predicates
from boolcast.optimising.selectivities import Knowledge, Selectivities
from boolcast.optimising.selectivity_queue import SelectivityQueue
from boolcast.optimising.stopping import (
    FalsePositiveBudget,
    MemoryTarget,
    Standing,
    StoppingRule,
)
from boolcast.routing.configuration import Configuration


class Rewriting(NamedTuple):
    """What a review of all entries came to.

    `changed` are the entries that are to be matched in another form from now on, perhaps the
    one in which they came. `false_positives` is the expected share of events that match for
    nothing by now. With a `problem` nothing more was rewritten.
    """

    changed: dict[SubscriptionId, Filter]
    false_positives: float
    knowledge: Knowledge
    problem: PruningTargetError | None = None


class RewritingPolicy(Protocol):
    """Holds the entries of neighbours as they came, and says in which form to match them."""

    @property
    def rewritten(self) -> Mapping[SubscriptionId, Filter]:
        """The entries that are matched in another form than they came in."""

    def add(self, subscription: SubscriptionId, filter: Filter) -> None:
        """An entry came; it is matched as it is until the next review."""

    def remove(self, subscription: SubscriptionId) -> None:
        """An entry is gone (P1-B10)."""

    def rewrite(self, selectivities: Selectivities) -> Rewriting:
        """Review the entries, some of which have come or gone since the last time."""

    def removed(self) -> int:
        """How many predicates rewriting has saved."""


class AsTheyCame:
    """Entries are matched as they came."""

    def __init__(self, configuration: Configuration) -> None:  # noqa: ARG002 - nothing to set
        self.rewritten: dict[SubscriptionId, Filter] = {}

    def add(self, subscription: SubscriptionId, filter: Filter) -> None:
        pass

    def remove(self, subscription: SubscriptionId) -> None:
        pass

    def rewrite(self, selectivities: Selectivities) -> Rewriting:  # noqa: ARG002
        return Rewriting({}, 0.0, Knowledge())

    def removed(self) -> int:
        return 0


class PostPruning:
    """Entries are pruned after they came, the cheapest pruning first (P1-B7).

    What was pruned stays so, and each review prunes further where the rules allow it. It begins
    anew from the entries as they came where the reason is gone: entries have left and made room
    under the memory target, more than the budget of false positives is spent by now, or the
    cut-off may lie elsewhere.
    """

    def __init__(self, configuration: Configuration) -> None:
        self.rewritten: dict[SubscriptionId, Filter] = {}
        self._rules = stopping_rules(configuration)
        self._stops_at_cut_off = configuration.stops_at_cut_off
        self._change = CHANGES[configuration.changes](configuration.change_bound)
        self._originals: dict[SubscriptionId, Filter] = {}
        self._new: dict[SubscriptionId, None] = {}
        self._have_left = False
        self._queue: SelectivityQueue | None = None

    def add(self, subscription: SubscriptionId, filter: Filter) -> None:
        self._originals[subscription] = filter
        self._new[subscription] = None

    def remove(self, subscription: SubscriptionId) -> None:
        del self._originals[subscription]
        self.rewritten.pop(subscription, None)
        if subscription in self._new:
            del self._new[subscription]
        else:
            assert self._queue is not None, "only a review takes entries from the new ones"
            self._queue.remove(subscription)
            self._have_left = True

    def rewrite(self, selectivities: Selectivities) -> Rewriting:
        former = self.rewritten
        queue = self._continued(selectivities)
        if queue is None:
            queue = SelectivityQueue(selectivities, self._change)
            for subscription, filter in self._originals.items():
                queue.add(subscription, filter)
            self.rewritten = {}
        self._queue = queue
        self._new, self._have_left = {}, False
        problem = None
        try:
            run = queue.prune(*self._rules, *([queue.cut_off()] if self._stops_at_cut_off else []))
            knowledge = run.knowledge
            self.rewritten = {**self.rewritten, **run.changed}
        except PruningTargetError as error:
            knowledge = selectivities.knowledge(self._originals.values())
            problem = error
        changed = _difference(self._originals, former, self.rewritten)
        return Rewriting(changed, queue.standing().false_positives, knowledge, problem)

    def _continued(self, selectivities: Selectivities) -> SelectivityQueue | None:
        """The queue with the entries that are new; None if it is to begin anew."""
        queue = self._queue
        if queue is None or self._stops_at_cut_off:
            return None
        queue.learn(selectivities)
        for subscription in self._new:
            queue.add(subscription, self._originals[subscription])
        return None if self._is_reason_gone(queue.standing()) else queue

    def _is_reason_gone(self, standing: Standing) -> bool:
        return any(
            (self._have_left and standing.predicates < rule.predicates)
            if isinstance(rule, MemoryTarget)
            else isinstance(rule, FalsePositiveBudget) and standing.false_positives > rule.share
            for rule in self._rules
        )

    def removed(self) -> int:
        return sum(
            _occurrences(self._originals[name]) - _occurrences(pruned)
            for name, pruned in self.rewritten.items()
        )


class PredicateReplacement:
    """Rare predicates give way to others in the table that cover them (P1-B11).

    Every review begins with the entries as they came: whose covering predicate is gone gets its
    own back.
    """

    def __init__(self, configuration: Configuration) -> None:
        self.rewritten: dict[SubscriptionId, Filter] = {}
        self._rules = stopping_rules(configuration)
        self._originals: dict[SubscriptionId, Filter] = {}
        self._removed = 0

    def add(self, subscription: SubscriptionId, filter: Filter) -> None:
        self._originals[subscription] = filter

    def remove(self, subscription: SubscriptionId) -> None:
        del self._originals[subscription]
        self.rewritten.pop(subscription, None)

    def rewrite(self, selectivities: Selectivities) -> Rewriting:
        former = self.rewritten
        problem = None
        try:
            run = replace_predicates(self._originals, selectivities, *self._rules)
            false_positives, knowledge = run.after.false_positives, run.knowledge
            self._removed = run.before.predicates - run.after.predicates
            self.rewritten = {name: each for name, each in run.changed.items() if _fits(each)}
        except PruningTargetError as error:
            problem = error
            false_positives = 0.0
            knowledge = selectivities.knowledge(self._originals.values())
            self._removed = 0
            self.rewritten = {}
        changed = _difference(self._originals, former, self.rewritten)
        return Rewriting(changed, false_positives, knowledge, problem)

    def removed(self) -> int:
        return self._removed


def stopping_rules(configuration: Configuration) -> tuple[StoppingRule, ...]:
    """The rules that a configuration names, but for the cut-off, which depends on the entries."""
    rules: list[StoppingRule] = []
    if configuration.memory_target is not None:
        rules.append(MemoryTarget(configuration.memory_target))
    if configuration.false_positive_budget is not None:
        rules.append(FalsePositiveBudget(configuration.false_positive_budget))
    return tuple(rules)


def _difference(
    originals: Mapping[SubscriptionId, Filter],
    former: Mapping[SubscriptionId, Filter],
    current: Mapping[SubscriptionId, Filter],
) -> dict[SubscriptionId, Filter]:
    """What the match engine must take up so that it holds the current forms."""
    restored = {name: originals[name] for name in former if name not in current}
    return restored | {name: each for name, each in current.items() if former.get(name) != each}


def _occurrences(filter: Filter) -> int:
    return sum(1 for _ in filter.predicates())


def _fits(filter: Filter) -> bool:
    """A covering predicate may be longer, and an entry past the limits is no entry."""
    try:
        check_limits(filter, DEFAULT_LIMITS)
    except FilterLimitError:
        return False
    return True
