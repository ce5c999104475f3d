"""How entries of neighbours are matched: as they came, pruned, or with predicates replaced.

A rewritten filter lets more events pass and never fewer, so an event may go to a neighbour for
nothing. It is private to the match engine of this broker (R4): what is forwarded, covered and
merged are the entries as they came, which the tables keep. So an entry is removed by its id and
nothing else happens (P1-B10), and it is put back to what it was when the reason for its
rewriting is gone. Entries of local clients never come here (R1).
"""

from collections.abc import Mapping
from typing import Protocol

from boolcast.errors import FilterLimitError, PruningTargetError
from boolcast.filters.expressions import Filter
from boolcast.filters.limits import DEFAULT_LIMITS
from boolcast.filters.size_check import check_limits
from boolcast.model.identifiers import SubscriptionId
from boolcast.optimising.pruning.queues import SelectivityQueue, matching_share
from boolcast.optimising.pruning.replacement import replace_predicates
from boolcast.optimising.pruning.stopping import FalsePositiveBudget, MemoryTarget, StoppingRule
from boolcast.optimising.statistics.selectivities import Knowledge, Selectivities
from boolcast.routing.protocol.configuration import Configuration
from boolcast.routing.rewriting.post_pruning import PostPruning, Rewritten, difference


class RewritingPolicy(Protocol):
    """Holds the entries of neighbours as they came, and says which filters to match."""

    @property
    def rewritten(self) -> Mapping[SubscriptionId, Filter]:
        """The entries that are matched by another filter than their own."""

    def add(self, subscription: SubscriptionId, filter: Filter, way: str) -> None:
        """An entry came from that neighbour; it is matched as it is until the next review."""

    def remove(self, subscription: SubscriptionId) -> None:
        """An entry is gone (P1-B10)."""

    def rewrite(self, selectivities: Selectivities) -> Rewritten[SubscriptionId]:
        """Review the entries, some of which have come or gone since the last time."""

    def spent(self, selectivities: Selectivities) -> float:
        """The share of events that is expected to match for nothing, by these selectivities.

        An event counts for each neighbour to which it goes for nothing.
        """

    def is_overspent(self, selectivities: Selectivities) -> bool:
        """True if that is more than was allowed."""

    def removed(self) -> int:
        """How many predicates rewriting has saved."""


class AsTheyCame:
    """Entries are matched as they came."""

    def __init__(self, configuration: Configuration) -> None:  # noqa: ARG002 - nothing to set
        self.rewritten: dict[SubscriptionId, Filter] = {}

    def add(self, subscription: SubscriptionId, filter: Filter, way: str) -> None:
        pass

    def remove(self, subscription: SubscriptionId) -> None:
        pass

    def rewrite(self, selectivities: Selectivities) -> Rewritten[SubscriptionId]:  # noqa: ARG002
        return Rewritten({}, Knowledge())

    def spent(self, selectivities: Selectivities) -> float:  # noqa: ARG002
        return 0.0

    def is_overspent(self, selectivities: Selectivities) -> bool:  # noqa: ARG002
        return False

    def removed(self) -> int:
        return 0


class SubscriptionPruning(PostPruning[SubscriptionId, Selectivities]):
    """Entries are pruned after they came, the cheapest pruning first (P1-B7)."""

    def __init__(self, configuration: Configuration) -> None:
        super().__init__(
            SelectivityQueue,
            configuration.policies.reviews,
            stopping_rules(configuration),
            stops_at_cut_off=configuration.policies.rewriting.stops_at_cut_off,
        )


class PredicateReplacement:
    """Rare predicates give way to others in the table that cover them (P1-B11).

    Every review begins with the entries as they came: whose covering predicate is gone gets its
    own back.
    """

    def __init__(self, configuration: Configuration) -> None:
        self.rewritten: dict[SubscriptionId, Filter] = {}
        self._rules = stopping_rules(configuration)
        self._budget = configuration.false_positive_budget
        self._originals: dict[SubscriptionId, Filter] = {}
        self._ways: dict[SubscriptionId, str] = {}
        self._removed = 0

    def add(self, subscription: SubscriptionId, filter: Filter, way: str) -> None:
        self._originals[subscription] = filter
        self._ways[subscription] = way

    def remove(self, subscription: SubscriptionId) -> None:
        del self._originals[subscription], self._ways[subscription]
        self.rewritten.pop(subscription, None)

    def rewrite(self, selectivities: Selectivities) -> Rewritten[SubscriptionId]:
        former = self.rewritten
        problem = missed = None
        try:
            run = replace_predicates(
                self._originals, selectivities, *self._rules, destinations=self._ways
            )
            knowledge, missed = run.knowledge, run.missed
            self._removed = run.before.predicates - run.after.predicates
            self.rewritten = {name: each for name, each in run.changed.items() if _fits(each)}
        except PruningTargetError as error:
            problem = error
            knowledge = selectivities.knowledge(self._originals.values())
            self._removed = 0
            self.rewritten = {}
        changed = difference(self._originals, former, self.rewritten)
        return Rewritten(changed, knowledge, problem, missed)

    def spent(self, selectivities: Selectivities) -> float:
        return matching_share(self._originals, self.rewritten, selectivities, self._ways).spent

    def is_overspent(self, selectivities: Selectivities) -> bool:
        return (
            self._budget is not None
            and bool(self.rewritten)
            and self.spent(selectivities) > self._budget
        )

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


def _fits(filter: Filter) -> bool:
    """A covering predicate may be longer, and an entry past the limits is no entry."""
    try:
        check_limits(filter, DEFAULT_LIMITS)
    except FilterLimitError:
        return False
    return True
