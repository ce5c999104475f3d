"""Running the kernel over encoded events, and what comes out of it."""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boolcast.matching.encoding import Encoded
from boolcast.matching.live import LiveSegment

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


@cache
def _kernel() -> Kernel:
    """The compiled kernel; the first use in an installation takes some seconds, and says so."""
    from boolcast.matching.kernels.access import (  # noqa: PLC0415 - imports numba
        compiled_match_events,
    )

    return compiled_match_events()
