"""Covering for a stream of subscriptions: diagrams, the covering index, and all pairs.

    python -m benchmarks.covering [--subscriptions 200000] [--set A] [--last 2000] [--scanned 20]

Each new subscription asks what covers it. If nothing does, it removes what it covers and is added:
the table of one neighbour, filled from set A or B of P2-X1. The diagrams process the whole stream.
The others are measured on the last of it: they get the table that the diagrams had by then, and
must end with the same. The scan compares each of the very last with the whole table, in both
directions; nothing is extrapolated. Then the relation graphs of brokers are filled from four
workloads, with the covering tests `proofs` and `diagrams` (`--graphs`). `missed` counts remaining
entries, of a sample, that another one covers by the algebra, and coverings among filters of random
shapes that the diagrams miss. Times are processor time.
"""

import argparse
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple, get_args

import msgspec

from boolcast.algebra.relations import covers
from boolcast.filters.expressions import Filter
from boolcast.filters.parsing import parse
from boolcast.lab.papers.diagrams.workload import SetName, pairs_of
from boolcast.matching.diagrams.covering import Method
from boolcast.matching.diagrams.diagrams import Diagrams
from boolcast.matching.diagrams.implications import Way
from boolcast.matching.relations.analysed_filters import AnalysedFilter, FilterAnalyser
from boolcast.matching.relations.covering_index import ByProofs
from boolcast.model.statistics import Statistics
from boolcast.optimising.pruning.trees import Tree, best_pruning, prepared, pruned
from boolcast.optimising.statistics.selectivities import Selectivities
from boolcast.routing.policies.registry import COVERING_TESTS
from boolcast.routing.protocol.configuration import CoveringSettings, CoveringTest
from boolcast.routing.tables.covering_graph import RelationGraph
from boolcast.workloads import PAIR_SETS, Auction, Diverse
from boolcast.workloads.pairs import ATTRIBUTES


def drawn(name: SetName, size: int) -> list[Filter]:
    """The first subscriptions of a set of P2-X1."""
    return list(pairs_of(name, size, seed=1).subscription_filters(0, size))


def by_diagrams(
    filters: Sequence[Filter], method: Method, way: Way, last: int
) -> tuple[set[str], set[str]]:
    """What is left before the last part of the stream, and after it."""
    table = Diagrams(ATTRIBUTES, way=way)
    table.covering(filters[0], method)
    before: set[str] = set()
    evaluations = 0
    begin = start = time.process_time()
    for number, filter in enumerate(filters):
        if number == len(filters) - last:
            before = names_in(table)
            print(f"diagrams, {method}, {way}: {each(start, number)} µs each, {len(table):,} left")
            begin = time.process_time()
        found = table.covering(filter, method)
        evaluations += found.diagrams
        if not found.covered_by:
            for name in found.covers:
                table.remove(name)
            table.add(str(number), filter)
    print(f"  the last {last:,}: {each(begin, last)} µs each; {evaluations:,} diagrams evaluated")
    print(f"  {msgspec.json.encode(table.figures()).decode()}")
    return before, names_in(table)


def each(begin: float, count: int) -> str:
    """Microseconds for each of `count`, since `begin`."""
    return f"{(time.process_time() - begin) * 1e6 / count:,.0f}"


def names_in(table: Diagrams) -> set[str]:
    """All names in a table."""
    return {name for names in table.outputs().values() for name in names}


class Entry(NamedTuple):
    """A subscription in the covering index."""

    order: int
    analysed: AnalysedFilter


def by_candidates(filters: Sequence[Filter], before: set[str], last: int) -> set[str]:
    """The last of the stream by the covering index, whose candidates the algebra proves."""
    analyser = FilterAnalyser()
    index: ByProofs[Entry] = ByProofs(analyser)
    left = set(before)
    begin = time.process_time()
    for name in sorted(before, key=int):
        index.add(Entry(int(name), analyser.analyse(filters[int(name)])))
    print(f"candidate index: {each(begin, len(before))} µs to add one unasked")
    begin = time.process_time()
    for number in range(len(filters) - last, len(filters)):
        entry = Entry(number, analyser.analyse(filters[number]))
        if any(index.covers(other, entry) for other in index.covering(entry.analysed)):
            continue
        for other in index.covered(entry.analysed):
            if index.covers(entry, other):
                index.remove(other)
                left.discard(str(other.order))
        index.add(entry)
        left.add(str(number))
    print(f"  the last {last:,}: {each(begin, last)} µs each, {len(left):,} left")
    return left


def by_scan(filters: Sequence[Filter], left: set[str], scanned: int) -> None:
    """Compare each of the very last with every entry, in both directions."""
    analyser = FilterAnalyser()
    table = [analyser.analyse(filters[int(name)]) for name in sorted(left, key=int)]
    asked = [analyser.analyse(each) for each in filters[-scanned:]]
    begin = time.process_time()
    for filter in asked:
        for other in table:
            _ = analyser.covers(other, filter) or analyser.covers(filter, other)
    print(f"pairs: {each(begin, len(asked))} µs each of {len(asked)}, {len(table):,} entries")


def by_graphs(size: int) -> None:
    """Relation graphs as in brokers, which keep covered entries, by proofs and diagrams."""
    workloads = {
        "set A": drawn("A", size),
        "groups": list(groups(size)),
        "auction": list(Auction(seed=1).subscription_filters(0, size)),
        "diverse": list(Diverse(seed=1).subscription_filters(0, size)),
    }
    for name, filters in workloads.items():
        for kind in get_args(CoveringTest):
            analyser = FilterAnalyser()
            coverings = COVERING_TESTS[kind](CoveringSettings(), analyser)
            graph = RelationGraph(coverings, adopts_roots=True)
            rows = [analyser.analyse(filter) for filter in filters]
            begin = time.process_time()
            for number, analysed in enumerate(rows):
                graph.insert(str(number), analysed)
            took = each(begin, size)
            print(f"graph of {size:,}, {name}, {kind}: {took} µs each, {len(graph.roots):,} roots")


def groups(size: int) -> Iterator[Filter]:
    """The workload of P4-X1, smaller: a root for each group, and ranges of one width in it."""
    for number in range(size):
        low = number * 7_919 % 100_000
        text = f" and x between {low} and {low + 2_000}" if number % 500 != 250 else ""
        yield parse(f"group = {number // 500}{text}")


def missed(filters: Sequence[Filter], left: set[str], sample: int) -> float:
    """The share of a sample of entries that another entry still covers."""
    names = sorted(left)
    asked = names[:: max(len(names) // sample, 1)]
    count = sum(
        any(other != name and covers(filters[int(other)], filters[int(name)]) for other in names)
        for name in asked
    )
    print(f"missed: {count} of {len(asked)} entries")
    return count / len(asked)


def missed_of_shapes(count: int) -> float:
    """The share of coverings among filters of random shapes that the diagrams miss.

    Each pair is a filter and what prunings leave of it, which covers it by the algebra.
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
    """Run the measurements."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--subscriptions", type=int, default=200_000)
    parser.add_argument("--set", choices=list(PAIR_SETS), default="A")
    parser.add_argument("--methods", default="search")
    parser.add_argument("--way", choices=get_args(Way), default="ranges")
    parser.add_argument("--last", type=int, default=2_000)
    parser.add_argument("--scanned", type=int, default=20)
    parser.add_argument("--graphs", type=int, default=2_000)
    parser.add_argument("--sample", type=int, default=5)
    parser.add_argument("--shapes", type=int, default=500)
    given = parser.parse_args()
    filters = drawn(given.set, given.subscriptions)
    before: set[str] = set()
    left: set[str] = set()
    for method in given.methods.split(","):
        before, left = by_diagrams(filters, method, given.way, given.last)
    assert left == by_candidates(filters, before, given.last), "both are exact for conjunctions"
    by_scan(filters, left, given.scanned)
    missed(filters, left, given.sample)
    by_graphs(given.graphs)
    missed_of_shapes(given.shapes)


if __name__ == "__main__":
    main()
