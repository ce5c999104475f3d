"""The constants of many filters of one shape; each distinct one is kept once."""

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from boolcast.algebra.ordered_sets import STRING, Boundary, OrderedSet
from boolcast.matching.values.shapes import Shape


class Column:
    """The constants of one test: a code for each filter, and what the codes from 0 up mean."""

    __slots__ = ("codes", "distinct")

    def __init__(self, distinct: Collection[OrderedSet]) -> None:
        self.codes: list[int] = []
        self.distinct = distinct


class ShapeGroup:
    """Filters of one shape: their slots, and a column of constants for each test."""

    __slots__ = ("_known", "columns", "has_residual", "shape", "slots")

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.has_residual = shape.has_residual
        self.slots: list[int] = []
        self._known: list[dict[OrderedSet, int]] = [{} for _ in shape.tests]
        self.columns = list(map(Column, self._known))

    def add(self, slot: int, constants: Sequence[OrderedSet]) -> None:
        """Add a filter."""
        self.slots.append(slot)
        for column, known, boundaries in zip(self.columns, self._known, constants, strict=True):
            column.codes.append(known.setdefault(boundaries, len(known)))


class RankedGroup:
    """The same, once its constants are ranks: a row of bounds for each filter and test."""

    __slots__ = ("bounds", "shape", "slots")

    def __init__(
        self, shape: Shape, slots: NDArray[np.int32], bounds: list[NDArray[np.int32]]
    ) -> None:
        self.shape = shape
        self.slots = slots
        self.bounds = bounds

    @property
    def nbytes(self) -> int:
        return self.slots.nbytes + sum(each.nbytes for each in self.bounds)


def boundaries_of(groups: Sequence[ShapeGroup]) -> tuple[dict[str, set[Boundary]], set[str]]:
    """The boundaries of all filters by attribute, and the attributes whose strings are ordered."""
    boundaries: dict[str, set[Boundary]] = {}
    ordered: set[str] = set()
    for group in groups:
        for test, column in zip(group.shape.tests, group.columns, strict=True):
            known = boundaries.setdefault(test.attribute, set())
            for row in column.distinct:
                known.update(row)
            if not all(map(_is_of_points, column.distinct)):
                ordered.add(test.attribute)
    return boundaries, ordered


def _is_of_points(row: OrderedSet) -> bool:
    """True if the set compares strings by equality only: boundaries enclose single strings."""
    strings = [boundary[1] for boundary in row if boundary[0] == STRING and len(boundary) > 1]
    return len(strings) % 2 == 0 and all(
        low + "\0" == high for low, high in zip(strings[::2], strings[1::2], strict=True)
    )
