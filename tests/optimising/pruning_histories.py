"""Statistics for tests: shares as a person writes them, and random ones."""

from collections.abc import Iterable, Mapping
from typing import Final

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from boolcast.filters.canonical import canonical
from boolcast.filters.expressions import Filter, Leaf
from boolcast.filters.parsing import parse
from boolcast.model.statistics import Statistics
from boolcast.optimising.pruning.trees import Tree, best_pruning, prepared, pruned
from boolcast.optimising.statistics.selectivities import Selectivities

EVENTS: Final = 1_000_000


def statistics(shares: Mapping[str, float]) -> Statistics:
    """Statistics of a million events in which the predicates have these shares."""
    return Statistics(
        events=EVENTS, predicates={text: round(share * EVENTS) for text, share in shares.items()}
    )


def known(shares: Mapping[str, float]) -> Selectivities:
    return Selectivities(statistics(shares))


def tree(text: str, selectivities: Selectivities) -> Tree:
    return Tree.of(prepared(parse(text)), selectivities)


def exhausted(start: Tree) -> list[Tree]:
    """The tree, and what is left after each of the cheapest prunings until none is left."""
    trees = [start]
    while (best := best_pruning(trees[-1])) is not None:
        trees.append(pruned(trees[-1], best))
    return trees


def shares_for(filters: Iterable[Filter]) -> SearchStrategy[Selectivities]:
    """Random shares for most predicates of the filters; some are left out."""
    texts = sorted({str(leaf) for each in filters for leaf in canonical(each).predicates()})
    share = st.sampled_from((None, 0, 1, 250_000, 500_000, 999_999, EVENTS))
    return st.fixed_dictionaries(dict.fromkeys(texts, share)).map(
        lambda counts: Selectivities(
            Statistics(
                events=EVENTS,
                predicates={text: count for text, count in counts.items() if count is not None},
            )
        )
    )


def read(text: str) -> Leaf:
    leaf = parse(text)
    assert isinstance(leaf, Leaf)
    return leaf


S1: Final = (
    "title = 'Harry Potter' and ending < 24 and ("
    "condition = 'new' and price < 25 or price < 15 and condition = 'used')"
)
"""The tree of class 1, as P1-T5 writes it."""

S1_SHARES: Final = {
    "title = 'Harry Potter'": 0.01,
    "ending < 24": 0.14,
    "condition = 'new'": 0.2,
    "price < 25": 0.9,
    "price < 15": 0.7,
    "condition = 'used'": 0.8,
}
