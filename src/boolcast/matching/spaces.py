"""The rank spaces of all attributes that a segment looks at."""

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from boolcast.algebra.cuts import Cut
from boolcast.matching.columns import Column, RankedGroup, ShapeGroup, cuts_of
from boolcast.matching.ranks import RankSpace
from boolcast.matching.shapes import Test

ALWAYS: Final = ""
"""The attribute under which filters without any test are posted; no event carries it."""


class Spaces:
    """Attributes in a fixed order, each with its rank space."""

    def __init__(self, cuts: Mapping[str, Iterable[Cut]], ordered: Container[str]) -> None:
        self.names = (ALWAYS, *(name for name in cuts if name != ALWAYS))
        self.index = {name: number for number, name in enumerate(self.names)}
        self.spaces = tuple(
            RankSpace(cuts.get(name, ()), is_ordered=name in ordered) for name in self.names
        )

    @classmethod
    def of(cls, groups: Sequence[ShapeGroup]) -> "Spaces":
        """The spaces that these filters need."""
        return cls(*cuts_of(groups))

    @classmethod
    def united(cls, several: Sequence["Spaces"]) -> "Spaces":
        """The spaces that hold the cuts of several."""
        cuts: dict[str, set[Cut]] = {}
        ordered: set[str] = set()
        for each in several:
            for name, space in zip(each.names, each.spaces, strict=True):
                cuts.setdefault(name, set()).update(space.cuts)
                if space.is_ordered:
                    ordered.add(name)
        return cls(cuts, ordered)

    def ranked(self, group: ShapeGroup) -> RankedGroup:
        """The group with its constants as ranks."""
        bounds = [
            self._bounds(test, column)
            for test, column in zip(group.shape.tests, group.columns, strict=True)
        ]
        return RankedGroup(group.shape, np.array(group.slots, dtype=np.int32), bounds)

    def _bounds(self, test: Test, column: Column) -> NDArray[np.int32]:
        """A row of bounds for each filter; a set that is open at its end gets one more."""
        space = self.spaces[self.index[test.attribute]]
        place = space.place
        flat = [place[cut] for row in column.distinct for cut in row]
        distinct = np.array(flat, dtype=np.int32).reshape(len(column.distinct), test.cuts)
        if test.cuts % 2:
            end = np.full((len(distinct), 1), space.size, dtype=np.int32)
            distinct = np.concatenate([distinct, end], axis=1)
        rows: NDArray[np.int32] = distinct[np.array(column.codes, dtype=np.int64)]
        return rows

    def moved(self, group: RankedGroup, maps: Mapping[str, NDArray[np.int32]]) -> RankedGroup:
        """The group with its bounds mapped from other spaces into these."""
        bounds = [
            maps[test.attribute][each]
            for test, each in zip(group.shape.tests, group.bounds, strict=True)
        ]
        return RankedGroup(group.shape, group.slots, bounds)

    def maps_from(self, other: "Spaces") -> dict[str, NDArray[np.int32]]:
        """For each attribute of the other spaces, its bounds in these ones."""
        return {
            name: self.spaces[self.index[name]].map_from(space)
            for name, space in zip(other.names, other.spaces, strict=True)
        }
