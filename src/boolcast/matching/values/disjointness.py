"""Which of many predicates on one attribute have no value in common with a given set? (P3-B2)

A predicate is a set of intervals between boundaries (`algebra.ordered_sets`). An interval misses
the given set if it lies in one of the gaps that the set leaves. In the first gap its end decides,
in the last gap its begin, in between both must lie in the gap. So the ends of all intervals are
kept sorted, and their begins too, and a gap takes one or two searches. A predicate of several
intervals (`!=`, `in`) misses the set if all of them do, which is counted.

This is the general routine that P3-B2 recommends instead of the printed table. It knows the next
number after each, so it is right for `!=`, for integers and for every other operator.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import compress
from typing import Final

import numpy as np
from numpy.typing import NDArray

from boolcast.algebra.ordered_sets import (
    MISSING,
    TIMESTAMP,
    Boundary,
    OrderedSet,
    complement,
    intervals,
    is_point,
)

Numbers = NDArray[np.uint32]
Renumbering = NDArray[np.int64]
"""For each number the new one, or -1."""

_BEGIN: Final[Boundary] = (MISSING,)
_END: Final[Boundary] = (TIMESTAMP + 1,)
_NONE: Final[Numbers] = np.zeros(0, dtype=np.uint32)

_MANY: Final = 16
"""With more than one new boundary per so many old ones, sorting is cheaper than inserting."""


class SortedBoundaries:
    """Numbers in the order of their boundaries; new ones are sorted in when they are needed."""

    def __init__(self) -> None:
        self._boundaries: list[Boundary] = []
        self._numbers = _NONE
        self._new: list[tuple[Boundary, int]] = []

    def __len__(self) -> int:
        return len(self._boundaries) + len(self._new)

    def add(self, boundary: Boundary, number: int) -> None:
        """Several numbers may have the same boundary."""
        self._new.append((boundary, number))

    def starting_within(self, low: Boundary, high: Boundary) -> Numbers:
        """Numbers with low <= boundary < high."""
        self._settle()
        return self._numbers[
            bisect_left(self._boundaries, low) : bisect_left(self._boundaries, high)
        ]

    def ending_within(self, low: Boundary, high: Boundary) -> Numbers:
        """Numbers with low < boundary <= high."""
        self._settle()
        return self._numbers[
            bisect_right(self._boundaries, low) : bisect_right(self._boundaries, high)
        ]

    def renumber(self, numbers: Renumbering) -> None:
        """Replace each number n by `numbers[n]`, and forget those that get -1."""
        self._settle()
        given = numbers[self._numbers]
        kept = given >= 0
        self._boundaries = list(compress(self._boundaries, kept.tolist()))
        self._numbers = given[kept].astype(np.uint32)

    def _settle(self) -> None:
        if not self._new:
            return
        new = sorted(self._new)
        self._new = []
        added = np.array([number for _, number in new], dtype=np.uint32)
        if len(new) * _MANY > len(self._boundaries):
            boundaries = self._boundaries + [boundary for boundary, _ in new]
            order = sorted(range(len(boundaries)), key=boundaries.__getitem__)
            self._boundaries = [boundaries[position] for position in order]
            self._numbers = np.concatenate([self._numbers, added])[order]
            return
        positions = [bisect_left(self._boundaries, boundary) for boundary, _ in new]
        self._numbers = np.insert(self._numbers, positions, added)
        for position, (boundary, _) in zip(reversed(positions), reversed(new), strict=True):
            self._boundaries.insert(position, boundary)


class Intervals:
    """Numbered intervals, asked which lie in a gap."""

    def __init__(self) -> None:
        # An interval with a single value lies where it begins.
        self._points = SortedBoundaries()
        self._begins = SortedBoundaries()
        self._ends = SortedBoundaries()

    def add(self, begin: Boundary, end: Boundary, number: int) -> None:
        """Each interval has a number of its own."""
        if is_point(begin, end):
            self._points.add(begin, number)
        else:
            self._begins.add(begin, number)
            self._ends.add(end, number)

    def within(self, gaps: Sequence[tuple[Boundary, Boundary]]) -> list[Numbers]:
        """The intervals that lie in one of the gaps, each once; no gap may hold all values."""
        found = [self._points.starting_within(*gap) for gap in gaps] if len(self._points) else []
        if len(self._ends):
            inner = list(gaps)
            if inner[0][0] == _BEGIN:
                found.append(self._ends.ending_within(*inner.pop(0)))
            if inner and inner[-1][1] == _END:
                found.append(self._begins.starting_within(*inner.pop()))
            if inner:
                found.append(self._both_within(inner))
        return found

    def _both_within(self, gaps: Sequence[tuple[Boundary, Boundary]]) -> Numbers:
        """The intervals that begin and end in the same gap."""
        begins = [self._begins.starting_within(*gap) for gap in gaps]
        ends = [self._ends.ending_within(*gap) for gap in gaps]
        both = np.intersect1d(_marked(begins), _marked(ends), assume_unique=True)
        return (both & _NUMBER).astype(np.uint32)

    def renumber(self, numbers: Renumbering) -> None:
        """As `SortedBoundaries.renumber`."""
        for each in (self._points, self._begins, self._ends):
            each.renumber(numbers)


_NUMBER: Final = (1 << 32) - 1


def _marked(rows: Sequence[Numbers]) -> NDArray[np.int64]:
    """The numbers of all rows, with the row in the upper bits."""
    marks = np.repeat(np.arange(len(rows), dtype=np.int64), [len(row) for row in rows])
    return np.concatenate(rows).astype(np.int64) | marks << 32


class Disjointness:
    """The predicates of one attribute as sets of values, asked which are disjoint from a set."""

    def __init__(self) -> None:
        self._single = Intervals()
        self._pieces = Intervals()
        """The intervals of predicates with several intervals, numbered separately."""
        self._owners: list[int] = []
        """For each of these intervals, the position of its predicate in `_several`."""
        self._several: list[int] = []
        self._sizes: list[int] = []
        self._arrays: list[Numbers] | None = None

    def add(self, values: OrderedSet, number: int) -> None:
        """Add a predicate under a number of its own; its values must not be empty."""
        found = intervals(values)
        if len(found) == 1:
            self._single.add(*found[0], number)
            return
        for begin, end in found:
            self._pieces.add(begin, end, len(self._owners))
            self._owners.append(len(self._several))
        self._several.append(number)
        self._sizes.append(len(found))
        self._arrays = None

    def missing(self, values: OrderedSet) -> Numbers:
        """The predicates that have no value in common with a set that is not empty.

        Costs a few searches, perhaps a copy of what is found, and a count over the intervals in
        the gaps. Do not write to the result.
        """
        gaps = intervals(complement(values))
        if not gaps:
            return _NONE
        found = self._single.within(gaps)
        if self._several:
            if self._arrays is None:
                rows = (self._owners, self._several, self._sizes)
                self._arrays = [np.array(row, dtype=np.uint32) for row in rows]
            owners, several, sizes = self._arrays
            hits = owners[np.concatenate([_NONE, *self._pieces.within(gaps)])]
            counts = np.bincount(hits, minlength=len(several))
            found.append(several[counts == sizes])
        found = [each for each in found if len(each)]
        return found[0] if len(found) == 1 else np.concatenate([_NONE, *found])

    def renumber(self, numbers: Renumbering) -> None:
        """Replace each number n by `numbers[n]`, and forget those that get -1."""
        self._single.renumber(numbers)
        several = numbers[np.array(self._several, dtype=np.int64)]
        kept = several >= 0
        positions = np.where(kept, np.cumsum(kept) - 1, -1)
        owners = positions[np.array(self._owners, dtype=np.int64)]
        owned = owners >= 0
        self._pieces.renumber(np.where(owned, np.cumsum(owned) - 1, -1))
        self._owners = owners[owned].tolist()
        self._several = several[kept].tolist()
        self._sizes = np.array(self._sizes, dtype=np.int64)[kept].tolist()
        self._arrays = None
