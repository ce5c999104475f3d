"""A filter with the estimates of its parts, and what can be pruned from it (P1-B4, P1-B6).

To prune is to remove a child of an AND: what is left accepts all that the filter did, and more.
A child of an OR is never removed, for that would lose events, nor is the root, since nothing
would be left. An AND with one child left gives way to that child. A filter without an AND, a
predicate or an OR of predicates, is exhausted.

The cost of a pruning is its degradation. Where two cost the same, the one that removes fewer
predicates comes first, then the one that stands further left, so that inner prunings come before
outer ones and runs can be repeated.
"""

from collections.abc import Iterator
from itertools import accumulate
from typing import Final, NamedTuple, cast

from boolcast.filters.canonical import canonical
from boolcast.filters.expressions import (
    And,
    Constant,
    Filter,
    Leaf,
    Node,
    Or,
    conjunction,
    disjunction,
)
from boolcast.filters.negation import to_nnf, without_constants
from boolcast.optimising.estimates import ALWAYS, NEVER, Estimate, both, either, of_and, of_or
from boolcast.optimising.selectivities import Selectivities

_DIGITS: Final = 12
"""Degradations that agree in so many digits are the same: further ones are noise of floats."""


def prepared(filter: Filter) -> Node:
    """The filter as trees are made of it: AND and OR over predicates, no sibling twice (P1-B1)."""
    return cast("Node", canonical(without_constants(to_nnf(cast("Node", filter)))))


class Tree:
    """A part of a prepared filter and its estimate.

    `predicates` counts the leaves, as often as they occur; `floor` is the least number of them
    that pruning can leave; `size` counts all nodes. `can_shrink`: there is an AND in it.
    """

    __slots__ = ("can_shrink", "children", "estimate", "floor", "node", "predicates", "size")

    def __init__(self, node: Node, selectivities: Selectivities) -> None:
        self.node = node
        self.children: tuple[Tree, ...] = ()
        match node:
            case And(children) | Or(children):
                self.children = tuple([Tree(child, selectivities) for child in children])
                is_and = isinstance(node, And)
                estimates = [child.estimate for child in self.children]
                floors = [child.floor for child in self.children]
                self.estimate: Estimate = of_and(estimates) if is_and else of_or(estimates)
                self.predicates: int = sum([child.predicates for child in self.children])
                self.floor: int = min(floors) if is_and else sum(floors)
                self.size: int = 1 + sum([child.size for child in self.children])
                self.can_shrink: bool = is_and or any(child.can_shrink for child in self.children)
            case Constant(value):
                self.estimate = ALWAYS if value else NEVER
                self.predicates = self.floor = 0
                self.size = 1
                self.can_shrink = False
            case _:
                share = selectivities.share(cast("Leaf", node))
                self.estimate = Estimate(share, share, share)
                self.predicates = self.floor = self.size = 1
                self.can_shrink = False


class Pruning(NamedTuple):
    """One way to prune: what it costs, and what is left.

    Prunings sort from the best to the worst. `degradation` is P1-B6's, rounded; `removed` counts
    the predicates that go, `position` is the place of the removed part in pre-order, and `path`
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
    """Those below a part of a tree; `whole` is the estimate of all of it, `above` the way down."""
    if not tree.can_shrink:
        return
    is_and = isinstance(tree.node, And)
    position += 1
    for place, (child, others) in enumerate(zip(tree.children, _others(tree), strict=True)):
        if is_and:
            estimate = others
            for step in reversed(above):
                estimate = (both if step.is_and else either)(step.others, estimate)
            yield Pruning(
                round(whole.degradation_to(estimate), _DIGITS),
                child.predicates,
                position,
                (*(step.place for step in above), place),
                estimate,
            )
        yield from _prunings(child, whole, position, (*above, _Step(is_and, place, others)))
        position += child.size


class _Step(NamedTuple):
    """On the way down: from an AND or an OR to one of its children, past the others."""

    is_and: bool
    place: int
    others: Estimate


def _others(tree: Tree) -> list[Estimate]:
    """For each child the estimate of the AND or OR of all its siblings."""
    is_and = isinstance(tree.node, And)
    join, nothing = (both, ALWAYS) if is_and else (either, NEVER)
    estimates = [child.estimate for child in tree.children]
    before = accumulate(estimates[:-1], join, initial=nothing)
    behind = list(accumulate(reversed(estimates[1:]), join, initial=nothing))
    return [join(left, right) for left, right in zip(before, reversed(behind), strict=True)]


def pruned(tree: Tree, pruning: Pruning) -> Node:
    """What the pruning leaves of the filter, flat and without repeated siblings."""
    return prepared(_without(tree.node, pruning.path))


def _without(node: Node, path: tuple[int, ...]) -> Node:
    assert isinstance(node, And | Or)
    first, *rest = path
    children = list(node.children)
    if rest:
        children[first] = _without(children[first], tuple(rest))
    else:
        assert isinstance(node, And), "a child of an OR is never removed: that would lose events"
        del children[first]
    return conjunction(children) if isinstance(node, And) else disjunction(children)
