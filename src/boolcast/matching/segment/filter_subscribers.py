"""Which subscriptions hold which filter of a segment."""

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from boolcast.matching.segment.strings import StringColumn


class FilterSubscribers(NamedTuple):
    """The subscriptions of a segment, in the order of the filters that they hold.

    A subscription has a *position*. Those with filter s have the positions from `starts[s]` up
    to `starts[s + 1]`.
    """

    starts: NDArray[np.int32]
    sequence: NDArray[np.int64]
    subscriptions: StringColumn

    @classmethod
    def sorted(
        cls,
        slots: NDArray[Any],
        filters: int,
        sequence: NDArray[np.int64],
        subscriptions: pa.StringArray,
    ) -> "FilterSubscribers":
        """From rows in any order: slot of the filter, sequence number and id."""
        order = np.argsort(slots, kind="stable")
        ends = np.cumsum(np.bincount(slots, minlength=filters))
        starts = np.concatenate([[0], ends]).astype(np.int32)
        return cls(starts, sequence[order], StringColumn(subscriptions.take(pa.array(order))))

    def slots(self) -> NDArray[np.int64]:
        """The slot of the filter that each subscription holds, by position."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))
