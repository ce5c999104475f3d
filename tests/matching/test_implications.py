"""Which predicates imply each other: P2-T6, the minimal set, and three ways that agree."""

from itertools import permutations
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boolcast.algebra.value_sets import ALL_EVENTS
from boolcast.filters.expressions import Leaf
from boolcast.filters.parsing import parse
from boolcast.matching.diagrams import implications
from boolcast.matching.diagrams.constraints import Constraint, constraint_of
from boolcast.matching.diagrams.implications import WAYS, DependencyCache, Way
from tests.strategies import predicates


def of(text: str) -> Constraint:
    leaf = parse(text)
    assert isinstance(leaf, Leaf)
    return constraint_of(leaf, ALL_EVENTS)


def dependencies(cache: DependencyCache) -> set[tuple[int, int]]:
    """Pairs of variables of which the first implies the second, as the cache keeps them."""
    return {(one, other) for one, above in cache._up.items() for other in above}


@pytest.mark.parametrize("order", list(permutations((1, 2, 3))))
def test_p2_t6_the_minimal_set_in_any_order(order):
    """P2-T6, and the removal of the one in the middle."""
    bounds = {1: "price >= 10", 2: "price >= 8", 3: "price >= 5"}
    cache = DependencyCache()
    for number in order:
        cache.add(number, of(bounds[number]))
    assert dependencies(cache) == {(1, 2), (2, 3)}
    cache.remove(2, of(bounds[2]))
    assert dependencies(cache) == {(1, 3)}


def test_what_has_another_way_up_is_not_joined_on_removal():
    texts = {1: "a = 5", 2: "a >= 5", 3: "a <= 5", 4: "a is not null"}
    cache = DependencyCache()
    for number, text in texts.items():
        cache.add(number, of(text))
    assert dependencies(cache) == {(1, 2), (1, 3), (2, 4), (3, 4)}
    cache.remove(2, of(texts[2]))
    assert dependencies(cache) == {(1, 3), (3, 4)}


def distinct(leaves: list[Leaf]) -> dict[int, Constraint]:
    """Constraints that can be met, each once."""
    found = {}
    for leaf in leaves:
        constraint = constraint_of(leaf, ALL_EVENTS)
        if constraint.inside.ordered:
            found[constraint.variable, constraint.inside] = constraint
    return dict(enumerate(found.values()))


@given(st.lists(predicates(small=True), max_size=12), st.lists(predicates(small=True)), st.data())
def test_three_ways_agree(leaves, asked, data):
    ways = [WAYS[way]() for way in get_args(Way)]
    known = distinct(leaves)
    for number, constraint in known.items():
        for each in ways:
            each.add(number, constraint)
    for number in data.draw(st.sets(st.sampled_from(list(known)))) if known else ():
        for each in ways:
            each.remove(number, known[number])
        del known[number]
    numbered = {(each.variable, each.inside): number for number, each in known.items()}
    for constraint in [*known.values(), *distinct(asked).values()]:
        own = numbered.get((constraint.variable, constraint.inside))
        for ask in ("implied", "implying"):
            first, *others = (sorted(getattr(way, ask)(constraint, own)) for way in ways)
            assert all(other == first for other in others)


def test_few_answers_are_kept(monkeypatch):
    monkeypatch.setattr(implications, "_ANSWERS", 3)
    ranges, compared = implications.Ranges(), implications.Comparisons()
    asked = [of(f"a < {bound}") for bound in range(10)]
    for number, constraint in enumerate(asked):
        ranges.add(number, constraint)
        compared.add(number, constraint)
    for constraint in asked + asked:
        found = ranges.implied(constraint, None)
        assert sorted(found) == sorted(compared.implied(constraint, None))
    (sets,) = ranges._attributes.values()
    assert len(sets._answers) <= 3


numbers = st.sampled_from(["<", "<=", ">", ">=", "=", "!="]).flatmap(
    lambda operator: st.integers(0, 4).map(lambda value: of(f"a {operator} {value}"))
)


@given(st.lists(numbers, unique_by=lambda each: each.inside, max_size=10), st.data())
def test_the_cache_is_the_transitive_reduction(constraints, data):
    cache = DependencyCache()
    known = dict(enumerate(constraints))
    for number, constraint in known.items():
        cache.add(number, constraint)
    for number in data.draw(st.sets(st.sampled_from(list(known)))) if known else ():
        cache.remove(number, known.pop(number))
    implied = {
        (one, other)
        for one, left in known.items()
        for other, right in known.items()
        if one != other and not _outside(left, right)
    }
    minimal = {
        (one, other)
        for one, other in implied
        if not any((one, each) in implied and (each, other) in implied for each in known)
    }
    assert dependencies(cache) == minimal


def _outside(left: Constraint, right: Constraint) -> bool:
    """True if some value of the first, or one between its bounds, is not in the second."""
    values = [value / 2 for value in range(-3, 12)]
    return any(_holds(left, value) and not _holds(right, value) for value in values)


def _holds(constraint: Constraint, value: float) -> bool:
    cuts = constraint.inside.ordered
    return sum(cut <= (3, value) for cut in cuts) % 2 == 1
