"""The overlap test by violating predicates: P3's examples, its definition, and the algebra.

`twin` is P3-B2 to P3-B4 as they are written, pair by pair and set by set, without an index.
"""

from functools import partial
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from boolcast.algebra import ordered_sets, overlaps
from boolcast.algebra.value_sets import meaning
from boolcast.filters.canonical import to_nnf
from boolcast.filters.expressions import And, Comparison, Constant, Filter, Leaf, Or
from boolcast.filters.parsing import parse
from boolcast.matching.relations import overlap_index
from boolcast.matching.relations.overlap_index import OverlapIndex
from boolcast.matching.relations.violations import ViolatingSets, violating_sets
from boolcast.model.schemas import Attribute, Schema
from boolcast.workloads import Auction
from boolcast.workloads.classes import PRESETS
from tests.examples import examples
from tests.strategies import filters

S1 = (
    "contains(title, 'Harry Potter') and ending < 24 and"
    " (condition = 'new' and price < 25 or price < 15 and condition = 'used')"
)
A1 = "ending <= 168 and (condition = 'new' and price > 20 or price > 7.5 and condition = 'used')"
INTEGERS = Schema(attributes={"x": Attribute("number", integer=True)})


def index_of(*texts: str, schema: Schema | None = None) -> OverlapIndex:
    made = OverlapIndex(schema=schema)
    for text in texts:
        made.add(text, parse(text))
    return made


def node_of(text: str) -> Filter:
    node = parse(text)
    assert isinstance(node, Filter)
    return node


def excluded_by(index: OverlapIndex, text: str) -> set[str]:
    predicate = parse(text)
    assert isinstance(predicate, Leaf)
    return {str(index.predicates[number]) for number in index.violating(predicate)}


# P3-T1 to P3-T3: n1 to n9 of A1 against p1 to p6 of S1.
P3, P5, P6 = "condition = 'new'", "price < 15", "condition = 'used'"
LEAVES = {
    "ending <= 168": set(),
    "condition = 'new'": {P6},
    "price > 20": {P5},
    "price > 7.5": set(),
    "condition = 'used'": {P3},
}


@pytest.mark.parametrize("leaf", LEAVES)
def test_the_violating_predicates_of_a_leaf(leaf: str):
    """P3-T1."""
    assert excluded_by(index_of(S1), leaf) == LEAVES[leaf]


def test_the_violating_predicates_of_a_tree():
    """P3-T2."""
    numbers = {P3: 3, P5: 5, P6: 6}

    def leaf_sets(leaf: Leaf) -> ViolatingSets:
        return [frozenset(numbers[each] for each in LEAVES[str(leaf)])]

    sets = partial(violating_sets, leaf_sets=leaf_sets, limit=100)
    n6, n7 = "condition = 'new' and price > 20", "price > 7.5 and condition = 'used'"
    for text, expected in {
        **{leaf: [{numbers[p] for p in found}] for leaf, found in LEAVES.items()},
        n6: [{5, 6}],
        n7: [{3}],
        f"{n6} or {n7}": [{5, 6}, {3}],
        A1: [{5, 6}, {3}],
    }.items():
        assert sets(node_of(text)) == expected


def test_the_first_example_overlaps_both_ways():
    """P3-T3: 6 leaves, of which 4 are needed; candidates for both sets."""
    subscriptions = index_of(S1)
    found = subscriptions.all(parse(A1))
    assert found.names == [S1]
    assert (found.work.sets, found.work.candidates) == (2, 1)
    assert not subscriptions.all(parse(f"({A1}) and condition = 'new' and price >= 25"))
    assert index_of(A1).first(parse(S1)).names == [A1]


def test_two_unequal_predicates():
    """P3-T9: the printed rule would hide this overlap."""
    assert index_of("x != 5").first(parse("x != 3"))
    pair = Schema(attributes={"x": Attribute("number", values=(3, 5))})
    assert not index_of("x != 5", schema=pair).first(parse("x != 3"))
    assert index_of("x != 5 or x = 5", schema=pair).first(parse("x != 3"))


@pytest.mark.parametrize(
    ("left", "right", "on_reals", "on_integers"),
    [
        ("x = 10", "x > 10", False, False),
        ("x > 10", "x < 11", True, False),
        ("x > 10", "x < 12", True, True),
        ("x >= 10", "x < 10", False, False),
    ],
)
def test_integers_and_reals(left: str, right: str, on_reals: bool, on_integers: bool):
    """P3-T10."""
    for here, there in ((left, right), (right, left)):
        assert bool(index_of(here).first(parse(there))) is on_reals
        assert bool(index_of(here, schema=INTEGERS).first(parse(there))) is on_integers


def test_a_predicate_that_occurs_twice():
    """P3-T11: with distinct predicates counted it would be no candidate."""
    shared = "(a = 1 or b = 1) and (a = 1 or c = 1)"
    index = index_of(shared)
    assert index.all(parse("b = 2 and c = 2")).names == [shared]
    assert occurrences(index) == {"a = 1": 2, "b = 1": 1, "c = 1": 1}


@pytest.mark.parametrize(
    ("registered", "excluding"),
    [
        ("x between 3 and 7", True),
        ("x between 3 and 20", False),
        ("x between 0 and 7", False),
        ("x between 11 and 20", True),
        ("x not between 0 and 20", True),
        ("x in (2, 12)", True),
        ("x in (2, 10)", False),
        ("x is null", True),
        ("x is not null", False),
        ("x = 'ten'", True),
    ],
)
def test_what_lies_between_the_values_of_a_list(registered: str, excluding: bool):
    """An interval must begin and end in the same gap."""
    assert bool(excluded_by(index_of(registered), "x in (1, 10)")) is excluding


def test_joint_contradictions_are_not_seen():
    """P3-B4: an overlap too many, which the algebra refutes."""
    index = index_of("x != 6 and x != 7", schema=INTEGERS)
    asked = parse("x > 5 and x < 8")
    assert index.first(asked)
    assert not overlaps(parse("x != 6 and x != 7"), asked, schema=INTEGERS)


def test_filters_that_nothing_satisfies_overlap_with_nothing():
    index = index_of("x between 5 and 3", "x < 1 or x in (7) and y between 2 and 1", "true")
    assert index.all(parse("true")).names == ["x < 1 or x in (7) and y between 2 and 1", "true"]
    assert index.all(parse("x = 7")).names == ["true"]
    assert not index.all(parse("false"))
    assert not index.all(parse("x between 5 and 3"))
    assert excluded_by(index, "x between 5 and 3") == {"x < 1"}


def test_past_the_limit_whatever_can_be_satisfied_overlaps():
    texts = [f"x = {number}" for number in range(4)]
    made = OverlapIndex(sets=8)
    for text in (*texts, "false"):
        made.add(text, parse(text))
    assert made.all(parse("(x = 0 or x = 1) and (x < 2 or x < 1)")).names == texts[:2]
    asked = parse(" and ".join(f"(x = {each} or x > {each})" for each in range(4)))
    found = made.all(asked)
    assert found.exhausted
    assert found.names == texts
    assert made.first(asked).names == texts[:1]


@pytest.mark.slow
def test_many_occurrences_do_not_lose_a_candidate():
    """More violated leaves than the counters can hold."""
    many = Or(
        (
            *(
                And((Comparison("a", "=", 1), Comparison("b", "=", number)))
                for number in range(66_000)
            ),
            Comparison("c", "=", 1),
        )
    )
    made = OverlapIndex()
    made.add("many", many)
    made.add("one", parse("a = 1"))
    assert made.all(parse("a = 2")).names == ["many"]
    made.remove("many")
    assert made.all(parse("a = 2")).names == []


# The definition, without an index.


def excludes(left: Leaf, right: Leaf) -> bool:
    """P3-B2; patterns count by their place in the order of values."""
    one, other = meaning(left), meaning(right)
    return one.variable == other.variable and not ordered_sets.intersect(
        one.inside.ordered, other.inside.ordered
    )


def ways(node: Filter, others: list[Leaf]) -> list[set[Leaf]]:
    """P3-B3: for each way to satisfy the tree, the predicates on the other side it excludes."""
    match node:
        case Constant(value):
            return [set()] if value else []
        case Or(children):
            return [way for child in children for way in ways(child, others)]
        case And(children):
            return [set().union(*each) for each in product(*(ways(c, others) for c in children))]
        case _:
            assert isinstance(node, Leaf)
            if not meaning(node).inside.ordered:
                return []
            return [{other for other in others if excludes(node, other)}]


def holds_without(node: Filter, violated: set[Leaf]) -> bool:
    """P3-B4, step 3."""
    match node:
        case Constant(value):
            return value
        case And(children):
            return all(holds_without(child, violated) for child in children)
        case Or(children):
            return any(holds_without(child, violated) for child in children)
        case _:
            assert isinstance(node, Leaf)
            return node not in violated and bool(meaning(node).inside.ordered)


def twin(registered: Filter, asked: Filter) -> bool:
    here, there = to_nnf(registered), to_nnf(asked)
    leaves: list[Leaf] = list(here.predicates())
    return any(holds_without(here, way) for way in ways(there, leaves))


def check(registered: dict[str, Filter], index: OverlapIndex, asked: Filter) -> None:
    found = index.all(asked)
    expected = [name for name, filter in registered.items() if twin(filter, asked)]
    assert found.names == expected
    assert index.count(asked) == (len(expected), found.work)
    assert index.first(asked).names == expected[:1] or index.first(asked).names[0] in expected
    assert bool(index.first(asked)) is bool(expected)


@examples(150)
@given(st.lists(filters(small=True), max_size=6), filters(small=True, max_leaves=6))
def test_first_and_all_are_the_definition(registered: list[Filter], asked: Filter):
    """P3-T12."""
    named = {str(number): filter for number, filter in enumerate(registered)}
    index = OverlapIndex()
    for name, filter in named.items():
        index.add(name, filter)
    check(named, index, asked)


@given(filters(max_leaves=5), filters(max_leaves=5))
def test_no_overlap_is_missed(left: Filter, right: Filter):
    """Law 3 and P3-T12, over every operator and value."""
    index = OverlapIndex()
    index.add("left", left)
    assert index.first(right) or not overlaps(left, right)


@examples(150)
@given(filters(small=True, max_leaves=6), filters(small=True, max_leaves=6))
def test_no_overlap_is_missed_between_small_filters(left: Filter, right: Filter):
    index = OverlapIndex()
    index.add("left", left)
    assert index.first(right) or not overlaps(left, right)


@given(
    filters(small=True, residuals=False, max_leaves=5),
    filters(small=True, residuals=False, max_leaves=5),
    st.booleans(),
)
def test_no_overlap_is_missed_under_a_schema(left: Filter, right: Filter, integer: bool):
    schema = Schema(
        attributes={
            "a": Attribute("number", integer=integer, required=True),
            "b": Attribute("string", values=("a", "b")),
            "c": Attribute("number", minimum=0, maximum=2, integer=True),
        }
    )
    index = OverlapIndex(schema=schema)
    index.add("left", left)
    assert index.first(right) or not overlaps(left, right, schema=schema)


class Changes(RuleBasedStateMachine):
    """Filters come and go in any order; the index always answers for those it holds."""

    def __init__(self) -> None:
        super().__init__()
        self.index = OverlapIndex()
        self.registered: dict[str, Filter] = {}
        self.names = 0
        self.asked: Filter = parse("true")
        # So that sorting anew and compacting happen all the time.
        self.few, overlap_index._FEW = overlap_index._FEW, 2  # type: ignore[misc]

    def teardown(self) -> None:
        overlap_index._FEW = self.few  # type: ignore[misc]

    @rule(filter=filters(small=True, max_leaves=5))
    def add(self, filter: Filter) -> None:
        self.names += 1
        self.registered[str(self.names)] = filter
        self.index.add(str(self.names), filter)

    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        if self.registered:
            name = data.draw(st.sampled_from(list(self.registered)))
            del self.registered[name]
            self.index.remove(name)

    @rule(filter=filters(small=True, max_leaves=5))
    def ask(self, filter: Filter) -> None:
        self.asked = filter

    @invariant()
    def is_as_if_built_anew(self) -> None:
        check(self.registered, self.index, self.asked)
        assert len(self.index) == len(self.registered)
        anew = OverlapIndex()
        for name, filter in self.registered.items():
            anew.add(name, filter)
        assert occurrences(self.index) == occurrences(anew)


def occurrences(index: OverlapIndex) -> dict[str, int]:
    rows = zip(index.predicates, index.occurrences.tolist(), strict=True)
    return {str(leaf): count for leaf, count in rows if count}


Changes.TestCase.settings = settings(max_examples=15, stateful_step_count=20)
TestChanges = Changes.TestCase


def test_the_published_proportions():
    """P3-X2, small: candidates and overlaps of each class of subscriptions."""
    auction = Auction(PRESETS["P3"], seed=1)
    index = OverlapIndex()
    for row, filter in enumerate(auction.advertisement_filters(0, 1_000)):
        index.add(str(row), filter)
    shares: dict[str, list[float]] = {"S1": [], "S2": [], "S3": []}
    sets: dict[str, set[int]] = {"S1": set(), "S2": set(), "S3": set()}
    for row, filter in enumerate(auction.subscription_filters(0, 300)):
        count, work = index.count(filter)
        kind = auction.subscription_class(row)
        shares[kind].append(count / 1_000)
        sets[kind].add(work.sets)
    means = {kind: sum(each) / len(each) for kind, each in shares.items()}
    assert means["S1"] == pytest.approx(0.04, abs=0.02)
    assert means["S2"] == pytest.approx(0.35, abs=0.05)
    assert means["S3"] == 1.0
    # P3-E9: two of S3, because neither buyItNow nor special varies here.
    assert sets == {"S1": {2}, "S2": {4}, "S3": {2}}
