"""Covering by diagrams: P2's examples, law 3 against the algebra, and ways that agree."""

from collections.abc import Callable
from random import Random
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boolcast.algebra import covers
from boolcast.algebra.value_sets import ALL_EVENTS
from boolcast.filters.expressions import Filter, Leaf, conjunction
from boolcast.filters.parsing import parse
from boolcast.matching.diagrams.constraints import constraint_of
from boolcast.matching.diagrams.covering import Method
from boolcast.matching.diagrams.diagrams import Covering, Diagrams
from boolcast.matching.diagrams.implications import Way
from boolcast.model.schemas import Attribute, Schema
from tests.examples import examples
from tests.matching.test_diagrams import TAIL, diagrams_of
from tests.strategies import SMALL_NAMES, filters

WAYS: tuple[Way, ...] = get_args(Way)
METHODS: tuple[Method, ...] = get_args(Method)
each_method = pytest.mark.parametrize("method", METHODS)
each_way = pytest.mark.parametrize("way", WAYS)

S1, S2 = f"price = 150 and {TAIL}", f"price < 150 and {TAIL}"
ORDER = ("price", "time", "destination")
FEWER = examples(50)
"""Each is run for several ways or methods."""


def variable_of(diagrams: Diagrams, text: str) -> int:
    leaf = parse(text)
    assert isinstance(leaf, Leaf)
    number = diagrams.variables.number(constraint_of(leaf, ALL_EVENTS))
    assert number is not None
    return number


def pair(diagrams: Diagrams, new: str, predicate: str) -> list[int]:
    """The code of a variable as P2 writes it: left and right bit (P2-B5)."""
    question = diagrams.question(parse(new))
    assert question.left is not None
    assert question.right is not None
    number = variable_of(diagrams, predicate)
    return [
        int(any(number in clause for clause in question.left)),
        int(any(number in clause for clause in question.right)),
    ]


@each_way
@each_method
def test_p2_t3_the_new_one_is_covered(way, method):
    """P2-T3, with the codes as printed."""
    diagrams = diagrams_of(S1, S2, order=ORDER, way=way)
    new = f"price = 80 and {TAIL}"
    assert pair(diagrams, new, "price < 150") == [0, 1]
    assert pair(diagrams, new, "price = 150") == [0, 0]
    assert pair(diagrams, new, "time = 'July 20,2004'") == [1, 1]
    assert pair(diagrams, new, "destination = 'Ottawa'") == [1, 1]
    found = diagrams.covering(parse(new), method)
    assert (found.covered_by, found.covers) == ([S2], [])
    assert diagrams_of(S1, order=ORDER).covering(parse(new), method).covered_by == []


@each_method
def test_p2_t4_further_attributes_of_the_new_one_count(method):
    """P2-T4: the printed test would remove an entry that is not covered (P2-E2)."""
    diagrams = diagrams_of("price < 150")
    found = diagrams.covering(parse("price < 200 and destination = 'Ottawa'"), method)
    assert (found.covered_by, found.covers) == ([], [])


@each_method
def test_p2_t5_attributes_that_the_new_one_leaves_free(method):
    """P2-T5: with the printed default this covering would be missed."""
    existing = "price < 100 and destination = 'Ottawa'"
    found = diagrams_of(existing).covering(parse("price < 200"), method)
    assert (found.covered_by, found.covers) == ([], [existing])


@each_method
@pytest.mark.parametrize(
    ("existing", "new", "covered_by", "covers_it"),
    [
        # P2-B5: the printed test says that the new one covers.
        ("a < 5 or b < 3", "a < 10 and b < 10", False, False),
        ("a < 4 or b < 2", "a < 5 or b < 3", False, True),
        ("a < 5 or b < 3", "a < 4 and b < 9", True, False),
        ("a < 5 or b < 3", "a < 4 and c = 1 or b < 2 and c = 2", True, False),
        ("a < 5 and (b = 1 or c = 1)", "a < 5", False, True),
        ("a < 5 and (b = 1 or c = 1)", "b = 1 or c = 1 or d = 1", False, True),
        ("a > 3 and a < 9", "a between 4 and 8", True, False),
        ("a > 3 and a < 9", "a > 2 and a < 10", False, True),
        ("a != 5", "a < 5 or a > 5", True, False),
        ("a is not null", "a = 'x'", True, False),
        ("a is null", "a is null and b = 1", True, False),
        ("not (a < 5)", "a = 7", True, False),
        ("a > b and c = 1", "a > b and c = 1 and d = 1", True, False),
        ("a > b", "not (a > b)", False, False),
        ("contains(a, 'b')", "contains(a, 'abc')", True, False),
        ("true", "a = 1", True, False),
        ("a = 1", "true", False, True),
        ("a = 1", "false", True, False),
        ("false", "a = 1", False, True),
        ("a = 1", "a = 1 and a = 2", True, False),
        ("a = 1 and b = 1", "b = 1 and a = 1", True, False),
    ],
)
def test_beyond_conjunctions(method, existing, new, covered_by, covers_it):
    found = diagrams_of(existing).covering(parse(new), method)
    assert found.covered_by == [existing] * covered_by
    assert found.covers == [existing] * covers_it
    assert not found.exhausted


def test_with_a_schema_integers_have_gaps():
    integers = Schema(attributes={"x": Attribute("number", integer=True)})
    assert diagrams_of("x >= 10").covering(parse("x > 9")).covered_by == []
    assert diagrams_of("x >= 10", schema=integers).covering(parse("x > 9")).covered_by


def test_too_many_clauses_are_told():
    """Seven pairs are 128 conjunctions: nothing is said of what covers, but it still covers."""
    new = " and ".join(f"(a{number} = 1 or b{number} = 1)" for number in range(7))
    diagrams = diagrams_of("a0 = 1 or b0 = 1", new + " and c = 1")
    found = diagrams.covering(parse(new))
    assert found.exhausted
    assert (found.covered_by, found.covers) == ([], [new + " and c = 1"])


def check(found: Covering, filter: Filter, table: dict[str, Filter]) -> None:
    """Law 3: whatever is said is so; where the algebra gives up, nobody can tell."""
    for name in found.covered_by:
        verdict = covers(table[name], filter)
        assert verdict.holds or verdict.exhausted
    for name in found.covers:
        verdict = covers(filter, table[name])
        assert verdict.holds or verdict.exhausted


@each_way
@each_method
@FEWER
@given(st.lists(filters(small=True), max_size=8), filters(small=True))
def test_never_a_wrong_yes(way, method, several, new):
    table = {str(number): filter for number, filter in enumerate(several)}
    diagrams = Diagrams(way=way, limit=64)
    for name, filter in table.items():
        diagrams.add(name, filter)
    check(diagrams.covering(new, method), new, table)


plain_predicates = [
    parse(f"{name} {rest}")
    for name in SMALL_NAMES
    for rest in ("= 1", "= 2", "!= 1", "< 1", "<= 2", "> 0", "between 0 and 2", "is not null")
]
conjunctions = st.lists(st.sampled_from(plain_predicates), min_size=1, max_size=4).map(conjunction)


@each_method
@FEWER
@given(st.lists(conjunctions, max_size=8), conjunctions)
def test_exact_for_conjunctions(method, several, new):
    """One constraint for each attribute, as siblings are joined: nothing is missed (P2-A8)."""
    table = {str(number): filter for number, filter in enumerate(several)}
    diagrams = Diagrams(limit=64)
    for name, filter in table.items():
        diagrams.add(name, filter)
    found = diagrams.covering(new, method)
    check(found, new, table)
    assert bool(found.covered_by) is any(covers(filter, new) for filter in several) or (
        method == "one pass" and bool(found.covers)
    )
    if not found.covered_by:
        assert sorted(found.covers) == sorted(
            name for name, filter in table.items() if covers(new, filter)
        )


def grow(
    several: list[Filter], tables: list[Diagrams], ask: Callable[[Filter], Covering], drop: Random
):
    """Keep tables without redundancy, as a broker does, while filters come and some leave."""
    names: list[str] = []
    for number, filter in enumerate(several):
        found = ask(filter)
        if found.covered_by:
            continue
        gone = dict.fromkeys(found.covers)
        if names and drop.random() < 0.3:
            gone[drop.choice(names)] = None
        for table in tables:
            for name in gone:
                table.remove(name)
            table.add(str(number), filter)
        names = [name for name in names if name not in gone] + [str(number)]


def agreed(answers: list[Covering]) -> Covering:
    """The answer, of which only the one that covers may differ."""
    for answer in answers:
        assert bool(answer.covered_by) is bool(answers[0].covered_by)
        assert sorted(answer.covers) == sorted(answers[0].covers)
    return answers[0]


RANDOMS = st.randoms(use_true_random=False)


@each_method
@FEWER
@given(st.lists(filters(small=True), max_size=10), RANDOMS)
def test_all_ways_agree(method, several, chance):
    tables = [Diagrams(way=way, limit=64) for way in WAYS]
    grow(several, tables, lambda new: agreed([t.covering(new, method) for t in tables]), chance)


@given(st.lists(conjunctions, max_size=16), RANDOMS)
def test_all_methods_agree_without_redundancy(several, chance):
    """P2-B6: what is covered cannot cover another."""
    table = Diagrams(limit=64)
    grow(several, [table], lambda new: agreed([table.covering(new, m) for m in METHODS]), chance)


def test_one_pass_stops_where_two_go_on():
    """P2-B6: what covers ends it all; what is covered ends the right side."""
    diagrams = diagrams_of(*(f"a < {number} and b = {number}" for number in range(1, 11)))
    new = parse("a < 3 and b = 5")
    one, two = (diagrams.covering(new, method) for method in ("one pass", "two passes"))
    assert one.covered_by == two.covered_by == ["a < 5 and b = 5"]
    assert one.diagrams < two.diagrams
    wide = parse("b = 5")
    one, two = (diagrams.covering(wide, method) for method in ("one pass", "two passes"))
    assert one.covers == two.covers == ["a < 5 and b = 5"]
    assert one.diagrams < two.diagrams == 20


@each_method
def test_a_conjunction_of_more_than_64_is_exhausted_and_leaves_nothing_behind(method):
    diagrams = diagrams_of("a0 > 7", "a0 > 1")
    many = parse(" and ".join(f"a{number} > 5" for number in range(65)))
    found = diagrams.covering(many, method)
    assert found.exhausted
    assert found.covered_by == ["a0 > 1"]
    assert not diagrams.covering(parse("b > 1"), method).covers
