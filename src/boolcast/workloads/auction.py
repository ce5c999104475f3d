"""The book auction of P1 and P3: events, subscriptions and advertisements from one seed."""

from collections.abc import Iterator
from typing import Final

import pyarrow as pa

from boolcast.filters.expressions import Filter
from boolcast.model.events import Event
from boolcast.model.schemas import Schema
from boolcast.workloads.books import ARROW_SCHEMA, BOOK_SCHEMA, book_batch
from boolcast.workloads.draws import Draws, batches_of_rows
from boolcast.workloads.parameters import AuctionParameters
from boolcast.workloads.populations import Population


class Auction:
    """Any slice of an auction without end; rows count from 0.

    A row depends on the parameters, the seed and its own number only: slices may be made in
    any order and on any machine. An instance is cheap to make and to pickle.

    >>> auction = Auction(seed=1)
    >>> print(auction.advertisement(6))
    condition = 'used' and price > 2925 or price > 2763 and condition = 'new'
    >>> auction.advertisement(6).accepts(auction.event(0))
    False
    """

    schema: Final[Schema] = BOOK_SCHEMA

    def __init__(self, parameters: AuctionParameters | None = None, *, seed: int) -> None:
        self.parameters = parameters = parameters or AuctionParameters()
        self.seed = seed
        self._draws = draws = Draws(seed)
        self._subscriptions = Population(
            "subscription", parameters.subscription_classes, draws, parameters
        )
        self._advertisements = Population(
            "advertisement", parameters.advertisement_classes, draws, parameters
        )

    def events(self, start: int, count: int) -> pa.Table:
        """A column for each of the ten attributes: strings and 64-bit integers, no nulls."""
        batches = (
            book_batch(self._draws, rows, self.parameters) for rows in batches_of_rows(start, count)
        )
        return pa.Table.from_batches(batches, ARROW_SCHEMA)

    def event(self, row: int) -> Event:
        """One row of `events`; for many, `events(…).to_pylist()` is far faster."""
        (members,) = self.events(row, 1).to_pylist()
        return Event(members)

    def subscriptions(self, start: int, count: int) -> pa.Table:
        """Columns `subscription` (an id such as `s17`), `class` (`S1`) and `filter` (its text)."""
        return self._subscriptions.table(start, count)

    def subscription_filters(self, start: int, count: int) -> Iterator[Filter]:
        """The column `filter` of `subscriptions` as trees, made as they are asked for."""
        return self._subscriptions.filters(start, count)

    def subscription(self, row: int) -> Filter:
        """One filter; for many, `subscription_filters` is far faster."""
        return next(self.subscription_filters(row, 1))

    def subscription_class(self, row: int) -> str:
        """The class of one row, such as `S1`."""
        return self._subscriptions.class_of(row)

    def advertisements(self, start: int, count: int) -> pa.Table:
        """Columns `advertisement` (an id such as `a17`), `class` (`A1`) and `filter`."""
        return self._advertisements.table(start, count)

    def advertisement_filters(self, start: int, count: int) -> Iterator[Filter]:
        """The column `filter` of `advertisements` as trees, made as they are asked for."""
        return self._advertisements.filters(start, count)

    def advertisement(self, row: int) -> Filter:
        """One filter, as `subscription`."""
        return next(self.advertisement_filters(row, 1))

    def advertisement_class(self, row: int) -> str:
        """The class of one row, such as `A1`."""
        return self._advertisements.class_of(row)
