"""An equivalent filter from which no leaf can be removed without changing its meaning.

Removing a child of an AND can only make a filter accept more, removing a child of an OR only
less; so one search for an event in the difference tells whether a removal is free. Whole
subtrees are tried before single leaves, later ones before earlier ones, until nothing gives.
"""

from collections.abc import Iterator
from typing import Final

from boolcast.algebra.budget import DEFAULT_BUDGET
from boolcast.algebra.relations import Prover
from boolcast.filters.canonical import to_nnf, without_constants
from boolcast.filters.expressions import (
    FALSE,
    TRUE,
    And,
    Constant,
    Filter,
    FilterLike,
    Or,
    Predicate,
    RewrittenFilter,
    as_filter,
    conjunction,
    disjunction,
)
from boolcast.model.schemas import Schema

SIMPLIFY_BUDGET: Final = 10 * DEFAULT_BUDGET
"""Steps for one filter, shared by all the removals that are tried."""

_Path = tuple[int, ...]


class Simplified(RewrittenFilter, frozen=True):
    """The simpler filter, in negation normal form, and the parts that were removed from it.

    `exhausted` says that the budget ran out, so that some leaf might still be removable.
    """

    removed: tuple[Filter, ...] = ()
    exhausted: bool = False


def simplify(
    filter: FilterLike, *, schema: Schema | None = None, budget: int = SIMPLIFY_BUDGET
) -> Simplified:
    """Remove what is redundant; the result accepts exactly the same events (of the schema).

    Residual predicates are free variables here: one is removed only where it cannot matter
    whatever it says.

    >>> str(simplify("price < 25 and (price < 30 or title = 'Emma')"))
    'price < 25'
    """
    return _Simplifier(schema, budget).run(without_constants(to_nnf(as_filter(filter))))


class _Simplifier(Prover):
    def run(self, node: Filter) -> Simplified:
        if isinstance(node, Constant):
            return Simplified(node)
        if not self.may_exist([node], []):
            return Simplified(FALSE, (node,), self.exhausted)
        if not self.may_exist([], [node]):
            return Simplified(TRUE, (node,), self.exhausted)
        removed: list[Filter] = []
        while (shorter := self._pass(node, removed)) != node:
            node = shorter
        return Simplified(node, tuple(removed), self.exhausted)

    def _pass(self, node: Filter, removed: list[Filter]) -> Filter:
        """The filter without what can be removed from it in one go through its parts."""
        position = 0
        while position < len(parts := _parts(node)) and self.budget.remaining > 0:
            path, part, parent = parts[position]
            shorter = _without(node, path)
            if isinstance(parent, And):
                changes = self.may_exist([shorter], [node])
            else:
                changes = self.may_exist([node], [shorter])
            if changes:
                position += 1
            else:
                node = shorter
                removed.append(part)
        self.exhausted = self.exhausted or self.budget.remaining <= 0
        return node


def _parts(node: Filter) -> list[tuple[_Path, Filter, And | Or]]:
    """Every node below the root with its path and parent: subtrees first, later ones first."""
    parts = list(_below(node, ()))
    parts.sort(key=lambda item: isinstance(item[1], Predicate))
    return parts


def _below(node: Filter, path: _Path) -> Iterator[tuple[_Path, Filter, And | Or]]:
    if isinstance(node, And | Or):
        for index in reversed(range(len(node.children))):
            child = node.children[index]
            yield (*path, index), child, node
            yield from _below(child, (*path, index))


def _without(node: Filter, path: _Path) -> Filter:
    """The filter without the part at the path; an operator left with one child dissolves."""
    assert isinstance(node, And | Or)
    first, *rest = path
    children = list(node.children)
    if rest:
        children[first] = _without(children[first], tuple(rest))
    else:
        del children[first]
    return conjunction(children) if isinstance(node, And) else disjunction(children)
