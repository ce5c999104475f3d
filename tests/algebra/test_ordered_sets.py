"""The order of all values: complement, intersection and the gaps where nothing can lie."""

import math
from fractions import Fraction
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from boolcast.algebra.ordered_sets import (
    BOOLEAN,
    EVERYTHING,
    MISSING,
    NUMBER,
    OPAQUE,
    TIMESTAMP,
    Boundary,
    OrderedSet,
    after_prefix,
    before,
    complement,
    intersect,
    intervals,
    is_point,
    next_number,
    unite,
    whole_numbers_only,
)
from boolcast.algebra.value_sets import meaning
from boolcast.filters.evaluation import evaluate
from boolcast.filters.expressions import Leaf
from boolcast.model.events import Event
from boolcast.model.values import INTEGER_MAX, INTEGER_MIN, EventValue, Kind, Opaque, Value
from tests.strategies import SMALL_DOMAIN, events, predicates, values

SETS = predicates(small=True, residuals=False).map(lambda leaf: meaning(leaf).inside.ordered)


@given(values(Kind.NUMBER))
def test_nothing_lies_between_a_number_and_the_next(value: Value):
    assert isinstance(value, int | float)
    following = next_number(value)
    assert following > value
    low, high = Fraction(value), following
    assert math.nextafter(float(value), math.inf) >= following or float(value) > value
    candidates = (math.floor(low) + 1, math.floor(low) + 2)
    for whole in candidates:
        if INTEGER_MIN <= whole <= INTEGER_MAX:
            assert not value < whole < high
    for near in (float(value), math.nextafter(float(value), math.inf)):
        assert not value < near < high


@given(SETS, SETS)
def test_sets_obey_the_laws_of_boole(left, right):
    assert complement(complement(left)) == left
    assert intersect(left, right) == intersect(right, left)
    assert intersect(left, left) == left
    assert intersect(left, complement(left)) == ()
    assert unite(left, complement(left)) == EVERYTHING
    assert complement(intersect(left, right)) == unite(complement(left), complement(right))
    assert intersect(left, unite(left, right)) == left


@given(SETS, SETS)
def test_boundaries_ascend_and_never_repeat(left, right):
    for boundaries in (intersect(left, right), unite(left, right)):
        assert all(lower < upper for lower, upper in pairwise(boundaries))
        assert all(begin < end for begin, end in intervals(boundaries))


@given(predicates(residuals=False), events())
def test_a_predicate_is_the_set_of_its_values(leaf: Leaf, members):
    """Where the event's value lies in the set, the predicate is true, and nowhere else."""
    event = Event.from_python(members)
    _, inside, outside = meaning(leaf)
    if not inside.literals:
        boundary = boundary_of(event.get(leaf.attribute))
        assert lies_in(boundary, inside.ordered) == evaluate(leaf, event, True)
        assert lies_in(boundary, outside.ordered) != evaluate(leaf, event, True)


def boundary_of(value: EventValue | None) -> Boundary:
    if value is None:
        return (MISSING,)
    if isinstance(value, Opaque):
        return (OPAQUE,)
    return (NUMBER,) if value == -math.inf else before(value)


def lies_in(boundary: Boundary, boundaries: OrderedSet) -> bool:
    return sum(each <= boundary for each in boundaries) % 2 == 1


@given(st.text(st.sampled_from("ab\ud7ff\ue000\U0010ffff"), max_size=4), st.text(max_size=3))
def test_a_prefix_ends_where_no_string_has_it_any_more(prefix: str, tail: str):
    end = after_prefix(prefix)
    assert (4, prefix + tail) < end
    if len(end) > 1:
        assert not end[1].startswith(prefix)
        assert end[1] > prefix


@given(SETS)
def test_whole_numbers_only(boundaries):
    kept = whole_numbers_only(boundaries)
    for number in (-1, 0, 0.5, 1, 1.25, 1.5, 2, 3, 2.0**60, -math.inf, math.inf):
        is_whole = math.isfinite(number) and float(number).is_integer()
        expected = is_whole and lies_in((NUMBER, number), boundaries)
        # A set says nothing about numbers that are not whole: none of them is asked for.
        if is_whole or math.isinf(number):
            assert lies_in(boundary_of(number), kept) == expected


@given(SETS)
def test_a_point_holds_one_value(boundaries: OrderedSet):
    """It cannot be divided, so no other boundary lies within."""
    for begin, end in intervals(boundaries):
        inside = [each for each in SMALL_DOMAIN if _holds(begin, end, each)]
        assert len(inside) <= 1 or not is_point(begin, end)


def test_true_and_what_follows_it_is_no_point():
    assert is_point((BOOLEAN, True), (NUMBER,))
    assert not is_point((BOOLEAN, True), (NUMBER, 5))


def test_nothing_lies_behind_the_last_timestamp():
    timestamps = ((TIMESTAMP,), (TIMESTAMP + 1,))
    assert intervals(timestamps) == [timestamps]
    assert intervals(complement(timestamps)) == [((MISSING,), (TIMESTAMP,))]


def _holds(begin: Boundary, end: Boundary, value: EventValue | None) -> bool:
    if value is None:
        return begin == (MISSING,)
    if isinstance(value, Opaque):
        return begin <= (OPAQUE,) < end
    return begin <= before(value) < end
