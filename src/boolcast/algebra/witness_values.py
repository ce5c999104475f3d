"""One value out of a set, chosen so that a person can read it."""

import math
from typing import Final

from boolcast.algebra import ordered_sets as ordered
from boolcast.algebra.budget import Budget
from boolcast.algebra.ordered_sets import (
    BOOLEAN,
    MISSING,
    NUMBER,
    OPAQUE,
    STRING,
    TIMESTAMP,
    Boundary,
    OrderedSet,
)
from boolcast.algebra.strings import Bounds, bounds_of, find_string
from boolcast.algebra.value_sets import ValueSet
from boolcast.model.values import NOT_A_NUMBER, EventValue, Timestamp, Value


def is_empty(values: ValueSet, budget: Budget) -> bool:
    """True if no value is in the set."""
    if not values.literals or _has_other_than_strings(values.cuts):
        return not values.cuts
    return _string_member(values, budget) is None


def _has_other_than_strings(cuts: OrderedSet) -> bool:
    return bool(cuts) and (cuts[0] < (STRING,) or len(cuts) % 2 == 1 or cuts[-1] > (STRING + 1,))


def choose(values: ValueSet, budget: Budget) -> EventValue | None:
    """A value of a set that is not empty; None stands for missing.

    Kinds that a cut mentions come first, because they are what the filters speak of; then
    missing, which a reader need not look at; then whatever there is.
    """
    mentioned = {cut[0] for cut in values.cuts if len(cut) > 1}
    if values.literals:
        mentioned.add(STRING)
    for rank in sorted(mentioned):
        chosen = _member_of_kind(values, rank, budget)
        if chosen is not None:
            return chosen
    if values.cuts[0] == (MISSING,):
        return None
    for rank in (NUMBER, STRING, BOOLEAN, TIMESTAMP, OPAQUE):
        chosen = _member_of_kind(values, rank, budget)
        if chosen is not None:
            return chosen
    raise AssertionError("the set is empty")


def _member_of_kind(values: ValueSet, rank: int, budget: Budget) -> EventValue | None:
    within = ordered.intersect(values.cuts, ((rank,), (rank + 1,)))
    if not within:
        return None
    if rank == STRING:
        return _string_member(ValueSet(within, values.literals), budget)
    begin, end = _preferred(ordered.intervals(within))
    if rank == NUMBER:
        return _number_between(begin, end)
    if rank == BOOLEAN:
        return len(begin) > 1
    if rank == TIMESTAMP:
        return _timestamp_between(begin, end)
    return NOT_A_NUMBER


def _preferred(spans: list[tuple[Boundary, Boundary]]) -> tuple[Boundary, Boundary]:
    """The first span that begins at a value: its begin is a value that somebody wrote.

    The least whole number begins a span too, but nobody wrote it.
    """
    return next((span for span in spans if span[0][1:] and span[0] != _LEAST_WHOLE), spans[0])


_LARGE: Final = 2**53
_LEAST_WHOLE: Final = (NUMBER, -math.nextafter(math.inf, 0))


def _number_between(begin: Boundary, end: Boundary) -> Value:
    """A number in an interval: a whole one where there is one, near the bounds."""
    low = begin[1] if len(begin) > 1 and begin != _LEAST_WHOLE else -math.inf
    high = end[1] if end[0] == NUMBER else math.inf
    if low == -math.inf:
        return 0 if high == math.inf else _number_below(high)
    if abs(low) > _LARGE:
        return low
    whole = math.ceil(low)
    if whole < high:
        return whole
    middle = (low + high) / 2
    return middle if low <= middle < high else low


def _number_below(high: float) -> Value:
    if abs(high) > _LARGE:
        return -ordered.next_number(-high) if high < 0 else 0
    return math.ceil(high) - 1


def _timestamp_between(begin: Boundary, end: Boundary) -> Timestamp:
    """A timestamp in an interval, on a whole second where there is one."""
    second = 1_000_000
    if len(begin) > 1:
        low = begin[1]
        rounded = -(-low // second) * second
        return Timestamp(rounded if (TIMESTAMP, rounded) < end else low)
    high = end[1] if end[0] == TIMESTAMP else 0
    rounded = (high - 1) // second * second
    return Timestamp(max(rounded, -(2**63)))


def _string_member(values: ValueSet, budget: Budget) -> str | None:
    """A string of the set, or None if there is none."""
    spans = [
        bounds
        for begin, end in ordered.intervals(values.cuts)
        if (bounds := bounds_of(begin, end)) is not None
    ]
    if not values.literals:
        return _readable_string(spans) if spans else None
    for bounds in spans:
        budget.spend(1)
        found = find_string(bounds, values.literals, budget)
        if found is not None:
            return found
    return None


def _readable_string(spans: list[Bounds]) -> str:
    """A string of one of the spans: one that somebody wrote, a short word, or near a bound."""
    written = [bounds.low for bounds in spans if bounds.low and not bounds.low.endswith("\0")]
    near = [bounds.low.rstrip("\0") + tail for bounds in spans for tail in ("a", " ")]
    for candidate in (*written, "a", "A", *near):
        if any(bounds.admits(candidate) for bounds in spans):
            return candidate
    return spans[0].low
