"""The violating predicates of a tree: a set for each way to satisfy it (P3-B3).

Of a leaf it is one set, the predicates that its own attribute rules out. An OR has the sets of
all its children, an AND the unions of one of each, so there are as many as conjunctions in
disjunctive form, and they are limited. Here a set is a frozenset of *violations*, numbers that
each stand for the predicates which one leaf rules out; leaves that rule out none do not appear.
"""

from collections.abc import Callable, Iterable
from itertools import product
from typing import Final, cast

from boolcast.filters.expressions import And, Constant, Leaf, Node, Or

DEFAULT_SETS: Final = 4_096
"""So many sets, and whatever is asked about is taken to overlap (P3-B3)."""

_COMPARED: Final = 64
"""Of so many sets each is compared with each."""

Sets = list[frozenset[int]]


class TooManySetsError(Exception):
    """More sets than the limit."""


def violating_sets(node: Node, violation: Callable[[Leaf], int | None], limit: int) -> Sets:
    """The sets of a tree in negation normal form, none twice, in the order of its leaves.

    `violation` is the number of what a leaf rules out, None for nothing. Of few sets only those
    are left that contain no other, for who survives the larger survives the smaller. Raises
    TooManySetsError.
    """
    match node:
        case Constant(value):
            return [frozenset()] if value else []
        case Or(children):
            parts = [violating_sets(child, violation, limit) for child in children]
            return _least((each for part in parts for each in part), limit)
        case And(children):
            result: Sets = [frozenset()]
            for child in children:
                part = violating_sets(child, violation, limit)
                if len(result) * len(part) > limit:
                    raise TooManySetsError
                result = _least((left | right for left, right in product(result, part)), limit)
            return result
        case _:
            number = violation(cast("Leaf", node))
            return [frozenset(() if number is None else (number,))]


def _least(sets: Iterable[frozenset[int]], limit: int) -> Sets:
    distinct = dict.fromkeys(sets)
    if frozenset() in distinct:
        return [frozenset()]
    if len(distinct) > limit:
        raise TooManySetsError
    if len(distinct) > _COMPARED:
        return list(distinct)
    return [each for each in distinct if not any(other < each for other in distinct)]
