"""Covering for a stream of subscriptions: diagrams, the broker's candidate index, and a scan.

    python -m benchmarks.covering [--subscriptions 200000] [--set A] [--methods search,...]

Each new subscription asks what covers it and, if nothing does, removes what it covers and is
added: the table of one neighbour, as set A or B of P2-X1 fills it. The scan compares a sample of
the stream with 2,000 entries of the final table, and is extrapolated to half of that table, its
mean size. `missed` are the entries left that the algebra says another one covers, of a sample, and
coverings among filters of random shapes that the diagrams do not see. Times are processor time.
"""

import argparse
import time
from collections.abc import Sequence
from typing import NamedTuple, get_args

import msgspec

from boolcast.algebra import covers
from boolcast.experiments.mbd_tables import SetName, pairs_of
from boolcast.filters.expressions import Filter
from boolcast.matching.diagram_covering import Method
from boolcast.matching.diagrams import Diagrams
from boolcast.matching.implications import Way
from boolcast.model.statistics import Statistics
from boolcast.optimising.selectivities import Selectivities
from boolcast.optimising.trees import Tree, best_pruning, prepared, pruned
from boolcast.routing.candidates import Candidates
from boolcast.routing.forms import Form, Forms
from boolcast.workloads import PAIR_SETS, Diverse
from boolcast.workloads.pairs import ATTRIBUTES


def set_a(size: int) -> list[Filter]:
    """Set A, with as many pairs as its size asks for."""
    return drawn("A", size)


def drawn(name: SetName, size: int) -> list[Filter]:
    """The first of a set of P2-X1."""
    return list(pairs_of(name, size, seed=1).subscription_filters(0, size))


def by_diagrams(filters: Sequence[Filter], method: Method, way: Way) -> tuple[float, set[str]]:
    """Microseconds for each of the stream, and the names that are left."""
    table = Diagrams(ATTRIBUTES, way=way)
    table.covering(filters[0], method)
    begin = time.process_time()
    evaluations = 0
    for number, filter in enumerate(filters):
        found = table.covering(filter, method)
        evaluations += found.diagrams
        if not found.covered_by:
            for name in found.covers:
                table.remove(name)
            table.add(str(number), filter)
    took = (time.process_time() - begin) * 1e6 / len(filters)
    print(f"diagrams, {method}, {way}: {took:.0f} µs each, {len(table):,} left, {evaluations:,}")
    print(f"  {msgspec.json.encode(table.figures()).decode()}")
    return took, {name for names in table.outputs().values() for name in names}


class Entry(NamedTuple):
    """A subscription in the broker's index."""

    order: int
    form: Form


def by_candidates(filters: Sequence[Filter]) -> tuple[float, set[str]]:
    """The same by the index of `routing`, whose candidates the algebra proves."""
    index: Candidates[Entry] = Candidates()
    forms = Forms()
    left: set[str] = set()
    begin = time.process_time()
    for number, filter in enumerate(filters):
        entry = Entry(number, forms.of(filter))
        if any(forms.covers(other.form, entry.form) for other in index.covering(entry.form)):
            continue
        for other in index.covered(entry.form):
            if forms.covers(entry.form, other.form):
                index.remove(other)
                left.discard(str(other.order))
        index.add(entry)
        left.add(str(number))
    took = (time.process_time() - begin) * 1e6 / len(filters)
    print(f"candidate index: {took:.0f} µs each, {len(left):,} left")
    return took, left


def by_scan(filters: Sequence[Filter], left: set[str], sample: int) -> float:
    """What a comparison with every entry, in both directions, would take for each."""
    forms = Forms()
    table = [forms.of(filters[int(name)]) for name in sorted(left)[:2_000]]
    asked = [forms.of(filter) for filter in filters[:: max(len(filters) // sample, 1)]]
    begin = time.process_time()
    for form in asked:
        for other in table:
            _ = forms.covers(other, form) or forms.covers(form, other)
    pair = (time.process_time() - begin) * 1e6 / (len(asked) * len(table))
    took = pair * len(left) / 2
    print(f"scan: {took:,.0f} µs each, extrapolated from {pair:.1f} µs a pair")
    return took


def missed(filters: Sequence[Filter], left: set[str], sample: int) -> float:
    """The share of entries, of a sample, that another entry covers all the same."""
    names = sorted(left)
    asked = names[:: max(len(names) // sample, 1)]
    count = sum(
        any(other != name and covers(filters[int(other)], filters[int(name)]) for other in names)
        for name in asked
    )
    print(f"missed: {count} of {len(asked)} entries")
    return count / len(asked)


def missed_of_shapes(count: int) -> float:
    """The share of coverings among filters of random shapes that the diagrams do not see.

    A filter and what prunings leave of it: the second covers the first, and the algebra says so.
    """
    unknown = Selectivities(Statistics(events=0))
    asked = found = 0
    for filter in Diverse(seed=1).subscription_filters(0, count):
        tree = Tree.of(prepared(filter), unknown)
        while (best := best_pruning(tree)) is not None:
            tree = pruned(tree, best)
            if covers(tree.node, filter):
                table = Diagrams()
                table.add("wider", tree.node)
                asked += 1
                found += bool(table.covering(filter).covered_by)
    print(f"missed of {asked:,} coverings among {count} filters of random shapes: {asked - found}")
    return 1 - found / asked


def main() -> None:
    """Measure what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--subscriptions", type=int, default=200_000)
    parser.add_argument("--set", choices=list(PAIR_SETS), default="A")
    parser.add_argument("--methods", default="search")
    parser.add_argument("--way", choices=get_args(Way), default="ranges")
    parser.add_argument("--sample", type=int, default=5)
    parser.add_argument("--shapes", type=int, default=500)
    given = parser.parse_args()
    filters = drawn(given.set, given.subscriptions)
    left: set[str] = set()
    for method in given.methods.split(","):
        _, left = by_diagrams(filters, method, given.way)
    _, others = by_candidates(filters)
    assert left == others, "both are exact for conjunctions"
    by_scan(filters, left, given.sample)
    missed(filters, left, given.sample)
    missed_of_shapes(given.shapes)


if __name__ == "__main__":
    main()
