"""Events that are made to meet a filter: of those drawn at random hardly any does (P2-X6, 7 and 9).

What an event is accepted by is always asked of the reference evaluator.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import sqrt
from typing import Final, NamedTuple

import pyarrow as pa

from boolcast.filters.expressions import Comparison, Filter, Leaf
from boolcast.model.events import Event
from boolcast.workloads.pairs import Pairs

_ERRORS: Final = 3.0
_EXPECTED: Final = 5.0
"""From so many expected false positives on a measured rate says something of a single merger."""

Members = dict[str, int]


def accepted_events(pairs: Pairs, filters: Sequence[Filter], count: int) -> pa.Table:
    """Events each of which a subscription accepts, for so many of them at most."""
    options: dict[Leaf, list[int]] = {}
    made: list[Members] = []
    drawn = pairs.events(0, count).to_pylist()
    for filter, event in zip(filters[:: max(len(filters) // count, 1)], drawn, strict=False):
        members = _with_equalities(filter, event)
        for leaf in _others(filter):
            if leaf not in options:
                numbers = range(1, pairs.sizes[leaf.attribute] + 1)
                options[leaf] = [
                    number for number in numbers if leaf.accepts(Event({leaf.attribute: number}))
                ]
            if options[leaf]:
                place = event[leaf.attribute] % len(options[leaf])
                members[leaf.attribute] = options[leaf][place]
        if filter.accepts(Event(members)):
            made.append(members)
    return pa.Table.from_pylist(made, schema=pairs.events(0, 1).schema)


class Judged(NamedTuple):
    """Mergers that expect enough to be judged one by one, and those too far from what they do."""

    telling: int
    apart: int


def judged(
    mergers: Iterable[tuple[Filter, Sequence[Filter], float]],
    advertised: Filter,
    pairs: Pairs,
    events: Sequence[Members],
) -> Judged:
    """Hold mergers, with their constituents and imperfections, against events that have their tail.

    Attributes are independent, so the imperfection by the probability of the tail is what is
    expected among such events. Too far are more than three standard errors.
    """
    telling = apart = 0
    for filter, constituents, imperfection in mergers:
        chance = 1.0
        for leaf in _equalities(filter):
            chance /= pairs.sizes[leaf.attribute]
        share = imperfection / chance
        mean = share * len(events)
        if mean < _EXPECTED:
            continue
        false = sum(
            _is_false(filter, constituents, advertised, Event(_with_equalities(filter, event)))
            for event in events
        )
        telling += 1
        apart += abs(false - mean) > _ERRORS * sqrt(mean * max(1 - share, 0.0))
    return Judged(telling, apart)


def _is_false(
    filter: Filter, constituents: Sequence[Filter], advertised: Filter, event: Event
) -> bool:
    """True if the event passes, and should not."""
    return (
        filter.accepts(event)
        and advertised.accepts(event)
        and not any(each.accepts(event) for each in constituents)
    )


def _with_equalities(filter: Filter, event: Mapping[str, int]) -> Members:
    """The event with the values that the filter asks for."""
    asked = {leaf.attribute: leaf.value for leaf in _equalities(filter)}
    return {**event, **asked}  # type: ignore[dict-item]


def _equalities(filter: Filter) -> list[Comparison]:
    return [leaf for leaf in filter.predicates() if _is_equality(leaf)]  # type: ignore[misc]


def _others(filter: Filter) -> list[Leaf]:
    return [leaf for leaf in filter.predicates() if not _is_equality(leaf)]


def _is_equality(leaf: object) -> bool:
    return isinstance(leaf, Comparison) and leaf.operator == "="
