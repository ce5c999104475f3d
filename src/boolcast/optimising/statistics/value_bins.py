"""The share of events that satisfy an uncounted predicate, from the distribution of values.

Statistics from Spark hold, for each attribute, how many events fall into each bin of values. A bin
counts in full where the predicate holds in all of it. Within a bin we assume that numbers are
spread evenly and that distinct values are equally frequent.
"""

from boolcast.algebra import ordered_sets as ordered
from boolcast.algebra.ordered_sets import Boundary, OrderedSet
from boolcast.algebra.value_sets import meaning
from boolcast.filters.expressions import IsNull, Leaf
from boolcast.model.statistics import AttributeStatistics, Statistics, ValueBin


def share_by_values(predicate: Leaf, statistics: Statistics) -> float | None:
    """The share, or None if it cannot be known from values.

    It is None for attributes without statistics, residual predicates and patterns.
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


def share_of_values(attribute: str, values: OrderedSet, statistics: Statistics) -> float | None:
    """The share of events with a value in the set, or without one if *missing* is in it.

    None if the attribute has no statistics. Values that are in no bin (NaN and infinities) count
    if the set holds all values of their kind.
    """
    known = statistics.attributes.get(attribute)
    if known is None or statistics.events == 0:
        return None
    events = _events_in_bins(known, values)
    for kind, count in known.kinds.items():
        rank = ordered.RANKS[kind]
        whole = ((rank,), (rank + 1,))
        if ordered.intersect(values, whole) == whole:
            events += count - sum(each.events for each in known.bins.get(kind, ()))
    if values and values[0] == (ordered.MISSING,):
        events += statistics.events - known.events
    return min(events / statistics.events, 1.0)


def _events_in_bins(known: AttributeStatistics, values: OrderedSet) -> float:
    intervals = ordered.intervals(values)
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
            inside += _share_between(max(low, begin), min(high, end), values)
    return min(inside, 1.0)


def _share_between(low: Boundary, high: Boundary, values: ValueBin) -> float:
    """The share of the bin's events between two boundaries within it."""
    one = 1.0 / max(values.distinct, 1)
    begin, end = ordered.before(values.low), ordered.before(values.high)
    if low[0] in (ordered.NUMBER, ordered.TIMESTAMP) and len(low) == len(begin) == len(end) == 2:
        top = high[1] if len(high) == 2 and high[0] == low[0] else end[1]
        # Halves, because the distance of two finite numbers may be infinite.
        width = end[1] / 2 - begin[1] / 2
        share = (top / 2 - low[1] / 2) / width if width > 0 else one
        return min(max(share, one), 1.0)
    is_one_value = len(low) == 2 and low[0] == ordered.STRING and high == (*low[:1], f"{low[1]}\0")
    # Only the order of strings is known: take one of them, or half of them.
    return one if is_one_value else max(one, 0.5)
