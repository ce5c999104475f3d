"""Running the kernel over encoded events, and what comes out of it."""

import sys
import threading
from collections.abc import Callable, Iterator
from functools import cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boolcast.matching.encoding import Encoded
from boolcast.matching.live import LiveSegment
from boolcast.model.events import Event

Kernel = Callable[..., tuple[int, int, int, int]]

_ROWS: Final = 1 << 20
"""How many matches are held at a time."""

_ROWS_OF_ONE: Final = 1 << 10


class Hits(NamedTuple):
    """Matches: the event's number in its batch, the slot, and where nobody is sure yet."""

    events: NDArray[np.int64]
    slots: NDArray[np.int32]
    unsure: NDArray[np.int64]
    candidates: int


def search(
    live: LiveSegment, encoded: Encoded, version: int, *, rows: int | None = None
) -> Iterator[Hits]:
    """The matches of all events, in pieces of bounded size.

    `unsure` lists the places in a piece where only the reference evaluator can tell.
    """
    kernel = _kernel()
    segment, scratch = live.segment, live.scratch()
    count = len(encoded.ranks)
    rows = rows or (_ROWS if count > 1 else _ROWS_OF_ONE)
    first = 0
    while first < count:
        events = np.empty(rows, dtype=np.int64)
        slots = np.empty(rows, dtype=np.int32)
        outcomes = np.empty(rows, dtype=np.uint8)
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
            slots,
            outcomes,
        )
        if following == first:
            # One event alone has more matches than there is room for.
            rows = min(8 * rows, len(segment.members))
            continue
        unsure = np.flatnonzero(outcomes[:written] == 2) if live.residuals else _NONE
        yield Hits(events[:written], slots[:written], unsure, candidates)
        first = following


_NONE: Final = np.zeros(0, dtype=np.int64)


def settled(live: LiveSegment, event_of: Callable[[int], Event], hits: Hits) -> NDArray[np.bool_]:
    """Which matches stand, once the reference evaluator has seen the unsure ones."""
    stands = np.ones(len(hits.slots), dtype=np.bool_)
    event, at = Event(), -1
    for place in hits.unsure.tolist():
        if hits.events[place] != at:
            at = int(hits.events[place])
            event = event_of(at)
        stands[place] = live.residuals[int(hits.slots[place])].accepts(event)
    return stands


@cache
def _kernel() -> Kernel:
    """The compiled kernel; tells on stderr why the first use in an installation takes long."""
    timer = threading.Timer(1.0, _announce)
    timer.start()
    try:
        from boolcast.matching.kernels.access import (  # noqa: PLC0415 - imports numba
            compiled_match_events,
        )

        return compiled_match_events()
    finally:
        timer.cancel()


def _announce() -> None:
    sys.stderr.write("boolcast: compiling the match kernel, once in an installation …\n")
