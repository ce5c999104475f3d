"""Which stored filters may cover a new one, and which may it cover? Found by attributes and bounds.

A filter covers another only if it constrains no further attribute and its range on each includes
the other's (`relations.analysed_filters`). So forms are kept by *shape*, which attributes they
constrain to one value and which to more, within a shape by those values, and there by the bounds
of one further attribute. A question visits the shapes that qualify, one bucket of each as a rule,
and the blocks of it whose bounds leave a chance. What comes out are candidates, and the caller
proves.

With 2,100 filters `group = 7 and x between l and l + w` beside `group = 7`, a question looks at
some 60 blocks and one or two filters.
"""

from collections.abc import Iterator
from typing import Final, Generic

from boolcast.algebra.ordered_sets import Boundary
from boolcast.matching.relations.analysed_filters import AnalysedFilter, Bounds, may_cover
from boolcast.matching.relations.interval_index import Spans, Stored, T
from boolcast.matching.relations.sample_index import Accesses, Samples, placed, shortest
from boolcast.matching.relations.substring_index import Needles, Texts

_NO_CUT: Final[Boundary] = ()

Key = tuple[Boundary, ...]


class _Shape(Generic[T]):
    """The stored forms that constrain the same attributes in the same way.

    `at[i][cut]` holds the keys of the buckets whose i-th point is that one.
    """

    def __init__(self, points: tuple[str, ...], others: tuple[str, ...]) -> None:
        self.points = points
        self.others = others
        self.attributes = frozenset((*points, *others))
        self.buckets: dict[Key, Spans[T]] = {}
        self.at: list[dict[Boundary, dict[Key, None]]] = [{} for _ in points]

    def _first_span(self, bounds: Bounds) -> tuple[Boundary, Boundary]:
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
    """An index of filters, asked for those that may cover a form and those that it may cover.

    What has alternatives (`relations.range_unions`) is better known by them than by its ranges. It
    covers another only if it accepts that one's samples, so it is found by these; and what it
    covers is found among the samples, which are indexed once they are needed. The same goes for
    what asks for a piece of text (`matching.relations.substring_index`).
    """

    def __init__(self) -> None:
        self._ranges: _Index[T] = _Index()
        self._ranges_of_split: _Index[T] = _Index()
        """Of what has alternatives: needed only to find what others cover."""
        self._accesses: Accesses[T] = Accesses()
        self._needles: Needles[T] = Needles()
        self._samples: Samples[T] | None = None
        self._texts: Texts[T] | None = None
        self._stored: dict[T, None] = {}
        self._inexact = 0
        """How many of them are more than their ranges: with none, nobody needs samples."""

    def add(self, stored: T) -> None:
        """Take something up; its order must be its own."""
        form = stored.form
        if form.options or form.needle:
            self._ranges_of_split.add(form, stored)
            (self._accesses if form.options else self._needles).add(stored)
        else:
            self._ranges.add(form, stored)
        self._stored[stored] = None
        self._inexact += not form.is_exact
        if self._samples is not None:
            self._samples.add(stored)
        if self._texts is not None:
            self._texts.add(stored)

    def remove(self, stored: T) -> None:
        """Forget something that was added."""
        form = stored.form
        if form.options or form.needle:
            self._ranges_of_split.remove(form, stored)
            (self._accesses if form.options else self._needles).remove(stored)
        else:
            self._ranges.remove(form, stored)
        del self._stored[stored]
        self._inexact -= not form.is_exact
        if self._samples is not None:
            self._samples.remove(stored)
        if self._texts is not None:
            self._texts.remove(stored)

    def covering(self, form: AnalysedFilter) -> list[T]:
        """Whatever may cover the form, in the order of their numbers."""
        found = list(self._ranges.covering(form))
        if self._accesses:
            places = placed(form.samples)
            found += (
                shortest([self._accesses.at(each) for each in places]) if places else self._accesses
            )
        if self._needles:
            samples = form.samples
            found += (
                shortest([self._needles.at(each) for each in samples]) if samples else self._needles
            )
        if self._inexact or not form.is_exact:
            found = [
                each for each in found if _is_settled(each.form, form) or may_cover(each.form, form)
            ]
        return _in_order(found)

    def covered(self, form: AnalysedFilter) -> list[T]:
        """Whatever the form may cover, in the order of their numbers."""
        if form.options:
            found = list(self._sampled().within(form.options))
        elif form.needle:
            found = self._with_texts().holding(form.needle)
        else:
            found = list(self._ranges.covered(form))
            if self._ranges_of_split:
                found += self._ranges_of_split.covered(form)
        if self._inexact or not form.is_exact:
            found = [
                each for each in found if _is_settled(form, each.form) or may_cover(form, each.form)
            ]
        return _in_order(found)

    def _sampled(self) -> Samples[T]:
        if self._samples is None:
            self._samples = Samples()
            for stored in self._stored:
                self._samples.add(stored)
        return self._samples

    def _with_texts(self) -> Texts[T]:
        if self._texts is None:
            self._texts = Texts()
            for stored in self._stored:
                self._texts.add(stored)
        return self._texts


def _is_settled(general: AnalysedFilter, specific: AnalysedFilter) -> bool:
    """True if their ranges say it all, and no sample need be found."""
    return general.is_exact and specific.is_exact


def _first(attributes: frozenset[str]) -> str:
    """The attribute that a shape is looked up by; no attribute has an empty name."""
    return min(attributes, default="")


def _in_order(found: list[T]) -> list[T]:
    return sorted(dict.fromkeys(found), key=_order)


def _order(stored: Stored) -> int:
    return stored.order
