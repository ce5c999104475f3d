"""Keys sort as values do, and give back the value."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boolcast.model.sort_keys import sort_key, value_of_key
from boolcast.model.values import Kind, Timestamp, kind_of
from tests.strategies import FLOAT_EDGES, INTEGER_EDGES, KINDS, values


@st.composite
def pairs(draw):
    kind = draw(st.sampled_from(KINDS))
    return draw(values(kind)), draw(values(kind))


@given(pairs())
def test_keys_are_ordered_as_the_values(pair):
    low, high = pair
    assert (sort_key(low) < sort_key(high)) == (low < high)
    assert (sort_key(low) == sort_key(high)) == (low == high)


@given(st.sampled_from(KINDS).flatmap(values))
def test_a_key_gives_back_its_value(value):
    again = value_of_key(kind_of(value), sort_key(value))
    assert again == value
    assert kind_of(again) == kind_of(value)


def test_all_edges_of_numbers_are_in_order():
    numbers = sorted({*INTEGER_EDGES, *FLOAT_EDGES, 2**62 + 1, 2**62 + 511, 2**62 + 512})
    keys = [sort_key(number) for number in numbers]
    assert keys == sorted(keys)
    assert len(set(keys)) == len(numbers)


def test_one_key_for_one_value():
    assert sort_key(-0.0) == sort_key(0)
    assert sort_key(2**53) == sort_key(2.0**53) != sort_key(2**53 + 1)
    assert type(value_of_key(Kind.NUMBER, sort_key(5.0))) is int
    assert value_of_key(Kind.NUMBER, sort_key(2.0**63)) == 2.0**63
    assert type(value_of_key(Kind.NUMBER, sort_key(2.0**63))) is float


def test_timestamps_before_1970_come_first():
    assert sort_key(Timestamp(-1)) < sort_key(Timestamp(0)) < sort_key(Timestamp(1))


def test_infinities_have_no_key():
    with pytest.raises(AssertionError):
        sort_key(math.inf)
