"""Law 3: `covers` never says yes wrongly, `overlaps` never no, and a witness witnesses.

The answers are also exact: where no residual is involved and the budget lasts, every answer
that could be unsafe the other way comes with a witness, which the reference evaluator checks.
"""

import os
import subprocess
import sys

import pytest
from hypothesis import given

from boolcast.algebra import covers, disjoint, equivalent, overlaps, relate
from boolcast.algebra.budget import Budget
from boolcast.algebra.satisfaction import (
    accepted,
    both,
    conjunctive_solutions,
    is_conjunctive,
    refused,
    solutions,
)
from boolcast.algebra.value_sets import ALL_EVENTS
from boolcast.filters.expressions import And, Filter, Residual, conjunction
from boolcast.filters.parsing import parse
from tests.algebra import brute_force
from tests.algebra.pairs import pairs
from tests.examples import examples
from tests.strategies import filters, predicates

SMALL = filters(max_leaves=6, small=True)
LARGE = filters(max_leaves=8)


def has_residual(*nodes: Filter) -> bool:
    return any(isinstance(leaf, Residual) for node in nodes for leaf in node.predicates())


@given(SMALL, SMALL)
def test_covers_against_brute_force(general: Filter, specific: Filter):
    verdict = covers(general, specific)
    assert not verdict.exhausted
    if verdict:
        assert verdict.witness is None
        for event in brute_force.events(general, specific):
            assert general.accepts(event) or not specific.accepts(event), event
    elif verdict.witness is None:
        assert has_residual(general, specific)
    else:
        assert specific.accepts(verdict.witness)
        assert not general.accepts(verdict.witness)


@given(SMALL, SMALL)
def test_overlaps_against_brute_force(left: Filter, right: Filter):
    verdict = overlaps(left, right)
    opposite = disjoint(left, right)
    assert (opposite.holds, opposite.witness) == (not verdict.holds, verdict.witness)
    if not verdict:
        for event in brute_force.events(left, right):
            assert not (left.accepts(event) and right.accepts(event)), event
    elif verdict.witness is None:
        assert has_residual(left, right)
    else:
        assert left.accepts(verdict.witness)
        assert right.accepts(verdict.witness)


@given(LARGE, LARGE)
def test_every_witness_witnesses_over_all_values(left: Filter, right: Filter):
    for verdict, wanted in (
        (covers(left, right), (False, True)),
        (covers(right, left), (True, False)),
        (overlaps(left, right), (True, True)),
        (overlaps(left, ~right), None),
    ):
        if verdict.witness is not None and wanted is not None:
            assert (left.accepts(verdict.witness), right.accepts(verdict.witness)) == wanted
        elif verdict.witness is not None:
            assert left.accepts(verdict.witness)
            assert not right.accepts(verdict.witness)


@given(LARGE)
def test_a_filter_is_equivalent_to_itself_and_covers_its_conjunctions(node: Filter):
    assert covers(node, node)
    assert equivalent(node, ~~node)
    assert covers(node, And((node, parse("a = 1"))))
    assert not overlaps(node, ~node)


@given(SMALL, SMALL)
def test_equivalent_agrees_with_covers(left: Filter, right: Filter):
    verdict = equivalent(left, right)
    assert verdict.holds == (covers(left, right).holds and covers(right, left).holds)
    if verdict.witness is not None:
        assert left.accepts(verdict.witness) != right.accepts(verdict.witness)


@given(predicates(small=True), predicates(small=True), predicates(small=True))
def test_the_fast_path_agrees_with_the_general_one(first: Filter, second: Filter, third: Filter):
    """The twin: what conjunctions answer attribute by attribute, the search answers too."""
    specific, general = And((first, second)), conjunction([third, first])
    assert is_conjunctive([specific], [general])
    for accepting, refusing in (([specific], [general]), ([specific, general], [])):
        parts = [accepted(node, ALL_EVENTS) for node in accepting]
        parts += [refused(node, ALL_EVENTS) for node in refusing]
        slow = next(solutions(both(parts), ALL_EVENTS, Budget(50_000)), None)
        fast = next(conjunctive_solutions(accepting, refusing, Budget(50_000)), None)
        assert (fast is None) == (slow is None)


@given(SMALL, SMALL)
@examples(100)
def test_a_small_budget_costs_answers_and_never_soundness(left: Filter, right: Filter):
    for budget in (0, 1, 3, 10, 30):
        cover, overlap = covers(left, right, budget=budget), overlaps(left, right, budget=budget)
        if cover.exhausted:
            assert not cover
            assert cover.witness is None
        else:
            assert cover.holds == covers(left, right).holds
        if overlap.exhausted:
            assert overlap
        else:
            assert overlap.holds == overlaps(left, right).holds


def test_the_budget_does_run_out():
    """Twelve clauses over string patterns, no two alternatives alike, and no solution."""
    clauses = " and ".join(
        f"(a like '%x{i}_%{i}' or b like '%{i}_y{i}%' or c like '_%{i}z')" for i in range(12)
    )
    hard = parse(clauses + " and a like '%q%' and b like '%q%' and c like '%q%'")
    impossible = parse("a < 'b' and b < 'b' and c < 'b'")
    verdict = overlaps(hard, impossible, budget=200)
    assert verdict.holds
    assert verdict.exhausted
    assert verdict.witness is None


@pytest.mark.parametrize("count", [5, 20, 60])
def test_long_disjunctions_are_proven(count: int):
    """A filter against itself less one alternative, and with its predicates exchanged."""
    parts = [(f"x{i} = 1", f"y{i} < 5") for i in range(count)]
    longer = parse(" or ".join(f"{x} and {y}" for x, y in parts))
    shorter = parse(" or ".join(f"{y} and {x}" for x, y in parts[1:]))
    exchanged = parse(" or ".join(f"{y} and {x}" for x, y in reversed(parts)))
    assert covers(longer, shorter)
    assert equivalent(longer, exchanged)
    refuted = covers(shorter, longer)
    assert not refuted
    assert refuted.witness is not None


def test_witnesses_are_the_same_in_every_run():
    """Sets of strings are hashed anew in each process; answers must not depend on it."""
    script = (
        "from boolcast import overlaps, parse;"
        "print(overlaps(parse(\"contains(t, 'foo') and contains(t, 'bar')\"),"
        " parse(\"contains(t, 'qux') and not contains(t, 'x')\")).witness,"
        "overlaps(parse(\"contains(t, 'foo') and contains(t, 'bar')\"),"
        " parse(\"contains(t, 'qux')\")).witness)"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            capture_output=True,
            check=True,
        ).stdout
        for seed in range(4)
    }
    assert len(outputs) == 1


def check_witnesses(left: Filter, right: Filter) -> int:
    """Check what a pair's answers carry; how many of them ran out of budget."""
    cover, overlap = covers(left, right), overlaps(left, right)
    for verdict, accepted_by_left in ((cover, False), (overlap, True)):
        if verdict.witness is not None:
            assert left.accepts(verdict.witness) is accepted_by_left, (str(left), str(right))
            assert right.accepts(verdict.witness), (str(left), str(right))
    if not has_residual(left, right):
        assert cover.exhausted or cover.holds == (cover.witness is None)
        assert overlap.exhausted or overlap.holds == (overlap.witness is not None)
    return cover.exhausted + overlap.exhausted


def test_witnesses_of_deep_pairs():
    for left, right in pairs(1_000, leaves=24, seed=5):
        check_witnesses(left, right)


@pytest.mark.slow
def test_few_random_pairs_exhaust_the_budget():
    """At most 1 % of pairs of up to 12 leaves each, over all operators."""
    exhausted = [check_witnesses(left, right) for left, right in pairs(4_000)]
    assert len(exhausted) == 4_000
    assert sum(exhausted) <= 0.01 * 2 * len(exhausted)


@pytest.mark.parametrize(
    ("general", "specific", "relation"),
    [
        ("a < 5", "a < 3", "covers"),
        ("a >= 5", "a > 4", "covered"),
        ("a < 5", "a > 3", "intersects"),
        ("a < 5", "a > 5", "disjoint"),
        ("a = true", "a = 1", "disjoint"),
        ("a = 5", "a = 5.0", "equal"),
        ("a = 9007199254740993", "a = 9007199254740992.0", "disjoint"),
        ("a > 9007199254740992 and a < 9007199254740994", "a = 9007199254740993", "equal"),
        ("a > 1.0 and a < 1.0000000000000002", "false", "equal"),
        ("a > 1.7976931348623157e308", "false", "covers"),
        ("a < -9223372036854775808", "a < -9223372036854775807", "covered"),
        ("starts_with(a, 'ab')", "a like 'ab%'", "equal"),
        ("a >= 'ab' and a < 'ac'", "starts_with(a, 'ab')", "equal"),
        ("contains(a, 'b')", "a like '_b%'", "covers"),
        ("ends_with(a, 'ab')", "ends_with(a, 'b')", "covered"),
        ("contains(a, 'ab') and not contains(a, 'b')", "false", "equal"),
        ("a > 'b' and a < 'b\0'", "false", "equal"),
        ("a < ''", "false", "equal"),
        ("a >= ''", "a like '%'", "equal"),
        ("a like '_'", "a = 'x'", "covers"),
        ("a > '\U0010ffff'", "starts_with(a, '\U0010ffff')", "covered"),
        ("a > '\ud7ff\U0010ffff' and a < '\ue000'", "starts_with(a, '\ud7ff')", "covered"),
        ("t < timestamp '2026-01-01T00:00:00Z'", "t < timestamp '2025-01-01'", "covers"),
        (
            "t > timestamp '2026-01-01T00:00:00Z' and t < timestamp '2026-01-01T00:00:00.000001Z'",
            "false",
            "equal",
        ),
        ("a is null or a is not null", "true", "equal"),
        ("a < 5 or a >= 5", "a is not null", "covered"),
        ("a != 5", "a is not null", "covered"),
        ("not a = 5", "a != 5", "equal"),
        ("a not in (1, 2)", "a != 1 and a != 2", "equal"),
        ("a not between 1 and 2", "a < 1 or a > 2", "equal"),
        ("a = true or a = false", "a in (true, false)", "equal"),
        ("a <= true and a >= false", "a != true or a != false", "equal"),
        ("bid > reserve", "reserve < bid", "equal"),
        ("bid > reserve", "not bid <= reserve", "equal"),
        ("bid > reserve", "bid <= reserve", "disjoint"),
        ("matches(a, 'x')", "matches(a, 'x') and b = 1", "covers"),
        ("not matches(a, 'x')", "matches(a, 'x')", "disjoint"),
    ],
)
def test_relations_of_examples(general: str, specific: str, relation: str):
    assert relate(parse(general), parse(specific)) == relation


def test_a_residual_is_a_free_variable():
    """It may be refuted by nothing but itself: the answer is the safe one, without a witness."""
    verdict = covers(parse("matches(a, 'x')"), parse("matches(a, 'xy')"))
    assert (verdict.holds, verdict.witness, verdict.exhausted) == (False, None, False)


def test_a_witness_avoids_residuals_where_it_can():
    verdict = overlaps(parse("matches(a, '^q') or b = 1"), parse("c = 2"))
    assert verdict.witness == {"b": 1, "c": 2}


@pytest.mark.parametrize(
    ("general", "specific", "witness"),
    [
        ("price < 20", "price < 25", {"price": 20}),
        ("price > 10", "price > 9", {"price": 10}),
        ("x > 10 and x < 11", "x > 10 and x < 12", {"x": 11}),
        ("title = 'Emma'", "price < 25", {"price": 24, "title": "a"}),
        ("a is not null", "b = 1", {"b": 1}),
        ("title != 'Emma'", "title is not null", {"title": "Emma"}),
        ("title < 'Emma'", "title <= 'Emma'", {"title": "Emma"}),
        ("starts_with(t, 'x')", "contains(t, 'x')", {"t": "ax"}),
        ("t like '%a'", "t like 'b%'", {"t": "b"}),
    ],
)
def test_witnesses_are_readable(general: str, specific: str, witness: dict[str, object]):
    assert covers(parse(general), parse(specific)).witness == witness
