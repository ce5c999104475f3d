"""Subscriptions and advertisements of the book auction, as trees and, in bulk, as texts.

Both are made from the same columns of constants, one group of rows for each filter class:
a tree fills the class's shape with them, a text joins the pieces of the shape's text.
"""

from collections.abc import Iterator, Sequence

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from boolcast.filters.expressions import Filter
from boolcast.workloads.books import NUMBERED, draw_numbers, labels
from boolcast.workloads.classes import CLASSES, FilterClass
from boolcast.workloads.draws import Draws, Rows, batches_of_rows
from boolcast.workloads.parameters import AuctionParameters, Range


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
