"""Sets A and B of P2-X1: reproducible rows, and the shares that were calibrated."""

from collections import Counter

import numpy as np
import pytest

from boolcast.filters.expressions import And, Between, Comparison
from boolcast.filters.parsing import parse
from boolcast.model.events import conforms
from boolcast.workloads import PAIR_SETS, PairParameters, Pairs, Workload
from boolcast.workloads.pairs import LOWER, UPPER

A: Workload = Pairs("A", seed=2)


def test_rows_agree_with_each_other():
    table = A.subscriptions(70, 300)
    filters = list(A.subscription_filters(70, 300))
    assert [parse(text) for text in table["filter"].to_pylist()] == filters
    assert table["subscription"].to_pylist() == [f"s{row}" for row in range(70, 370)]
    assert [A.subscription(row) for row in (70, 369)] == [filters[0], filters[-1]]
    assert A.subscriptions(170, 200) == table.slice(100, 200)
    assert A.events(170, 20) == A.events(160, 40).slice(10, 20)
    assert A.event(3) == A.events(0, 4).to_pylist()[3]


def test_a_seed_decides_all():
    assert Pairs("A", seed=2).subscriptions(0, 50) == A.subscriptions(0, 50)
    assert Pairs("A", seed=3).subscriptions(0, 50) != A.subscriptions(0, 50)


@pytest.mark.parametrize("name", ["A", "B"])
def test_the_shape_of_subscriptions(name):
    """One predicate above, and two or three equalities below, in the shares of the set."""
    parameters = PAIR_SETS[name]
    operators: Counter[str] = Counter()
    tails: Counter[int] = Counter()
    for filter in Pairs(name, seed=1).subscription_filters(0, 4_000):
        assert isinstance(filter, And)
        top, *tail = filter.children
        assert isinstance(top, Comparison)
        assert top.attribute in UPPER
        assert isinstance(top.value, int)
        assert 1 <= top.value <= parameters.upper_values
        operators[top.operator] += 1
        tails[len(tail)] += 1
        names = [each.attribute for each in tail if isinstance(each, Comparison)]
        assert names == sorted(set(names), key=LOWER.index)
        for each in tail:
            assert isinstance(each, Comparison)
            assert each.operator == "="
    shares = [operators[each] / 4_000 for each in ("<", ">", "=")]
    assert shares == pytest.approx(parameters.weights, abs=0.03)
    assert tails[2] / 4_000 == pytest.approx(0.5, abs=0.03)
    assert set(tails) == {2, 3}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "predicates"), [("A", 1_990), ("B", 4_990)])
def test_distinct_predicates(name, predicates):
    """P2-X1: 2,000 and 5,000 of them; `< v`, `> v`, `= v` above, `= v` below."""
    filters = Pairs(name, seed=1).subscription_filters(0, 200_000)
    assert len({leaf for each in filters for leaf in each.predicates()}) == predicates


def test_pairs_are_shared():
    few = PairParameters(pairs=10, upper_values=5, lower_values=5, weights=(0.4, 0.4, 0.2))
    tails = {
        (each.children[0].attribute, each.children[1:])
        for each in Pairs(few, seed=1).subscription_filters(0, 500)
        if isinstance(each, And) and isinstance(each.children[0], Comparison)
    }
    assert len(tails) <= 10


def test_events_conform_and_are_uniform():
    pairs = Pairs("A", seed=1)
    events = pairs.events(0, 5_000)
    assert conforms(pairs.event(0), pairs.schema)
    for name, size in pairs.sizes.items():
        column = events[name].to_numpy()
        assert (column.min(), column.max()) == (1, size)
        assert np.mean(column) == pytest.approx((size + 1) / 2, rel=0.05)


def test_advertisements_are_half_of_an_upper_range():
    pairs = Pairs("A", seed=1)
    found = list(pairs.advertisement_filters(0, 200))
    assert pairs.advertisement(7) == found[7]
    for each in found:
        assert isinstance(each, Between)
        assert isinstance(each.low, int)
        assert isinstance(each.high, int)
        assert each.attribute in UPPER
        assert each.high - each.low + 1 == 16
        assert each.low >= 1
        assert each.high <= 33
