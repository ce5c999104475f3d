"""Which attributes of filters has no event had so far? Probably they are misspelled."""

import threading
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from boolcast.matching.inputs.chunks import Chunk


class AttributeWatch:
    """Attributes that filters use and no event has had; safe to use from several threads.

    `unseen` maps each to the number of events before a filter first used it. It is replaced,
    never changed, so that a match may read it without a lock.
    """

    def __init__(self) -> None:
        self.unseen: Mapping[str, int] = {}
        self._known: set[str] = set()
        self._lock = threading.Lock()

    def copy(self) -> "AttributeWatch":
        """An independent watch that knows the same."""
        other = AttributeWatch()
        with self._lock:
            other.unseen, other._known = self.unseen, set(self._known)
        return other

    def expect(self, names: Iterable[str], events: int) -> None:
        """Filters use these attributes from now on, after `events` events."""
        with self._lock:
            new = set(names) - self._known
            if new:
                self._known |= new
                self.unseen = {**self.unseen, **dict.fromkeys(sorted(new), events)}

    def see(self, names: Iterable[str]) -> None:
        """An event had these attributes."""
        with self._lock:
            seen = self.unseen.keys() & names
            if seen:
                self.unseen = {
                    name: since for name, since in self.unseen.items() if name not in seen
                }

    def see_chunk(self, chunk: "Chunk") -> None:
        """Events of a chunk had the attributes whose columns are not all null."""
        columns = chunk.columns.columns
        self.see([name for name in self.unseen if name in columns and _has_value(columns[name])])


def _has_value(column: object) -> bool:
    if isinstance(column, pa.Array):
        return bool(column.null_count < len(column))
    assert isinstance(column, Iterable)
    return any(value is not None for value in column)
