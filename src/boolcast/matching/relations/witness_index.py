"""Indexes that ask with events: a filter covers another only if it accepts the other's witnesses.

Ranges say little about a filter with an OR, and nothing about `contains(title, 'Emma')`, which
admits every string. For such filters there are two questions, and an index for each:

* Which stored filters may accept given events? `UnionIndex` keeps each filter under one attribute
  of each alternative; `SubstringIndex` under three characters of the text it requires (two, if
  that is all). Both choose what the fewest other filters have.
* Which stored filters have a witness that a given filter may accept? `WitnessValues` keeps the
  first witness of each filter by its values, `WitnessTexts` by the pieces of its texts.

Answers may contain too many filters, never too few.
"""

from abc import ABC, abstractmethod
from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Generic, NamedTuple, TypeVar

from boolcast.algebra.ordered_sets import Boundary
from boolcast.matching.relations.range_index import IntervalIndex, T
from boolcast.matching.relations.ranges import Bounds, interval_share
from boolcast.model.events import Event

_PIECE: Final = 3
"""The length of the pieces that texts are indexed by."""

_Pieces = dict[str, dict[T, None]]


class UnionIndex(Generic[T]):
    """Filters with unions, by one attribute of each alternative.

    A filter goes under the union and the attributes that are least crowded at that time: a value
    that many filters ask for does not tell them apart.
    """

    def __init__(self) -> None:
        self._points: dict[str, dict[Boundary, dict[T, None]]] = {}
        self._intervals: dict[str, IntervalIndex[T]] = {}
        self._counts: dict[str, int] = {}
        self._stored: dict[T, list[_Access]] = {}

    def __bool__(self) -> bool:
        return bool(self._stored)

    def add(self, stored: T) -> None:
        """Index something whose filter has unions."""
        choices = [[self._best_access(each) for each in union] for union in stored.analysed.unions]
        best = min(choices, key=lambda choice: sum(crowd for crowd, _, _ in choice))
        # Equal accesses once, as wide as the widest.
        accesses: dict[_Access, Boundary] = {}
        for _, access, high in best:
            accesses[access] = max(high, accesses.get(access, high))
        self._stored[stored] = list(accesses)
        for access, high in accesses.items():
            name, low, is_point = access
            if is_point:
                self._points.setdefault(name, {}).setdefault(low, {})[stored] = None
            else:
                self._counts[name] = self._counts.get(name, 0) + 1
                self._intervals.setdefault(name, IntervalIndex()).add(low, high, stored)

    def remove(self, stored: T) -> None:
        for name, low, is_point in self._stored.pop(stored):
            if is_point:
                _drop(self._points[name], low, stored)
            else:
                self._counts[name] -= 1
                self._intervals[name].remove(low, stored)

    def accepting(self, witnesses: Iterable[Event]) -> list[T]:
        """What may accept all of the events."""
        events = (_bounds_if_ordered(event) for event in witnesses)
        lookups = [self._at(event) for event in events if event is not None]
        return _shortest(lookups) if lookups else list(self._stored)

    def _at(self, event: Bounds) -> Iterator[T]:
        """What may accept an event."""
        for name, (low, high) in event.intervals.items():
            points = self._points.get(name)
            if points is not None:
                yield from points.get(low, ())
            intervals = self._intervals.get(name)
            if intervals is not None:
                yield from intervals.including(low, high)

    def _best_access(self, bounds: Bounds) -> "tuple[float, _Access, Boundary]":
        """How crowded the best access to the bounds is, that access, and its high boundary."""
        best: tuple[float, _Access, Boundary] | None = None
        for name in bounds.present():
            low, high = bounds.intervals[name]
            share = interval_share(low, high)
            if name in bounds.points:
                crowd = share + len(self._points.get(name, {}).get(low, ()))
            else:
                crowd = share * (1 + self._counts.get(name, 0))
            if best is None or crowd < best[0]:
                best = (crowd, _Access(name, low, name in bounds.points), high)
        assert best is not None
        return best


class _Access(NamedTuple):
    """The attribute by which an alternative is found, and its low boundary there."""

    attribute: str
    low: Boundary
    is_point: bool


class SubstringIndex(Generic[T]):
    """Filters that require a substring, by its rarest piece."""

    def __init__(self) -> None:
        self._pieces: dict[str, _Pieces[T]] = {}
        self._stored: dict[T, tuple[str, str]] = {}

    def __bool__(self) -> bool:
        return bool(self._stored)

    def add(self, stored: T) -> None:
        """Index something whose filter requires a substring."""
        assert stored.analysed.substring is not None
        name, text = stored.analysed.substring
        rows = self._pieces.setdefault(name, {})
        piece = min(_pieces_to_require(text), key=lambda each: len(rows.get(each, ())))
        rows.setdefault(piece, {})[stored] = None
        self._stored[stored] = (name, piece)

    def remove(self, stored: T) -> None:
        name, piece = self._stored.pop(stored)
        _drop(self._pieces[name], piece, stored)

    def accepting(self, witnesses: Iterable[Event]) -> list[T]:
        """What may accept all of the events."""
        lookups = [self._at(event) for event in witnesses]
        return _shortest(lookups) if lookups else list(self._stored)

    def _at(self, event: Event) -> Iterator[T]:
        for name, rows in self._pieces.items():
            for piece in _pieces(event.get(name)):
                yield from rows.get(piece, ())


class _Witnesses(ABC, Generic[T]):
    """The first usable witness of each filter; a filter without one is part of every answer."""

    def __init__(self, several: Iterable[T]) -> None:
        self._witnesses: dict[T, Event] = {}
        self._without: dict[T, None] = {}
        for stored in several:
            self.add(stored)

    def add(self, stored: T) -> None:
        witness = next(filter(self._is_usable, stored.analysed.witnesses), None)
        if witness is None:
            self._without[stored] = None
        else:
            self._witnesses[stored] = witness
            self._index(stored, witness)

    def remove(self, stored: T) -> None:
        witness = self._witnesses.pop(stored, None)
        if witness is None:
            del self._without[stored]
        else:
            self._unindex(stored, witness)

    @abstractmethod
    def _is_usable(self, witness: Event) -> bool: ...

    @abstractmethod
    def _index(self, stored: T, witness: Event) -> None: ...

    @abstractmethod
    def _unindex(self, stored: T, witness: Event) -> None: ...


class WitnessValues(_Witnesses[T]):
    """Witnesses by their values, asked which lie within a union."""

    def __init__(self, several: Iterable[T]) -> None:
        self._values: dict[str, list[tuple[Boundary, int, T]]] = {}
        super().__init__(several)

    def _is_usable(self, witness: Event) -> bool:
        return _bounds_if_ordered(witness) is not None

    def _index(self, stored: T, witness: Event) -> None:
        for name, (low, _) in Bounds.of_event(witness).intervals.items():
            insort(self._values.setdefault(name, []), (low, stored.order, stored))

    def _unindex(self, stored: T, witness: Event) -> None:
        for name, (low, _) in Bounds.of_event(witness).intervals.items():
            rows = self._values[name]
            del rows[bisect_left(rows, (low, stored.order))]

    def within(self, unions: Iterable[Iterable[Bounds]]) -> list[T]:
        """What may have its witness in each of the unions: the shortest answer by one attribute."""
        choices = [[self._shortest_slice(bounds) for bounds in union] for union in unions]
        best = min(choices, key=lambda slices: sum(map(_length, slices)))
        found = [rows[index][2] for rows, first, last in best for index in range(first, last)]
        return [*self._without, *found]

    def _shortest_slice(self, bounds: Bounds) -> "_Slice[T]":
        return min((self._slice(name, bounds) for name in bounds.present()), key=_length)

    def _slice(self, name: str, bounds: Bounds) -> "_Slice[T]":
        low, high = bounds.intervals[name]
        rows = self._values.get(name, [])
        return _Slice(rows, bisect_left(rows, (low,)), bisect_left(rows, (high,)))


class _Slice(NamedTuple, Generic[T]):
    rows: list[tuple[Boundary, int, T]]
    first: int
    last: int


def _length(rows: _Slice[T]) -> int:
    return rows.last - rows.first


class WitnessTexts(_Witnesses[T]):
    """Witnesses by the pieces of their texts, for the attributes that were asked about."""

    def __init__(self, several: Iterable[T]) -> None:
        self._pieces: dict[str, _Pieces[T]] = {}
        super().__init__(several)

    def _is_usable(self, witness: Event) -> bool:  # noqa: ARG002
        return True

    def _index(self, stored: T, witness: Event) -> None:
        for name, rows in self._pieces.items():
            for piece in _pieces(witness.get(name)):
                rows.setdefault(piece, {})[stored] = None

    def _unindex(self, stored: T, witness: Event) -> None:
        for name, rows in self._pieces.items():
            for piece in _pieces(witness.get(name)):
                _drop(rows, piece, stored)

    def containing(self, substring: tuple[str, str]) -> list[T]:
        """What has the rarest piece of the substring in its witness."""
        name, text = substring
        if name not in self._pieces:
            rows = self._pieces[name] = {}
            for stored, witness in self._witnesses.items():
                for piece in _pieces(witness.get(name)):
                    rows.setdefault(piece, {})[stored] = None
        rows = self._pieces[name]
        rarest = min((rows.get(piece, {}) for piece in _pieces_to_require(text)), key=len)
        return [*self._without, *rarest]


def _shortest(lookups: Sequence[Iterator[T]]) -> list[T]:
    """The results of the lookup that ends first; of the others no more are taken than of that."""
    taken: list[list[T]] = [[] for _ in lookups]
    while True:
        for lookup, results in zip(lookups, taken, strict=True):
            for each in lookup:
                results.append(each)
                break
            else:
                return results


def _bounds_if_ordered(event: Event) -> Bounds | None:
    """The bounds of an event; None if a value lies outside the order."""
    bounds = Bounds.of_event(event)
    return bounds if len(bounds.intervals) == len(event) else None


K = TypeVar("K")


def _drop(rows: dict[K, dict[T, None]], key: K, stored: T) -> None:
    """Remove something from its row, and the row if that was all."""
    del rows[key][stored]
    if not rows[key]:
        del rows[key]


def _pieces(text: object) -> dict[str, None]:
    """Every piece of two or three characters, once; none if it is no text."""
    if not isinstance(text, str):
        return {}
    return {
        text[start : start + length]: None
        for length in (_PIECE - 1, _PIECE)
        for start in range(len(text) - length + 1)
    }


def _pieces_to_require(text: str) -> list[str]:
    length = min(len(text), _PIECE)
    return [text[start : start + length] for start in range(len(text) - length + 1)]
