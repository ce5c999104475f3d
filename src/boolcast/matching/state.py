"""What a match works on, and what it can be asked about its subscriptions."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from boolcast.filters.expressions import Filter
    from boolcast.matching.segment.live_segment import Entry, LiveSegment


class State(NamedTuple):
    """Segments, pending additions and a version.

    Only the first `waiting` entries of `pending` belong to it. Later additions are appended to
    the same list, which never changes otherwise: copying it for each addition would take as
    long as indexing it.
    """

    segments: "tuple[LiveSegment, ...]"
    pending: "list[Entry]"
    waiting: int
    version: int

    def additions(self) -> "list[Entry]":
        """The additions that wait."""
        return self.pending[: self.waiting]

    def ids(self) -> Iterator[str]:
        """The ids of all subscriptions."""
        for live in self.segments:
            for positions, names in live.subscriptions.pieces():
                alive = np.flatnonzero(live.dead_since[positions] > self.version)
                yield from [names[row] for row in alive.tolist()]
        yield from [entry.subscription for entry in self.additions()]

    def items(self) -> "Iterator[tuple[str, Filter]]":
        """All ids with their filters; a filter that several hold is parsed once."""
        for live in self.segments:
            last, filter = -1, None
            for positions, names in live.subscriptions.pieces():
                alive = np.flatnonzero(live.dead_since[positions] > self.version)
                slots = live.slots_of(alive + positions.start).tolist()
                for row, slot in zip(alive.tolist(), slots, strict=True):
                    if filter is None or slot != last:
                        last, filter = slot, live.filter_at(slot)
                    yield names[row], filter
        yield from [(entry.subscription, entry.filter) for entry in self.additions()]

    def filter_of(self, sequence: int) -> "Filter":
        """The filter of a subscription of this state, by its sequence number."""
        for live in self.segments:
            position = live.position_of(sequence)
            if position is not None:
                return live.filter_at(int(live.slots_of(np.array([position]))[0]))
        (filter,) = (entry.filter for entry in self.additions() if entry.sequence == sequence)
        return filter
