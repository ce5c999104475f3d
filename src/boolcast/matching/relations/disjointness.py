"""Which of many predicates on one attribute have no value in common with a given set (P3-B2).

A predicate is a set of intervals between cuts (`algebra.ordered_sets`). An interval misses the
given set if it lies in one of the gaps that the set leaves: in the first one if its end does, in
the last one if its begin does, in one between if both do. So the ends of all intervals in one
sorted row, their begins in another, and each gap is a look-up or two. A predicate of several
intervals (`!=`, `in`) misses the set if all of them do, and that is counted.

This is the general routine that P3-B2 recommends in the place of the printed table: it knows the
next number after each, so it is right for `!=`, for integers and for every other operator.
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
"""For each number another one, or -1."""

_BEGIN: Final[Boundary] = (MISSING,)
_END: Final[Boundary] = (TIMESTAMP + 1,)
_NONE: Final[Numbers] = np.zeros(0, dtype=np.uint32)

_MANY: Final = 16
"""More than one new cut for so many old ones, and sorting is cheaper than inserting."""


class SortedCuts:
    """Numbers in the order of their cuts; what is added is put in its place when it is needed."""

    def __init__(self) -> None:
        self._cuts: list[Boundary] = []
        self._numbers = _NONE
        self._new: list[tuple[Boundary, int]] = []

    def __len__(self) -> int:
        return len(self._cuts) + len(self._new)

    def add(self, cut: Boundary, number: int) -> None:
        """Take up a number; several may have the same cut."""
        self._new.append((cut, number))

    def starting_within(self, low: Boundary, high: Boundary) -> Numbers:
        """Those with a cut from `low` on and before `high`."""
        self._settle()
        return self._numbers[bisect_left(self._cuts, low) : bisect_left(self._cuts, high)]

    def ending_within(self, low: Boundary, high: Boundary) -> Numbers:
        """Those with a cut behind `low`, up to `high` itself."""
        self._settle()
        return self._numbers[bisect_right(self._cuts, low) : bisect_right(self._cuts, high)]

    def renumber(self, numbers: Renumbering) -> None:
        """Give each number the one that stands in its place, and forget those that get -1."""
        self._settle()
        given = numbers[self._numbers]
        kept = given >= 0
        self._cuts = list(compress(self._cuts, kept.tolist()))
        self._numbers = given[kept].astype(np.uint32)

    def _settle(self) -> None:
        if not self._new:
            return
        new = sorted(self._new)
        self._new = []
        added = np.array([number for _, number in new], dtype=np.uint32)
        if len(new) * _MANY > len(self._cuts):
            cuts = self._cuts + [cut for cut, _ in new]
            order = sorted(range(len(cuts)), key=cuts.__getitem__)
            self._cuts = [cuts[place] for place in order]
            self._numbers = np.concatenate([self._numbers, added])[order]
            return
        places = [bisect_left(self._cuts, cut) for cut, _ in new]
        self._numbers = np.insert(self._numbers, places, added)
        for place, (cut, _) in zip(reversed(places), reversed(new), strict=True):
            self._cuts.insert(place, cut)


class Intervals:
    """Numbered intervals, asked for those that lie in a gap."""

    def __init__(self) -> None:
        # An interval with a single value lies where it begins.
        self._points = SortedCuts()
        self._begins = SortedCuts()
        self._ends = SortedCuts()

    def add(self, begin: Boundary, end: Boundary, number: int) -> None:
        """Take up an interval under a number of its own."""
        if is_point(begin, end):
            self._points.add(begin, number)
        else:
            self._begins.add(begin, number)
            self._ends.add(end, number)

    def within(self, gaps: Sequence[tuple[Boundary, Boundary]]) -> list[Numbers]:
        """The intervals that lie in one of the gaps, each once; no gap holds all values."""
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
        """As `SortedCuts.renumber`."""
        for each in (self._points, self._begins, self._ends):
            each.renumber(numbers)


_NUMBER: Final = (1 << 32) - 1


def _marked(rows: Sequence[Numbers]) -> NDArray[np.int64]:
    """The numbers of all rows, each told apart by its row."""
    marks = np.repeat(np.arange(len(rows), dtype=np.int64), [len(row) for row in rows])
    return np.concatenate(rows).astype(np.int64) | marks << 32


class Disjointness:
    """The predicates of one attribute as sets, asked for those that are disjoint from a set."""

    def __init__(self) -> None:
        self._single = Intervals()
        self._parts = Intervals()
        """The intervals of predicates that have several, numbered by themselves."""
        self._owners: list[int] = []
        """For each such interval its predicate, as a place in the next."""
        self._several: list[int] = []
        self._sizes: list[int] = []
        self._arrays: list[Numbers] | None = None

    def add(self, cuts: OrderedSet, number: int) -> None:
        """Take up a predicate under a number of its own; it has some value."""
        spans = intervals(cuts)
        if len(spans) == 1:
            self._single.add(*spans[0], number)
            return
        for begin, end in spans:
            self._parts.add(begin, end, len(self._owners))
            self._owners.append(len(self._several))
        self._several.append(number)
        self._sizes.append(len(spans))
        self._arrays = None

    def missing(self, cuts: OrderedSet) -> Numbers:
        """The predicates that have no value in common with a set that is not empty.

        Costs some searches, and what is found may be copied; of predicates with several
        intervals those that miss the set are counted. Not to be written to.
        """
        gaps = intervals(complement(cuts))
        if not gaps:
            return _NONE
        found = self._single.within(gaps)
        if self._several:
            if self._arrays is None:
                rows = (self._owners, self._several, self._sizes)
                self._arrays = [np.array(row, dtype=np.uint32) for row in rows]
            owners, several, sizes = self._arrays
            parts = owners[np.concatenate([_NONE, *self._parts.within(gaps)])]
            counts = np.bincount(parts, minlength=len(several))
            found.append(several[counts == sizes])
        found = [each for each in found if len(each)]
        return found[0] if len(found) == 1 else np.concatenate([_NONE, *found])

    def renumber(self, numbers: Renumbering) -> None:
        """Give each predicate the number in its place, and forget those that get -1."""
        self._single.renumber(numbers)
        several = numbers[np.array(self._several, dtype=np.int64)]
        kept = several >= 0
        places = np.where(kept, np.cumsum(kept) - 1, -1)
        owners = places[np.array(self._owners, dtype=np.int64)]
        parts = owners >= 0
        self._parts.renumber(np.where(parts, np.cumsum(parts) - 1, -1))
        self._owners = owners[parts].tolist()
        self._several = several[kept].tolist()
        self._sizes = np.array(self._sizes, dtype=np.int64)[kept].tolist()
        self._arrays = None
