"""How many events each filter of a segment accepts, without listing matches.

Made for predicates, each a filter of its own (P1-B5): an event satisfies many, and listing them
would take long. For a test that is a set of intervals between ranks, count the events at each
rank of its attribute: sums over the intervals are its matches. All other filters go through a
matcher.
"""

from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from boolcast.matching.inputs.chunks import Chunk
from boolcast.matching.matcher import Matcher
from boolcast.matching.segment.live_segment import LiveSegment
from boolcast.matching.values.columns import RankedGroup
from boolcast.model.events import Event

_NONE: Final = np.zeros(0, dtype=np.int32)


class PredicateCounts:
    """Counters for the filters of one segment, by slot; `events` have been seen."""

    def __init__(self, live: LiveSegment) -> None:
        self.events = 0
        self._live = live
        self._ranked = [group for group in live.groups if _is_one_set(group)]
        self._rows = {
            space: np.zeros(live.spaces.spaces[space].size, dtype=np.int64)
            for space in sorted({self._space(group) for group in self._ranked})
        }
        by_rank = np.concatenate([_NONE, *(group.slots for group in self._ranked)])
        others = np.setdiff1d(np.arange(len(live.texts)), by_rank).tolist()
        self._others = Matcher()
        self._others.add_many(
            pa.table(
                {
                    "subscription": pa.array([str(slot) for slot in others], pa.string()),
                    "filter": pa.array([live.texts[slot] for slot in others], pa.string()),
                }
            )
        )
        self._found = np.zeros(len(live.texts), dtype=np.int64)

    def add(self, chunk: Chunk) -> None:
        """Count more events."""
        self.events += len(chunk.numbers)
        ranks = chunk.columns.encode(self._live.spaces, _NONE).ranks
        for space, row in self._rows.items():
            np.add(row, np.bincount(ranks[:, space], minlength=len(row)), out=row)
        if len(self._others):
            self._add_matches(chunk.source)

    def _add_matches(self, events: pa.RecordBatch | list[Event]) -> None:
        if isinstance(events, list):
            for event in events:
                for slot in self._others.match(event):
                    self._found[int(slot)] += 1
            return
        for batch in self._others.match_batch(events):
            column = batch.column("subscription")
            slots = np.array(column.dictionary.to_pylist(), dtype=np.int64)
            self._found[slots] += np.bincount(column.indices.to_numpy(), minlength=len(slots))

    def matches(self) -> NDArray[np.int64]:
        """For each slot, how many of the events its filter accepts."""
        matches = self._found.copy()
        for group in self._ranked:
            row = self._rows[self._space(group)]
            below = np.concatenate([[0], np.cumsum(row)])
            (bounds,) = group.bounds
            matches[group.slots] = (below[bounds[:, 1::2]] - below[bounds[:, ::2]]).sum(axis=1)
        return matches

    def _space(self, group: RankedGroup) -> int:
        return self._live.spaces.index[group.shape.tests[0].attribute]


def _is_one_set(group: RankedGroup) -> bool:
    tests = group.shape.tests
    return len(tests) == 1 and group.shape.root == 0 and tests[0].kind == "intervals"
