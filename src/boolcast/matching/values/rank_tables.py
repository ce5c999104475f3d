"""The rank spaces of all attributes that a segment looks at."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from boolcast.matching.values.columns import Column, RankedGroup, ShapeGroup, boundaries_of
from boolcast.matching.values.ranks import Ranks, RankSpace
from boolcast.matching.values.shapes import ALWAYS, Test

Maps = Mapping[str, Ranks]
"""For each attribute and bound in one space, the same bound in another."""


class Spaces:
    """Attributes in a fixed order, each with its rank space."""

    def __init__(self, spaces: Mapping[str, RankSpace]) -> None:
        always = spaces.get(ALWAYS) or RankSpace.of_boundaries(())
        spaces = {ALWAYS: always, **spaces}
        self.names = tuple(spaces)
        self.index = {name: number for number, name in enumerate(self.names)}
        self.spaces = tuple(spaces.values())
        self.ranks = tuple((name, space.rank) for name, space in spaces.items())

    @classmethod
    def of(cls, groups: Sequence[ShapeGroup]) -> "Spaces":
        """The spaces that these filters need."""
        boundaries, ordered = boundaries_of(groups)
        return cls(
            {
                name: RankSpace.of_boundaries(each, is_ordered=name in ordered)
                for name, each in boundaries.items()
            }
        )

    @classmethod
    def united(cls, several: Sequence["Spaces"]) -> tuple["Spaces", list[Maps]]:
        """Spaces with the boundaries of several, and the maps of bounds from each of them."""
        maps: list[dict[str, Ranks]] = [{} for _ in several]
        spaces: dict[str, RankSpace] = {}
        for name in dict.fromkeys(name for each in several for name in each.names):
            having = [number for number, each in enumerate(several) if name in each.index]
            parts = [several[number].spaces[several[number].index[name]] for number in having]
            spaces[name], moves = _united(parts)
            # Now, in the background, and not at the first match.
            _ = spaces[name].strings.table
            for number, move in zip(having, moves, strict=True):
                maps[number][name] = move
        return cls(spaces), list(maps)

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
        flat = space.positions([boundary for row in column.distinct for boundary in row])
        distinct = flat.reshape(len(column.distinct), test.boundaries)
        if test.boundaries % 2:
            end = np.full((len(distinct), 1), space.size, dtype=np.int32)
            distinct = np.concatenate([distinct, end], axis=1)
        rows: NDArray[np.int32] = distinct[np.array(column.codes, dtype=np.int64)]
        return rows

    def moved(self, group: RankedGroup, maps: Maps) -> RankedGroup:
        """The group with its bounds mapped from other spaces into these."""
        bounds = [
            maps[test.attribute][each]
            for test, each in zip(group.shape.tests, group.bounds, strict=True)
        ]
        return RankedGroup(group.shape, group.slots, bounds)


def _united(parts: Sequence[RankSpace]) -> tuple[RankSpace, list[Ranks]]:
    """One space of several, by halves, so that a constant is copied only a few times."""
    if len(parts) == 1:
        return parts[0], [np.arange(parts[0].size + 1, dtype=np.int32)]
    middle = len(parts) // 2
    left, left_maps = _united(parts[:middle])
    right, right_maps = _united(parts[middle:])
    space, from_left, from_right = left.united(right)
    return space, [from_left[each] for each in left_maps] + [
        from_right[each] for each in right_maps
    ]
