"""Predicate replacement: fewer distinct predicates in the index (P1-B11).

Every occurrence of a predicate is replaced by another registered one that covers it, such as
`price < 24` by `price < 25`; then it leaves the index. The replacement is the covering predicate
with the smallest share of events. Replacements with the least degradation come first, summed over
the entries that hold the predicate. Trees keep their shape, except that equal siblings become one.

Like pruning, this is for entries of neighbours; removing an entry by its id has no further
consequences. Residual predicates cover nothing and are never replaced.
"""

from bisect import bisect_left, insort
from collections.abc import Iterator, Mapping
from heapq import heappop, heappush
from itertools import islice
from typing import Final, NamedTuple

import msgspec

from boolcast.algebra.relations import covers
from boolcast.errors import PruningTargetError, ReplacementTargetError
from boolcast.filters.expressions import (
    And,
    Comparison,
    Filter,
    Leaf,
    Or,
    Residual,
    conjunction,
    disjunction,
)
from boolcast.model.identifiers import SubscriptionId
from boolcast.optimising.pruning.stopping import (
    MatchingShare,
    MissedTarget,
    Standing,
    StoppingRule,
    missed_target,
)
from boolcast.optimising.pruning.trees import Tree, prepared
from boolcast.optimising.statistics.selectivities import Knowledge, Selectivities

_TRIED: Final = 64
"""How many predicates are tried; a covering one further on is not found."""

_PROOF_BUDGET: Final = 2_000
"""Steps of a proof about two predicates."""


class Replacement(NamedTuple):
    """A predicate, and the covering one that replaces it."""

    replaced: Filter
    by: Filter


class ReplacementRun(msgspec.Struct, frozen=True, kw_only=True):
    """What a run of replacements did.

    Like `PruningRun`, but `before` and `after` count distinct predicates, and `floor` is the
    number of those that no other one covers; of equivalent ones, one stays.
    """

    before: Standing
    after: Standing
    floor: int
    replacements: tuple[Replacement, ...]
    changed: dict[SubscriptionId, Filter]
    stopped_by: StoppingRule | None
    missed: MissedTarget | None
    knowledge: Knowledge


def replace_predicates(
    entries: Mapping[SubscriptionId, Filter],
    selectivities: Selectivities,
    *rules: StoppingRule,
    destinations: Mapping[SubscriptionId, str] | None = None,
) -> ReplacementRun:
    """Replace predicates until a rule says no or none is covered by another.

    `destinations` say where the events go that an entry matches, such as a neighbour; without
    them all go the same way.

    Raises ReplacementTargetError, before anything is replaced, if a rule asks for fewer
    predicates than can be reached.
    """
    return _Replacing(entries, selectivities, destinations or {}).run(rules)


class _Plan(NamedTuple):
    """Plans sort from the best to the worst."""

    degradation: float
    text: str
    replaced: Leaf
    by: Leaf


class _Replacing:
    def __init__(
        self,
        entries: Mapping[SubscriptionId, Filter],
        selectivities: Selectivities,
        destinations: Mapping[SubscriptionId, str],
    ) -> None:
        self.selectivities = selectivities
        self.destinations = destinations
        self.trees = {
            name: Tree.of(prepared(each), selectivities) for name, each in entries.items()
        }
        self.index = _Index(selectivities)
        self.averages = {name: tree.estimate.average for name, tree in self.trees.items()}
        """The estimates of the original entries."""
        self.tally = MatchingShare()
        for name, tree in self.trees.items():
            self.book(name, +1)
            for leaf in _leaves(tree.node):
                self.index.add(leaf, name)
        self.plans: list[_Plan] = []
        for leaf in list(self.index.entries):
            self.plan(leaf)
        self.floor = self.count_ends()

    def run(self, rules: tuple[StoppingRule, ...]) -> ReplacementRun:
        before = at = self.standing(0)
        try:
            for rule in rules:
                rule.check(self.floor)
        except PruningTargetError as error:
            raise ReplacementTargetError(error.target, error.floor) from None
        knowledge = self.selectivities.knowledge(tree.node for tree in self.trees.values())
        done: list[Replacement] = []
        changed: dict[SubscriptionId, Filter] = {}
        stopped_by: StoppingRule | None = None
        while (plan := self.next_plan()) is not None:
            former = self.carry_out(plan)
            after = self.standing(at.operations + 1)
            stopped_by = next((rule for rule in rules if not rule.admits(at, after)), None)
            if stopped_by is not None:
                break
            at = after
            done.append(Replacement(plan.replaced, plan.by))
            changed.update({name: self.trees[name].node for name in former})
        return ReplacementRun(
            before=before,
            after=at,
            floor=self.floor,
            replacements=tuple(done),
            changed=changed,
            stopped_by=stopped_by,
            missed=missed_target(rules, at.predicates, stopped_by),
            knowledge=knowledge,
        )

    def standing(self, operations: int) -> Standing:
        return self.tally.standing(operations, len(self.index.entries))

    def book(self, name: SubscriptionId, count: int) -> None:
        """Add the current entry to the tally, or remove it."""
        original = self.averages[name]
        average = max(original, self.trees[name].estimate.average)
        self.tally.add(self.destinations.get(name, ""), original, average, count)

    def plan(self, leaf: Leaf) -> None:
        """Queue the replacement of a predicate, if another covers it."""
        nearest = self.index.nearest_covering(leaf)
        if nearest is not None:
            degradation = sum(
                self.trees[name].estimate.degradation_to(
                    self.replaced(name, leaf, nearest).estimate
                )
                for name in self.index.entries[leaf]
            )
            heappush(self.plans, _Plan(round(degradation, 12), str(leaf), leaf, nearest))

    def count_ends(self) -> int:
        """How many predicates are left after all plans.

        The plans of equivalent predicates form a cycle: one of them stays, unless another
        predicate covers them all.
        """
        planned = {plan.replaced: plan.by for plan in self.plans}
        end_of: dict[Leaf, Leaf] = {}
        for leaf in self.index.entries:
            path: dict[Leaf, None] = {}
            at = leaf
            while at not in end_of and at in planned and at not in path:
                path[at] = None
                at = planned[at]
            end_of.update(dict.fromkeys((*path, at), end_of.get(at, at)))
        behind: dict[Leaf, set[Leaf]] = {}
        for leaf, end in end_of.items():
            behind.setdefault(end, set()).add(leaf)
        return sum(
            end not in planned or not self.index.is_covered(end, besides=leaves)
            for end, leaves in behind.items()
        )

    def next_plan(self) -> _Plan | None:
        """The best plan, made anew: its replacement may itself have been replaced since."""
        while self.plans:
            plan = heappop(self.plans)
            self.plan(plan.replaced)
            if self.plans and self.plans[0].replaced == plan.replaced:
                return heappop(self.plans)
        return None

    def replaced(self, name: SubscriptionId, leaf: Leaf, by: Leaf) -> Tree:
        """An entry with one predicate in place of another."""
        return Tree.of(prepared(_with(self.trees[name].node, leaf, by)), self.selectivities)

    def carry_out(self, plan: _Plan) -> tuple[SubscriptionId, ...]:
        """Change all entries that hold the predicate, and return their names."""
        names = tuple(self.index.entries[plan.replaced])
        for name in names:
            self.book(name, -1)
            self.trees[name] = self.replaced(name, plan.replaced, plan.by)
            self.book(name, +1)
            self.index.add(plan.by, name)
        self.index.remove(plan.replaced)
        return names


class _Index:
    """Registered predicates, the entries that hold them, and possible replacements by share."""

    def __init__(self, selectivities: Selectivities) -> None:
        self.entries: dict[Leaf, dict[SubscriptionId, None]] = {}
        self._selectivities = selectivities
        self._wide: dict[str, list[tuple[float, str, Leaf]]] = {}

    def add(self, leaf: Leaf, name: SubscriptionId) -> None:
        if leaf not in self.entries:
            self.entries[leaf] = {}
            if _may_cover(leaf):
                insort(self._wide.setdefault(leaf.attribute, []), self._row(leaf))
        self.entries[leaf][name] = None

    def remove(self, leaf: Leaf) -> None:
        del self.entries[leaf]
        if _may_cover(leaf):
            wide = self._wide[leaf.attribute]
            del wide[bisect_left(wide, self._row(leaf)[:2])]

    def nearest_covering(self, leaf: Leaf) -> Leaf | None:
        """The covering predicate with the smallest share; None if none was found.

        A covering predicate has no smaller share, so only those from this share on are tried.
        Where shares are guessed, a covering predicate may be overlooked.
        """
        if isinstance(leaf, Residual):
            return None
        tried = islice(self._no_rarer(leaf), _TRIED)
        return next((each for each in tried if each != leaf and _covers(each, leaf)), None)

    def is_covered(self, leaf: Leaf, *, besides: set[Leaf]) -> bool:
        """True if a registered predicate outside `besides` covers this one."""
        return any(each not in besides and _covers(each, leaf) for each in self._no_rarer(leaf))

    def _no_rarer(self, leaf: Leaf) -> Iterator[Leaf]:
        """Possible replacements by share, from that of the predicate on."""
        wide = self._wide.get(leaf.attribute, [])
        start = bisect_left(wide, (self._selectivities.share(leaf),))
        return (row[2] for row in islice(wide, start, None))

    def _row(self, leaf: Leaf) -> tuple[float, str, Leaf]:
        return self._selectivities.share(leaf), str(leaf), leaf


def _may_cover(leaf: Leaf) -> bool:
    """Equalities cover no other predicate, and there are many of them."""
    is_point = isinstance(leaf, Comparison) and leaf.operator == "="
    return not is_point and not isinstance(leaf, Residual)


def _covers(general: Leaf, specific: Leaf) -> bool:
    return bool(covers(general, specific, budget=_PROOF_BUDGET))


def _leaves(node: Filter) -> Iterator[Leaf]:
    return node.predicates()


def _with(node: Filter, leaf: Leaf, by: Leaf) -> Filter:
    match node:
        case And(children):
            return conjunction(_with(child, leaf, by) for child in children)
        case Or(children):
            return disjunction(_with(child, leaf, by) for child in children)
        case _:
            return by if node == leaf else node
