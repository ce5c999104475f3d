"""Values as ranks: how many boundaries of an attribute's filters lie before a value?

Every predicate is a set of intervals between boundaries (`algebra.ordered_sets`). Number the
gaps between the boundaries of all filters: then an event's value is one small integer, and each
predicate a comparison of integers. The order of values stays exact, also between integers and
floats, and for strings by code point.

A space is made of arrays: a bit for each kind with a boundary where it begins, and the constants
of `values.constants`. So it is stored, mapped and united with others as it is.
"""

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from boolcast.algebra.ordered_sets import (
    BOOLEAN,
    MISSING,
    NUMBER,
    OPAQUE,
    STRING,
    TIMESTAMP,
    Boundary,
)
from boolcast.matching.values.constants import (
    EMPTY_NUMBERS,
    EMPTY_STRINGS,
    FEW,
    NO_BYTES,
    Numbers,
    Strings,
    buffers_of,
    ranking_kernel,
)
from boolcast.matching.values.kernels import AFTER, BEFORE
from boolcast.model.values import EventValue, Opaque, Timestamp

Ranks = NDArray[np.int32]

MISSING_RANK: Final = 1
"""The rank of a missing value: only the boundary before it lies below."""

_END: Final = TIMESTAMP + 1
_TRUE: Final = _END + 1
"""The bit of the boundary between false and true; it follows the bits of the kinds."""

_NOTHING_NULL: Final = np.zeros(0, dtype=np.bool_)


class RankSpace:
    """The boundaries of one attribute. Rank r lies behind r boundaries; missing has a rank too.

    `marks` has a bit for each kind with a boundary where it begins. `is_ordered` may be false
    if filters compare strings by equality only.
    """

    def __init__(
        self,
        marks: int,
        numbers: Numbers,
        strings: Strings,
        timestamps: Numbers,
        *,
        is_ordered: bool = True,
    ) -> None:
        self.marks = marks | 1 << MISSING
        self.numbers = numbers
        self.strings = strings
        self.timestamps = timestamps
        self.is_ordered = is_ordered
        bits = [self.marks >> kind & 1 for kind in range(_TRUE + 1)]
        self.opaque = 1 + bits[OPAQUE]
        self.boolean = self.opaque + bits[BOOLEAN]
        self.number = self.boolean + bits[_TRUE] + bits[NUMBER]
        self.string = self.number + len(numbers) + bits[STRING]
        self.timestamp = self.string + strings.boundaries + bits[TIMESTAMP]
        self.size = self.timestamp + len(timestamps) + bits[_END] + 1

    @classmethod
    def of_boundaries(
        cls, boundaries: Iterable[Boundary], *, is_ordered: bool = True
    ) -> "RankSpace":
        """The space of some boundaries, in any order."""
        marks = 0
        constants: dict[int, set[Any]] = {NUMBER: set(), STRING: set(), TIMESTAMP: set()}
        for boundary in boundaries:
            kind = boundary[0]
            if len(boundary) == 1:
                marks |= 1 << kind
            elif kind == BOOLEAN:
                marks |= 1 << _TRUE
            else:
                constants[kind].add(boundary[1])
        numbers, strings, timestamps = (constants[k] for k in (NUMBER, STRING, TIMESTAMP))
        return cls(
            marks,
            Numbers.of(list(numbers)) if numbers else EMPTY_NUMBERS,
            Strings.of_boundaries(list(strings)) if strings else EMPTY_STRINGS,
            Numbers.of(list(timestamps)) if timestamps else EMPTY_NUMBERS,
            is_ordered=is_ordered,
        )

    @cached_property
    def bounds(self) -> dict[Boundary, int]:
        """The rank just behind each boundary; for spaces with few of them."""
        bits = [kind for kind in range(_END + 1) if self.marks >> kind & 1]
        boundaries: list[Boundary] = [(kind,) for kind in bits]
        if self.marks >> _TRUE & 1:
            boundaries.append((BOOLEAN, True))
        boundaries += [(NUMBER, value) for value in self.numbers.values()]
        for text, flags in zip(self.strings.texts(), self.strings.flags.tolist(), strict=True):
            if flags & BEFORE:
                boundaries.append((STRING, text))
            if flags & AFTER:
                boundaries.append((STRING, text + "\0"))
        boundaries += [(TIMESTAMP, int(value)) for value in self.timestamps.values()]
        return dict(zip(boundaries, self.positions(boundaries).tolist(), strict=True))

    def positions(self, boundaries: Sequence[Boundary]) -> Ranks:
        """The ranks just behind boundaries of this space."""
        positions = np.empty(len(boundaries), dtype=np.int32)
        kinds = np.fromiter((boundary[0] for boundary in boundaries), np.int8, len(boundaries))
        marks = np.fromiter(
            (len(boundary) == 1 or boundary[0] == BOOLEAN for boundary in boundaries),
            bool,
            len(boundaries),
        )
        for kind in (NUMBER, STRING, TIMESTAMP):
            chosen = np.flatnonzero((kinds == kind) & ~marks)
            if len(chosen):
                positions[chosen] = self._positions_of(
                    kind, [boundaries[at][1] for at in chosen.tolist()]
                )
        for at in np.flatnonzero(marks).tolist():
            positions[at] = self.rank_of_mark(boundaries[at])
        return positions

    def _positions_of(self, kind: int, values: list[Any]) -> Ranks:
        if kind == STRING:
            return self.string + self.strings.positions(values)
        known, base = (
            (self.numbers, self.number) if kind == NUMBER else (self.timestamps, self.timestamp)
        )
        return base + known.ranks(values)

    def rank_of_mark(self, boundary: Boundary) -> int:
        """The rank where a kind begins, or where true does."""
        if boundary[1:]:
            return self.boolean + 1
        begins = (1, self.opaque, self.boolean, self.number, self.string, self.timestamp)
        return (*begins, self.size - 1)[boundary[0]]

    def united(self, other: "RankSpace") -> tuple["RankSpace", Ranks, Ranks]:
        """The space of both, and for each of them the maps of its bounds into it."""
        numbers = self.numbers.united(other.numbers)
        strings = self.strings.united(other.strings)
        timestamps = self.timestamps.united(other.timestamps)
        space = RankSpace(
            self.marks | other.marks,
            numbers[0],
            strings[0],
            timestamps[0],
            is_ordered=self.is_ordered or other.is_ordered,
        )
        return (
            space,
            self.map_to(space, numbers[1], strings[1], timestamps[1]),
            other.map_to(space, numbers[2], strings[2], timestamps[2]),
        )

    def map_to(
        self, space: "RankSpace", numbers: Ranks, strings: Ranks, timestamps: Ranks
    ) -> Ranks:
        """For each bound here the same bound there, given where the constants went."""
        bounds = np.zeros(self.size + 1, dtype=np.int32)
        for kind in range(_END + 1):
            if self.marks >> kind & 1:
                bounds[self.rank_of_mark((kind,))] = space.rank_of_mark((kind,))
        if self.marks >> _TRUE & 1:
            bounds[self.boolean + 1] = space.boolean + 1
        for begin, positions in (
            (self.number, space.number + numbers + 1),
            (self.string, space.string + self.strings.moved_boundaries(space.strings, strings)),
            (self.timestamp, space.timestamp + timestamps + 1),
        ):
            bounds[begin + 1 : begin + 1 + len(positions)] = positions
        bounds[self.size] = space.size
        return bounds

    def rank(self, value: EventValue | None) -> int:
        """The rank of one value; None stands for missing."""
        kind = type(value)
        if kind is str:
            return self.string_rank(value)  # type: ignore[arg-type]
        if kind is float or kind is int:
            return self.number + self.numbers.rank(value)  # type: ignore[arg-type]
        if value is None:
            return MISSING_RANK
        if kind is bool:
            return self.boolean + (value is True and self.marks >> _TRUE & 1)
        if isinstance(value, Timestamp):
            return self.timestamp + self.timestamps.rank(value.microseconds)
        assert isinstance(value, Opaque)
        return self.opaque

    def string_rank(self, text: str) -> int:
        """The rank of a string: of a constant by look-up, of others by search."""
        few = self._few
        if few is not None:
            known = few.get(text)
            if known is not None:
                return known
            if not self.is_ordered:
                return self.string + self.strings.boundaries
        data = text.encode()
        array = np.frombuffer(data, np.uint8) if data else NO_BYTES
        rank: int = ranking_kernel("rank_string")(array, 0, len(data), *self._search)
        return self.string + rank

    @cached_property
    def _few(self) -> dict[str, int] | None:
        """The ranks of the constants, where they are few."""
        if len(self.strings) > FEW:
            return None
        flags, starts = self.strings.flags, self.strings.starts[:-1]
        ranks = self.string + starts + (flags & BEFORE)
        return dict(zip(self.strings.texts(), ranks.tolist(), strict=True))

    def prepare(self) -> None:
        """Make what the search for a rank needs, so that the first search need not wait."""
        _ = self._search, self._few
        self.numbers.prepare()
        self.timestamps.prepare()

    @cached_property
    def _search(self) -> tuple[Any, ...]:
        """What the kernels on strings need of the space."""
        strings = self.strings
        return (
            strings.offsets,
            strings.data,
            strings.flags,
            strings.starts,
            *strings.table,
            self.is_ordered,
        )

    def string_ranks(self, texts: pa.Array) -> Ranks:
        """The ranks of a column of type string or large_string."""
        wide = pa.types.is_large_string(texts.type)
        valid = texts.is_valid().to_numpy(zero_copy_only=False) if texts.null_count else None
        ranks = np.empty(len(texts), dtype=np.int32)
        ranking_kernel("rank_large_strings" if wide else "rank_strings")(
            *buffers_of(texts),
            _NOTHING_NULL if valid is None else valid,
            1,
            self.string,
            *self._search,
            ranks,
        )
        return ranks

    def float_ranks(self, values: NDArray[np.float64]) -> Ranks:
        """The ranks of floats; NaN is opaque."""
        return self.numbers.float_ranks(values, self.number, self.opaque)

    def integer_ranks(self, values: NDArray[np.int64]) -> Ranks:
        """The ranks of integers."""
        return self.numbers.integer_ranks(values, self.number)

    def timestamp_ranks(self, values: NDArray[np.int64]) -> Ranks:
        """The ranks of timestamps, given in microseconds."""
        return self.timestamps.integer_ranks(values, self.timestamp)
