"""Boolcast's diagrams compared with oxidd, if it is installed: build, implication, evaluation.

    python -m benchmarks.diagrams [--subscriptions 20000]

Conjunctions are set A of P2-X1; arbitrary filters come from the book auction. Both sides get the
same formulas over the same numbered variables, so parsing and the predicate index do not count.
Times are processor time.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from itertools import pairwise
from typing import Any

import numpy as np

from benchmarks.covering import drawn
from boolcast.algebra.value_sets import ALL_EVENTS
from boolcast.filters.expressions import Filter
from boolcast.lab.benchmarks.match.engines import auction
from boolcast.matching.diagrams.constraints import formula_of
from boolcast.matching.diagrams.nodes import Nodes, Tree
from boolcast.matching.diagrams.variable_order import attribute_order, statistics_of
from boolcast.matching.diagrams.variables import Variables
from boolcast.matching.values.shapes import Inner
from boolcast.workloads.pairs import ATTRIBUTES


def main() -> None:
    """Measure both populations."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--subscriptions", type=int, default=20_000)
    size = parser.parse_args().subscriptions
    measure("set A", drawn("A", size), ATTRIBUTES)
    filters = list(auction("auction", size, 1).subscription_filters(0, size))
    measure("auction", filters, attribute_order(statistics_of(filters[:4_096])))


def measure(title: str, filters: Sequence[Filter], order: Sequence[str]) -> None:
    """Build all filters, ask for implications of neighbours, evaluate on random assignments."""
    nodes = Nodes()
    variables = Variables(order, nodes.set_level)
    trees = [variables.hold(formula_of(filter, ALL_EVENTS))[0] for filter in filters]
    nodes.build(trees[0])
    roots, took = timed(lambda: [nodes.build(tree) for tree in trees])
    print(f"{title}: {len(filters):,} filters, {len(variables):,} variables")
    print(f"  arrays: build {took:.1f} µs, {len(nodes):,} nodes")
    walks = [(int(root), nodes) for root in roots[:2_000] if root is not None]
    truth = np.random.default_rng(1).random(len(variables)) < 0.5
    _, took = timed(lambda: [walk(root, each, truth) for root, each in walks], len(walks))
    print(f"  arrays: evaluate one root in plain Python {took:.1f} µs (the kernel: `bench match`)")
    if find_spec("oxidd") is None:
        print("  oxidd is not installed")
        return
    manager = import_module("oxidd.bdd").BDDManager(1 << 24, 1 << 20, 1)
    levels = sorted(range(len(variables)), key=nodes.store.level.__getitem__)
    manager.add_vars(len(levels))
    place = {variable: manager.var(level) for level, variable in enumerate(levels)}
    built, took = timed(lambda: [oxidd(tree, manager, place) for tree in trees])
    print(f"  oxidd: build {took:.1f} µs, {manager.num_inner_nodes():,} nodes")
    pairs = list(pairwise(built[:5_000]))
    _, took = timed(lambda: [one.imp(other).valid() for one, other in pairs], len(pairs))
    print(f"  oxidd: implication of two filters {took:.1f} µs")
    values = [(level, bool(truth[variable])) for level, variable in enumerate(levels)]
    _, took = timed(lambda: [each.eval(values) for each in built[:20]], 20)
    print(f"  oxidd: evaluate one root {took:.1f} µs")


def timed(work: Callable[[], list[Any]], count: int = 0) -> tuple[list[Any], float]:
    """The result, and the microseconds for each of its elements."""
    begin = time.process_time()
    result = work()
    return result, (time.process_time() - begin) * 1e6 / max(count or len(result), 1)


def walk(root: int, nodes: Nodes, truth: np.ndarray[Any, Any]) -> bool:
    """One root on one assignment."""
    variable, low, high = nodes.store.variable, nodes.store.low, nodes.store.high
    while root > 1:
        root = int(high[root]) if truth[variable[root]] else int(low[root])
    return root == 1


def oxidd(tree: Tree | bool, manager: Any, place: dict[int, Any]) -> Any:
    """The same formula by oxidd's own operations."""
    if isinstance(tree, bool):
        return manager.true() if tree else manager.false()
    if not isinstance(tree, Inner):
        return place[tree]
    result = manager.true() if tree.is_and else manager.false()
    for child in tree.children:
        part = oxidd(child, manager, place)
        result = result & part if tree.is_and else result | part
    return result


if __name__ == "__main__":
    main()
