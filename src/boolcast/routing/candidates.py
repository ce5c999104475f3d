"""Which stored filters may cover a new one, and which may it cover? Found by attributes and bounds.

A filter covers another only if it constrains no further attribute and its range on each includes
the other's (`routing.forms`). So forms are kept by *shape*, which attributes they constrain to one
value and which to more, within a shape by those values, and there by the bounds of one further
attribute. A question visits the shapes that qualify, one bucket of each as a rule, and the blocks
of it whose bounds leave a chance. What comes out are candidates, and the caller proves.

With 2,100 filters `group = 7 and x between l and l + w` beside `group = 7`, a question looks at
some 60 blocks and one or two filters.
"""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Hashable, Iterator
from typing import Final, Generic, Protocol, TypeVar

from boolcast.algebra.cuts import Cut
from boolcast.routing.forms import Bounds, Form

_BLOCK: Final = 24
"""A block is split at twice this size: few rows to look at against few blocks to pass over."""


class Stored(Hashable, Protocol):
    """What the index holds: something with a form and a number of its own."""

    @property
    def form(self) -> Form: ...

    @property
    def order(self) -> int: ...


T = TypeVar("T", bound=Stored)

Row = tuple[Cut, int, Cut, T]
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
        self._firsts: list[tuple[Cut, int]] = []

    def __bool__(self) -> bool:
        return bool(self._blocks)

    def __iter__(self) -> Iterator[T]:
        for block in self._blocks:
            for row in block.rows:
                yield row[3]

    def add(self, low: Cut, high: Cut, stored: T) -> None:
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

    def remove(self, low: Cut, stored: T) -> None:
        key = (low, stored.order)
        place = bisect_right(self._firsts, key) - 1
        block = self._blocks[place]
        del block.rows[bisect_left(block.rows, key, key=_key)]
        if block.rows:
            block.measure()
            self._firsts[place] = block.rows[0][:2]
        else:
            del self._blocks[place], self._firsts[place]

    def holding(self, low: Cut, high: Cut) -> Iterator[T]:
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

    def within(self, low: Cut, high: Cut) -> Iterator[T]:
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


def _key(row: Row[T]) -> tuple[Cut, int]:
    return row[:2]


_NO_CUT: Final[Cut] = ()

Key = tuple[Cut, ...]


class _Shape(Generic[T]):
    """The stored forms that constrain the same attributes in the same way.

    `at[i][cut]` holds the keys of the buckets whose i-th point is that one.
    """

    def __init__(self, points: tuple[str, ...], others: tuple[str, ...]) -> None:
        self.points = points
        self.others = others
        self.attributes = frozenset((*points, *others))
        self.buckets: dict[Key, Spans[T]] = {}
        self.at: list[dict[Cut, dict[Key, None]]] = [{} for _ in points]

    def _first_span(self, bounds: Bounds) -> tuple[Cut, Cut]:
        return bounds.spans[self.others[0]] if self.others else (_NO_CUT, _NO_CUT)

    def add(self, bounds: Bounds, stored: T) -> None:
        key = tuple(bounds.points[name] for name in self.points)
        bucket = self.buckets.get(key)
        if bucket is None:
            bucket = self.buckets[key] = Spans()
            for index, cut in zip(self.at, key, strict=True):
                index.setdefault(cut, {})[key] = None
        bucket.add(*self._first_span(bounds), stored)

    def remove(self, bounds: Bounds, stored: T) -> None:
        key = tuple(bounds.points[name] for name in self.points)
        bucket = self.buckets[key]
        bucket.remove(self._first_span(bounds)[0], stored)
        if not bucket:
            del self.buckets[key]
            for index, cut in zip(self.at, key, strict=True):
                del index[cut][key]
                if not index[cut]:
                    del index[cut]

    def covering(self, bounds: Bounds) -> Iterator[T]:
        if any(name not in bounds.points for name in self.points) or any(
            name not in bounds.spans for name in self.others
        ):
            return
        bucket = self.buckets.get(tuple(bounds.points[name] for name in self.points))
        if bucket is not None:
            yield from bucket.holding(*self._first_span(bounds))

    def covered(self, bounds: Bounds) -> Iterator[T]:
        if any(name not in self.points for name in bounds.points):
            return
        narrow = [
            (place, bounds.spans[name])
            for place, name in enumerate(self.points)
            if name in bounds.spans and name not in bounds.points
        ]
        for key in self._keys(bounds):
            if all(low <= key[place] < high for place, (low, high) in narrow):
                bucket = self.buckets[key]
                if self.others and self.others[0] in bounds.spans:
                    yield from bucket.within(*bounds.spans[self.others[0]])
                else:
                    yield from bucket

    def _keys(self, bounds: Bounds) -> Iterator[Key]:
        """The keys of the buckets that agree with the points."""
        places = [place for place, name in enumerate(self.points) if name in bounds.points]
        wanted = [bounds.points[self.points[place]] for place in places]
        if not places:
            yield from self.buckets
        elif len(places) == len(self.points):
            if tuple(wanted) in self.buckets:
                yield tuple(wanted)
        else:
            found = [self.at[place].get(cut, {}) for place, cut in zip(places, wanted, strict=True)]
            for key in min(found, key=len):
                if all(key[place] == cut for place, cut in zip(places, wanted, strict=True)):
                    yield key


class _Index(Generic[T]):
    """Things with bounds, asked for those whose bounds include given ones, or lie within them."""

    def __init__(self) -> None:
        self._shapes: dict[tuple[tuple[str, ...], tuple[str, ...]], _Shape[T]] = {}
        self._by_first: dict[str, list[_Shape[T]]] = {}
        self._by_attribute: dict[str, list[_Shape[T]]] = {}

    def __bool__(self) -> bool:
        return bool(self._shapes)

    def add(self, bounds: Bounds, stored: T) -> None:
        self._shape(bounds).add(bounds, stored)

    def remove(self, bounds: Bounds, stored: T) -> None:
        shape = self._shape(bounds)
        shape.remove(bounds, stored)
        if not shape.buckets:
            del self._shapes[shape.points, shape.others]
            self._by_first[_first(shape.attributes)].remove(shape)
            for name in shape.attributes:
                self._by_attribute[name].remove(shape)

    def covering(self, bounds: Bounds) -> Iterator[T]:
        for name in ("", *bounds.spans):
            for shape in self._by_first.get(name, ()):
                yield from shape.covering(bounds)

    def covered(self, bounds: Bounds) -> Iterator[T]:
        rows = [self._by_attribute.get(name, []) for name in bounds.spans]
        shapes = min(rows, key=len) if rows else list(self._shapes.values())
        for shape in shapes:
            if shape.attributes.issuperset(bounds.spans):
                yield from shape.covered(bounds)

    def _shape(self, bounds: Bounds) -> _Shape[T]:
        points = tuple(sorted(bounds.points))
        others = tuple(sorted(name for name in bounds.spans if name not in bounds.points))
        shape = self._shapes.get((points, others))
        if shape is None:
            shape = self._shapes[points, others] = _Shape(points, others)
            self._by_first.setdefault(_first(shape.attributes), []).append(shape)
            for name in sorted(shape.attributes):
                self._by_attribute.setdefault(name, []).append(shape)
        return shape


class Candidates(Generic[T]):
    """An index of forms, asked for those that may cover a form and those that it may cover.

    A filter such as `title = 'Emma' or author = 'Austen'` has no range, since neither attribute
    is constrained in all it accepts. It covers another only if it accepts that one's sample, so
    it is kept by its alternatives and found by the sample; and what it covers is found among
    the samples, which are indexed once they are needed.
    """

    def __init__(self) -> None:
        self._ranges: _Index[T] = _Index()
        self._alternatives: _Index[T] = _Index()
        self._samples: _Index[T] | None = None
        self._stored: dict[T, Bounds | None] = {}
        """Everything, with the sample by which it is indexed."""

    def add(self, stored: T) -> None:
        """Take something up; its order must be its own."""
        if not stored.form.alternatives:
            self._ranges.add(stored.form, stored)
        for bounds in stored.form.alternatives:
            self._alternatives.add(bounds, stored)
        self._stored[stored] = None if self._samples is None else self._add_sample(stored)

    def remove(self, stored: T) -> None:
        """Forget something that was added."""
        if not stored.form.alternatives:
            self._ranges.remove(stored.form, stored)
        for bounds in stored.form.alternatives:
            self._alternatives.remove(bounds, stored)
        sample = self._stored.pop(stored)
        if self._samples is not None and sample is not None:
            self._samples.remove(sample, stored)

    def covering(self, form: Form) -> list[T]:
        """Whatever may cover the form, in the order of their numbers."""
        found = list(self._ranges.covering(form))
        if self._alternatives:
            found += self._alternatives.covering(_sample_of(form))
        return _in_order(found)

    def covered(self, form: Form) -> list[T]:
        """Whatever the form may cover, in the order of their numbers."""
        if not form.alternatives:
            return _in_order(list(self._ranges.covered(form)))
        if self._samples is None:
            self._samples = _Index()
            for stored in self._stored:
                self._stored[stored] = self._add_sample(stored)
        return _in_order(
            [each for bounds in form.alternatives for each in self._samples.covered(bounds)]
        )

    def _add_sample(self, stored: T) -> Bounds:
        assert self._samples is not None
        sample = _sample_of(stored.form)
        self._samples.add(sample, stored)
        return sample


def _sample_of(form: Form) -> Bounds:
    samples = form.samples
    return Bounds.of_event(samples[0]) if samples else Bounds({})


def _first(attributes: frozenset[str]) -> str:
    """The attribute that a shape is looked up by; no attribute has an empty name."""
    return min(attributes, default="")


def _in_order(found: list[T]) -> list[T]:
    return sorted(dict.fromkeys(found), key=_order)


def _order(stored: Stored) -> int:
    return stored.order
