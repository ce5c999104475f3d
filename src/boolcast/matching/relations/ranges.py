"""Which values an accepted event can have: ranges, unions of ranges, required substrings.

The *ranges* of a filter hold, for each attribute it constrains, every value that an accepted event
can have there. They may be too wide, never too narrow.

A filter with an OR is often better described by a *union*: a list of alternatives, each with
ranges of its own, such that every accepted event lies within at least one. An OR has the
alternatives of its children. An AND may take those of any one child, each narrowed by what the AND
demands anyway. So `(author = 'Austen' or title = 'Emma') and (price < 9 or bids = 0)` has two
unions: by author and title, or by price and bids. Which of them is better depends on the other
filters in the index (`relations.witness_index`). Below the first AND we guess from the ranges:
one value is rarer than an interval, which is rarer than everything below a value. A bad guess
only costs time.
"""

import math
from functools import reduce
from typing import Final, NamedTuple, assert_never

from boolcast.algebra import ordered_sets as ordered
from boolcast.algebra.ordered_sets import Boundary, OrderedSet
from boolcast.algebra.strings import Row
from boolcast.algebra.value_sets import meaning
from boolcast.filters.canonical import complement
from boolcast.filters.expressions import (
    And,
    AttributeComparison,
    Constant,
    Filter,
    Leaf,
    Matches,
    Not,
    Or,
    leaves,
)
from boolcast.model.events import Event
from boolcast.model.values import Opaque

Ranges = dict[str, OrderedSet]
"""For each constrained attribute, a set that holds every value it can have."""

_END: Final[Boundary] = (ordered.TIMESTAMP + 1,)
"""The end of all values."""

_MOST_ALTERNATIVES: Final = 32
"""A longer union becomes a single alternative."""

_MOST_UNIONS: Final = 4
"""How many unions of a filter are kept, the rarest first."""


class Alternative(NamedTuple):
    """The ranges of one alternative, and the subfilter it comes from."""

    ranges: Ranges
    source: Filter


RangeUnion = list[Alternative]


class Bounds:
    """The smallest interval around each range, as the boundaries before and after it.

    `points` has the lower boundary of each attribute that is left a single value.
    """

    __slots__ = ("intervals", "points")

    def __init__(self, intervals: dict[str, tuple[Boundary, Boundary]]) -> None:
        self.intervals = intervals
        self.points = {name: each[0] for name, each in intervals.items() if ordered.is_point(*each)}

    @classmethod
    def of_ranges(cls, ranges: Ranges) -> "Bounds":
        """The bounds of ranges, none of which may be empty."""
        return cls(bounding_intervals(ranges))

    @classmethod
    def of_event(cls, event: Event) -> "Bounds":
        """The values of an event; values outside the order (NaN, infinities) are left out."""
        return cls(
            {
                name: (ordered.before(value), ordered.after(value))
                for name, value in event.items()
                if not isinstance(value, Opaque) and value not in (math.inf, -math.inf)
            }
        )

    def present(self) -> list[str]:
        """The attributes that every event within the bounds has."""
        return [name for name, (low, _) in self.intervals.items() if low != (ordered.MISSING,)]


def bounding_interval(values: OrderedSet) -> tuple[Boundary, Boundary]:
    """The first and the last boundary of a set that is not empty."""
    return values[0], (values[-1] if len(values) % 2 == 0 else _END)


def bounding_intervals(ranges: Ranges) -> dict[str, tuple[Boundary, Boundary]]:
    """The bounding interval of each range."""
    return {name: bounding_interval(values) for name, values in ranges.items()}


def range_unions(node: Filter, *, negated: bool = False) -> list[RangeUnion]:
    """Some unions that hold every accepted event; none if no event can be accepted."""
    match node:
        case Not(child):
            return range_unions(child, negated=not negated)
        case And(children) | Or(children) if isinstance(node, And) is not negated:
            found = _unions_of_and([_rarest_union(child, negated=negated) for child in children])
            return sorted(found, key=_union_share)[:_MOST_UNIONS]
        case _:
            union = _rarest_union(node, negated=negated)
            return [union] if union else []


def _rarest_union(node: Filter, *, negated: bool) -> RangeUnion:
    """One union of the filter or of its negation; empty if no event can be accepted."""
    match node:
        case Constant(value):
            return [Alternative({}, node)] if value is not negated else []
        case Not(child):
            return _rarest_union(child, negated=not negated)
        case And(children) | Or(children):
            unions = [_rarest_union(child, negated=negated) for child in children]
            if isinstance(node, And) is not negated:
                return min(_unions_of_and(unions), key=_union_share, default=[])
            found = [alternative for union in unions for alternative in union]
            if len(found) <= _MOST_ALTERNATIVES:
                return found
            ranges = ranges_of(node, negated=negated)
            return [] if ranges is None else [Alternative(ranges, Not(node) if negated else node)]
        case _:
            leaf = complement(node) if negated else node
            return _union_of_leaf(leaf, _ranges_of_leaf(leaf))
    assert_never(node)


def ranges_of(node: Filter, *, negated: bool = False) -> Ranges | None:
    """The ranges of the filter or of its negation; None if no event can be accepted."""
    match node:
        case Constant(value):
            return {} if value is not negated else None
        case Not(child):
            return ranges_of(child, negated=not negated)
        case And(children) | Or(children):
            several = [ranges_of(child, negated=negated) for child in children]
            return _narrowed(several) if isinstance(node, And) is not negated else _widened(several)
        case _:
            return _ranges_of_leaf(complement(node) if negated else node)
    assert_never(node)


def required_substring(node: Filter) -> tuple[str, str] | None:
    """An attribute and the longest text it must contain, if that has two characters or more."""
    found = [
        (leaf.attribute, text)
        for leaf in leaves(node) or ()
        for row, holds in meaning(leaf).inside.literals
        if holds
        for text in _fixed_texts(row)
    ]
    longest = max(found, key=lambda each: (len(each[1]), each), default=("", ""))
    return longest if len(longest[1]) > 1 else None


def _fixed_texts(row: Row) -> list[str]:
    """The texts between the wildcards of a pattern."""
    texts = [""]
    for position, element in enumerate(row.elements):
        if element is None or row.stays >> position & 1:
            texts.append("")
        texts[-1] += element or ""
    return texts


def interval_share(low: Boundary, high: Boundary) -> float:
    """A guess which share of events has a value in the interval."""
    if ordered.is_point(low, high):
        return 0.5 if low[0] in (ordered.BOOLEAN, ordered.MISSING) else 0.002
    if low[0] < ordered.NUMBER or low[0] != high[0]:
        # Whole kinds, or all above a value.
        return 0.9 if len(low) == 1 else 0.5
    return 0.1 if len(low) > 1 else 0.5


def ranges_share(ranges: Ranges) -> float:
    """A guess which share of events lies within the ranges."""
    return math.prod(interval_share(*bounding_interval(values)) for values in ranges.values())


def _union_share(union: RangeUnion) -> float:
    return sum(ranges_share(alternative.ranges) for alternative in union)


def _ranges_of_leaf(leaf: Leaf) -> Ranges | None:
    variable, inside, _ = meaning(leaf)
    if not variable.is_residual:
        return {variable.name: inside.ordered} if inside.ordered else None
    if isinstance(leaf, AttributeComparison):
        return {leaf.attribute: ordered.PRESENT, leaf.other: ordered.PRESENT}
    assert isinstance(leaf, Matches)
    return {leaf.attribute: ordered.STRINGS}


def _union_of_leaf(leaf: Leaf, ranges: Ranges | None) -> RangeUnion:
    """A list of values (`in`) is an OR."""
    if ranges is None:
        return []
    if len(ranges) == 1:
        ((name, values),) = ranges.items()
        intervals = ordered.intervals(values)
        if 1 < len(intervals) <= _MOST_ALTERNATIVES and all(
            ordered.is_point(*each) for each in intervals
        ):
            return [Alternative({name: each}, leaf) for each in intervals]
    return [Alternative(ranges, leaf)]


def _unions_of_and(unions: list[RangeUnion]) -> list[RangeUnion]:
    """The unions of an AND whose children have these."""
    if not all(unions):
        return []
    always = _narrowed([union[0].ranges for union in unions if len(union) == 1])
    if always is None:
        return []
    branching = [union for union in unions if len(union) > 1]
    if not branching:
        return [[Alternative(always, unions[0][0].source)]]
    narrowed = [
        [
            Alternative(ranges, each.source)
            for each in union
            if (ranges := _narrowed([always, each.ranges])) is not None
        ]
        for union in branching
    ]
    return narrowed if all(narrowed) else []


def _narrowed(several: list[Ranges | None] | list[Ranges]) -> Ranges | None:
    """What lies within all of the ranges; None if nothing does."""
    result: Ranges = {}
    for ranges in several:
        if ranges is None:
            return None
        for name, values in ranges.items():
            known = result.get(name)
            both = values if known is None else ordered.intersect(known, values)
            if not both:
                return None
            result[name] = both
    return result


def _widened(several: list[Ranges | None]) -> Ranges | None:
    """Ranges around all of the ranges; None if none can be satisfied."""
    possible = [ranges for ranges in several if ranges is not None]
    return reduce(_around_both, possible) if possible else None


def _around_both(left: Ranges, right: Ranges) -> Ranges:
    return {
        name: ordered.unite(values, right[name]) for name, values in left.items() if name in right
    }
