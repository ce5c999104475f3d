"""Running the kernel over encoded events, and what comes out of it."""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boolcast.matching.inputs.encoding import Encoded
from boolcast.matching.segment.live_segment import LiveSegment
from boolcast.model.events import Event

Kernel = Callable[..., tuple[int, int, int, int]]

_ROWS: Final = 1 << 20
"""How many matches are held at a time."""

_ROWS_OF_ONE: Final = 1 << 10


class Hits(NamedTuple):
    """Matches: the event's number in its batch, the place, and where nobody is sure yet."""

    events: NDArray[np.int64]
    places: NDArray[np.int32]
    unsure: NDArray[np.int64]
    candidates: int


def search(
    live: LiveSegment, encoded: Encoded, version: int, *, rows: int | None = None
) -> Iterator[Hits]:
    """The matches of all events, in pieces of bounded size.

    `unsure` lists the places in a piece where only the reference evaluator can tell.
    """
    count = len(encoded.ranks)
    kernel = _kernel(count == 1)
    segment = live.segment
    rows = rows or (_ROWS if count > 1 else _ROWS_OF_ONE)
    first = 0
    while first < count:
        events = np.empty(rows, dtype=np.int64)
        places = np.empty(rows, dtype=np.int32)
        outcomes = np.empty(rows, dtype=np.uint8)
        # Each time anew: who reads on may be another thread than who began.
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
            events,
            places,
            outcomes,
        )
        if following == first:
            # One event alone has more matches than there is room for.
            rows = min(8 * rows, live.most_matches)
            continue
        unsure = np.flatnonzero(outcomes[:written] == 2) if live.residuals else _NONE
        yield Hits(events[:written], places[:written], unsure, candidates)
        first = following


_NONE: Final = np.zeros(0, dtype=np.int64)


def settled(live: LiveSegment, event_of: Callable[[int], Event], hits: Hits) -> NDArray[np.bool_]:
    """Which matches stand, once the reference evaluator has seen the unsure ones."""
    stands = np.ones(len(hits.places), dtype=np.bool_)
    event, decided, accepts = Event(), (-1, -1), False
    unsure = hits.unsure
    slots = live.slots_of(hits.places[unsure])
    for hit, row, slot in zip(
        unsure.tolist(), hits.events[unsure].tolist(), slots.tolist(), strict=True
    ):
        # All that hold a filter stand in a row.
        if (row, slot) != decided:
            if row != decided[0]:
                event = event_of(row)
            accepts = live.residuals[slot].accepts(event)
            decided = row, slot
        stands[hit] = accepts
    return stands


@cache
def _kernel(is_single: bool) -> Kernel:
    """The compiled kernel. For one event it keeps Python's lock.

    To give it back and ask for it again would cost a busy program up to a switch interval of
    5 ms for each segment, many times what the event itself does.
    """
    from boolcast.matching.segment.kernels import access  # noqa: PLC0415 - imports numba

    return access.compiled_match_event() if is_single else access.compiled_match_events()
