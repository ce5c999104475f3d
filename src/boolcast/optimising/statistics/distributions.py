"""The share of events that satisfy a predicate which nobody counted, from the spread of values.

Statistics from Spark know of each attribute how its values are spread over bins. A bin counts
in whole where the predicate holds in all of it; within a bin, numbers are taken as spread
evenly, its distinct values as equally frequent.
"""

from boolcast.algebra import ordered_sets as ordered
from boolcast.algebra.ordered_sets import Boundary, OrderedSet
from boolcast.algebra.value_sets import meaning
from boolcast.filters.expressions import IsNull, Leaf
from boolcast.model.statistics import AttributeStatistics, Statistics, ValueBin


def share_by_values(predicate: Leaf, statistics: Statistics) -> float | None:
    """The share, or None where the values of the attribute are unknown or say nothing.

    They say nothing about residual predicates and about patterns within strings.
    """
    known = statistics.attributes.get(predicate.attribute)
    if known is None or statistics.events == 0:
        return None
    if isinstance(predicate, IsNull):
        present = known.events / statistics.events
        return present if predicate.negated else 1.0 - present
    variable, inside, _ = meaning(predicate)
    if variable.is_residual or inside.literals:
        return None
    return min(_events_in_bins(known, inside.ordered) / statistics.events, 1.0)


def share_of_values(attribute: str, cuts: OrderedSet, statistics: Statistics) -> float | None:
    """The share of events with a value in the set, or without one if *missing* is in it.

    None where the values of the attribute are unknown. Values that are in no bin, NaN and
    infinities, are counted where the set has all of their kind.
    """
    known = statistics.attributes.get(attribute)
    if known is None or statistics.events == 0:
        return None
    events = _events_in_bins(known, cuts)
    for kind, count in known.kinds.items():
        rank = ordered.RANKS[kind]
        whole = ((rank,), (rank + 1,))
        if ordered.intersect(cuts, whole) == whole:
            events += count - sum(each.events for each in known.bins.get(kind, ()))
    if cuts and cuts[0] == (ordered.MISSING,):
        events += statistics.events - known.events
    return min(events / statistics.events, 1.0)


def _events_in_bins(known: AttributeStatistics, cuts: OrderedSet) -> float:
    intervals = ordered.intervals(cuts)
    return sum(
        each.events * _share_of_bin(each, intervals)
        for bins in known.bins.values()
        for each in bins
    )


def _share_of_bin(values: ValueBin, intervals: list[tuple[Boundary, Boundary]]) -> float:
    begin, end = ordered.before(values.low), ordered.after(values.high)
    inside = 0.0
    for low, high in intervals:
        if low <= begin and end <= high:
            return 1.0
        if low < end and begin < high:
            inside += _part(max(low, begin), min(high, end), values)
    return min(inside, 1.0)


def _part(low: Boundary, high: Boundary, values: ValueBin) -> float:
    """The share of the bin's events between two cuts within it."""
    one = 1.0 / max(values.distinct, 1)
    begin, end = ordered.before(values.low), ordered.before(values.high)
    if low[0] in (ordered.NUMBER, ordered.TIMESTAMP) and len(low) == len(begin) == len(end) == 2:
        top = high[1] if len(high) == 2 and high[0] == low[0] else end[1]
        # Halves, because the distance of two finite numbers may be infinite.
        width = end[1] / 2 - begin[1] / 2
        part = (top / 2 - low[1] / 2) / width if width > 0 else one
        return min(max(part, one), 1.0)
    is_one_value = len(low) == 2 and low[0] == ordered.STRING and high == (*low[:1], f"{low[1]}\0")
    # Of strings no more than their order is known: one of them, or half of them.
    return one if is_one_value else max(one, 0.5)
