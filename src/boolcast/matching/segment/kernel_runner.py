"""Which subscriptions of a segment accept which events: encode, run the kernel, settle."""

from collections.abc import Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from boolcast.model.events import Event

if TYPE_CHECKING:
    from boolcast.matching.inputs.encoding import Encoded
    from boolcast.matching.segment.live_segment import LiveSegment
    from boolcast.matching.values.rank_tables import Spaces
    from boolcast.matching.values.segments import Segment

Kernel = Callable[..., tuple[int, int, int, int]]

_ROWS: Final = 1 << 20
"""How many matches are held at a time."""

_ROWS_OF_ONE: Final = 1 << 10

_OPEN: Final = 2
"""The outcome of a program that met a residual."""


class Found(NamedTuple):
    """Matches: rows of events, positions of subscriptions, and how many programs were run."""

    rows: NDArray[np.int64]
    positions: NDArray[np.int32]
    candidates: int


class EncodableEvents(Protocol):
    """Events that can be encoded for a segment, and read one by one."""

    def encode(self, spaces: "Spaces", segment: "Segment") -> "Encoded": ...

    def event(self, row: int) -> Event: ...


def find_matches(
    live: "LiveSegment", events: EncodableEvents, version: int, *, rows: int | None = None
) -> Iterator[Found]:
    """The matches of all events at a version, in pieces of about `rows` matches.

    Encodes the events, runs the kernel, and asks the reference evaluator where the kernel
    leaves a match open.
    """
    encoded = events.encode(live.spaces, live.segment)
    count = len(encoded.ranks)
    kernel = _kernel(count == 1)
    segment = live.segment
    rows = rows or (_ROWS if count > 1 else _ROWS_OF_ONE)
    first = 0
    while first < count:
        found_rows = np.empty(rows, dtype=np.int64)
        positions = np.empty(rows, dtype=np.int32)
        outcomes = np.empty(rows, dtype=np.uint8)
        # Asked for each time: another thread may read on.
        scratch = live.scratch()
        following, written, candidates, scratch.stamp = kernel(
            first,
            encoded.ranks,
            encoded.texts,
            encoded.text_offsets,
            segment.text_columns,
            segment.level_masks,
            segment.level_bases,
            segment.offsets,
            segment.groups,
            segment.members,
            live.starts,
            segment.code,
            segment.list_starts,
            segment.list_bounds,
            segment.pattern_starts,
            segment.pattern_elements,
            live.dead_since,
            version,
            live.dead > 0,
            scratch.memo,
            scratch.seen,
            scratch.stamp,
            found_rows,
            positions,
            outcomes,
        )
        if following == first:
            # A single event has more matches than fit.
            rows = min(8 * rows, live.most_matches)
            continue
        found = Found(found_rows[:written], positions[:written], candidates)
        if live.residuals:
            open_matches = np.flatnonzero(outcomes[:written] == _OPEN)
            if len(open_matches):
                found = _without_refused(live, events, found, open_matches)
        yield found
        first = following


def _without_refused(
    live: "LiveSegment", events: EncodableEvents, found: Found, open_matches: NDArray[np.int64]
) -> Found:
    """The matches without the open ones that the reference evaluator refuses."""
    rows, positions, candidates = found
    stands = np.ones(len(positions), dtype=np.bool_)
    event, decided, accepts = Event(), (-1, -1), False
    slots = live.slots_of(positions[open_matches])
    for match, row, slot in zip(
        open_matches.tolist(), rows[open_matches].tolist(), slots.tolist(), strict=True
    ):
        # All subscriptions of a filter stand in a row.
        if (row, slot) != decided:
            if row != decided[0]:
                event = events.event(row)
            accepts = live.residuals[slot].accepts(event)
            decided = row, slot
        stands[match] = accepts
    return Found(rows[stands], positions[stands], candidates)


def load_kernels() -> None:
    """Compile the kernels for one event and for many, or read them from the cache."""
    _kernel(True)
    _kernel(False)


@cache
def _kernel(is_single: bool) -> Kernel:
    """The compiled kernel. For one event it keeps Python's lock.

    Releasing the lock could cost a busy program a switch interval of 5 ms for each segment,
    many times what the event itself takes.
    """
    from boolcast.matching.segment.kernels import access  # noqa: PLC0415 - imports numba

    return access.compiled_match_event() if is_single else access.compiled_match_events()
