"""Filters that no index is made for, on the events of the book auction.

In equal shares: ORs with a range that many books fall into, pure negations that nearly all
books satisfy, and parts of titles, which give an index nothing to look up.
"""

from collections.abc import Iterator
from typing import Final

import pyarrow as pa

from boolcast.filters.expressions import Filter
from boolcast.filters.parsing import parse
from boolcast.model.events import Event
from boolcast.workloads.auction import Auction
from boolcast.workloads.draws import Draws, batches_of_rows

_TEMPLATES: Final = {
    "or": "price < {price} or category = 'category {category}'",
    "not": "not (author = 'author {author}' or price < {price})",
    "contains": "contains(title, '{part}')",
}
_NAMES: Final = tuple(_TEMPLATES)

# Around 90 cents, below which 1 book in 15 lies; otherwise so many that few filters are equal.
_SLOTS: Final = {
    "price": (40, 140),
    "category": (0, 99),
    "author": (0, 19_999),
    "part": (10, 99_999),
}


class Unselective:
    """Any slice of a workload without end; rows count from 0 and depend on seed and number."""

    def __init__(self, *, seed: int) -> None:
        self._auction = Auction(seed=seed)
        self._draws = Draws(seed)

    def events(self, start: int, count: int) -> pa.Table:
        """The events of `Auction` with its usual parameters."""
        return self._auction.events(start, count)

    def event(self, row: int) -> Event:
        """One row of `events`."""
        return self._auction.event(row)

    def subscriptions(self, start: int, count: int) -> pa.Table:
        """Columns `subscription`, `class` (`or`, `not` or `contains`) and `filter`."""
        rows = list(self._rows(start, count))
        ids = [f"s{start + i}" for i in range(count)]
        columns = (ids, [name for name, _ in rows], [text for _, text in rows])
        return pa.table(
            {
                name: pa.array(column, pa.string())
                for name, column in zip(("subscription", "class", "filter"), columns, strict=True)
            }
        )

    def subscription_filters(self, start: int, count: int) -> Iterator[Filter]:
        """The column `filter` of `subscriptions` as trees."""
        return (parse(text) for _, text in self._rows(start, count))

    def subscription(self, row: int) -> Filter:
        """One filter."""
        return next(self.subscription_filters(row, 1))

    def _rows(self, start: int, count: int) -> Iterator[tuple[str, str]]:
        """The classes and the texts."""
        for rows in batches_of_rows(start, count):
            kinds = self._draws.integers("subscription.class", rows, 0, len(_NAMES) - 1)
            columns = [
                self._draws.integers(f"subscription.{slot}", rows, low, high).tolist()
                for slot, (low, high) in _SLOTS.items()
            ]
            for kind, *constants in zip(kinds.tolist(), *columns, strict=True):
                name = _NAMES[kind]
                yield name, _TEMPLATES[name].format_map(dict(zip(_SLOTS, constants, strict=True)))
