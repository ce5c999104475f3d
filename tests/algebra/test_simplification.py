"""Simplification, normal forms and normalisation keep the meaning and do what they promise."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from boolcast.algebra import (
    covers,
    equivalent,
    normalise_conjunction,
    simplify,
    to_cnf,
    to_dnf,
)
from boolcast.algebra.simplification import _parts, _without
from boolcast.errors import UsageError
from boolcast.filters.expressions import (
    And,
    Between,
    Comparison,
    Constant,
    Filter,
    In,
    IsNull,
    Not,
    Or,
    Predicate,
    conjunction,
)
from boolcast.filters.parsing import parse
from boolcast.model.schemas import Attribute, Schema
from tests.algebra import brute_force
from tests.algebra.pairs import pairs
from tests.strategies import events, filters, predicates


@given(filters(max_leaves=6, small=True), filters(max_leaves=6))
def test_simplify_keeps_the_meaning(small: Filter, large: Filter):
    simpler = simplify(small)
    assert not simpler.exhausted
    for event in brute_force.events(small):
        assert simpler.filter.accepts(event) == small.accepts(event), event
    assert equivalent(simplify(large).filter, large)


@given(filters(max_leaves=8, small=True))
def test_no_leaf_of_a_simplified_filter_can_be_removed(node: Filter):
    simpler = simplify(node).filter
    for path, part, _ in _parts(simpler):
        if isinstance(part, Predicate):
            shorter = _without(simpler, path)
            assert not equivalent(shorter, simpler), (str(simpler), str(part))
            assert equivalent(shorter, simpler).exhausted is False


@given(filters(max_leaves=8, small=True))
def test_a_simplified_filter_is_no_larger_and_stays_as_it_is(node: Filter):
    simpler = simplify(node)
    assert len(list(simpler.filter.predicates())) <= len(list(node.predicates()))
    assert simplify(simpler.filter).filter == simpler.filter
    assert "not (" not in str(simpler)


@pytest.mark.parametrize(
    ("written", "simpler"),
    [
        ("price < 25 and price < 30", "price < 25"),
        ("price < 25 or price < 30", "price < 30"),
        ("a = 1 or a = 1", "a = 1"),
        ("a = 1 and (a = 1 or b = 2)", "a = 1"),
        ("a = 1 and a = 2", "false"),
        ("a is null or a is not null", "true"),
        ("a is not null and a != 5", "a != 5"),
        ("(a < 5 or b = 1) and (a >= 5 or b = 1) and a is null", "b = 1 and a is null"),
        ("true and a = 1", "a = 1"),
        ("not (a = 1 or false)", "a != 1"),
        ("starts_with(t, 'ab') and starts_with(t, 'a')", "starts_with(t, 'ab')"),
        ("contains(t, 'ab') and contains(t, 'a')", "contains(t, 'ab')"),
        ("matches(t, 'x') or matches(t, 'x') and a = 1", "matches(t, 'x')"),
    ],
)
def test_simplify_examples(written: str, simpler: str):
    assert str(simplify(parse(written))) == simpler


def test_simplify_says_when_its_budget_ran_out():
    node = parse("price < 25 and price < 30 and (title = 'a' or title = 'b')")
    assert simplify(node, budget=2).exhausted
    assert not simplify(node).exhausted
    assert equivalent(simplify(node, budget=2).filter, node)


def test_the_budget_bounds_the_work():
    """Past it nothing more is tried: the steps of a large filter are counted before it is read."""
    large = parse(" or ".join(f"x{i} = 1 and y{i} < 5" for i in range(500)))
    simpler = simplify(large, budget=0)
    assert simpler.exhausted
    assert simpler.filter == large


def test_simplify_knows_the_schema():
    schema = Schema({"x": Attribute("number", integer=True, minimum=0, maximum=9, required=True)})
    assert str(simplify(parse("x > 8 or x = 9"), schema=schema)) == "x > 8"
    assert str(simplify(parse("x >= 0"), schema=schema)) == "true"
    assert str(simplify(parse("x > 9"), schema=schema)) == "false"


@given(filters(max_leaves=6), events())
def test_normal_forms_keep_the_meaning(node: Filter, event):
    for form in (to_dnf(node), to_cnf(node)):
        assert not form.exhausted
        assert form.filter.accepts(event) == node.accepts(event)


@given(filters(max_leaves=6, small=True))
def test_normal_forms_have_their_shape(node: Filter):
    for form, outer, inner in ((to_dnf(node), Or, And), (to_cnf(node), And, Or)):
        top = form.filter.children if isinstance(form.filter, outer) else (form.filter,)
        for clause in top:
            parts = clause.children if isinstance(clause, inner) else (clause,)
            assert all(isinstance(part, Predicate | Constant) for part in parts)
        sets = [frozenset(clause) for clause in form.clauses]
        assert not any(a < b for a in sets for b in sets)
        assert len(set(sets)) == len(sets)


def test_normal_forms_have_a_budget():
    node = parse(" and ".join(f"(a{i} = 1 or b{i} = 1)" for i in range(20)))
    form = to_dnf(node)
    assert form.exhausted
    assert form.filter == node
    assert not to_cnf(node).exhausted
    assert len(to_dnf(parse("(a = 1 or b = 1) and (c = 1 or d = 1)")).clauses) == 4


def test_a_conjunction_that_is_none_cannot_be_normalised():
    with pytest.raises(UsageError, match="conjunction"):
        normalise_conjunction(parse("a = 1 or b = 2"))


@given(predicates(small=True), predicates(small=True), predicates(small=True))
def test_normalisation_keeps_the_meaning(first: Filter, second: Filter, third: Filter):
    node = conjunction([first, second, third])
    normal = normalise_conjunction(node).filter
    assert equivalent(node, normal)
    assert normalise_conjunction(normal).filter == normal
    shuffled = conjunction([third, Not(Not(first)), second])
    assert normalise_conjunction(shuffled).filter == normal


ORDERED = (
    predicates(small=True, residuals=False)
    .filter(lambda leaf: isinstance(leaf, Comparison | Between | In | IsNull))
    .map(lambda leaf: replace(leaf, attribute="a"))
)


@given(st.lists(ORDERED, min_size=1, max_size=3), st.lists(ORDERED, min_size=1, max_size=3))
def test_equivalent_conjunctions_about_order_are_written_alike(left, right):
    one, other = conjunction(left), conjunction(right)
    normal = normalise_conjunction(one).filter, normalise_conjunction(other).filter
    assert (normal[0] == normal[1]) == equivalent(one, other).holds


@pytest.mark.parametrize(
    ("written", "normal"),
    [
        ("x >= 5 and x != 5", "x > 5"),
        ("x not between 3 and 5 and x < 4", "x < 3"),
        ("x not in (3, 9) and x < 4", "x < 4 and x != 3"),
        ("x = 1 and true", "x = 1"),
        ("x > 1.7976931348623157e308", "x > 1.7976931348623157e+308"),
        ("starts_with(s, 'ab') and s > 'a'", "starts_with(s, 'ab')"),
        ("b = 1 and a = 2", "a = 2 and b = 1"),
        ("x between 3 and 5 and x < 5", "x < 5 and x >= 3"),
        ("x >= 5 and x <= 5", "x = 5"),
        ("x in (1, 2, 3) and x > 1", "x in (2, 3)"),
        ("x in (1, 2, 3) and x > 2", "x = 3"),
        ("not x = 1 and x != 2 and x > 0", "x > 0 and x != 1 and x != 2"),
        ("f <= false", "f = false"),
        ("s <= ''", "s = ''"),
        ("t >= timestamp '2026-01-01' and t <= timestamp '2026-01-01'",
         "t = timestamp '2026-01-01T00:00:00Z'"),
        ("contains(s, 'a') and contains(s, 'ab')", "contains(s, 'ab')"),
        ("true", "true"),
    ],
)  # fmt: skip
def test_normalisation_examples(written: str, normal: str):
    assert str(normalise_conjunction(parse(written))) == normal


def test_normalisation_of_large_conjunctions():
    """Within the limits of a filter, in time about linear in it."""
    lists = f"a in ({', '.join(map(str, range(10_000)))}) and a in (9999, 10000)"
    assert str(normalise_conjunction(parse(lists))) == "a = 9999"
    unequal = " and ".join(f"a != {i}" for i in range(1_000))
    assert len(list(normalise_conjunction(parse(unequal)).filter.predicates())) == 1_000


def test_normalisation_says_when_its_budget_ran_out():
    node = parse("contains(s, 'ab') and contains(s, 'a')")
    assert normalise_conjunction(node, budget=2).exhausted
    assert equivalent(normalise_conjunction(node, budget=2).filter, node)
    assert str(normalise_conjunction(node)) == "contains(s, 'ab')"


@pytest.mark.parametrize("written", ["x > 4", "x >= 5", "x >= 4.5"])
def test_normalisation_on_integers_has_one_writing(written: str):
    schema = Schema({"x": Attribute("number", integer=True)})
    assert str(normalise_conjunction(parse(written), schema=schema)) == "x >= 5"


def test_normalisation_on_integers_finds_the_single_value():
    schema = Schema({"x": Attribute("number", integer=True)})
    assert str(normalise_conjunction(parse("x > 4 and x < 6"), schema=schema)) == "x = 5"


@pytest.mark.slow
def test_simplify_of_many_random_filters():
    for left, right in pairs(300, seed=7):
        for node in (left, right):
            simpler = simplify(node)
            assert not simpler.exhausted
            assert covers(simpler.filter, node)
            assert covers(node, simpler.filter)
