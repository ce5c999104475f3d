"""The book auction of P1 and P3: events, subscriptions and advertisements from one seed.

Events have ten attributes (W1), distributed as W5 assumes. Filters come as trees and, in bulk,
as texts. Both are made from the same columns of constants, one group of rows for each filter
class: a tree fills the class's shape with them, a text joins the pieces of the shape's text.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from boolcast.filters.expressions import Filter
from boolcast.model.events import Event
from boolcast.model.schemas import Attribute, Schema
from boolcast.workloads.classes import CLASSES, AuctionParameters, FilterClass, Range
from boolcast.workloads.draws import (
    Draws,
    Rows,
    batches_of_rows,
    cumulative_shares,
    lognormal_quantiles,
    zipf_shares,
)

NUMBERED: Final = ("title", "author", "category")
"""The attributes whose values are numbered strings, such as `title 17`."""

_PRICE_SIGMA: Final = 0.8
_LONGEST_HOURS: Final = 168

# W5 fixes the shares of used, softcover, no bids, Buy-It-Now and signed; what the others are
# split into is ours. No filter class looks at it.
_SHARES: Final[Mapping[str, Mapping[str, float] | Mapping[int, float]]] = {
    "format": {"softcover": 0.6, "hardcover": 0.4},
    "condition": {"used": 0.8, "new": 0.2},
    "bids": {0: 0.97, 1: 0.01, 2: 0.008, 3: 0.006, 4: 0.004, 5: 0.002},
    "buyItNow": {0: 0.8, 1: 0.2},
    "special": {"none": 0.95, "first edition": 0.03, "signed": 0.02},
}
_VALUES: Final = {name: pa.array(list(shares)) for name, shares in _SHARES.items()}
_CUMULATIVE: Final = {
    name: cumulative_shares(list(shares.values())) for name, shares in _SHARES.items()
}

BOOK_SCHEMA: Final = Schema(
    attributes={
        "title": Attribute("string", required=True),
        "author": Attribute("string", required=True),
        "category": Attribute("string", required=True),
        "format": Attribute("string", values=tuple(_SHARES["format"]), required=True),
        "condition": Attribute("string", values=tuple(_SHARES["condition"]), required=True),
        "price": Attribute("number", integer=True, minimum=1, required=True),
        "ending": Attribute(
            "number", integer=True, minimum=0, maximum=_LONGEST_HOURS - 1, required=True
        ),
        "bids": Attribute("number", integer=True, minimum=0, required=True),
        "buyItNow": Attribute(
            "number", integer=True, values=tuple(_SHARES["buyItNow"]), required=True
        ),
        "special": Attribute("string", values=tuple(_SHARES["special"]), required=True),
    }
)
"""What every event of the auction conforms to: price in cents, ending in whole hours left."""

ARROW_SCHEMA: Final = pa.schema(
    [
        (name, pa.int64() if attribute.integer else pa.string())
        for name, attribute in BOOK_SCHEMA.attributes.items()
    ]
)
"""The same ten attributes as columns."""


def book_batch(draws: Draws, rows: Rows, parameters: AuctionParameters) -> pa.RecordBatch:
    """The events of these rows."""
    prices = lognormal_quantiles(parameters.price_median, _PRICE_SIGMA)
    columns = {
        "price": pa.array(draws.quantiles("event.price", rows, prices)),
        # 168 values from 0 on, so that `ending < 24` holds for one in seven.
        "ending": pa.array(draws.integers("event.ending", rows, 0, _LONGEST_HOURS - 1)),
    }
    for name in NUMBERED:
        columns[name] = labels(name, draw_numbers(draws, "event", name, rows, parameters))
    for name, values in _VALUES.items():
        picks = draws.picks(f"event.{name}", rows, _CUMULATIVE[name])
        columns[name] = values.take(pa.array(picks))
    return pa.record_batch([columns[name] for name in ARROW_SCHEMA.names], schema=ARROW_SCHEMA)


def draw_numbers(
    draws: Draws, population: str, attribute: str, rows: Rows, parameters: AuctionParameters
) -> NDArray[np.int64]:
    """The numbers of the titles, authors or categories that these rows name."""
    stream = f"{population}.{attribute}"
    if attribute == "title" and parameters.zipf_exponent is not None:
        shares = zipf_shares(parameters.titles, parameters.zipf_exponent)
        return draws.picks(stream, rows, shares)
    size = {
        "title": parameters.titles,
        "author": parameters.authors,
        "category": parameters.categories,
    }[attribute]
    return draws.integers(stream, rows, 0, size - 1)


def labels(attribute: str, numbers: NDArray[np.int64]) -> pa.StringArray:
    """Numbers as values of title, author or category, such as `title 17`."""
    return pc.binary_join_element_wise(f"{attribute} ", pa.array(numbers).cast(pa.string()), "")


class _Group(msgspec.Struct, frozen=True):
    """The rows of a batch that are of one class: where they stand, and a column for each slot."""

    filter_class: FilterClass
    positions: NDArray[np.int64]
    constants: dict[str, pa.Array]


class Population:
    """The subscriptions or the advertisements of one auction; `noun` says which."""

    def __init__(
        self, noun: str, classes: Sequence[str], draws: Draws, parameters: AuctionParameters
    ) -> None:
        self._noun = noun
        self._classes = classes
        self._draws = draws
        self._parameters = parameters
        self._arrow_schema = pa.schema([(name, pa.string()) for name in (noun, "class", "filter")])

    def class_of(self, row: int) -> str:
        """The name of the row's class."""
        (rows,) = batches_of_rows(row, 1)
        return self._classes[int(self._kinds(rows)[0])]

    def filters(self, start: int, count: int) -> Iterator[Filter]:
        """The filters as trees."""
        for rows in batches_of_rows(start, count):
            filters: dict[int, Filter] = {}
            for group in self._groups(rows):
                columns = [column.to_pylist() for column in group.constants.values()]
                for position, *values in zip(group.positions.tolist(), *columns, strict=True):
                    constants = dict(zip(group.constants, values, strict=True))
                    filters[position] = group.filter_class.fill(constants)
            yield from (filters[position] for position in range(len(rows)))

    def table(self, start: int, count: int) -> pa.Table:
        """The ids, such as `s17`, the classes, and the filters as text."""
        batches = map(self._batch, batches_of_rows(start, count))
        return pa.Table.from_batches(batches, self._arrow_schema)

    def _batch(self, rows: Rows) -> pa.RecordBatch:
        groups = list(self._groups(rows))
        positions = np.concatenate([group.positions for group in groups])
        texts = pa.concat_arrays([_texts(group) for group in groups])
        columns = [
            pc.binary_join_element_wise(self._noun[0], pa.array(rows).cast(pa.string()), ""),
            pa.array(self._classes).take(pa.array(self._kinds(rows))),
            texts.take(pa.array(np.argsort(positions))),
        ]
        return pa.record_batch(columns, schema=self._arrow_schema)

    def _kinds(self, rows: Rows) -> NDArray[np.int64]:
        return self._draws.integers(f"{self._noun}.class", rows, 0, len(self._classes) - 1)

    def _groups(self, rows: Rows) -> Iterator[_Group]:
        kinds = self._kinds(rows)
        for kind, name in enumerate(self._classes):
            positions = np.flatnonzero(kinds == kind)
            if positions.size:
                filter_class = CLASSES[name]
                constants = {
                    slot: self._constants(filter_class, slot, rows[positions])
                    for slot in filter_class.pieces()[1::2]
                }
                yield _Group(filter_class, positions, constants)

    def _constants(self, filter_class: FilterClass, slot: str, rows: Rows) -> pa.Array:
        """The slot's column: strings for the attributes that are numbered, integers else."""
        if slot in NUMBERED:
            numbers = draw_numbers(self._draws, self._noun, slot, rows, self._parameters)
            return labels(slot, numbers)
        bounds = self._bounds(filter_class, slot)
        numbers = self._draws.integers(f"{self._noun}.{slot}", rows, bounds.low, bounds.high)
        return pa.array(numbers)

    def _bounds(self, filter_class: FilterClass, slot: str) -> Range:
        if slot == "ending":
            return self._parameters.ending_bound
        price = filter_class.prices[slot]
        if self._parameters.example_prices:
            return Range(price.example, price.example)
        bounds: Range = getattr(self._parameters, price.law)
        return bounds


def _texts(group: _Group) -> pa.StringArray:
    parts = group.filter_class.pieces()
    joined: list[str | pa.Array] = []
    for text, slot in zip(parts[::2], parts[1::2], strict=False):
        column = group.constants[slot]
        quote = "'" if pa.types.is_string(column.type) else ""
        joined += [text + quote, column.cast(pa.string()), quote]
    return pc.binary_join_element_wise(*joined, parts[-1], "")


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
        """The column `filter` of `subscriptions` as trees, made lazily."""
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
        """The column `filter` of `advertisements` as trees, made lazily."""
        return self._advertisements.filters(start, count)

    def advertisement(self, row: int) -> Filter:
        """One filter, as `subscription`."""
        return next(self.advertisement_filters(row, 1))
