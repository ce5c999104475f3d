"""Filters as text and as JSON: what is printed or encoded reads back as the same filter."""

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from boolcast.errors import FilterLimitError
from boolcast.filters.encoding import decode, encode
from boolcast.filters.expressions import (
    And,
    AttributeComparison,
    Comparison,
    Filter,
    In,
    Not,
    Or,
    StringTest,
)
from boolcast.filters.limits import Limits
from boolcast.filters.parsing import parse
from boolcast.model.values import Timestamp
from tests.examples import examples
from tests.strategies import filters, predicates


def assert_identical(one: Filter, other: Filter) -> None:
    """Equal, and every constant of the same type: 1 and 1.0 are equal filters."""
    assert one == other
    assert hash(one) == hash(other)
    assert repr(one) == repr(other)


@given(filters(max_leaves=12))
def test_printed_filters_read_back(filter):
    text = str(filter)
    again = parse(text)
    assert_identical(again, filter)
    assert str(again) == text


@given(predicates())
def test_printed_predicates_read_back(predicate):
    assert_identical(parse(str(predicate)), predicate)


@given(filters(max_leaves=12))
def test_encoded_filters_read_back(filter):
    assert_identical(decode(encode(filter)), filter)
    assert_identical(decode(encode(filter).decode()), filter)


@pytest.mark.slow
@examples(400)
@given(filters(max_leaves=20))
def test_large_filters_read_back(filter):
    assert_identical(parse(str(filter)), filter)
    assert_identical(decode(encode(filter)), filter)


NUMBER = Comparison("a", "=", 1)
FLAG = Comparison("a", "=", True)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (NUMBER, FLAG, False),
        (Comparison("a", "=", 0), Comparison("a", "=", False), False),
        (NUMBER, Comparison("a", "=", 1.0), True),
        (Comparison("a", "=", 0), Comparison("a", "=", -0.0), True),
        (Comparison("a", "=", 2**53 + 1), Comparison("a", "=", 2.0**53), False),
        (NUMBER, Comparison("a", "!=", 1), False),
        (NUMBER, Comparison("b", "=", 1), False),
        (In("a", (0, 1)), In("a", (False, True)), False),
        (In("a", (0, 1)), In("a", (0.0, 1.0)), True),
        (In("a", (0, 1)), In("a", (1, 0)), False),
        (In("a", (0, 1)), In("a", (0, 1), True), False),
        (NUMBER, In("a", (1,)), False),
        (Not(NUMBER), Not(FLAG), False),
        (And((NUMBER, FLAG)), And((FLAG, NUMBER)), False),
        (And((NUMBER, FLAG)), Or((NUMBER, FLAG)), False),
        (Comparison("a", "=", Timestamp(1)), NUMBER, False),
    ],
)
def test_equality_compares_kinds_too(one, other, same):
    assert (one == other) is same
    assert (other == one) is same
    assert (hash(one) == hash(other)) or not same


def test_nested_ands_and_ors_flatten():
    a, b, c = (Comparison(name, "=", 1) for name in "abc")
    assert And((And((a, b)), c)) == And((a, And((b, c)))) == And((a, b, c))
    assert Or((Or((a, b)), c)) == Or((a, Or((b, c)))) == Or((a, b, c))
    assert (a & b) & c == And((a, b, c))
    assert (a | b) | c == Or((a, b, c))
    assert ~(a & b) == Not(And((a, b)))
    assert And((Or((a, b)), c)) != And((a, b, c))


@pytest.mark.parametrize("operand", [5, True, None])
def test_filters_combine_with_filters_only(operand):
    with pytest.raises(TypeError):
        NUMBER & operand
    with pytest.raises(TypeError):
        operand | NUMBER


@pytest.mark.parametrize(
    "make",
    [
        lambda: Comparison("a", "==", 1),  # type: ignore[arg-type]
        lambda: Comparison("a", "<>", 1),  # type: ignore[arg-type]
        lambda: AttributeComparison("a", "like", "b"),  # type: ignore[arg-type]
        lambda: StringTest("a", "matches", "b"),  # type: ignore[arg-type]
        lambda: StringTest("a", "Contains", "b"),  # type: ignore[arg-type]
    ],
    ids=["==", "<>", "like", "matches", "Contains"],
)
def test_what_has_no_text_cannot_be_made(make):
    with pytest.raises(ValueError, match="there is no"):
        make()


def deepest(levels: int) -> Filter:
    """A filter whose text nests as deep as told, and whose tree is about twice as deep."""
    node: Filter = And((NUMBER, FLAG))
    for _ in range(levels):
        node = And((NUMBER, Or((FLAG, node))))
    return node


@pytest.mark.parametrize(
    "filter",
    [
        deepest(64),
        Not(deepest(62)),
    ],
)
def test_the_limit_on_depth_is_the_same_for_text_and_json(filter):
    assert parse(str(filter)) == filter
    assert decode(encode(filter)) == filter


def limit_met(read, data, limits: Limits) -> str | None:
    try:
        read(data, limits=limits)
    except FilterLimitError as error:
        return error.limit
    return None


@given(filters(max_leaves=10, small=True), st.integers(0, 4))
def test_text_and_json_meet_the_limit_on_depth_together(filter, depth):
    limits = Limits(depth=depth)
    met = limit_met(parse, str(filter), limits)
    event(f"limit met: {met}")
    assert limit_met(decode, encode(filter), limits) == met


@given(filters(max_leaves=10), st.integers(1, 4), st.integers(1, 4), st.integers(0, 2))
def test_text_and_json_meet_the_limits_on_size_together(filter, predicates, values, regexes):
    limits = Limits(predicates=predicates, values=values, regexes=regexes)
    met = limit_met(parse, str(filter), limits)
    event(f"limit met: {met}")
    assert (limit_met(decode, encode(filter), limits) is None) is (met is None)


@given(filters(max_leaves=6), st.integers(1, 60))
def test_what_is_short_enough_as_text_is_so_as_json(filter, size):
    limits = Limits(text=size)
    if limit_met(parse, str(filter), limits) is None:
        assert limit_met(decode, encode(filter), limits) is None
