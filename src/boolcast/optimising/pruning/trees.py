"""A filter with the estimates of its subtrees, and what can be pruned from it (P1-B4, P3-B5).

To prune is to remove a child of an AND: what is left accepts all that the filter accepted, and
more. A child of an OR is never removed (that would lose events), nor is the root. An AND with
one child left is replaced by that child. A filter without an AND (a predicate, or an OR of
predicates) is exhausted.

A *measure* says what is estimated: the share of events that a subscription accepts (P1-B5), or how
many subscriptions an advertisement rules out (P3-B6). The cost of a pruning is its degradation by
that measure. Among equal costs, the pruning that removes fewer predicates comes first, then the one
further left. So inner prunings come before outer ones, and runs are repeatable.
"""

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Final, NamedTuple, Protocol

from boolcast.filters.canonical import canonical_node, to_nnf, without_constants
from boolcast.filters.expressions import And, Constant, Filter, Leaf, Not, Or
from boolcast.optimising.statistics.estimates import Estimate, EstimateRules

_DIGITS: Final = 12
"""Degradations that agree to this many digits are equal; the rest is floating-point noise."""


def prepared(filter: Filter) -> Filter:
    """The filter as trees need it: AND and OR over predicates, no sibling twice (P1-B1)."""
    return canonical_node(without_constants(to_nnf(filter)))


class Measure(Protocol):
    """The estimate of a predicate, and how estimates are combined."""

    rules: EstimateRules

    def estimate(self, predicate: Leaf) -> Estimate: ...


class Tree:
    """A subtree of a prepared filter and its estimate, by the rules of its measure.

    `predicates` counts leaves, as often as they occur; `size` counts all nodes. `can_shrink`: it
    contains an AND.
    """

    __slots__ = ("can_shrink", "children", "estimate", "node", "predicates", "rules", "size")

    def __init__(
        self, node: Filter, children: Sequence["Tree"], estimate: Estimate, rules: EstimateRules
    ) -> None:
        self.node = node
        self.children = children
        self.estimate = estimate
        self.rules = rules
        if children:
            self.predicates: int = sum([child.predicates for child in children])
            self.size: int = 1 + sum([child.size for child in children])
            self.can_shrink: bool = isinstance(node, And) or any(c.can_shrink for c in children)
        else:
            self.predicates = 0 if isinstance(node, Constant) else 1
            self.size = 1
            self.can_shrink = False

    @classmethod
    def of(cls, node: Filter, measure: Measure) -> "Tree":
        """The tree of a prepared filter."""
        rules = measure.rules
        match node:
            case And(children):
                return _joined(True, [cls.of(child, measure) for child in children], rules)
            case Or(children):
                return _joined(False, [cls.of(child, measure) for child in children], rules)
            case Constant(value):
                return cls(node, (), rules.always if value else rules.never, rules)
            case _:
                assert not isinstance(node, Not), "a prepared filter has no negation"
                return cls(node, (), measure.estimate(node), rules)


def estimated(node: Filter, measure: Measure) -> Estimate:
    """The estimate of a prepared filter, without a tree: the same in a fraction of the time."""
    match node:
        case And(children):
            return measure.rules.joined(True, [estimated(child, measure) for child in children])
        case Or(children):
            return measure.rules.joined(False, [estimated(child, measure) for child in children])
        case Constant(value):
            return measure.rules.always if value else measure.rules.never
        case _:
            assert not isinstance(node, Not), "a prepared filter has no negation"
            return measure.estimate(node)


def _joined(is_and: bool, subtrees: Sequence[Tree], rules: EstimateRules) -> Tree:
    """The AND or OR of trees, flat, no sibling twice; a single one is returned as it is."""
    kind = And if is_and else Or
    siblings: dict[Filter, Tree] = {}
    for subtree in subtrees:
        for each in subtree.children if type(subtree.node) is kind else (subtree,):
            siblings[each.node] = each
    children = tuple(siblings.values())
    if len(children) == 1:
        return children[0]
    estimate = rules.joined(is_and, [child.estimate for child in children])
    return Tree(kind(tuple(siblings)), children, estimate, rules)


class Pruning(NamedTuple):
    """One way to prune: what it costs, and what is left.

    Prunings sort from the best to the worst. `degradation` is rounded; `removed` counts the
    removed predicates, `position` is the pre-order position of the removed subtree, and `path`
    leads to it. `estimate` is that of the whole filter afterwards.
    """

    degradation: float
    removed: int
    position: int
    path: tuple[int, ...]
    estimate: Estimate


def best_pruning(tree: Tree) -> Pruning | None:
    """The pruning that costs least, or None if the tree is exhausted."""
    return min(prunings(tree), default=None)


def prunings(tree: Tree) -> Iterator[Pruning]:
    """Every valid pruning, in pre-order (P1-B4). Costs the size of the tree times its depth."""
    return _prunings(tree, tree.estimate, 0, ())


def _prunings(
    tree: Tree, whole: Estimate, position: int, above: tuple["_Step", ...]
) -> Iterator[Pruning]:
    """Those within a subtree; `whole` is the estimate of the whole tree, `above` the path here."""
    if not tree.can_shrink:
        return
    is_and = isinstance(tree.node, And)
    rules = tree.rules
    position += 1
    for index, (child, others) in enumerate(zip(tree.children, _others(tree), strict=True)):
        if is_and:
            estimate = others
            for step in reversed(above):
                estimate = (rules.both if step.is_and else rules.either)(step.others, estimate)
            yield Pruning(
                round(rules.degradation(whole, estimate), _DIGITS),
                child.predicates,
                position,
                (*(step.child for step in above), index),
                estimate,
            )
        yield from _prunings(child, whole, position, (*above, _Step(is_and, index, others)))
        position += child.size


class _Step(NamedTuple):
    """A step from an AND or an OR down to one of its children, past the others."""

    is_and: bool
    child: int
    others: Estimate


def _others(tree: Tree) -> list[Estimate]:
    """For each child the estimate of the AND or OR of all its siblings."""
    rules = tree.rules
    is_and = isinstance(tree.node, And)
    join, nothing = (rules.both, rules.always) if is_and else (rules.either, rules.never)
    estimates = [child.estimate for child in tree.children]
    before = accumulate(estimates[:-1], join, initial=nothing)
    behind = list(accumulate(reversed(estimates[1:]), join, initial=nothing))
    return [join(left, right) for left, right in zip(before, reversed(behind), strict=True)]


def pruned(tree: Tree, pruning: Pruning) -> Tree:
    """What the pruning leaves, flat, no sibling twice; unchanged subtrees are shared."""
    return _without(tree, pruning.path)


def _without(tree: Tree, path: tuple[int, ...]) -> Tree:
    first, *rest = path
    is_and = isinstance(tree.node, And)
    children = list(tree.children)
    if rest:
        children[first] = _without(children[first], tuple(rest))
    else:
        assert is_and, "a child of an OR is never removed: that would lose events"
        del children[first]
    return _joined(is_and, children, tree.rules)


def floor(tree: Tree) -> int:
    """A lower bound for the predicates that pruning leaves; it may be out of reach.

    An AND keeps one child, an OR something of every alternative, and only alternatives that share
    a predicate can become equal.
    """
    return _floor(tree)[0]


def _floor(tree: Tree) -> tuple[int, set[Filter]]:
    """The floor, and the predicates of the tree."""
    if not tree.children:
        return tree.predicates, {tree.node}
    floors = [_floor(child) for child in tree.children]
    if isinstance(tree.node, And):
        return min(count for count, _ in floors), set().union(*(leaves for _, leaves in floors))
    groups: list[tuple[int, set[Filter]]] = []
    seen: set[Filter] = set()
    for count, leaves in floors:
        if seen.isdisjoint(leaves):
            groups.append((count, leaves))
        else:
            related = [group for group in groups if not group[1].isdisjoint(leaves)]
            groups = [group for group in groups if group[1].isdisjoint(leaves)]
            counts, sets = zip((count, leaves), *related, strict=True)
            groups.append((max(counts), set().union(*sets)))
        seen |= leaves
    return sum(count for count, _ in groups), seen
