"""What a schema adds to a proof: kinds, whole numbers, ranges, finite sets and event types."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boolcast.algebra import covers, equivalent, overlaps
from boolcast.filters.expressions import Filter
from boolcast.filters.parsing import parse
from boolcast.model.events import Event, conforms
from boolcast.model.schemas import Attribute, Schema
from tests.algebra import brute_force
from tests.strategies import filters

FLAT = Schema(
    {
        "a": Attribute("number", integer=True, minimum=0, maximum=2),
        "b": Attribute("string", values=("a", "ab", "b"), required=True),
        "c": Attribute("number"),
    }
)
TYPED = Schema(
    attributes={"a": Attribute("number", integer=True)},
    types={
        "book": {"b": Attribute("string", required=True)},
        "car": {"b": Attribute("number", minimum=1), "c": Attribute("boolean", required=True)},
    },
)
UNTYPED = filters(max_leaves=5, small=True, residuals=False)


@given(UNTYPED, UNTYPED, st.sampled_from([FLAT, TYPED]))
def test_answers_are_about_events_that_conform(left: Filter, right: Filter, schema: Schema):
    cover = covers(left, right, schema=schema)
    overlap = overlaps(left, right, schema=schema)
    for verdict in (cover, overlap):
        if verdict.witness is not None:
            assert conforms(verdict.witness, schema), verdict.witness
    for bare in brute_force.events(left, right):
        for name in schema.types or [None]:
            event = Event(bare) if name is None else Event(bare, type=name)
            if not conforms(event, schema):
                continue
            if cover:
                assert left.accepts(event) or not right.accepts(event), event
            if not overlap:
                assert not (left.accepts(event) and right.accepts(event)), event
    assert cover.holds == (cover.witness is None)
    assert overlap.holds == (overlap.witness is not None)


@pytest.mark.parametrize(
    ("general", "specific", "schema"),
    [
        ("a >= 0", "a is not null", FLAT),
        ("a = 0 or a = 1 or a = 2", "a is not null", FLAT),
        ("b is not null", "true", FLAT),
        ("b in ('a', 'ab', 'b')", "true", FLAT),
        ("starts_with(b, 'a') or b = 'b'", "a = 1", FLAT),
        ("d is null", "true", FLAT),
        ("b is not null", "type = 'book'", TYPED),
        ("type = 'car'", "c = true", TYPED),
        ("type = 'book' or type = 'car'", "true", TYPED),
        ("c is null", "type = 'book'", TYPED),
        ("type = 'book'", "b = 'x'", TYPED),
        ("b >= 1", "type = 'car' and b is not null", TYPED),
    ],
)
def test_what_holds_only_under_the_schema(general: str, specific: str, schema: Schema):
    assert covers(parse(general), parse(specific), schema=schema)
    assert not covers(parse(general), parse(specific))


def test_nan_is_a_real_number_without_bounds():
    """`c` may be NaN, which no comparison admits; with a bound it may not."""
    bounded = Schema({"c": Attribute("number", minimum=0)})
    everything = parse("c < 5 or c >= 5")
    assert not equivalent(everything, parse("c is not null"), schema=FLAT)
    assert equivalent(everything, parse("c is not null"), schema=bounded)


def test_an_unsatisfiable_type_is_covered_by_anything():
    assert covers(parse("a = 1"), parse("type = 'boat'"), schema=TYPED)
    assert not overlaps(parse("type = 'boat'"), parse("true"), schema=TYPED)


def test_witnesses_of_whole_numbers_are_readable():
    whole = Schema({"x": Attribute("number", integer=True)})
    assert overlaps(parse("x < 5"), parse("true"), schema=whole).witness == {"x": 4}
    assert covers(parse("x = 3"), parse("x is not null"), schema=whole).witness == {"x": 4}
    far = parse("x < -1e300")
    assert overlaps(far, parse("true"), schema=whole).witness is not None


@pytest.mark.parametrize(
    "attribute",
    [
        {"integer": True, "minimum": 1.2, "maximum": 1.8},
        {"minimum": -math.inf},
        {"minimum": math.nan},
        {"maximum": 10**400},
        {"minimum": 5, "values": (1, 2)},
        {"minimum": 3, "maximum": 2},
    ],
)
def test_an_attribute_without_any_value_is_refused(attribute):
    with pytest.raises(ValueError):  # noqa: PT011 - each has its own sentence
        Attribute("number", **attribute)
