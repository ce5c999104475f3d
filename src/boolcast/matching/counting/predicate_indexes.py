"""Which predicates an event satisfies: an index by rank where they are intervals, else a test.

Most predicates are sets of intervals between ranks (`values.ranks`). Their index is a binary tree
over the ranks: the nodes above an event's rank hold exactly the predicates that it satisfies.
Patterns and residuals are tested one by one.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, assert_never

import numpy as np
from numpy.typing import NDArray

from boolcast.algebra.ordered_sets import Boundary, OrderedSet
from boolcast.filters.evaluation import STRING_TESTS, truth
from boolcast.filters.expressions import (
    AttributeComparison,
    Leaf,
    Like,
    Matches,
    StringTest,
)
from boolcast.filters.patterns import LikePattern
from boolcast.filters.regexes import compile_regex
from boolcast.matching.counting.kernels.counting import Indexes
from boolcast.matching.values.ranks import RankSpace
from boolcast.model.events import Event

_LEVELS: Final = 31
"""A rank has 31 bits."""


class PredicateTests:
    """Numbered predicates that no rank decides: patterns and residuals."""

    def __init__(self, leaves: Sequence[tuple[int, Leaf]]) -> None:
        self._patterns: dict[str, list[tuple[int, Callable[[str], bool]]]] = {}
        self._comparisons: dict[str, list[tuple[int, AttributeComparison]]] = {}
        for number, leaf in leaves:
            if isinstance(leaf, AttributeComparison):
                self._comparisons.setdefault(leaf.attribute, []).append((number, leaf))
            else:
                assert isinstance(leaf, Like | StringTest | Matches)
                test = _test(leaf)
                self._patterns.setdefault(leaf.attribute, []).append((number, test))

    def __bool__(self) -> bool:
        return bool(self._patterns or self._comparisons)

    def holding(self, event: Event) -> list[int]:
        """The numbers of the predicates that the event satisfies."""
        holding: list[int] = []
        for name, tests in self._patterns.items():
            value = event.get(name)
            if type(value) is str:
                holding += [number for number, test in tests if test(value)]
        for name, comparisons in self._comparisons.items():
            if name in event:
                holding += [number for number, each in comparisons if truth(each, event)]
        return holding


def _test(leaf: Like | StringTest | Matches) -> Callable[[str], bool]:
    """The predicate as a test of strings."""
    fits = _fitting(leaf)
    return (lambda text: not fits(text)) if leaf.negated else fits


def _fitting(leaf: Like | StringTest | Matches) -> Callable[[str], bool]:
    """The test without the negation; a pattern is compiled once, here."""
    match leaf:
        case Like(_, pattern, escape, _):
            return LikePattern.parse(pattern, escape).matches
        case StringTest(_, function, operand, _):
            compare = STRING_TESTS[function]
            return lambda text: compare(text, operand)
        case Matches(_, pattern, _):
            search = compile_regex(pattern).search
            return lambda text: search(text) is not None
        case _:
            assert_never(leaf)


def space_of(rows: Mapping[int, OrderedSet]) -> RankSpace:
    """The space of all boundaries of some sets."""
    boundaries: set[Boundary] = set()
    return RankSpace.of_boundaries(boundaries.union(*rows.values()))


def posted(indexes: Sequence[tuple[RankSpace, Mapping[int, OrderedSet]]]) -> Indexes:
    """Every interval at the nodes that make it up: from both ends inwards, level by level."""
    masks = np.zeros(len(indexes), dtype=np.uint32)
    bases = np.zeros((len(indexes), _LEVELS), dtype=np.uint64)
    size = 0
    keys = [np.zeros(0, dtype=np.int64)]
    predicates = [np.zeros(0, dtype=np.int64)]
    for attribute, (space, rows) in enumerate(indexes):
        numbers, low, high = intervals_of(space, rows)
        level = 0
        while len(numbers):
            odd_low, odd_high = low & 1 == 1, high & 1 == 1
            if odd_low.any() or odd_high.any():
                masks[attribute] |= np.uint32(1 << level)
                bases[attribute, level] = size
                keys += [size + low[odd_low], size + high[odd_high] - 1]
                predicates += [numbers[odd_low], numbers[odd_high]]
                size += (space.size >> level) + 1
            low, high = (low + 1) >> 1, high >> 1
            level += 1
            remaining = low < high
            numbers, low, high = numbers[remaining], low[remaining], high[remaining]
    key = np.concatenate(keys)
    order = np.argsort(key, kind="stable")
    starts = np.searchsorted(key[order], np.arange(size + 1))
    posted = np.concatenate(predicates)[order]
    return Indexes(masks, bases, starts.astype(np.uint64), posted.astype(np.uint32))


def intervals_of(
    space: RankSpace, rows: Mapping[int, OrderedSet]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Every interval of every set: the predicate's number, first rank and end (excluded)."""
    numbers: list[int] = []
    bounds: list[int] = []
    for number, boundaries in rows.items():
        bounds += [space.bounds[boundary] for boundary in boundaries]
        if len(boundaries) % 2:
            bounds.append(space.size)
        numbers += [number] * ((len(boundaries) + 1) // 2)
    ends = np.array(bounds, dtype=np.int64).reshape(-1, 2)
    return np.array(numbers, dtype=np.int64), ends[:, 0], ends[:, 1]
