"""Conjunctions as boxes: a set of values for each attribute, and the predicates that are none.

What a merger accepts beyond its constituents is a box minus other boxes. That is again a list of
boxes, without an event in common. So its probability is a sum, and nothing is multiplied out
(P2-B11).
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from boolcast.algebra import ordered_sets as ordered
from boolcast.algebra.normal_forms import to_dnf
from boolcast.algebra.ordered_sets import OrderedSet
from boolcast.algebra.value_sets import meaning
from boolcast.filters.canonical import to_nnf
from boolcast.filters.expressions import Filter, Leaf, leaves

_CLAUSES: Final = 64
"""How many boxes one filter may become."""


class Box(NamedTuple):
    """The events whose values lie in all `ranges` and that satisfy all `others`.

    `others` are the predicates that are not sets of values: residual predicates and patterns.
    """

    ranges: dict[str, OrderedSet]
    others: frozenset[Leaf] = frozenset()

    def within(self, other: "Box") -> "Box | None":
        """The intersection; None if it leaves an attribute no value."""
        ranges = dict(self.ranges)
        for name, values in other.ranges.items():
            known = ranges.get(name)
            both = values if known is None else ordered.intersect(known, values)
            if not both:
                return None
            ranges[name] = both
        return Box(ranges, self.others | other.others)

    def without(self, other: "Box") -> Iterator["Box"]:
        """The rest without another box, as boxes that have nothing in common.

        A box with further `others` cannot be taken out: then the rest is this whole box.
        """
        if not other.others <= self.others:
            yield self
            return
        ranges = dict(self.ranges)
        for name, values in other.ranges.items():
            known = ranges.get(name, ordered.EVERYTHING)
            outside = ordered.intersect(known, ordered.complement(values))
            if outside:
                yield Box({**ranges, name: outside}, self.others)
            inside = ordered.intersect(known, values)
            if not inside:
                return
            ranges[name] = inside


EVERY_EVENT: Final = Box({})


def box_of(conjunction: Iterable[Leaf]) -> Box | None:
    """The box of predicates that must all hold; None if no event can satisfy them."""
    ranges: dict[str, OrderedSet] = {}
    others: list[Leaf] = []
    for leaf in conjunction:
        variable, inside, _ = meaning(leaf)
        if variable.is_residual or inside.literals:
            others.append(leaf)
            continue
        known = ranges.get(leaf.attribute)
        values = inside.ordered if known is None else ordered.intersect(known, inside.ordered)
        if not values:
            return None
        ranges[leaf.attribute] = values
    return Box(ranges, frozenset(others))


def boxes_of(filter: Filter) -> list[Box]:
    """Boxes around every accepted event; a filter with too many becomes one box of all events."""
    conjunction = leaves(filter) or leaves(to_nnf(filter))
    if conjunction is not None:
        box = box_of(conjunction)
        return [] if box is None else [box]
    normal = to_dnf(filter, budget=_CLAUSES)
    if normal.exhausted:
        return [EVERY_EVENT]
    return [box for clause in normal.clauses if (box := box_of(clause)) is not None]


def difference(box: Box, others: Sequence[Box], budget: int) -> list[Box]:
    """What is left of a box without others, as boxes that have nothing in common.

    Past the budget of boxes the result is too large, never too small.
    """
    rest = [box]
    for other in others:
        if len(rest) > budget:
            return rest
        rest = [left for each in rest for left in each.without(other)]
    return rest
