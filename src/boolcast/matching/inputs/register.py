"""Subscriptions of the simple engines: each filter once, with its ids; matches as batches."""

from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from boolcast.errors import UnknownSubscriptionError
from boolcast.filters.expressions import Filter, FilterLike, as_filter
from boolcast.filters.limits import DEFAULT_LIMITS
from boolcast.filters.size_check import check_limits
from boolcast.matching.inputs.protocol import MATCHES
from boolcast.model.identifiers import check_subscription_id

BATCH_MATCHES: Final = 65_536
"""How many matches a record batch holds at most."""


def checked_filter(subscription: str, filter: FilterLike) -> Filter:
    """The filter as a tree, within the default limits.

    Raises FilterError, SubscriptionIdError, and UsageError for arguments of another type.
    """
    check_subscription_id(subscription)
    parsed = as_filter(filter)
    if not isinstance(filter, str):
        check_limits(parsed, DEFAULT_LIMITS)
    return parsed


class Subscriptions:
    """Filters and their ids; equal filters are one. The base of the engines that take snapshots."""

    def __init__(self) -> None:
        self._filters: dict[str, Filter] = {}
        self._ids: dict[Filter, dict[str, None]] = {}
        self._snapshot: Snapshot | None = None

    def add(self, subscription: str, filter: FilterLike) -> None:
        """Add an id, or give it another filter.

        Raises FilterError or SubscriptionIdError, and then changes nothing.
        """
        parsed = checked_filter(subscription, filter)
        if subscription in self._filters:
            self.remove(subscription)
        self._ids.setdefault(parsed, {})[subscription] = None
        self._filters[subscription] = parsed
        self._snapshot = None

    def remove(self, subscription: str) -> None:
        """Remove an id. Raises UnknownSubscriptionError."""
        check_subscription_id(subscription)
        filter = self._filters.pop(subscription, None)
        if filter is None:
            raise UnknownSubscriptionError(subscription)
        ids = self._ids[filter]
        del ids[subscription]
        if not ids:
            del self._ids[filter]
        self._snapshot = None

    def __len__(self) -> int:
        return len(self._filters)

    def snapshot(self) -> "Snapshot":
        """The current state; after a change it takes time linear in the subscriptions."""
        if self._snapshot is None:
            ids = self._ids.values()
            self._snapshot = Snapshot(
                tuple(self._ids),
                [name for names in ids for name in names],
                np.cumsum([0, *map(len, ids)], dtype=np.int64),
            )
        return self._snapshot


class Snapshot:
    """Filters by number, and their ids: those of `i` are `names[starts[i] : starts[i + 1]]`.

    `counts` says how many they are.
    """

    def __init__(
        self, filters: tuple[Filter, ...], names: list[str], starts: NDArray[np.int64]
    ) -> None:
        self.filters = filters
        self.names = names
        self.starts = starts
        self.counts = np.diff(starts)
        self._dictionary: pa.StringArray | None = None

    def names_of(self, numbers: Iterable[int]) -> list[str]:
        """The ids of some filters."""
        starts = self.starts
        found: list[str] = []
        for number in numbers:
            found += self.names[starts[number] : starts[number + 1]]
        return found

    def batches(
        self, events: NDArray[np.int64], numbers: NDArray[np.int64]
    ) -> Iterator[pa.RecordBatch]:
        """Matches as record batches, a row for each id of a filter that accepts an event."""
        if self._dictionary is None:
            self._dictionary = pa.array(self.names, pa.string())
        counts = self.counts[numbers]
        ends = np.cumsum(counts)
        total = int(ends[-1]) if len(ends) else 0
        for first in range(0, total, BATCH_MATCHES):
            rows = np.arange(first, min(first + BATCH_MATCHES, total))
            which = np.searchsorted(ends, rows, side="right")
            # Row r is the (r - begin)-th id of its filter.
            indices = self.starts[numbers[which]] + rows - (ends - counts)[which]
            ids = pa.DictionaryArray.from_arrays(indices.astype(np.int32), self._dictionary)
            yield pa.record_batch([pa.array(events[which]), ids], MATCHES)
