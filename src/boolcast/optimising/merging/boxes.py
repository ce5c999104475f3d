"""Conjunctions as boxes: a set of values for each attribute, and what has no such set beside them.

What a merger lets pass beyond its constituents is a box less other boxes, and that falls into
boxes again that have no event in common. So its share is a sum, and nothing has to be multiplied
out (P2-B11).
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
"""How many boxes one filter may come to."""


class Box(NamedTuple):
    """The events whose values lie in all `ranges` and satisfy all `others`.

    `others` are the predicates that are no set of values: residual ones and patterns.
    """

    ranges: dict[str, OrderedSet]
    others: frozenset[Leaf] = frozenset()

    def within(self, other: "Box") -> "Box | None":
        """What both have in common; None if no value is left. Others are taken together."""
        ranges = dict(self.ranges)
        for name, cuts in other.ranges.items():
            known = ranges.get(name)
            both = cuts if known is None else ordered.intersect(known, cuts)
            if not both:
                return None
            ranges[name] = both
        return Box(ranges, self.others | other.others)

    def without(self, other: "Box") -> Iterator["Box"]:
        """The rest beside another box, in boxes that have nothing in common.

        A box whose `others` are not among these cannot be taken out: it is left in.
        """
        if not other.others <= self.others:
            yield self
            return
        ranges = dict(self.ranges)
        for name, cuts in other.ranges.items():
            known = ranges.get(name, ordered.EVERYTHING)
            outside = ordered.intersect(known, ordered.complement(cuts))
            if outside:
                yield Box({**ranges, name: outside}, self.others)
            inside = ordered.intersect(known, cuts)
            if not inside:
                return
            ranges[name] = inside


EVERY_EVENT: Final = Box({})


def box_of(conjunction: Iterable[Leaf]) -> Box | None:
    """The box of some predicates that must all hold; None if no event can satisfy them."""
    ranges: dict[str, OrderedSet] = {}
    others: list[Leaf] = []
    for leaf in conjunction:
        variable, inside, _ = meaning(leaf)
        if variable.is_residual or inside.literals:
            others.append(leaf)
            continue
        known = ranges.get(leaf.attribute)
        cuts = inside.ordered if known is None else ordered.intersect(known, inside.ordered)
        if not cuts:
            return None
        ranges[leaf.attribute] = cuts
    return Box(ranges, frozenset(others))


def boxes_of(filter: Filter) -> list[Box]:
    """Boxes that hold every event which the filter accepts; of one that is too long, one box."""
    conjunction = leaves(filter) or leaves(to_nnf(filter))
    if conjunction is not None:
        box = box_of(conjunction)
        return [] if box is None else [box]
    form = to_dnf(filter, budget=_CLAUSES)
    if form.exhausted:
        return [EVERY_EVENT]
    return [box for clause in form.clauses if (box := box_of(clause)) is not None]


def difference(box: Box, others: Sequence[Box], budget: int) -> list[Box]:
    """What is left of a box without others, in boxes that have nothing in common.

    Past the budget of boxes it is too much, never too little.
    """
    rest = [box]
    for other in others:
        if len(rest) > budget:
            return rest
        rest = [part for each in rest for part in each.without(other)]
    return rest
