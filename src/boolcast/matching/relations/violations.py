"""The violating predicates of a tree: a set for each way to satisfy it (P3-B3).

Of a leaf it is one set, the predicates that its own attribute rules out. An OR has the sets of
all its children, an AND the unions of one of each, so there are as many as conjunctions in
disjunctive form, and they are limited. Here a set is a frozenset of *violations*, numbers that
each stand for the predicates which one leaf rules out; leaves that rule out none do not appear.
"""

from collections.abc import Callable, Iterable
from itertools import product
from typing import Final

from boolcast.filters.canonical import complement
from boolcast.filters.expressions import And, Constant, Filter, Leaf, Not, Or

DEFAULT_SETS: Final = 4_096
"""So many sets, and whatever is asked about is taken to overlap (P3-B3)."""

_COMPARED: Final = 64
"""Of so many sets each is compared with each."""

Sets = list[frozenset[int]]


NO_WAY: Final[Sets] = []
FREELY: Final[Sets] = [frozenset()]
"""The sets of what cannot be satisfied, and of what rules out nothing."""


class TooManySetsError(Exception):
    """More sets than the limit."""


def violating_sets(node: Filter, leaf_sets: Callable[[Leaf], Sets], limit: int) -> Sets:
    """The sets of a tree, none twice, in the order of its leaves.

    `leaf_sets` are those of a leaf: `NO_WAY`, `FREELY`, or one set of one number. Of few sets
    only those are left that contain no other, for who survives the larger survives the smaller.
    Raises TooManySetsError.
    """
    return _sets(node, True, leaf_sets, limit)


def _sets(node: Filter, is_wanted: bool, leaf_sets: Callable[[Leaf], Sets], limit: int) -> Sets:
    """The sets of the tree, or of its negation."""
    match node:
        case And(children) | Or(children):
            parts = [_sets(child, is_wanted, leaf_sets, limit) for child in children]
            if isinstance(node, And) is is_wanted:
                return _multiplied(parts, limit)
            return _least((each for part in parts for each in part), limit)
        case Not(child):
            return _sets(child, not is_wanted, leaf_sets, limit)
        case Constant(value):
            return FREELY if value is is_wanted else NO_WAY
        case _:
            return leaf_sets(node if is_wanted else complement(node))


def _multiplied(parts: list[Sets], limit: int) -> Sets:
    result = FREELY
    for part in parts:
        if part == FREELY:
            continue
        if len(result) * len(part) > limit:
            raise TooManySetsError
        result = _least((left | right for left, right in product(result, part)), limit)
    return result


def _least(sets: Iterable[frozenset[int]], limit: int) -> Sets:
    distinct = dict.fromkeys(sets)
    if len(distinct) < 2:
        return list(distinct)
    if frozenset() in distinct:
        return FREELY
    if len(distinct) > limit:
        raise TooManySetsError
    if len(distinct) > _COMPARED:
        return list(distinct)
    return [each for each in distinct if not any(other < each for other in distinct)]
