"""The kernels of the diagrams against the same in plain Python, over the same nodes.

Variables are attributes that are true or not, so every assignment is an event.
"""

from collections import Counter
from collections.abc import Collection
from itertools import product
from math import inf
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from boolcast.filters.expressions import Filter, conjunction, disjunction
from boolcast.filters.parsing import parse
from boolcast.matching.diagrams import matching
from boolcast.matching.diagrams.diagrams import Diagrams
from boolcast.matching.diagrams.kernels.cuts import MOST_IN_CUT, DiagramCuts, choose_cuts
from boolcast.matching.diagrams.kernels.matching import mark_needed, weigh
from boolcast.matching.diagrams.kernels.nodes import FREE, LIVE, USED
from boolcast.matching.diagrams.nodes import Nodes, Tree
from boolcast.matching.diagrams.questions import Question
from boolcast.matching.values.ranks import RankSpace
from boolcast.matching.values.selectivity import Selectivity
from boolcast.matching.values.shapes import Inner
from boolcast.model.events import Event

COUNT = 6
VARIABLES = range(COUNT)
ASSIGNMENTS = list(product((False, True), repeat=COUNT))

TREES: st.SearchStrategy[Tree] = st.recursive(
    st.integers(0, COUNT - 1),
    lambda child: st.builds(
        Inner, st.booleans(), st.lists(child, min_size=2, max_size=4, unique=True).map(tuple)
    ),
    max_leaves=10,
)
ORDERS = st.permutations(VARIABLES)


def truth(tree: Tree, values) -> bool:
    if isinstance(tree, int):
        return bool(values[tree])
    return (all if tree.is_and else any)(truth(child, values) for child in tree.children)


def walked(store, node: int, values) -> bool:
    while node > 1:
        node = int((store.high if values[store.variable[node]] else store.low)[node])
    return node == 1


def listed(first, neighbours, key: int) -> list[int]:
    """A list of nodes, which must read the same backwards."""
    found, node, before = [], int(first[key]), -1
    while node >= 0:
        assert neighbours[1, node] == before
        found.append(node)
        before, node = node, int(neighbours[0, node])
    return sorted(found)


def check_store(nodes: Nodes, outputs: list[int]) -> None:
    """Everything that is kept of nodes is what a look at all of them gives."""
    store = nodes.store
    alive = [node for node in range(2, nodes.used) if store.variable[node] >= 0]
    rows = {
        node: tuple(int(a[node]) for a in (store.variable, store.low, store.high)) for node in alive
    }
    assert len(set(rows.values())) == len(alive) == store.counts[LIVE]
    assert all(high not in (low, 0) and low != 1 for _, low, high in rows.values())
    references = Counter(outputs)
    references.update(below for _, low, high in rows.values() for below in (low, high))
    for node in (0, 1, *alive):
        assert store.references[node] == references[node]
    assert all(references[node] for node in alive), "what nobody refers to is freed"
    for variable in VARIABLES:
        for ends in (0, 1):
            expected = [
                n for n, (v, _, high) in rows.items() if v == variable and (high == 1) == ends
            ]
            assert listed(store.first_of, store.of, 2 * variable + ends) == expected
    for below in alive:
        by_low = [node for node, (_, low, _) in rows.items() if low == below]
        by_high = [node for node, (_, _, high) in rows.items() if high == below]
        assert listed(store.first_by_low, store.by_low, below) == by_low
        assert listed(store.first_by_high, store.by_high, below) == by_high
    for variable, low, high in rows.values():
        levels = [store.level[store.variable[each]] for each in (low, high) if each > 1]
        assert all(store.level[variable] < level for level in levels)
    free, node = [], int(store.counts[FREE])
    while node >= 0:
        free.append(node)
        node = int(store.following[node])
    assert sorted([*free, *alive]) == list(range(2, int(store.counts[USED])))
    chained = []
    for first in store.buckets:
        node = int(first)
        while node >= 0:
            chained.append(node)
            node = int(store.following[node])
    assert sorted(chained) == alive


@given(
    order=ORDERS,
    trees=st.lists(TREES, max_size=8),
    limit=st.sampled_from([3, 8, 200]),
    kept=st.lists(st.booleans(), min_size=8, max_size=8),
)
def test_nodes_are_the_filters_and_all_lists_hold_them(order, trees, limit, kept):
    """build, joined, settled, made, link, unlink, freed, release and sweep."""
    nodes = Nodes(limit)
    for level, variable in enumerate(order):
        nodes.set_level(variable, level)
    outputs: list[int] = []
    for tree, stays in zip(trees, kept, strict=False):
        root = nodes.build(tree)
        assert root is not None or limit < 200
        if root is not None:
            outputs.append(root)
            for values in ASSIGNMENTS:
                assert walked(nodes.store, root, values) == truth(tree, values)
            if not stays:
                nodes.release(outputs.pop())
        check_store(nodes, outputs)


def test_more_nodes_than_buckets():
    """rehash, and that nodes are found again after it."""
    nodes = Nodes(64)
    for variable in range(3_000):
        nodes.set_level(variable, variable)
    pairs = [Inner(True, (number, number + 1)) for number in range(0, 2_998, 2)]
    roots = [nodes.build(pair) for pair in pairs]
    assert len(nodes.store.buckets) > 1 << 10
    assert [nodes.build(pair) for pair in pairs] == roots
    assert len(nodes) == 2 * len(pairs)


def filter_of(tree: Tree) -> Filter:
    if isinstance(tree, int):
        return parse(f"v{tree} = true")
    parts = [filter_of(child) for child in tree.children]
    return (conjunction if tree.is_and else disjunction)(parts)


def diagrams_of(trees: list[Tree], order) -> Diagrams:
    diagrams = Diagrams([f"v{number}" for number in order])
    for number in VARIABLES:
        diagrams.add(f"v{number}", filter_of(number))
    for number, tree in enumerate(trees):
        diagrams.add(str(number), filter_of(tree))
    return diagrams


CODES = st.lists(st.sets(st.integers(0, COUNT - 1)), min_size=1, max_size=3)


@given(order=ORDERS, trees=st.lists(TREES, max_size=8), right=CODES, left=CODES)
def test_codes_of_variables(order, trees, right, left):
    """check, ends_well, reach, wanted_of, one_pass, pass_over and all_clauses, for any codes."""
    diagrams = diagrams_of(trees, order)
    search, store = diagrams._covering, diagrams.nodes.store
    coded = [
        [np.array(sorted(clause), dtype=np.int64) for clause in side] for side in (right, left)
    ]
    question = Question(*coded)

    def covers(root: int) -> bool:
        return all(walked(store, root, [v in clause for v in VARIABLES]) for clause in right)

    def is_covered(root: int) -> bool:
        return not any(walked(store, root, [v not in clause for v in VARIABLES]) for clause in left)

    tables = list(search.roots())
    roots = [root for table in tables for root in table]
    covering = {root for root in roots if covers(root)}
    covered = {root for root in roots if is_covered(root)}
    found = search.relations(question)
    assert sorted(found.covering) == sorted(covering)
    assert sorted(found.covered) == sorted(covered)
    found = search.answer(question, "search")
    assert set(found.covering) <= covering
    assert bool(found.covering) == bool(covering)
    assert found.covering or set(found.covered) == covered
    # P2-B6, diagram by diagram.
    evaluated = 0
    below: set[int] = set()
    above: set[int] = set()
    for table in tables:
        if not below:
            evaluated += 1
            above = covering & set(table)
            if above:
                break
        evaluated += 1
        below |= covered & set(table)
    found = search.answer(question, "one pass")
    assert (set(found.covering), set(found.covered)) == (above, set() if above else below)
    assert found.diagrams == evaluated
    first = next((place for place, table in enumerate(tables) if covering & set(table)), None)
    found = search.answer(question, "two passes")
    assert set(found.covering) == (set() if first is None else covering & set(tables[first]))
    assert found.covering or set(found.covered) == covered
    assert found.diagrams == (len(tables) if first is None else first + 1) + len(tables)


class Chosen(Selectivity):
    """Estimates that are drawn, so that nodes are reached in every way."""

    def __init__(self, shares: list[float]) -> None:
        super().__init__({}, 0.0)
        self._shares = shares

    def shares(
        self,
        attribute: str,
        space: RankSpace,
        bounds: NDArray[np.int32],
    ) -> NDArray[np.float64]:
        return np.full(len(bounds), self._shares[int(attribute[1:])])


SHARES = st.lists(
    st.sampled_from([1 / 64, 1 / 16, 1 / 4, 1 / 2, 1.0]), min_size=COUNT, max_size=COUNT
)


@pytest.mark.parametrize("longer", [2.0, 1e-9])
@given(order=ORDERS, trees=st.lists(TREES, max_size=8), shares=SHARES)
def test_outputs_that_are_true(longer, order, trees, shares):
    """match_events and holds, whatever is taken for rare, with few cuts and with nothing else."""
    diagrams = diagrams_of(trees, order)
    with patch.object(matching, "_LONGER", longer):
        index, names = diagrams.index(Chosen(shares))
    for values in ASSIGNMENTS:
        event = Event({f"v{number}": value for number, value in enumerate(values)})
        found = [name for n in index.matches_of_one(event) for each in n for name in names[each]]
        expected = [f"v{number}" for number in VARIABLES if values[number]]
        expected += [str(number) for number, tree in enumerate(trees) if truth(tree, values)]
        assert sorted(found) == sorted(expected)


@given(order=ORDERS, trees=st.lists(TREES, min_size=1, max_size=8), shares=SHARES)
def test_ways_to_nodes_and_cuts(order, trees, shares):
    """weigh, mark_needed, choose_cuts and weight."""
    diagrams = diagrams_of(trees, order)
    graph = diagrams.index(Chosen(shares))[0]._graph
    variable, low, high, roots = graph.variable, graph.low, graph.high, graph.roots
    size = len(variable)
    references = np.ones(size, dtype=np.int32)
    by_high, costs = np.zeros(size, dtype=np.bool_), np.zeros(size)
    weigh(variable, low, high, references, np.array(shares), by_high, costs)
    chance, cost = [0.0, 1.0], [0.0, 0.0]
    for node in range(2, size):
        share, one, two = shares[variable[node]], high[node], low[node]
        chance.append(share * chance[one] + (1 - share) * chance[two])
        through = chance[one] + cost[one]
        assert by_high[node] == (one > 1 and through < share)
        cost.append((through if by_high[node] else share) + cost[two])
    assert costs.tolist() == pytest.approx(cost)

    needed = np.zeros(size, dtype=np.bool_)
    needed[roots] = True
    mark_needed(low, high, by_high, needed)
    expected, waiting = set(), [int(root) for root in roots]
    while waiting:
        node = waiting.pop()
        if node > 1 and node not in expected:
            expected.add(node)
            waiting += [int(low[node])] + [int(high[node])] * bool(by_high[node])
    assert set(np.flatnonzero(needed).tolist()) - {0, 1} == expected

    cuts = DiagramCuts(
        np.zeros(len(roots), dtype=np.int64),
        np.zeros((len(roots), MOST_IN_CUT), dtype=np.uint32),
        np.zeros(size, dtype=np.uint64),
        np.zeros(size, dtype=np.int64),
        np.zeros(COUNT, dtype=np.int64),
        np.zeros(COUNT, dtype=np.int64),
    )
    choose_cuts(roots, variable, low, high, np.array(shares), np.full(size, inf), cuts)

    def cut_of(node: int) -> frozenset[int]:
        if node == 0:
            return frozenset()
        below = cut_of(int(low[node]))
        by_variable = below | {int(variable[node])}
        if high[node] == 1:
            return by_variable
        return min(by_variable, below | cut_of(int(high[node])), key=weight_of)

    def weight_of(cut: Collection[int]) -> float:
        return float(sum(shares[each] for each in cut))

    for output, root in enumerate(roots):
        chosen = set(cuts.variables[output, : cuts.sizes[output]].tolist())
        assert weight_of(chosen) == weight_of(cut_of(int(root)))
        assert not is_true_without(chosen, int(root), graph)
    none = cuts._replace(
        sizes=np.zeros_like(cuts.sizes),
        seen=np.zeros_like(cuts.seen),
        known=np.zeros_like(cuts.known),
    )
    choose_cuts(roots, variable, low, high, np.array(shares), np.zeros(size), none)
    assert not none.sizes.any()


def is_true_without(variables, node: int, graph) -> bool:
    """True if a node can be true where all of these variables are false."""
    while node > 1:
        node = int((graph.low if graph.variable[node] in variables else graph.high)[node])
    return node == 1
