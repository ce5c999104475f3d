"""Events in filters and filters at events, by one attribute each.

A filter that covers another accepts its samples. So the filters with alternatives are kept by
one attribute of each (`Accesses`) and asked with an event; and the samples of all filters by
every attribute (`Samples`), and asked with the alternatives of one.
"""

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator
from typing import Generic, NamedTuple

from boolcast.algebra import ordered_sets as ordered
from boolcast.algebra.ordered_sets import Boundary
from boolcast.matching.relations.analysed_filters import Bounds
from boolcast.matching.relations.interval_index import Spans, T
from boolcast.matching.relations.range_unions import rarity
from boolcast.model.events import Event


class _Access(NamedTuple):
    """The attribute by which bounds are found, and their low end there."""

    attribute: str
    low: Boundary
    is_point: bool


class Accesses(Generic[T]):
    """Filters by one attribute of each alternative, asked for those that may accept an event.

    Of the options, and of the attributes, the one is taken that has the fewest forms by then: a
    value that many filters ask for does not tell them apart.
    """

    def __init__(self) -> None:
        self._points: dict[str, dict[Boundary, dict[T, None]]] = {}
        self._spans: dict[str, Spans[T]] = {}
        self._counts: dict[str, int] = {}
        self._stored: dict[T, list[_Access]] = {}

    def __bool__(self) -> bool:
        return bool(self._stored)

    def __iter__(self) -> Iterator[T]:
        return iter(self._stored)

    def add(self, stored: T) -> None:
        """Take up something that has options."""
        ways = [[self._access(bounds) for bounds in option] for option in stored.form.options]
        way = min(ways, key=lambda each: sum(crowd for crowd, _, _ in each))
        # Equal ones once, and as wide as the widest.
        accesses: dict[_Access, Boundary] = {}
        for _, access, high in way:
            accesses[access] = max(high, accesses.get(access, high))
        self._stored[stored] = list(accesses)
        for access, high in accesses.items():
            name, low, is_point = access
            if is_point:
                self._points.setdefault(name, {}).setdefault(low, {})[stored] = None
            else:
                self._counts[name] = self._counts.get(name, 0) + 1
                self._spans.setdefault(name, Spans()).add(low, high, stored)

    def remove(self, stored: T) -> None:
        """Forget something that was added."""
        for name, low, is_point in self._stored.pop(stored):
            if is_point:
                row = self._points[name][low]
                del row[stored]
                if not row:
                    del self._points[name][low]
            else:
                self._counts[name] -= 1
                self._spans[name].remove(low, stored)

    def _access(self, bounds: Bounds) -> tuple[float, _Access, Boundary]:
        """How crowded the best access to the bounds is, that access, and its high end."""
        best: tuple[float, _Access, Boundary] | None = None
        for name in _present(bounds):
            low, high = bounds.spans[name]
            guess = rarity(low, high)
            if name in bounds.points:
                crowd = guess + len(self._points.get(name, {}).get(low, ()))
            else:
                crowd = guess * (1 + self._counts.get(name, 0))
            if best is None or crowd < best[0]:
                best = (crowd, _Access(name, low, name in bounds.points), high)
        assert best is not None
        return best

    def at(self, event: Bounds) -> Iterator[T]:
        """What has bounds whose rarest attribute fits the event."""
        for name, (low, high) in event.spans.items():
            rows = self._points.get(name)
            if rows is not None:
                yield from rows.get(low, ())
            spans = self._spans.get(name)
            if spans is not None:
                yield from spans.holding(low, high)


class Samples(Generic[T]):
    """The first sample of each form, asked for those that lie within bounds.

    What has no sample, or one with values that have no place in the order, is always found.
    """

    def __init__(self) -> None:
        self._values: dict[str, list[tuple[Boundary, int, T]]] = {}
        self._samples: dict[T, Bounds | None] = {}
        self._others: dict[T, None] = {}

    def add(self, stored: T) -> None:
        """Take up the first sample of something."""
        sample = next(iter(placed(stored.form.samples)), None)
        self._samples[stored] = sample
        if sample is None:
            self._others[stored] = None
            return
        for name, (low, _) in sample.spans.items():
            insort(self._values.setdefault(name, []), (low, stored.order, stored))

    def remove(self, stored: T) -> None:
        """Forget what was added."""
        sample = self._samples.pop(stored)
        if sample is None:
            del self._others[stored]
            return
        for name, (low, _) in sample.spans.items():
            rows = self._values[name]
            del rows[bisect_left(rows, (low, stored.order))]

    def within(self, options: Iterable[Iterable[Bounds]]) -> Iterator[T]:
        """What has its sample within one of the bounds of each option, as far as one tells."""
        ways = [[self._best_slice(bounds) for bounds in option] for option in options]
        way = min(ways, key=lambda each: sum(map(_length, each)))
        yield from self._others
        for rows, first, last in way:
            for place in range(first, last):
                yield rows[place][2]

    def _best_slice(self, bounds: Bounds) -> "_Slice[T]":
        return min((self._slice(name, bounds) for name in _present(bounds)), key=_length)

    def _slice(self, name: str, bounds: Bounds) -> "_Slice[T]":
        low, high = bounds.spans[name]
        rows = self._values.get(name, [])
        return _Slice(rows, bisect_left(rows, (low,)), bisect_left(rows, (high,)))


class _Slice(NamedTuple, Generic[T]):
    rows: list[tuple[Boundary, int, T]]
    first: int
    last: int


def _length(rows: _Slice[T]) -> int:
    return rows.last - rows.first


def shortest(streams: list[Iterator[T]]) -> list[T]:
    """All of the stream that ends first; of the others no more is taken than of that."""
    taken: list[list[T]] = [[] for _ in streams]
    while True:
        for stream, row in zip(streams, taken, strict=True):
            for each in stream:
                row.append(each)
                break
            else:
                return row


def placed(events: list[Event]) -> list[Bounds]:
    """The bounds of those events all of whose values have a place in the order."""
    found = ((event, Bounds.of_event(event)) for event in events)
    return [bounds for event, bounds in found if len(bounds.spans) == len(event)]


def _present(bounds: Bounds) -> list[str]:
    """The attributes that are there in every event within the bounds."""
    return [name for name, (low, _) in bounds.spans.items() if low != (ordered.MISSING,)]
