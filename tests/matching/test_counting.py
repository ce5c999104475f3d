"""P1's counting beyond the suite of all engines: P_min, hits, and the selectivity counters."""

from collections import Counter
from itertools import zip_longest

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boolcast.filters.canonical import canonical
from boolcast.filters.parsing import parse
from boolcast.matching.counting.engine import CountingIndex, CountingMatcher
from boolcast.matching.counting.forests import Forest, minimum_count
from boolcast.matching.counting.selectivity_counters import SelectivityCounters
from boolcast.matching.inputs.register import BATCH_MATCHES, Subscriptions
from boolcast.matching.values.shapes import Inner
from boolcast.workloads import CLASSES
from tests.matching.conformance import filled, matches_of
from tests.strategies import events, filters


def minimum_of(text: str) -> int:
    return minimum_count(Forest().tree(parse(text)))


@pytest.mark.parametrize(
    ("name", "minimum"),
    [
        *(("S1", 4), ("S2", 5), ("S3", 3), ("A5", 4), ("A8", 3)),
        *(("A1", 3), ("A2", 3), ("A3", 3), ("A4", 3), ("A6", 2), ("A7", 2)),
    ],
)
def test_the_minimum_predicate_counts_of_the_classes(name, minimum):
    """P1-T6."""
    assert minimum_of(str(CLASSES[name].shape)) == minimum


@pytest.mark.parametrize(
    ("text", "minimum"),
    [
        ("a = 1", 1),
        ("a = 1 and b = 1 and c = 1", 3),
        ("a = 1 or b = 1 and c = 1", 1),
        ("not (a = 1 and b = 1)", 1),
        ("not (a = 1 or b = 1)", 2),
        ("(a = 1 or b = 1) and (a = 1 or c = 1)", 2),
        ("a = 1 and a = 1.0", 1),
        ("true", 0),
        ("true and a = 1", 1),
        ("true or a = 1", 0),
        ("(a = 1 or true) and (b = 1 or false and c = 1)", 1),
    ],
)
def test_the_minimum_predicate_count(text, minimum):
    assert minimum_of(text) == minimum


@given(filters(max_leaves=8, small=True), events(small=True))
def test_an_event_that_a_filter_accepts_satisfies_enough_leaves(filter, event):
    """P1-B2, by counting: occurrences, as P1-E1 says."""
    forest = Forest()
    shape, row = forest.plant(filter)
    true_leaves = sum(forest.leaves[number].accepts(event) for number in row)
    if filter.accepts(event):
        assert true_leaves >= minimum_count(list(forest.shapes)[shape])


@given(filters(max_leaves=8, small=True))
def test_trees_are_flat_and_have_neither_constants_nor_repeated_siblings(filter):
    def check(tree: Inner | int) -> None:
        if isinstance(tree, Inner):
            assert len(set(tree.children)) == len(tree.children) >= 2
            for child in tree.children:
                assert isinstance(child, int) or child.is_and is not tree.is_and
                check(child)

    tree = Forest().tree(filter)
    if not isinstance(tree, Inner) or tree.children:
        check(tree)


def test_a_predicate_hits_as_often_as_it_occurs():
    """P1-T7: one satisfied predicate, two hits."""
    subscriptions = Subscriptions()
    subscriptions.add("s", "(a = 1 or b = 1) and (a = 1 or c = 1)")
    index = CountingIndex(subscriptions.snapshot(), None)
    place = index.counters.positions["a = 1"]
    starts, _, counts = index._associations
    assert counts[starts[place] : starts[place + 1]].tolist() == [2]
    assert index._trees.minimums.tolist() == [2]


def test_predicates_that_are_written_differently_are_one():
    subscriptions = Subscriptions()
    for number, text in enumerate(["a < 25", "25.0 > a", "not (a >= 25)", "b = 1 and a < 2.5e1"]):
        subscriptions.add(str(number), text)
    index = CountingIndex(subscriptions.snapshot(), None)
    assert list(index.counters.positions) == ["a < 25", "b = 1"]


def test_trees_with_more_leaves_than_a_byte_counts():
    """300 hits modulo 256 would be too few."""
    wide = " and ".join(f"a{number} = 1" for number in range(300))
    matcher = filled(CountingMatcher, {"s": wide, "t": "a0 = 1"})
    event = {f"a{number}": 1 for number in range(300)}
    assert sorted(matcher.match(event)) == ["s", "t"]
    assert matcher.match(event | {"a299": 2}) == ["t"]


def test_more_matches_than_the_kernel_writes_at_once():
    matcher = filled(CountingMatcher, {f"s{number}": f"a >= {number}" for number in range(200)})
    found = matches_of(matcher, pa.table({"a": [1_000] * 1_000}))
    assert len(found) == 200_000 > 3 * BATCH_MATCHES
    assert len(set(found)) == 200_000


def test_readers_of_one_index_take_turns():
    matcher = filled(CountingMatcher, {f"s{number}": f"a >= {number}" for number in range(200)})
    high, low = pa.table({"a": [1_000] * 2_000}), pa.table({"a": [0] * 2_000})
    found: list[Counter[int]] = [Counter(), Counter()]
    readers = [matcher.match_batch(high), matcher.match_batch(low)]
    for batches in zip_longest(*readers):
        for counter, batch in zip(found, batches, strict=True):
            counter.update(batch["event"].to_pylist() if batch else ())
        assert matcher.match({"a": 1}) == ["s0", "s1"]
    assert found == [dict.fromkeys(range(2_000), 200), dict.fromkeys(range(2_000), 1)]


def test_the_selectivity_of_the_worked_example():
    """P1-T2: 15,000 of 100,000 events are a share of 0.15."""
    matcher = filled(CountingMatcher, {"s": "price < 3 and b is null", "t": "price != 0"})
    table = pa.table({"price": [number % 20 for number in range(10_000)]})
    for _ in range(10):
        matcher.match_batch(table).read_all()
    statistics = matcher.statistics()
    assert statistics.events == 100_000
    assert statistics.predicates["price < 3"] == 15_000
    assert statistics.selectivity("price < 3") == 0.15
    assert statistics.selectivity("b is null") == 1.0
    assert statistics.selectivity("price != 0") == 0.95


@given(st.lists(filters(max_leaves=4, small=True), max_size=5), st.lists(events(small=True)))
def test_counters_count_every_predicate(trees, several):
    """Whatever the rest of its tree says; complements apart, null tests and residuals too."""
    matcher = filled(CountingMatcher, {f"s{number}": tree for number, tree in enumerate(trees)})
    for event in several:
        matcher.match(event)
    statistics = matcher.statistics()
    assert statistics.events == len(several)
    for predicate, matches in statistics.predicates.items():
        assert matches == sum(parse(predicate).accepts(event) for event in several)
    if several:
        kept = {str(leaf) for tree in trees for leaf in canonical(tree).predicates()}
        # A constant can make predicates vanish from a tree.
        assert statistics.predicates.keys() <= kept
        if not any("true" in str(tree) or "false" in str(tree) for tree in trees):
            assert statistics.predicates.keys() == kept


def test_history_outlives_changes():
    matcher = filled(CountingMatcher, {"s": "a = 1", "t": "a = 2"})
    assert matcher.statistics().events == 0
    assert matcher.statistics().selectivity("a = 1") is None
    for value in (1, 1, 1, 2):
        matcher.match({"a": value})
    matcher.remove("t")
    matcher.add("u", "a >= 1")
    assert matcher.statistics().events == 4
    assert matcher.statistics().predicates == {"a = 1": 3}
    for value in (1, 0):
        matcher.match({"a": value})
    statistics = matcher.statistics()
    assert statistics.events == 6
    assert statistics.predicates["a = 1"] == 4
    # Half of the two events since it joined.
    assert statistics.selectivity("a >= 1") == 0.5
    matcher.add("t", "a = 2")
    assert matcher.statistics().selectivity("a = 2") is None


def test_counters_of_one_row_follow_those_of_another():
    first = SelectivityCounters(["p", "q"])
    first.events, first.matches[:] = 10, [1, 2]
    second = SelectivityCounters(["r", "q"], first)
    second.events, second.matches[:] = 30, [5, 12]
    third = SelectivityCounters(["q", "r", "p"], second)
    statistics = third.statistics()
    assert statistics.events == 30
    assert statistics.predicates == {"q": 12, "r": round(5 * 30 / 20)}


def test_the_work_of_an_event():
    """P1-X5: associations by occurrence, candidates by their minimum, leaves of those."""
    matcher = CountingMatcher()
    matcher.add("one", "a = 1 and b = 1")
    matcher.add("two", "a = 1 and (b = 1 or c = 1)")
    matcher.add("three", "(a = 1 or b = 1) and (a = 1 or c = 1)")
    before = matcher.statistics()
    # The first satisfies a and c: three associations of a, and two of c; one is no candidate.
    # The second satisfies nothing.
    work = matcher.work(pa.table({"a": [1, 2], "c": [1, 2]}))
    assert work == (5 / 2, 2 / 2, 7 / 2)
    assert matcher.statistics() == before
    assert matcher.work(pa.table({"a": pa.array([], pa.int64())})) == (0, 0, 0)
