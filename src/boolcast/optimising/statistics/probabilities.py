"""How likely an event has one of some values, or satisfies a predicate.

`Uniform` is for experiments: every value of a given range is as likely as the next (P2-B11).
`Measured` is what statistics say. Where those are silent it answers at most: a merger may let
fewer events pass for nothing than was expected, and not more.
"""

import math
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from typing import Protocol

import msgspec

from boolcast.algebra import ordered_sets as ordered
from boolcast.algebra.ordered_sets import Boundary, OrderedSet
from boolcast.algebra.value_sets import meaning
from boolcast.filters.expressions import Comparison, Leaf
from boolcast.model.schemas import Schema
from boolcast.model.values import Value
from boolcast.optimising.merging.boxes import Box
from boolcast.optimising.statistics.distributions import share_of_values
from boolcast.optimising.statistics.selectivities import Selectivities, counted_predicates


class Chances(Protocol):
    """The probabilities of what an event may be; attributes are independent."""

    def of_values(self, attribute: str, cuts: OrderedSet) -> float:
        """That the attribute has one of these values, or is missing if that is among them."""

    def of_predicate(self, predicate: Leaf) -> float:
        """That the predicate holds: asked of those that are no set of values."""


def chance_of(box: Box, chances: Chances) -> float:
    """That an event lies in the box."""
    values = (chances.of_values(name, cuts) for name, cuts in box.ranges.items())
    return math.prod(values) * math.prod(map(chances.of_predicate, box.others))


class Range(msgspec.Struct, frozen=True):
    """Numbers from `low` to `high`, both included, all equally likely; whole ones unless not.

    The bounds of whole numbers need not be whole. One of them at least must lie between.
    """

    low: int | float
    high: int | float
    whole: bool = True

    def share(self, cuts: OrderedSet) -> float:
        """The part of the range that lies in the set."""
        if self.low == self.high:
            return Listed((self.low,)).share(cuts)
        inside = sum(self._size(low, high) for low, high in ordered.intervals(cuts))
        if self.whole:
            return inside / (math.floor(self.high) - math.ceil(self.low) + 1)
        return inside / (self.high - self.low)

    def _size(self, begin: Boundary, end: Boundary) -> int | float:
        if begin >= (ordered.STRING,) or end <= (ordered.NUMBER,):
            return 0
        low = begin[1] if begin[0] == ordered.NUMBER and len(begin) > 1 else -math.inf
        high = end[1] if end[0] == ordered.NUMBER else math.inf
        if low > self.high or high < self.low:
            return 0
        if not self.whole:
            return max(min(high, self.high) - max(low, self.low), 0)
        first = math.ceil(max(low, self.low))
        last = math.floor(self.high) if high > self.high else math.ceil(high) - 1
        return max(last - first + 1, 0)


class Listed(msgspec.Struct, frozen=True):
    """Some values, all equally likely."""

    values: tuple[Value, ...]

    def share(self, cuts: OrderedSet) -> float:
        """The part of the values that lies in the set."""
        ends = [(ordered.before(value), ordered.after(value)) for value in self.values]
        inside = sum(ordered.intersect(cuts, each) == each for each in ends)
        return inside / len(self.values)


class Uniform:
    """Every event has all these attributes, each with any of its values at the same probability.

    Whatever else is asked for is taken to be certain.
    """

    def __init__(self, values: Mapping[str, Range | Listed]) -> None:
        self._values = values
        self._known: dict[tuple[str, OrderedSet], float] = {}

    @classmethod
    def of_schema(cls, schema: Schema) -> "Uniform":
        """By the bounds and the lists that the schema gives to attributes of all events."""
        values: dict[str, Range | Listed] = {}
        for name, known in schema.attributes.items():
            low, high = known.minimum, known.maximum
            if known.values is not None:
                values[name] = Listed(tuple(filter(known.admits, known.values)))
            elif known.kind == "boolean":
                values[name] = Listed((False, True))
            elif isinstance(low, int | float) and isinstance(high, int | float):
                values[name] = Range(low, high, whole=known.integer)
        return cls(values)

    def of_values(self, attribute: str, cuts: OrderedSet) -> float:
        key = (attribute, cuts)
        share = self._known.get(key)
        if share is None:
            values = self._values.get(attribute)
            share = self._known[key] = 1.0 if values is None else values.share(cuts)
        return share

    def of_predicate(self, predicate: Leaf) -> float:  # noqa: ARG002
        return 1.0


class Measured:
    """By what was counted: the spread of an attribute's values, else predicates on it.

    Of values that nobody counted no more is known than that they lie within what some counted
    predicate accepts and beside what others do.
    """

    def __init__(self, selectivities: Selectivities) -> None:
        self._selectivities = selectivities
        self._statistics = selectivities.statistics
        self._known: dict[tuple[str, OrderedSet], float] = {}
        self._counted: dict[str, dict[OrderedSet, float]] | None = None

    def of_values(self, attribute: str, cuts: OrderedSet) -> float:
        key = (attribute, cuts)
        share = self._known.get(key)
        if share is None:
            found = share_of_values(attribute, cuts, self._statistics)
            share = self._at_most(attribute, cuts) if found is None else found
            self._known[key] = share
        return share

    def of_predicate(self, predicate: Leaf) -> float:
        return self._selectivities.share(predicate)

    def _at_most(self, attribute: str, cuts: OrderedSet) -> float:
        if self._counted is None:
            self._counted = _counted_sets(counted_predicates(self._statistics))
        counted = self._counted.get(attribute, {})
        bounds = {ordered.EVERYTHING: 1.0, **counted}
        return min(
            max(share - _at_least(ordered.intersect(outer, ordered.complement(cuts)), counted), 0.0)
            for outer, share in bounds.items()
            if ordered.intersect(outer, cuts) == cuts
        )


def _at_least(cuts: OrderedSet, counted: Mapping[OrderedSet, float]) -> float:
    """What is known to lie in a set: the most that counted sets have which do not overlap."""
    total = 0.0
    for low, high in ordered.intervals(cuts):
        within = sorted(
            (each[1], each[0], share)
            for each, share in counted.items()
            if len(each) == 2 and low <= each[0] and each[1] <= high
        )
        ends = [end for end, _, _ in within]
        best = [0.0]
        for _, begin, share in within:
            best.append(max(best[-1], best[bisect_right(ends, begin, hi=len(best) - 1)] + share))
        total += best[-1]
    return total


def _counted_sets(counted: Iterable[tuple[Leaf, float]]) -> dict[str, dict[OrderedSet, float]]:
    found: dict[str, dict[OrderedSet, float]] = {}
    for leaf, share in counted:
        if isinstance(leaf, Comparison):
            found.setdefault(leaf.attribute, {})[meaning(leaf).inside.ordered] = share
    return found
