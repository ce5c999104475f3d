"""Which predicate may replace two: the rules of P2-B10, law 4, and what a schema adds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boolcast.algebra import covers, equivalent
from boolcast.filters.expressions import Comparison, IsNull, Or
from boolcast.model.schemas import Attribute, Schema
from boolcast.optimising.merging.rules import Joined, SchemaValues, joined
from tests.optimising.pruning_histories import read
from tests.strategies import events, predicates, values

INTEGERS = Schema({"a": Attribute("number", integer=True)})
BOUNDED = Schema({"a": Attribute("number", minimum=0, maximum=99)})
WITH_NAN = Schema({"a": Attribute("number")})
TEXTS = Schema({"a": Attribute("string")})
TYPED = Schema(
    types={
        "book": {"a": Attribute("number", integer=True)},
        "car": {"a": Attribute("number", minimum=0)},
        "tree": {"b": Attribute("string")},
    }
)
TWO_KINDS = Schema(
    types={"book": {"a": Attribute("number", integer=True)}, "car": {"a": Attribute("string")}}
)
SCHEMAS = [None, INTEGERS, BOUNDED, WITH_NAN, TEXTS, TYPED, TWO_KINDS]


def join(left: str, right: str, schema: Schema | None = None) -> tuple[str, bool] | None:
    found = joined(read(left), read(right), SchemaValues(schema).of("a"))
    mirrored = joined(read(right), read(left), SchemaValues(schema).of("a"))
    assert found == mirrored
    return None if found is None else (str(found.predicate), found.is_perfect)


@pytest.mark.parametrize(
    ("left", "right", "merger"),
    [
        ("a = 5", "a < 5", "a <= 5"),
        ("a = 5", "a > 5", "a >= 5"),
        ("a < 5", "a > 5", "a != 5"),
        ("a = 5", "a <= 5", "a <= 5"),
        ("a < 5", "a < 9", "a < 9"),
        ("a > 5", "a = 7", "a > 5"),
        ("a != 5", "a > 7", "a != 5"),
        ("a is not null", "a = 'x'", "a is not null"),
        ("a = 'x'", "a < 'x'", "a <= 'x'"),
        ("a = timestamp '2026-01-31T00:00:00Z'",) * 3,
    ],
)
def test_perfect_rules_need_no_schema(left, right, merger):
    """P2-B10."""
    assert join(left, right) == (merger, True)


@pytest.mark.parametrize(
    ("left", "right"),
    [("a < 7", "a > 3"), ("a <= 5", "a > 5"), ("a < 5", "a >= 5"), ("a != 5", "a = 5")],
)
@pytest.mark.parametrize(
    ("schema", "is_perfect"),
    [
        (INTEGERS, True),
        (BOUNDED, True),
        (TYPED, True),
        (None, False),
        (WITH_NAN, False),
        (TEXTS, False),
        (TWO_KINDS, False),
        (Schema({"b": Attribute("string")}), False),
    ],
)
def test_presence_is_perfect_where_there_is_one_kind_without_nan(left, right, schema, is_perfect):
    """P2-B10, P2-E11: otherwise it also accepts other kinds, and NaN."""
    assert join(left, right, schema) == ("a is not null", is_perfect)


@pytest.mark.parametrize(
    ("left", "right", "merger"),
    [
        ("a <= 5", "a = 6", "a <= 6"),
        ("a < 6", "a = 6", "a <= 6"),
        ("a >= 5", "a = 4", "a >= 4"),
        ("a < 6", "a > 5", "a is not null"),
    ],
)
def test_successors_are_for_integers(left, right, merger):
    """P2-B10: only if the schema says so."""
    assert join(left, right, INTEGERS) == (merger, True)
    if "6" not in left:
        assert join(left, right) == (merger, False)
        assert join(left, right, BOUNDED) == (merger, False)
        assert join(left, right, TYPED) == (merger, False)


@pytest.mark.parametrize(
    ("left", "right", "merger"),
    [
        ("a < 5", "a > 9", "a is not null"),
        ("a < 5", "a = 7", "a <= 7"),
        ("a > 9", "a = 4", "a >= 4"),
    ],
)
def test_table_1(left, right, merger):
    """P2-T9."""
    assert join(left, right) == (merger, False)
    assert join(left, right, INTEGERS) == (merger, False)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("a = 5", "a = 7"),
        ("a < 5", "a = 'x'"),
        ("a < 5", "a > 'x'"),
        ("a is null", "a = 5"),
        ("a like 'x%'", "a = 'y'"),
        ("a between 1 and 3", "a > 3"),
        ("a = true", "a = 1"),
    ],
)
def test_what_no_rule_is_for(left, right):
    assert join(left, right) is None


LEAVES = st.one_of(
    st.builds(
        Comparison,
        st.just("a"),
        st.sampled_from(["=", "!=", "<", "<=", ">", ">="]),
        values(small=True),
    ),
    st.just(IsNull("a", negated=True)),
)


@given(LEAVES, LEAVES, st.sampled_from(SCHEMAS), st.lists(events(small=True), max_size=8))
def test_a_merger_covers_both_and_a_perfect_one_nothing_else(left, right, schema, several):
    """Law 4 on all events; perfect mergers are perfect on events that conform to the schema."""
    found = joined(left, right, SchemaValues(schema).of("a"))
    if found is None:
        return
    union = Or((left, right))
    assert covers(found.predicate, union)
    for event in several:
        assert found.predicate.accepts(event) or not union.accepts(event)
    if found.is_perfect:
        assert equivalent(found.predicate, union, schema=schema)
    if found.is_perfect and schema is None:
        assert all(found.predicate.accepts(event) == union.accepts(event) for event in several)


@given(LEAVES, LEAVES, st.sampled_from([None, INTEGERS, BOUNDED]))
def test_every_perfect_merger_is_found(left, right, schema):
    """A comparison with one of their values that is their union, if there is one."""
    candidates = [
        Comparison("a", operator, each.value)
        for each in (left, right)
        if isinstance(each, Comparison)
        for operator in ("<", "<=", ">", ">=", "!=")
    ]
    union = Or((left, right))
    perfect = [
        each
        for each in candidates
        if covers(each, union) and equivalent(each, union, schema=schema)
    ]
    if perfect:
        found = joined(left, right, SchemaValues(schema).of("a"))
        assert found is not None
        assert found.is_perfect


@given(predicates(small=True), predicates(small=True))
def test_other_predicates_are_left_alone(left, right):
    found = joined(left, right)
    simple = [isinstance(each, Comparison | IsNull) for each in (left, right)]
    if not all(simple):
        assert found is None
    elif found is not None and left.attribute == right.attribute:
        assert isinstance(found, Joined)
        assert covers(found.predicate, Or((left, right)))
