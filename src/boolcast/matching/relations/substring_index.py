"""Filters by a piece of text that an attribute must contain, and texts that contain one.

`contains(title, 'Emma')` admits every string as far as ranges can tell. But whoever accepts an
event with some title asks for a piece of that title. So such filters are kept by three characters
of what they ask for (or two, if that is all), those that the fewest others have, and asked with
all pieces of a sample; and samples by all their pieces, once a filter asks.
"""

from collections.abc import Iterator
from typing import Final, Generic

from boolcast.matching.relations.interval_index import T
from boolcast.model.events import Event

_PIECE: Final = 3

_Rows = dict[str, dict[T, None]]


class Needles(Generic[T]):
    """What has a needle, asked for those that may accept an event."""

    def __init__(self) -> None:
        self._rows: dict[str, _Rows[T]] = {}
        self._stored: dict[T, tuple[str, str]] = {}

    def __bool__(self) -> bool:
        return bool(self._stored)

    def __iter__(self) -> Iterator[T]:
        return iter(self._stored)

    def add(self, stored: T) -> None:
        """Take up something with a needle."""
        assert stored.form.needle is not None
        name, text = stored.form.needle
        rows = self._rows.setdefault(name, {})
        piece = min(_pieces_of_needle(text), key=lambda each: len(rows.get(each, ())))
        rows.setdefault(piece, {})[stored] = None
        self._stored[stored] = (name, piece)

    def remove(self, stored: T) -> None:
        """Forget something that was added."""
        name, piece = self._stored.pop(stored)
        _drop(self._rows[name], piece, stored)

    def at(self, event: Event) -> Iterator[T]:
        """What asks for a piece of the event."""
        for name, rows in self._rows.items():
            text = event.get(name)
            if isinstance(text, str):
                for piece in _pieces(text):
                    yield from rows.get(piece, ())


class Texts(Generic[T]):
    """The first sample of each form by the pieces of its texts, of attributes that were asked for.

    What has no sample is always found.
    """

    def __init__(self) -> None:
        self._samples: dict[T, Event | None] = {}
        self._others: dict[T, None] = {}
        self._rows: dict[str, _Rows[T]] = {}

    def add(self, stored: T) -> None:
        """Take up the first sample of something."""
        sample = self._samples[stored] = next(iter(stored.form.samples), None)
        if sample is None:
            self._others[stored] = None
            return
        for name, rows in self._rows.items():
            for piece in _pieces(sample.get(name)):
                rows.setdefault(piece, {})[stored] = None

    def remove(self, stored: T) -> None:
        """Forget what was added."""
        sample = self._samples.pop(stored)
        if sample is None:
            del self._others[stored]
            return
        for name, rows in self._rows.items():
            for piece in _pieces(sample.get(name)):
                _drop(rows, piece, stored)

    def holding(self, needle: tuple[str, str]) -> list[T]:
        """What has the rarest piece of the needle in its sample."""
        name, text = needle
        if name not in self._rows:
            rows = self._rows[name] = {}
            for stored, sample in self._samples.items():
                for piece in _pieces(None if sample is None else sample.get(name)):
                    rows.setdefault(piece, {})[stored] = None
        rows = self._rows[name]
        return [
            *self._others,
            *min((rows.get(piece, {}) for piece in _pieces_of_needle(text)), key=len),
        ]


def _drop(rows: _Rows[T], piece: str, stored: T) -> None:
    del rows[piece][stored]
    if not rows[piece]:
        del rows[piece]


def _pieces(text: object) -> dict[str, None]:
    """Every piece of two or three characters, once."""
    if not isinstance(text, str):
        return {}
    return {
        text[place : place + length]: None
        for length in (_PIECE - 1, _PIECE)
        for place in range(len(text) - length + 1)
    }


def _pieces_of_needle(text: str) -> list[str]:
    length = min(len(text), _PIECE)
    return [text[place : place + length] for place in range(len(text) - length + 1)]
