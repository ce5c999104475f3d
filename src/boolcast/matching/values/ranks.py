"""Values as ranks: where a value lies among all the cuts that filters make on its attribute.

Every predicate on an attribute, whatever its kind, is a set of intervals between cuts (see
`algebra.ordered_sets`). Number the places between the cuts of all filters, and an event's value is
one small integer, and each predicate a comparison of integers. What is exact in the order of
all values, integers against floats and strings by code point included, stays exact.

The cuts of a space are arrays: a bit for each kind that has a cut where it begins, and the
constants of `values.constants`. So a space is stored, mapped and united with others as it is.
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

Places = NDArray[np.int32]

_END: Final = TIMESTAMP + 1
_TRUE: Final = _END + 1
"""The bit of the cut between false and true, behind those of the kinds."""

_NOTHING_NULL: Final = np.zeros(0, dtype=np.bool_)


class RankSpace:
    """The cuts of one attribute. Rank r lies behind r cuts; missing has a rank too.

    `marks` has a bit for each kind that has a cut at its begin. Where no string's place matters
    but only equality, `is_ordered` may be false.
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
        self.timestamp = self.string + strings.cuts + bits[TIMESTAMP]
        self.size = self.timestamp + len(timestamps) + bits[_END] + 1

    @classmethod
    def of_cuts(cls, cuts: Iterable[Boundary], *, is_ordered: bool = True) -> "RankSpace":
        """The space of some cuts, in any order."""
        marks = 0
        constants: dict[int, set[Any]] = {NUMBER: set(), STRING: set(), TIMESTAMP: set()}
        for cut in cuts:
            kind = cut[0]
            if len(cut) == 1:
                marks |= 1 << kind
            elif kind == BOOLEAN:
                marks |= 1 << _TRUE
            else:
                constants[kind].add(cut[1])
        numbers, strings, timestamps = (constants[k] for k in (NUMBER, STRING, TIMESTAMP))
        return cls(
            marks,
            Numbers.of(list(numbers)) if numbers else EMPTY_NUMBERS,
            Strings.of_cuts(list(strings)) if strings else EMPTY_STRINGS,
            Numbers.of(list(timestamps)) if timestamps else EMPTY_NUMBERS,
            is_ordered=is_ordered,
        )

    @cached_property
    def place(self) -> dict[Boundary, int]:
        """The place of each cut, for who has few of them."""
        bits = [kind for kind in range(_END + 1) if self.marks >> kind & 1]
        cuts: list[Boundary] = [(kind,) for kind in bits]
        if self.marks >> _TRUE & 1:
            cuts.append((BOOLEAN, True))
        cuts += [(NUMBER, value) for value in self.numbers.values()]
        for text, flags in zip(self.strings.texts(), self.strings.flags.tolist(), strict=True):
            if flags & BEFORE:
                cuts.append((STRING, text))
            if flags & AFTER:
                cuts.append((STRING, text + "\0"))
        cuts += [(TIMESTAMP, int(value)) for value in self.timestamps.values()]
        return dict(zip(cuts, self.places(cuts).tolist(), strict=True))

    def places(self, cuts: Sequence[Boundary]) -> Places:
        """The places of cuts that are among those of the space: the ranks just behind them."""
        places = np.empty(len(cuts), dtype=np.int32)
        kinds = np.fromiter((cut[0] for cut in cuts), np.int8, len(cuts))
        marks = np.fromiter((len(cut) == 1 or cut[0] == BOOLEAN for cut in cuts), bool, len(cuts))
        for kind in (NUMBER, STRING, TIMESTAMP):
            chosen = np.flatnonzero((kinds == kind) & ~marks)
            if len(chosen):
                places[chosen] = self._places_of(kind, [cuts[at][1] for at in chosen.tolist()])
        for at in np.flatnonzero(marks).tolist():
            places[at] = self.place_of_mark(cuts[at])
        return places

    def _places_of(self, kind: int, values: list[Any]) -> Places:
        if kind == STRING:
            return self.string + self.strings.places(values)
        known, base = (
            (self.numbers, self.number) if kind == NUMBER else (self.timestamps, self.timestamp)
        )
        return base + known.ranks(values)

    def place_of_mark(self, cut: Boundary) -> int:
        """The place where a kind begins, or where true does."""
        if cut[1:]:
            return self.boolean + 1
        begins = (1, self.opaque, self.boolean, self.number, self.string, self.timestamp)
        return (*begins, self.size - 1)[cut[0]]

    def united(self, other: "RankSpace") -> tuple["RankSpace", Places, Places]:
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
        self, space: "RankSpace", numbers: Places, strings: Places, timestamps: Places
    ) -> Places:
        """For each bound here the same bound there, given where the constants went."""
        bounds = np.zeros(self.size + 1, dtype=np.int32)
        for kind in range(_END + 1):
            if self.marks >> kind & 1:
                bounds[self.place_of_mark((kind,))] = space.place_of_mark((kind,))
        if self.marks >> _TRUE & 1:
            bounds[self.boolean + 1] = space.boolean + 1
        for begin, places in (
            (self.number, space.number + numbers + 1),
            (self.string, space.string + self.strings.moved_cuts(space.strings, strings)),
            (self.timestamp, space.timestamp + timestamps + 1),
        ):
            bounds[begin + 1 : begin + 1 + len(places)] = places
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
            return 1
        if kind is bool:
            return self.boolean + (value is True and self.marks >> _TRUE & 1)
        if isinstance(value, Timestamp):
            return self.timestamp + self.timestamps.rank(value.microseconds)
        assert isinstance(value, Opaque)
        return self.opaque

    def string_rank(self, text: str) -> int:
        """The rank of a string: known constants by a look-up, others by their place."""
        few = self._few
        if few is not None:
            known = few.get(text)
            if known is not None:
                return known
            if not self.is_ordered:
                return self.string + self.strings.cuts
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
        """Make what a search needs beforehand, so that none has to wait for it."""
        _ = self._search

    @cached_property
    def _search(self) -> tuple[Any, ...]:
        """What the kernels on strings take of the space."""
        strings = self.strings
        return (
            strings.offsets,
            strings.data,
            strings.flags,
            strings.starts,
            *strings.table,
            self.is_ordered,
        )

    def string_ranks(self, texts: pa.Array) -> Places:
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

    def float_ranks(self, values: NDArray[np.float64]) -> Places:
        """The ranks of floats; NaN is opaque."""
        return self.numbers.float_ranks(values, self.number, self.opaque)

    def integer_ranks(self, values: NDArray[np.int64]) -> Places:
        """The ranks of integers."""
        return self.numbers.integer_ranks(values, self.number)

    def timestamp_ranks(self, values: NDArray[np.int64]) -> Places:
        """The ranks of timestamps, given in microseconds."""
        return self.timestamps.integer_ranks(values, self.timestamp)
