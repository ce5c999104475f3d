"""Intervals of one attribute, asked for those that hold a given one, or lie within it."""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Hashable, Iterator
from typing import Final, Generic, Protocol, TypeVar

from boolcast.algebra.ordered_sets import Boundary
from boolcast.matching.relations.analysed_filters import AnalysedFilter

_BLOCK: Final = 24
"""A block is split at twice this size: few rows to look at against few blocks to pass over."""


class Stored(Hashable, Protocol):
    """What the index holds: something with a form and a number of its own."""

    @property
    def form(self) -> AnalysedFilter: ...

    @property
    def order(self) -> int: ...


T = TypeVar("T", bound=Stored)

Row = tuple[Boundary, int, Boundary, T]
"""Low bound, order, high bound, what is stored; rows sort by the first two."""


class _Block(Generic[T]):
    """Some rows, sorted, with the least and the greatest of their high bounds."""

    __slots__ = ("greatest", "least", "rows")

    def __init__(self, rows: list[Row[T]]) -> None:
        self.rows = rows
        self.measure()

    def measure(self) -> None:
        highs = [row[2] for row in self.rows]
        self.least, self.greatest = min(highs), max(highs)


class Spans(Generic[T]):
    """Intervals that are asked for those that hold a given one, or lie within it."""

    def __init__(self) -> None:
        self._blocks: list[_Block[T]] = []
        self._firsts: list[tuple[Boundary, int]] = []

    def __bool__(self) -> bool:
        return bool(self._blocks)

    def __iter__(self) -> Iterator[T]:
        for block in self._blocks:
            for row in block.rows:
                yield row[3]

    def add(self, low: Boundary, high: Boundary, stored: T) -> None:
        row: Row[T] = (low, stored.order, high, stored)
        if not self._blocks:
            self._blocks.append(_Block([row]))
            self._firsts.append(row[:2])
            return
        place = max(bisect_right(self._firsts, row[:2]) - 1, 0)
        block = self._blocks[place]
        insort(block.rows, row, key=_key)
        if len(block.rows) >= 2 * _BLOCK:
            self._blocks.insert(place + 1, _Block(block.rows[_BLOCK:]))
            self._firsts.insert(place + 1, block.rows[_BLOCK][:2])
            del block.rows[_BLOCK:]
            block.measure()
        else:
            block.least, block.greatest = min(block.least, high), max(block.greatest, high)
        self._firsts[place] = block.rows[0][:2]

    def remove(self, low: Boundary, stored: T) -> None:
        key = (low, stored.order)
        place = bisect_right(self._firsts, key) - 1
        block = self._blocks[place]
        del block.rows[bisect_left(block.rows, key, key=_key)]
        if block.rows:
            block.measure()
            self._firsts[place] = block.rows[0][:2]
        else:
            del self._blocks[place], self._firsts[place]

    def holding(self, low: Boundary, high: Boundary) -> Iterator[T]:
        """What is stored with an interval that includes this one."""
        for first, block in zip(self._firsts, self._blocks, strict=True):
            if low < first[0]:
                return
            if block.greatest >= high:
                for row in block.rows:
                    if low < row[0]:
                        return
                    if high <= row[2]:
                        yield row[3]

    def within(self, low: Boundary, high: Boundary) -> Iterator[T]:
        """What is stored with an interval that this one includes."""
        place = max(bisect_left(self._firsts, (low, -1)) - 1, 0)
        for index in range(place, len(self._blocks)):
            block = self._blocks[index]
            if high <= block.rows[0][0]:
                return
            if block.least <= high:
                for row in block.rows:
                    if low <= row[0] and row[2] <= high:
                        yield row[3]


def _key(row: Row[T]) -> tuple[Boundary, int]:
    return row[:2]
