"""What every workload gives, whatever its events and filters are about."""

from collections.abc import Iterator
from typing import Protocol

import pyarrow as pa

from boolcast.filters.expressions import Filter
from boolcast.model.events import Event


class Workload(Protocol):
    """Events and subscriptions without end; rows count from 0.

    A row depends on the workload's parameters, the seed and its own number only: slices may
    be made in any order and on any machine.
    """

    def events(self, start: int, count: int) -> pa.Table:
        """A column for each attribute; nulls are missing."""

    def event(self, row: int) -> Event:
        """One row of `events`; for many, `events(…).to_pylist()` is far faster."""

    def subscriptions(self, start: int, count: int) -> pa.Table:
        """Columns `subscription` (an id such as `s17`), `class` and `filter` (its text)."""

    def subscription_filters(self, start: int, count: int) -> Iterator[Filter]:
        """The column `filter` of `subscriptions` as trees, made lazily."""

    def subscription(self, row: int) -> Filter:
        """One filter; for many, `subscription_filters` is far faster."""
