"""The meaning of a filter, against an evaluator of its own and by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boolcast.filters.canonical import canonical, complement, to_nnf
from boolcast.filters.evaluation import truth
from boolcast.filters.expressions import Comparison, Filter, Not
from boolcast.filters.parsing import parse
from boolcast.model.events import Event
from boolcast.model.values import kind_of
from tests.examples import examples
from tests.filters.oracle import evaluate
from tests.strategies import (
    KINDS,
    OPERATORS,
    event_values,
    events,
    filters,
    predicates,
    values,
)


@given(filters(max_leaves=10), events())
def test_evaluation_is_that_of_sql(filter, event):
    outcome = evaluate(filter, event)
    assert filter.accepts(event) is (outcome is True)
    assert Not(filter).accepts(event) is (outcome is False)


@given(filters(max_leaves=10, small=True), events(small=True))
def test_evaluation_is_that_of_sql_where_parts_interact(filter, event):
    outcome = evaluate(filter, event)
    assert filter.accepts(event) is (outcome is True)
    assert Not(filter).accepts(event) is (outcome is False)


@given(predicates(), st.data())
def test_every_predicate_alone(predicate, data):
    event = {name: data.draw(event_values()) for name in predicate.names()}
    assert truth(predicate, Event.from_python(event)) is evaluate(predicate, event)


@given(predicates(), st.data())
def test_a_predicate_and_its_complement_are_never_both_true(predicate, data):
    event = Event.from_python({name: data.draw(event_values()) for name in predicate.names()})
    other = complement(predicate)
    assert complement(other) == predicate
    outcomes = (predicate.accepts(event), other.accepts(event))
    assert outcomes != (True, True)
    assert (outcomes == (False, False)) is (truth(predicate, event) is None)


def has_not(node: Filter) -> bool:
    return isinstance(node, Not) or any(map(has_not, getattr(node, "children", ())))


@given(filters(max_leaves=10, small=True), events(small=True))
def test_normal_forms_keep_the_meaning(filter, event):
    for normal in (to_nnf(filter), canonical(filter)):
        assert not has_not(normal)
        assert normal.accepts(event) is filter.accepts(event)
    assert to_nnf(filter, negate=True).accepts(event) is Not(filter).accepts(event)


@given(filters(max_leaves=10), events())
def test_normal_forms_keep_the_meaning_of_any_values(filter, event):
    assert to_nnf(filter).accepts(event) is filter.accepts(event)
    assert canonical(filter).accepts(event) is filter.accepts(event)


@given(filters(max_leaves=10, small=True))
def test_normal_forms_are_final(filter):
    assert to_nnf(to_nnf(filter)) == to_nnf(filter)
    text = str(canonical(filter))
    assert str(canonical(canonical(filter))) == text
    assert str(canonical(parse(text))) == text


def siblings_differ(node: Filter) -> bool:
    children = getattr(node, "children", ())
    return len(set(children)) == len(children) and all(map(siblings_differ, children))


@given(filters(max_leaves=10, small=True))
def test_canonical_filters_repeat_no_sibling(filter):
    assert siblings_differ(canonical(filter))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("price < 25.0", "price < 25"),
        ("price < 1e2", "price < 100"),
        ("price = -0.0", "price = 0"),
        ("25 > price", "price < 25"),
        ("bid > reserve", "reserve < bid"),
        ("b = a", "a = b"),
        ("a in (2, 1, 2.0)", "a in (1, 2)"),
        ("a in (1)", "a = 1.0"),
        ("a not in ('x', 'x')", "a != 'x'"),
        ("a between 1.0 and 2", "a between 1 and 2.0"),
        ("not (a < 1 and contains(b, 'x'))", "a >= 1 or not contains(b, 'x')"),
        ("a = 1 and a = 1.0", "a = 1"),
        (
            "a = 1 and (a = 1 and b = 1 or b = 1 and false and a = 1.0)",
            "a = 1 and (a = 1 and b = 1 or b = 1 and false and a = 1)",
        ),
        ("a = 1 and (a = 1 and b = 2 or a = 1.0 and b = 2)", "a = 1 and b = 2"),
    ],
)
def test_one_canonical_text(one, other):
    assert str(canonical(parse(one))) == str(canonical(parse(other)))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a = 1", "a = true"),
        ("a = 9007199254740993", "a = 9007199254740992.0"),
        ("a < b", "b < a"),
        ("a like 'x%'", "starts_with(a, 'x')"),
        ("a = 9223372036854775807", "a = 9223372036854775808"),
    ],
)
def test_different_predicates_have_different_canonical_texts(one, other):
    assert str(canonical(parse(one))) != str(canonical(parse(other)))


@given(values(), values(), st.sampled_from(OPERATORS))
def test_kinds_never_compare_across(left, right, operator):
    outcome = truth(Comparison("a", operator, right), Event({"a": left}))
    assert (outcome is None) is (kind_of(left) is not kind_of(right))


@given(st.data(), st.sampled_from(KINDS))
def test_within_a_kind_values_are_totally_ordered(data, kind):
    left, right = data.draw(values(kind)), data.draw(values(kind))
    event = {"a": left}
    true = [op for op in OPERATORS if Comparison("a", op, right).accepts(event)]
    assert true in (["=", "<=", ">="], ["!=", "<", "<="], ["!=", ">", ">="])


def accepts(text: str, event: dict[str, object]) -> bool:
    return parse(text).accepts(event)


@pytest.mark.parametrize(
    ("text", "value", "accepted"),
    [
        ("a = 9007199254740993", 2.0**53, False),
        ("a > 9007199254740992.0", 2**53 + 1, True),
        ("a = 5", 5.0, True),
        ("a = 0", -0.0, True),
        ("a = 1", True, False),
        ("a = true", 1, False),
        ("a != 1", True, False),
        ("a < 'b'", 1, False),
        ("a < 1e308", float("inf"), False),
        ("a > 1e308", float("inf"), True),
        ("a >= -1e308", float("-inf"), False),
        ("a != 5", float("nan"), False),
        ("a = 5", float("nan"), False),
        ("a is not null", float("nan"), True),
        ("a is null", float("nan"), False),
        ("a not in (5)", float("nan"), False),
        ("a not between 1 and 2", float("nan"), False),
        ("a = a", float("nan"), False),
        ("a = a", [1], False),
        ("a = a", 1, True),
        ("a = a", None, False),
        ("a is not null", [1], True),
        ("a not like '%'", 5, False),
        ("a < 'a'", "Z", True),
        ("a < '\U00010000'", "\uffff", True),
        ("a = 'é'", "e\u0301", False),
        ("a like '_'", "e\u0301", False),
        ("a like '_'", "😀", True),
        ("a like '%'", "", True),
        ("a like 'x%' escape 'x'", "%", True),
        ("a like 'x%' escape 'x'", "x", False),
        ("a like 'x%%' escape 'x'", "%abc", True),
        ("a like '%\n%'", "one\ntwo", True),
        ("matches(a, 'b.')", "abc", True),
        ("matches(a, '^b')", "abc", False),
        ("not matches(a, 'b')", 5, False),
        ("contains(a, '')", "", True),
        ("a = timestamp '2026-01-31'", "2026-01-31", False),
        ("a between 2 and 1", 1.5, False),
        ("a not between 2 and 1", 1.5, True),
        ("a in (9223372036854775807)", 2.0**63, False),
    ],
)
def test_by_hand(text, value, accepted):
    assert accepts(text, {"a": value}) is accepted


@pytest.mark.parametrize(
    "text",
    [
        "a = 5",
        "a < 5",
        "a in (5)",
        "a between 4 and 6",
        "a like 'x'",
        "contains(a, 'x')",
        "matches(a, 'x')",
        "a = b",
        "a = true",
    ],
)
@pytest.mark.parametrize("event", [{}, {"a": None}, {"a": [5]}, {"b": 5}])
def test_a_missing_attribute_satisfies_neither_a_predicate_nor_its_complement(text, event):
    """P1-A5: `not (x = 5)` does not match an event without x."""
    assert not accepts(text, event)
    assert not accepts(f"not ({text})", event)
    assert not accepts(str(complement(parse(text))), event)  # type: ignore[arg-type]


def test_null_tests_see_missing_attributes():
    """P1-A5, for the one predicate that is about them."""
    assert accepts("a is null", {})
    assert accepts("not a is not null", {})
    assert not accepts("a is not null", {})
    assert not accepts("not (a is null)", {})


@pytest.mark.parametrize(
    ("text", "event", "accepted"),
    [
        ("x > 5", {"x": 7, "y": 6}, True),
        ("x > 5 and y < 6", {"x": 7}, False),
        ("x < 5 and y > 3", {"x": 1, "y": 5}, True),
    ],
)
def test_match_semantics(text, event, accepted):
    """P5-T4."""
    assert accepts(text, event) is accepted


E1 = {
    "category": "book",
    "title": "Harry Potter",
    "ending": 6,
    "condition": "new",
    "price": 21.00,
}
S1 = (
    "contains(title, 'Harry Potter') and ending < 24"
    " and (condition = 'new' and price < 25.0 or price < 15.0 and condition = 'used')"
)
A1 = (
    "ending <= 168 and (condition = 'new' and price > 20.00 or price > 7.50 and condition = 'used')"
)


def test_the_first_event_of_the_worked_example():
    """P3-T0: e1 satisfies S1, and the filter of A1 is true on e1."""
    assert accepts(S1, E1)
    assert accepts(A1, E1)


@pytest.mark.parametrize("change", [{"condition": "used"}, {"ending": 24}, {"title": "Harry"}])
def test_the_worked_example_depends_on_its_parts(change):
    """P3-T0, the other way round."""
    assert not accepts(S1, E1 | change)


@pytest.mark.slow
@examples(600)
@given(filters(max_leaves=16, small=True), events(small=True), filters(), events())
def test_many_filters(small, small_event, filter, event):
    pairs: list[tuple[Filter, dict[str, object]]] = [(small, small_event), (filter, event)]
    for node, on in pairs:
        expected = evaluate(node, on)
        assert node.accepts(on) is (expected is True)
        assert canonical(node).accepts(on) is (expected is True)
        assert (~node).accepts(on) is (expected is False)
