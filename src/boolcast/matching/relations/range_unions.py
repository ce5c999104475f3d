"""What a filter accepts, as alternatives with ranges: an accepted event lies within one of them.

An OR has those of its children. An AND has those of any one child, each narrowed by what the AND
demands anyway. So `(author = 'Austen' or title = 'Emma') and (price < 9 or bids = 0)` can be kept
by an author and a title, or by a price and bids.

Which of these *options* tells the filter best from others, the others decide
(`relations.sample_index`). Below the first AND it is a guess from the ranges: one value is rarer
than an interval, and that is rarer than all below a value. A bad guess costs time only.
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

Ranges = dict[str, OrderedSet]
"""For each attribute that is constrained a set that holds every value which it can have."""

END: Final[Boundary] = (ordered.TIMESTAMP + 1,)

_MOST: Final = 32
"""How many alternatives are kept apart; more are taken for one."""


_OPTIONS: Final = 4
"""How many options are kept, the best by the guess."""


class Alternative(NamedTuple):
    """Ranges, and the part of the filter that they come from."""

    ranges: Ranges
    part: Filter


def options(node: Filter, *, negated: bool = False) -> list[list[Alternative]]:
    """Alternatives, in some of the ways in which they can be had; none if nothing is accepted."""
    match node:
        case Not(child):
            return options(child, negated=not negated)
        case And(children) | Or(children) if isinstance(node, And) is not negated:
            found = _of_all([alternatives(child, negated=negated) for child in children])
            return sorted(found, key=_share_of_all)[:_OPTIONS]
        case _:
            found = [alternatives(node, negated=negated)]
            return found if found[0] else []


def alternatives(node: Filter, *, negated: bool = False) -> list[Alternative]:
    """Whatever the filter (or its negation) accepts lies within one of these."""
    match node:
        case Constant(value):
            return [Alternative({}, node)] if value is not negated else []
        case Not(child):
            return alternatives(child, negated=not negated)
        case And(children) | Or(children):
            parts = [alternatives(child, negated=negated) for child in children]
            if isinstance(node, And) is not negated:
                return min(_of_all(parts), key=_share_of_all, default=[])
            found = [each for part in parts for each in part]
            if len(found) <= _MOST:
                return found
            spanned = ranges_of(node, negated=negated)
            return [] if spanned is None else [Alternative(spanned, Not(node) if negated else node)]
        case _:
            leaf = complement(node) if negated else node
            return _of_list(leaf, _of_leaf(leaf))
    assert_never(node)


def ranges_of(node: Filter, *, negated: bool = False) -> Ranges | None:
    """The ranges of the filter or of its negation; None if no event can be accepted."""
    match node:
        case Constant(value):
            return {} if value is not negated else None
        case Not(child):
            return ranges_of(child, negated=not negated)
        case And(children) | Or(children):
            parts = [ranges_of(child, negated=negated) for child in children]
            return _within_all(parts) if isinstance(node, And) is not negated else _spanned(parts)
        case _:
            return _of_leaf(complement(node) if negated else node)
    assert_never(node)


def needle_of(node: Filter) -> tuple[str, str] | None:
    """An attribute and the longest text, of two characters at least, that it must contain."""
    found = [
        (leaf.attribute, text)
        for leaf in leaves(node) or ()
        for row, holds in meaning(leaf).inside.literals
        if holds
        for text in _texts(row)
    ]
    longest = max(found, key=lambda each: (len(each[1]), each), default=("", ""))
    return longest if len(longest[1]) > 1 else None


def _texts(row: Row) -> list[str]:
    """The texts between the wildcards of a pattern."""
    texts = [""]
    for place, element in enumerate(row.elements):
        if element is None or row.stays >> place & 1:
            texts.append("")
        texts[-1] += element or ""
    return texts


def rarity(low: Boundary, high: Boundary) -> float:
    """A guess how large a share of the events has a value in the span."""
    if ordered.is_point(low, high):
        return 0.5 if low[0] in (ordered.BOOLEAN, ordered.MISSING) else 0.002
    if low[0] < ordered.NUMBER or low[0] != high[0]:
        # Whole kinds, or all above a value.
        return 0.9 if len(low) == 1 else 0.5
    return 0.1 if len(low) > 1 else 0.5


def share(ranges: Ranges) -> float:
    """A guess how large a share of the events lies within the ranges."""
    return math.prod(rarity(*span_of(cuts)) for cuts in ranges.values())


def span_of(cuts: OrderedSet) -> tuple[Boundary, Boundary]:
    """The least and the last cut of a set that is not empty."""
    return cuts[0], (cuts[-1] if len(cuts) % 2 == 0 else END)


def _of_leaf(leaf: Leaf) -> Ranges | None:
    variable, inside, _ = meaning(leaf)
    if not variable.is_residual:
        return {variable.name: inside.ordered} if inside.ordered else None
    if isinstance(leaf, AttributeComparison):
        return {leaf.attribute: ordered.PRESENT, leaf.other: ordered.PRESENT}
    assert isinstance(leaf, Matches)
    return {leaf.attribute: ordered.STRINGS}


def _of_list(leaf: Leaf, ranges: Ranges | None) -> list[Alternative]:
    """A list of values is an OR."""
    if ranges is None:
        return []
    if len(ranges) == 1:
        ((name, cuts),) = ranges.items()
        spans = ordered.intervals(cuts)
        if 1 < len(spans) <= _MOST and all(ordered.is_point(*span) for span in spans):
            return [Alternative({name: span}, leaf) for span in spans]
    return [Alternative(ranges, leaf)]


def _of_all(parts: list[list[Alternative]]) -> list[list[Alternative]]:
    """The options of an AND."""
    if not all(parts):
        return []
    always = _within_all([part[0].ranges for part in parts if len(part) == 1])
    if always is None:
        return []
    split = [part for part in parts if len(part) > 1]
    if not split:
        return [[Alternative(always, parts[0][0].part)]]
    narrowed = [
        [
            Alternative(ranges, each.part)
            for each in part
            if (ranges := _within_all([always, each.ranges])) is not None
        ]
        for part in split
    ]
    return narrowed if all(narrowed) else []


def _share_of_all(found: list[Alternative]) -> float:
    return sum(share(each.ranges) for each in found)


def _within_all(parts: list[Ranges | None] | list[Ranges]) -> Ranges | None:
    result: Ranges = {}
    for part in parts:
        if part is None:
            return None
        for name, cuts in part.items():
            known = result.get(name)
            narrowed = cuts if known is None else ordered.intersect(known, cuts)
            if not narrowed:
                return None
            result[name] = narrowed
    return result


def _spanned(parts: list[Ranges | None]) -> Ranges | None:
    possible = [part for part in parts if part is not None]
    if not possible:
        return None
    return reduce(_span_both, possible)


def _span_both(left: Ranges, right: Ranges) -> Ranges:
    return {name: ordered.unite(cuts, right[name]) for name, cuts in left.items() if name in right}
