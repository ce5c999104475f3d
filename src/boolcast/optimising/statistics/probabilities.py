"""How likely is it that an event has one of some values, or satisfies a predicate?

`Uniform` is for experiments: every value of a range is equally likely (P2-B11). `Measured` goes by
statistics. Where these are silent it answers with an upper bound, so a merger may cause fewer false
positives than expected, not more.
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
from boolcast.optimising.statistics.selectivities import Selectivities, counted_predicates
from boolcast.optimising.statistics.value_bins import share_of_values


class Probabilities(Protocol):
    """The probabilities of an event's values; attributes are assumed to be independent."""

    def of_values(self, attribute: str, values: OrderedSet) -> float:
        """The probability that the attribute has one of these values; *missing* may be one."""

    def of_predicate(self, predicate: Leaf) -> float:
        """The probability of a predicate that is not a set of values."""


class Range(msgspec.Struct, frozen=True):
    """Numbers from `low` to `high`, both included, all equally likely.

    With `whole`, only whole numbers; the bounds need not be whole, but must include one.
    """

    low: int | float
    high: int | float
    whole: bool = True

    def share(self, values: OrderedSet) -> float:
        """The share of the range that lies in the set."""
        if self.low == self.high:
            return Listed((self.low,)).share(values)
        inside = sum(self._size(low, high) for low, high in ordered.intervals(values))
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
    """Listed values, all equally likely."""

    values: tuple[Value, ...]

    def share(self, values: OrderedSet) -> float:
        """The share of the values that lies in the set."""
        ends = [(ordered.before(value), ordered.after(value)) for value in self.values]
        inside = sum(ordered.intersect(values, each) == each for each in ends)
        return inside / len(self.values)


class Uniform:
    """Every event has all these attributes, and all values of an attribute are equally likely.

    Anything else is taken to be certain.
    """

    def __init__(self, values: Mapping[str, Range | Listed]) -> None:
        self._values = values
        self._known: dict[tuple[str, OrderedSet], float] = {}

    @classmethod
    def of_schema(cls, schema: Schema) -> "Uniform":
        """From the bounds and lists of values in the schema."""
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

    def of_values(self, attribute: str, values: OrderedSet) -> float:
        key = (attribute, values)
        share = self._known.get(key)
        if share is None:
            possible = self._values.get(attribute)
            share = self._known[key] = 1.0 if possible is None else possible.share(values)
        return share

    def of_predicate(self, predicate: Leaf) -> float:  # noqa: ARG002
        return 1.0


class Measured:
    """From statistics: the distribution of an attribute's values, else the predicates on it.

    If values were not counted, their probability is bounded by the counted predicates that
    accept all of them, less the counted ones that accept none.
    """

    def __init__(self, selectivities: Selectivities) -> None:
        self._selectivities = selectivities
        self._statistics = selectivities.statistics
        self._known: dict[tuple[str, OrderedSet], float] = {}
        self._counted: dict[str, dict[OrderedSet, float]] | None = None

    def of_values(self, attribute: str, values: OrderedSet) -> float:
        key = (attribute, values)
        share = self._known.get(key)
        if share is None:
            found = share_of_values(attribute, values, self._statistics)
            share = self._at_most(attribute, values) if found is None else found
            self._known[key] = share
        return share

    def of_predicate(self, predicate: Leaf) -> float:
        return self._selectivities.share(predicate)

    def _at_most(self, attribute: str, values: OrderedSet) -> float:
        if self._counted is None:
            self._counted = _counted_sets(counted_predicates(self._statistics))
        counted = self._counted.get(attribute, {})
        bounds = {ordered.EVERYTHING: 1.0, **counted}
        return min(
            max(
                share - _at_least(ordered.intersect(outer, ordered.complement(values)), counted),
                0.0,
            )
            for outer, share in bounds.items()
            if ordered.intersect(outer, values) == values
        )


def _at_least(values: OrderedSet, counted: Mapping[OrderedSet, float]) -> float:
    """A lower bound for a set: the largest sum over disjoint counted sets within it."""
    total = 0.0
    for low, high in ordered.intervals(values):
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
