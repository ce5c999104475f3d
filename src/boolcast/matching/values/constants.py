"""The constants of one attribute as sorted arrays of strings and numbers.

Arrays are stored as they are and mapped again, searched without Python objects, and united
without blocking other threads. `kernels.ranking` explains the format.
"""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import cache, cached_property
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from boolcast.matching.values.kernels import AFTER, BEFORE

_SEARCH_LIMITS: Final = (*[256] * 7, 2**62)
"""Probes for a string, with one seed after the other. Normally far fewer than the first limit
are needed; an attacker may choose strings that clash."""

_EXACT_AS_FLOAT: Final = 2**53

FEW: Final = 1_024
"""Up to this many constants Python finds a value faster than a kernel can be called."""

Numbers32 = NDArray[np.int32]


class Table(NamedTuple):
    """A hash table over strings, and the seed that it was filled with."""

    slots: NDArray[np.uint64]
    seed: int


class Strings:
    """Sorted strings, each with a boundary before it, after it, or both (`flags`).

    `starts` counts the boundaries before each string, and in one more entry all of them.

    The boundary before a string that ends in NUL is the boundary after the string without the
    NUL: so an equality needs one string for both of its boundaries.
    """

    def __init__(
        self,
        offsets: NDArray[np.int64],
        data: NDArray[np.uint8],
        flags: NDArray[np.uint8],
        starts: Numbers32 | None = None,
        table: Table | None = None,
    ) -> None:
        self.offsets = offsets
        self.data = data
        self.flags = flags
        self.starts = _starts(flags) if starts is None else starts
        self.boundaries = int(self.starts[-1])
        self._table = table

    @classmethod
    def of_boundaries(cls, boundaries: Sequence[str]) -> "Strings":
        """From the strings that have a boundary before them."""
        flags: dict[str, int] = {}
        for text in boundaries:
            stem, flag = stem_of(text)
            flags[stem] = flags.get(stem, 0) | flag
        stems = pa.array(flags.keys(), pa.large_string())
        order = pc.array_sort_indices(stems)
        given = np.fromiter(flags.values(), np.uint8, len(flags))
        return cls(*buffers_of(stems.take(order)), given[order.to_numpy()])

    def __len__(self) -> int:
        return len(self.flags)

    @cached_property
    def table(self) -> Table:
        """Made when first needed: strings that are only united never need it."""
        if self._table is not None:
            return self._table
        capacity = 1 << (2 * len(self)).bit_length()
        for seed, limit in enumerate(_SEARCH_LIMITS):
            slots = np.zeros(capacity, dtype=np.uint64)
            if ranking_kernel("fill_table")(self.offsets, self.data, slots, seed, limit):
                return Table(slots, seed)
        raise AssertionError("the last limit is never reached")

    def texts(self) -> list[str]:
        """The strings as Python's."""
        buffers = pa.py_buffer(self.offsets), pa.py_buffer(self.data)
        texts: list[str] = pa.LargeStringArray.from_buffers(len(self), *buffers).to_pylist()
        return texts

    def positions(self, boundaries: Sequence[str]) -> Numbers32:
        """For boundaries of this set, given as strings, the number of boundaries up to each."""
        numbers = np.empty(len(boundaries), dtype=np.int32)
        stems = [stem_of(text) for text in boundaries]
        texts = pa.array([stem for stem, _ in stems], pa.large_string())
        ranking_kernel("find_strings")(
            *buffers_of(texts), self.offsets, self.data, *self.table, numbers
        )
        flags = np.fromiter((flag for _, flag in stems), np.uint8, len(stems))
        return self.positions_of(numbers, flags)

    def positions_of(self, numbers: Numbers32, flags: NDArray[np.uint8]) -> Numbers32:
        """The positions of the boundaries before (or after) the strings of these numbers."""
        has_before = self.flags[numbers] & BEFORE
        return self.starts[numbers] + np.where(flags == AFTER, has_before + 1, 1).astype(np.int32)

    def united(self, other: "Strings") -> tuple["Strings", Numbers32, Numbers32]:
        """The strings of both, and for each of them its number there."""
        count = len(self) + len(other)
        offsets = np.empty(count + 1, dtype=np.int64)
        data = np.empty(len(self.data) + len(other.data), dtype=np.uint8)
        flags = np.empty(count, dtype=np.uint8)
        mine = np.empty(len(self), dtype=np.int32)
        others = np.empty(len(other), dtype=np.int32)
        count = ranking_kernel("unite_strings")(
            self.offsets,
            self.data,
            self.flags,
            other.offsets,
            other.data,
            other.flags,
            offsets,
            data,
            flags,
            mine,
            others,
        )
        return (
            Strings(
                offsets[: count + 1].copy(), data[: offsets[count]].copy(), flags[:count].copy()
            ),
            mine,
            others,
        )

    def moved_boundaries(self, into: "Strings", numbers: Numbers32) -> Numbers32:
        """The positions in `into` of all boundaries, given the numbers of the strings there."""
        moved = np.empty(self.boundaries, dtype=np.int32)
        for flag in (BEFORE, AFTER):
            having = np.flatnonzero(self.flags & flag)
            here = self.starts[:-1][having] if flag == BEFORE else self.starts[1:][having] - 1
            moved[here] = into.positions_of(numbers[having], np.full(len(having), flag, np.uint8))
        return moved


class Numbers:
    """Sorted integers and floats as pairs, which compare exactly."""

    def __init__(self, highs: NDArray[np.float64], lows: NDArray[np.int16]) -> None:
        self.highs = highs
        self.lows = lows

    @classmethod
    def of(cls, values: Sequence[int | float]) -> "Numbers":
        """From values in any order, all different."""
        highs, lows = _pairs(values)
        order = np.lexsort((lows, highs))
        return cls(highs[order], lows[order])

    def __len__(self) -> int:
        return len(self.highs)

    def values(self) -> list[int | float]:
        """As Python's numbers; a whole number may come back as a float that equals it."""
        return [
            int(high) + low if low else high
            for high, low in zip(self.highs.tolist(), self.lows.tolist(), strict=True)
        ]

    def prepare(self) -> None:
        """Make what `rank` needs."""
        _ = self._few

    @cached_property
    def _few(self) -> list[int | float] | None:
        return self.values() if len(self) <= FEW else None

    def rank(self, value: int | float) -> int:
        """How many of them are not above a value."""
        if self._few is not None:
            return bisect_right(self._few, value)
        if type(value) is float or -_EXACT_AS_FLOAT <= value <= _EXACT_AS_FLOAT:
            rank: int = ranking_kernel("rank_pair")(float(value), 0, self.highs, self.lows)
            return rank
        return int(self.ranks([value])[0])

    def ranks(self, values: Sequence[int | float]) -> Numbers32:
        """How many of them are not above each value."""
        ranks = np.empty(len(values), dtype=np.int32)
        ranking_kernel("rank_pairs")(*_pairs(values), self.highs, self.lows, ranks)
        return ranks

    def integer_ranks(self, values: NDArray[np.int64], base: int) -> Numbers32:
        """How many of them are not above each value, and the base."""
        ranks = np.empty(len(values), dtype=np.int32)
        ranking_kernel("rank_integers")(values, base, self.highs, self.lows, ranks)
        return ranks

    def float_ranks(self, values: NDArray[np.float64], base: int, not_a_number: int) -> Numbers32:
        """The same for floats; NaN gets `not_a_number`."""
        ranks = np.empty(len(values), dtype=np.int32)
        ranking_kernel("rank_floats")(values, base, not_a_number, self.highs, self.lows, ranks)
        return ranks

    def united(self, other: "Numbers") -> tuple["Numbers", Numbers32, Numbers32]:
        """The numbers of both, and for each of them its position there, from 0."""
        count = len(self) + len(other)
        highs = np.empty(count, dtype=np.float64)
        lows = np.empty(count, dtype=np.int16)
        mine = np.empty(len(self), dtype=np.int32)
        others = np.empty(len(other), dtype=np.int32)
        count = ranking_kernel("unite_pairs")(
            self.highs, self.lows, other.highs, other.lows, highs, lows, mine, others
        )
        return Numbers(highs[:count].copy(), lows[:count].copy()), mine, others


@cache
def ranking_kernel(name: str) -> Callable[..., Any]:
    """A compiled kernel of `kernels.ranking`."""
    from boolcast.matching.values.kernels import ranking  # noqa: PLC0415 - loads numba

    return ranking.compiled_by_name(name)


def load_kernels() -> None:
    """Compile all of these kernels, or read them from the cache."""
    from boolcast.matching.values.kernels import ranking  # noqa: PLC0415 - loads numba

    for name in ranking.NAMES:
        ranking_kernel(name)


def _starts(flags: NDArray[np.uint8]) -> Numbers32:
    starts = np.zeros(len(flags) + 1, dtype=np.int32)
    np.cumsum((flags & BEFORE) + (flags >> 1), dtype=np.int32, out=starts[1:])
    return starts


def _pairs(values: Sequence[int | float]) -> tuple[NDArray[np.float64], NDArray[np.int16]]:
    """Integers and floats as pairs."""
    count = len(values)
    whole = np.fromiter((v if type(v) is int else 0 for v in values), np.int64, count)
    broken = np.fromiter((v if type(v) is float else 0.0 for v in values), np.float64, count)
    highs = np.empty(count, dtype=np.float64)
    lows = np.empty(count, dtype=np.int16)
    ranking_kernel("split_integers")(whole, highs, lows)
    return highs + broken, lows


def stem_of(text: str) -> tuple[str, int]:
    """The string and the flag that represent the boundary before a text."""
    return (text[:-1], AFTER) if text.endswith("\0") else (text, BEFORE)


def buffers_of(array: pa.Array) -> tuple[NDArray[Any], NDArray[np.uint8]]:
    """The offsets and bytes of a string array; nothing is copied."""
    wide = pa.types.is_large_string(array.type)
    _, offsets, data = array.buffers()
    kind = np.dtype(np.int64 if wide else np.int32)
    if offsets is None or not len(array):
        return np.zeros(1, dtype=kind), NO_BYTES
    found = np.frombuffer(offsets, kind, len(array) + 1, array.offset * kind.itemsize)
    if not found.flags.aligned:
        found = found.copy()
    has_bytes = data is not None and len(data)
    return found, np.frombuffer(data, np.uint8) if has_bytes else NO_BYTES


NO_BYTES: Final = np.zeros(0, dtype=np.uint8)
EMPTY_STRINGS: Final = Strings(np.zeros(1, np.int64), NO_BYTES, NO_BYTES)
EMPTY_NUMBERS: Final = Numbers(np.zeros(0, np.float64), np.zeros(0, np.int16))
