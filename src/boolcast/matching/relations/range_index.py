"""An index of filters by the attributes they constrain, and how tightly.

A filter covers another only if it constrains no further attribute and its range on each includes
the other's. So filters are grouped by *shape*: the attributes they fix to one value, and those
they leave an interval. Within a shape a bucket holds the filters that fix the same values, and
within a bucket an `IntervalIndex` sorts them by one further attribute. A question visits the
shapes that qualify, usually one bucket of each, and there only the blocks whose bounds allow a hit.

With 2,100 filters `group = 7 and x between l and l + w` beside `group = 7`, a question looks at
some 60 blocks and one or two filters.
"""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Hashable, Iterator
from typing import TYPE_CHECKING, Final, Generic, Protocol, TypeVar

from boolcast.algebra.ordered_sets import Boundary

if TYPE_CHECKING:
    from boolcast.matching.relations.analysed_filters import AnalysedFilter
    from boolcast.matching.relations.ranges import Bounds

_BLOCK: Final = 24
"""Blocks are split at twice this size: few rows to look at against few blocks to pass over."""

_NO_BOUNDARY: Final[Boundary] = ()


class Stored(Hashable, Protocol):
    """What the indexes hold: something with an analysed filter and a number of its own."""

    @property
    def analysed(self) -> "AnalysedFilter": ...

    @property
    def order(self) -> int: ...


T = TypeVar("T", bound=Stored)

Row = tuple[Boundary, int, Boundary, T]
"""Low boundary, order, high boundary, what is stored; rows sort by the first two."""


class _Block(Generic[T]):
    """Some rows, sorted, with the least and the greatest of their high boundaries."""

    __slots__ = ("greatest", "least", "rows")

    def __init__(self, rows: list[Row[T]]) -> None:
        self.rows = rows
        self.measure()

    def measure(self) -> None:
        highs = [row[2] for row in self.rows]
        self.least, self.greatest = min(highs), max(highs)


class IntervalIndex(Generic[T]):
    """Intervals of one attribute, asked which include a given one, and which lie within it."""

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
        position = max(bisect_right(self._firsts, row[:2]) - 1, 0)
        block = self._blocks[position]
        insort(block.rows, row, key=_key)
        if len(block.rows) >= 2 * _BLOCK:
            self._blocks.insert(position + 1, _Block(block.rows[_BLOCK:]))
            self._firsts.insert(position + 1, block.rows[_BLOCK][:2])
            del block.rows[_BLOCK:]
            block.measure()
        else:
            block.least, block.greatest = min(block.least, high), max(block.greatest, high)
        self._firsts[position] = block.rows[0][:2]

    def remove(self, low: Boundary, stored: T) -> None:
        key = (low, stored.order)
        position = bisect_right(self._firsts, key) - 1
        block = self._blocks[position]
        del block.rows[bisect_left(block.rows, key, key=_key)]
        if block.rows:
            block.measure()
            self._firsts[position] = block.rows[0][:2]
        else:
            del self._blocks[position], self._firsts[position]

    def including(self, low: Boundary, high: Boundary) -> Iterator[T]:
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
        start = max(bisect_left(self._firsts, (low, -1)) - 1, 0)
        for index in range(start, len(self._blocks)):
            block = self._blocks[index]
            if high <= block.rows[0][0]:
                return
            if block.least <= high:
                for row in block.rows:
                    if low <= row[0] and row[2] <= high:
                        yield row[3]


def _key(row: Row[T]) -> tuple[Boundary, int]:
    return row[:2]


Key = tuple[Boundary, ...]


class _Shape(Generic[T]):
    """The filters that fix the attributes `points`, and leave `others` an interval each.

    `keys_at[i][boundary]` holds the keys of the buckets whose i-th fixed value is that one.
    """

    def __init__(self, points: tuple[str, ...], others: tuple[str, ...]) -> None:
        self.points = points
        self.others = others
        self.attributes = frozenset((*points, *others))
        self.buckets: dict[Key, IntervalIndex[T]] = {}
        self.keys_at: list[dict[Boundary, dict[Key, None]]] = [{} for _ in points]

    def _sorted_by(self, bounds: "Bounds") -> tuple[Boundary, Boundary]:
        """The interval that a bucket sorts by."""
        if not self.others:
            return _NO_BOUNDARY, _NO_BOUNDARY
        return bounds.intervals[self.others[0]]

    def add(self, bounds: "Bounds", stored: T) -> None:
        key = tuple(bounds.points[name] for name in self.points)
        bucket = self.buckets.get(key)
        if bucket is None:
            bucket = self.buckets[key] = IntervalIndex()
            for keys, boundary in zip(self.keys_at, key, strict=True):
                keys.setdefault(boundary, {})[key] = None
        bucket.add(*self._sorted_by(bounds), stored)

    def remove(self, bounds: "Bounds", stored: T) -> None:
        key = tuple(bounds.points[name] for name in self.points)
        bucket = self.buckets[key]
        bucket.remove(self._sorted_by(bounds)[0], stored)
        if not bucket:
            del self.buckets[key]
            for keys, boundary in zip(self.keys_at, key, strict=True):
                del keys[boundary][key]
                if not keys[boundary]:
                    del keys[boundary]

    def covering(self, bounds: "Bounds") -> Iterator[T]:
        if any(name not in bounds.points for name in self.points) or any(
            name not in bounds.intervals for name in self.others
        ):
            return
        bucket = self.buckets.get(tuple(bounds.points[name] for name in self.points))
        if bucket is not None:
            yield from bucket.including(*self._sorted_by(bounds))

    def covered(self, bounds: "Bounds") -> Iterator[T]:
        if any(name not in self.points for name in bounds.points):
            return
        limits = [
            (index, bounds.intervals[name])
            for index, name in enumerate(self.points)
            if name in bounds.intervals and name not in bounds.points
        ]
        for key in self._agreeing_keys(bounds):
            if all(low <= key[index] < high for index, (low, high) in limits):
                bucket = self.buckets[key]
                if self.others and self.others[0] in bounds.intervals:
                    yield from bucket.within(*bounds.intervals[self.others[0]])
                else:
                    yield from bucket

    def _agreeing_keys(self, bounds: "Bounds") -> Iterator[Key]:
        """The keys of the buckets with the values that the bounds fix."""
        fixed = [
            (index, bounds.points[name])
            for index, name in enumerate(self.points)
            if name in bounds.points
        ]
        if not fixed:
            yield from self.buckets
        elif len(fixed) == len(self.points):
            key = tuple(boundary for _, boundary in fixed)
            if key in self.buckets:
                yield key
        else:
            found = [self.keys_at[index].get(boundary, {}) for index, boundary in fixed]
            for key in min(found, key=len):
                if all(key[index] == boundary for index, boundary in fixed):
                    yield key


class RangeIndex(Generic[T]):
    """Filters by their bounds, asked which may cover a filter by theirs, and which it may cover."""

    def __init__(self) -> None:
        self._shapes: dict[tuple[tuple[str, ...], tuple[str, ...]], _Shape[T]] = {}
        self._by_first: dict[str, list[_Shape[T]]] = {}
        self._by_attribute: dict[str, list[_Shape[T]]] = {}

    def __bool__(self) -> bool:
        return bool(self._shapes)

    def add(self, stored: T) -> None:
        self._shape(stored.analysed).add(stored.analysed, stored)

    def remove(self, stored: T) -> None:
        shape = self._shape(stored.analysed)
        shape.remove(stored.analysed, stored)
        if not shape.buckets:
            del self._shapes[shape.points, shape.others]
            self._by_first[_first(shape.attributes)].remove(shape)
            for name in shape.attributes:
                self._by_attribute[name].remove(shape)

    def covering(self, specific: "Bounds") -> Iterator[T]:
        for name in ("", *specific.intervals):
            for shape in self._by_first.get(name, ()):
                yield from shape.covering(specific)

    def covered(self, general: "Bounds") -> Iterator[T]:
        rows = [self._by_attribute.get(name, []) for name in general.intervals]
        shapes = min(rows, key=len) if rows else list(self._shapes.values())
        for shape in shapes:
            if shape.attributes.issuperset(general.intervals):
                yield from shape.covered(general)

    def _shape(self, bounds: "Bounds") -> _Shape[T]:
        points = tuple(sorted(bounds.points))
        others = tuple(sorted(name for name in bounds.intervals if name not in bounds.points))
        shape = self._shapes.get((points, others))
        if shape is None:
            shape = self._shapes[points, others] = _Shape(points, others)
            self._by_first.setdefault(_first(shape.attributes), []).append(shape)
            for name in sorted(shape.attributes):
                self._by_attribute.setdefault(name, []).append(shape)
        return shape


def _first(attributes: frozenset[str]) -> str:
    """The attribute that a shape is looked up by; no attribute has an empty name."""
    return min(attributes, default="")
