"""Statistics by brute force, from events and filters in memory."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

from boolcast.filters.canonical import canonical
from boolcast.filters.expressions import Filter
from boolcast.filters.parsing import parse
from boolcast.model.events import Event
from boolcast.model.statistics import (
    AttributeStatistics,
    AttributeUse,
    Statistics,
    SubscriptionStatistics,
    ValueBin,
)
from boolcast.model.values import Kind, Value, kind_of


def statistics_of(events: Sequence[Event], filters: Iterable[Filter], bins: int) -> Statistics:
    predicates = {str(leaf) for filter in filters for leaf in canonical(filter).predicates()}
    names = {name for event in events for name in event}
    return Statistics(
        events=len(events),
        predicates={text: sum(map(parse(text).accepts, events)) for text in predicates},
        attributes={
            name: attribute_of([event[name] for event in events if name in event], bins)
            for name in names
        },
    )


def attribute_of(values: Sequence[object], bins: int) -> AttributeStatistics:
    kinds = Counter(map(kind_of, values))  # type: ignore[arg-type]
    found = {kind: bins_of([v for v in values if kind_of(v) == kind], bins) for kind in kinds}  # type: ignore[arg-type]
    return AttributeStatistics(
        events=len(values),
        kinds=dict(kinds),
        bins={kind: each for kind, each in found.items() if each},
    )


def bins_of(values: Sequence[object], limit: int) -> tuple[ValueBin, ...]:
    """Walk up the values; begin another bin at and after a frequent one, and where one is full."""
    finite: list[Value] = [
        value  # type: ignore[misc]
        for value in values
        if kind_of(value) is not Kind.OPAQUE  # type: ignore[arg-type]
        and not (isinstance(value, float) and math.isinf(value))
    ]
    counts = Counter(finite)
    rest = sum(events for events in counts.values() if events * limit < len(finite))
    bins: list[ValueBin] = []
    before, current = 0, None
    for value in sorted(counts):
        events = counts[value]
        if events * limit >= len(finite):
            bins.append(ValueBin(value, value, events, 1))
            current = None
            continue
        part = before * limit // rest
        before += events
        if part != current:
            bins.append(ValueBin(value, value, events, 1))
            current = part
        else:
            last = bins[-1]
            bins[-1] = ValueBin(last.low, value, last.events + events, last.distinct + 1)
    return tuple(bins)


def use_of(filters: Mapping[str, Filter]) -> SubscriptionStatistics:
    forms = [canonical(filter) for filter in filters.values()]
    held = [{str(leaf): leaf for leaf in form.predicates()} for form in forms]
    counts = Counter(text for each in held for text in each)
    leaves = {text: leaf for each in held for text, leaf in each.items()}
    looks = Counter(name for form in forms for name in form.attributes())
    both: Counter[tuple[str, str]] = Counter()
    for form in forms:
        for pair in combinations(sorted(form.attributes()), 2):
            both[pair] += 1
            both[pair[::-1]] += 1
    return SubscriptionStatistics(
        subscriptions=len(filters),
        predicates=dict(counts),
        attributes={
            name: AttributeUse(
                subscriptions=looks[name],
                predicates=sum(name in leaf.names() for leaf in leaves.values()),
                concentration=likelihood([counts[t] for t in counts if name in leaves[t].names()]),
                companions={other: n for (one, other), n in both.items() if one == name},
            )
            for name in looks
        },
    )


def likelihood(places: Sequence[int]) -> float:
    """That two places drawn at random, one after the other, hold the same predicate."""
    return sum((each / sum(places)) ** 2 for each in places)
