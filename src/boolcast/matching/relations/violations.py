"""What must be false if a filter is true: a set of violated predicates for each way (P3-B3).

A leaf has one set: the predicates that its own values rule out. An OR has the sets of all its
children. An AND has the unions of one set of each child, so there are as many as conjunctions in
the disjunctive normal form, and their number is limited. A set is a frozenset of *violations*:
numbers that each stand for all predicates which one leaf rules out. Leaves that rule out nothing
do not appear.
"""

from collections.abc import Callable, Iterable
from itertools import product
from typing import Final

from boolcast.filters.canonical import complement
from boolcast.filters.expressions import And, Constant, Filter, Leaf, Not, Or

DEFAULT_SETS: Final = 4_096
"""With more sets than this, whatever is asked about is taken to overlap (P3-B3)."""

_COMPARED: Final = 64
"""Up to so many sets, each is compared with each."""

ViolatingSets = list[frozenset[int]]

UNSATISFIABLE: Final[ViolatingSets] = []
VIOLATES_NOTHING: Final[ViolatingSets] = [frozenset()]


class TooManySetsError(Exception):
    """More sets than the limit."""


def violating_sets(
    node: Filter, leaf_sets: Callable[[Leaf], ViolatingSets], limit: int
) -> ViolatingSets:
    """The sets of a filter, none twice, in the order of its leaves.

    `leaf_sets` gives those of a leaf: `UNSATISFIABLE`, `VIOLATES_NOTHING`, or one set of one
    number. If there are few sets, those that contain another one are left out: what is true with
    the larger one violated is true with the smaller one. Raises TooManySetsError.
    """
    return _sets(node, True, leaf_sets, limit)


def _sets(
    node: Filter, is_wanted: bool, leaf_sets: Callable[[Leaf], ViolatingSets], limit: int
) -> ViolatingSets:
    """The sets of the filter, or of its negation."""
    match node:
        case And(children) | Or(children):
            several = [_sets(child, is_wanted, leaf_sets, limit) for child in children]
            if isinstance(node, And) is is_wanted:
                return _multiplied(several, limit)
            return _least((each for sets in several for each in sets), limit)
        case Not(child):
            return _sets(child, not is_wanted, leaf_sets, limit)
        case Constant(value):
            return VIOLATES_NOTHING if value is is_wanted else UNSATISFIABLE
        case _:
            return leaf_sets(node if is_wanted else complement(node))


def _multiplied(several: list[ViolatingSets], limit: int) -> ViolatingSets:
    result = VIOLATES_NOTHING
    for sets in several:
        if sets == VIOLATES_NOTHING:
            continue
        if len(result) * len(sets) > limit:
            raise TooManySetsError
        result = _least((left | right for left, right in product(result, sets)), limit)
    return result


def _least(sets: Iterable[frozenset[int]], limit: int) -> ViolatingSets:
    distinct = dict.fromkeys(sets)
    if len(distinct) < 2:
        return list(distinct)
    if frozenset() in distinct:
        return VIOLATES_NOTHING
    if len(distinct) > limit:
        raise TooManySetsError
    if len(distinct) > _COMPARED:
        return list(distinct)
    return [each for each in distinct if not any(other < each for other in distinct)]
