"""Look values up among sorted constants, and unite sorted constants of several segments.

Strings are UTF-8 in one array of bytes, split by offsets: bytes sort as code points do. The flags
of a string say whether a boundary lies before it, after it, or both. A hash table finds a string
in one or two probes. An empty slot is 0; others hold the upper half of the hash and the string's
number from 1 on. Collisions go to the next slot.

Integers and floats are pairs (high, low): the largest float not above the number, and the rest,
a whole number. Pairs sort exactly as the numbers do.

`n` is the number of constants, `m` of values. Arrays are one-dimensional and contiguous.
"""

from collections.abc import Callable
from typing import Any

import numba as nb
import numpy as np
from numpy.typing import NDArray

from boolcast.matching.values.kernels import BEFORE
from boolcast.matching.values.kernels.compiling import compiled, kernel, short_kernel

Array = NDArray[Any]

_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)
_BYTE = np.uint64(8)
_LOW_HALF = np.uint64(0xFFFFFFFF)
_ONE = np.uint64(1)


@kernel
def hash_of(data: Array, begin: int, end: int, seed: int) -> int:
    """A 64-bit hash of some bytes, eight at a time."""
    mixed = np.uint64(seed) ^ (np.uint64(end - begin) * _FACTOR)
    at = np.uint64(begin)
    stop = np.uint64(end)
    while at + _BYTE <= stop:
        word = np.uint64(0)
        for position in range(8):
            word |= np.uint64(data[at + np.uint64(position)]) << np.uint64(8 * position)
        mixed = (mixed ^ word) * _FACTOR
        mixed ^= mixed >> _HALF
        at += _BYTE
    word = np.uint64(0)
    while at < stop:
        word = (word << _BYTE) | np.uint64(data[at])
        at += _ONE
    mixed = (mixed ^ word) * _FACTOR
    mixed ^= mixed >> np.uint64(29)
    mixed *= _FACTOR
    return mixed ^ (mixed >> _HALF)  # type: ignore[return-value]


@kernel
def fill_table(offsets: Array, data: Array, table: Array, seed: int, limit: int) -> bool:
    """Enter n strings, all different, into an empty table.

    `table` is uint64, its length a power of two above n. False, with the table half full, if a
    string would not be found in `limit` looks: try another seed. One pass over the bytes.
    """
    mask = np.uint64(table.shape[0] - 1)
    for number in range(offsets.shape[0] - 1):
        mixed = np.uint64(hash_of(data, offsets[number], offsets[number + 1], seed))
        slot = mixed & mask
        looks = 1
        while table[slot] != 0:
            slot = (slot + _ONE) & mask
            looks += 1
        if looks > limit:
            return False
        table[slot] = (mixed >> _HALF << _HALF) | np.uint64(number + 1)
    return True


@kernel
def find(
    texts: Array, begin: int, end: int, offsets: Array, data: Array, table: Array, seed: int
) -> int:
    """The number of a string among the constants, or -1; one look into the table, mostly."""
    mask = np.uint64(table.shape[0] - 1)
    mixed = np.uint64(hash_of(texts, begin, end, seed))
    slot = mixed & mask
    while True:
        entry = table[slot]
        if entry == 0:
            return -1
        if (entry ^ mixed) >> _HALF == 0:
            number = np.uint64(entry & _LOW_HALF) - _ONE
            start = offsets[number]
            size = offsets[number + _ONE] - start
            if size == end - begin:
                at = np.uint64(begin)
                other = np.uint64(start)
                stop = np.uint64(end)
                while at < stop and texts[at] == data[other]:
                    at += _ONE
                    other += _ONE
                if at == stop:
                    return np.int64(number)  # type: ignore[return-value]
        slot = (slot + _ONE) & mask


@kernel
def compare(
    left: Array, left_begin: int, left_end: int, right: Array, right_begin: int, right_end: int
) -> int:
    """Negative, 0 or positive as the left bytes lie before, are, or lie behind the right ones."""
    size = min(left_end - left_begin, right_end - right_begin)
    for at in range(size):
        one = np.int64(left[np.uint64(left_begin + at)])
        other = np.int64(right[np.uint64(right_begin + at)])
        if one != other:
            return one - other  # type: ignore[return-value]
    return (left_end - left_begin) - (right_end - right_begin)


@kernel
def lower_bound(texts: Array, begin: int, end: int, offsets: Array, data: Array) -> int:
    """How many constants lie before a string, by binary search."""
    low = 0
    high = offsets.shape[0] - 1
    while low < high:
        middle = (low + high) // 2
        if compare(data, offsets[middle], offsets[middle + 1], texts, begin, end) < 0:
            low = middle + 1
        else:
            high = middle
    return low


@short_kernel
def rank_string(
    texts: Array,
    begin: int,
    end: int,
    offsets: Array,
    data: Array,
    flags: Array,
    starts: Array,
    table: Array,
    seed: int,
    is_ordered: bool,
) -> int:
    """How many boundaries lie before or at a string.

    Where the order does not matter, what is no constant lies behind the last: between
    constants one position is as good as another.
    """
    number = find(texts, begin, end, offsets, data, table, seed)
    if number >= 0:
        return starts[number] + (flags[number] & BEFORE)  # type: ignore[no-any-return]
    if is_ordered:
        number = lower_bound(texts, begin, end, offsets, data)
    return starts[number]  # type: ignore[no-any-return]


@kernel
def rank_strings(
    text_offsets: Array,
    texts: Array,
    valid: Array,
    missing: int,
    base: int,
    offsets: Array,
    data: Array,
    flags: Array,
    starts: Array,
    table: Array,
    seed: int,
    is_ordered: bool,
    ranks: Array,
) -> None:
    """The ranks of m strings into `ranks`; `base` is added, and what is null gets `missing`.

    `text_offsets` has m + 1 entries; `valid` is m booleans, or none where nothing is null.
    """
    has_nulls = valid.shape[0] > 0
    for at in range(ranks.shape[0]):
        if has_nulls and not valid[at]:
            ranks[at] = missing
        else:
            ranks[at] = base + rank_string(
                texts,
                text_offsets[at],
                text_offsets[at + 1],
                offsets,
                data,
                flags,
                starts,
                table,
                seed,
                is_ordered,
            )


@kernel
def find_strings(
    text_offsets: Array,
    texts: Array,
    offsets: Array,
    data: Array,
    table: Array,
    seed: int,
    numbers: Array,
) -> None:
    """The number of each of m strings among the constants into `numbers`, -1 for unknown ones."""
    for at in range(numbers.shape[0]):
        numbers[at] = find(
            texts, text_offsets[at], text_offsets[at + 1], offsets, data, table, seed
        )


@kernel
def unite_strings(
    left_offsets: Array,
    left: Array,
    left_flags: Array,
    right_offsets: Array,
    right: Array,
    right_flags: Array,
    offsets: Array,
    data: Array,
    flags: Array,
    left_numbers: Array,
    right_numbers: Array,
) -> int:
    """Merge two sorted rows of strings into a third; returns how many they are together.

    Flags of equal strings are joined. `left_numbers` and `right_numbers` get the new number of
    each old string. The output must have room for all; costs one pass over the bytes.
    """
    lefts = left_offsets.shape[0] - 1
    rights = right_offsets.shape[0] - 1
    i = j = count = 0
    size = np.uint64(0)
    offsets[0] = 0
    while i < lefts or j < rights:
        if i == lefts:
            order = 1
        elif j == rights:
            order = -1
        else:
            order = compare(
                left,
                left_offsets[i],
                left_offsets[i + 1],
                right,
                right_offsets[j],
                right_offsets[j + 1],
            )
        flag = np.uint8(0)
        if order <= 0:
            for at in range(left_offsets[i], left_offsets[i + 1]):
                data[size] = left[np.uint64(at)]
                size += _ONE
        else:
            for at in range(right_offsets[j], right_offsets[j + 1]):
                data[size] = right[np.uint64(at)]
                size += _ONE
        if order <= 0:
            flag |= left_flags[i]
            left_numbers[i] = count
            i += 1
        if order >= 0:
            flag |= right_flags[j]
            right_numbers[j] = count
            j += 1
        flags[count] = flag
        count += 1
        offsets[count] = size
    return count


@kernel
def split(value: int) -> tuple[float, int]:
    """A 64-bit integer as a pair."""
    high = np.float64(value)
    if high >= 9223372036854775808.0:
        high = np.float64(9223372036854774784.0)
    elif np.int64(high) > value:
        high = np.nextafter(high, -np.inf)
    return high, value - np.int64(high)  # type: ignore[return-value]


@short_kernel
def rank_pair(high: float, low: int, highs: Array, lows: Array) -> int:
    """How many of n sorted pairs lie before or at a pair, by binary search."""
    begin = 0
    end = highs.shape[0]
    while begin < end:
        middle = (begin + end) // 2
        if highs[middle] < high or (highs[middle] == high and lows[middle] <= low):
            begin = middle + 1
        else:
            end = middle
    return begin


@kernel
def rank_pairs(
    highs: Array, lows: Array, known_highs: Array, known_lows: Array, ranks: Array
) -> None:
    """The ranks of m pairs among n."""
    for at in range(ranks.shape[0]):
        ranks[at] = rank_pair(highs[at], lows[at], known_highs, known_lows)


@kernel
def rank_integers(values: Array, base: int, highs: Array, lows: Array, ranks: Array) -> None:
    """The ranks of m integers, with `base` added."""
    for at in range(values.shape[0]):
        high, low = split(values[at])
        ranks[at] = base + rank_pair(high, low, highs, lows)


@kernel
def rank_floats(
    values: Array, base: int, not_a_number: int, highs: Array, lows: Array, ranks: Array
) -> None:
    """The ranks of m floats, with `base` added; NaN has a rank of its own."""
    for at in range(values.shape[0]):
        value = values[at]
        if np.isnan(value):
            ranks[at] = not_a_number
        else:
            ranks[at] = base + rank_pair(value, 0, highs, lows)


@kernel
def split_integers(values: Array, highs: Array, lows: Array) -> None:
    """Integers as pairs."""
    for at in range(values.shape[0]):
        highs[at], lows[at] = split(values[at])


@kernel
def unite_pairs(
    left_highs: Array,
    left_lows: Array,
    right_highs: Array,
    right_lows: Array,
    highs: Array,
    lows: Array,
    left_numbers: Array,
    right_numbers: Array,
) -> int:
    """Merge two sorted rows of pairs into a third, as `unite_strings` does."""
    lefts = left_highs.shape[0]
    rights = right_highs.shape[0]
    i = j = count = 0
    while i < lefts or j < rights:
        takes_left = j == rights or (
            i < lefts
            and (
                left_highs[i] < right_highs[j]
                or (left_highs[i] == right_highs[j] and left_lows[i] <= right_lows[j])
            )
        )
        takes_right = i == lefts or (
            j < rights
            and (
                right_highs[j] < left_highs[i]
                or (right_highs[j] == left_highs[i] and right_lows[j] <= left_lows[i])
            )
        )
        if takes_left:
            highs[count], lows[count] = left_highs[i], left_lows[i]
            left_numbers[i] = count
            i += 1
        if takes_right:
            highs[count], lows[count] = right_highs[j], right_lows[j]
            right_numbers[j] = count
            j += 1
        count += 1
    return count


def _row(kind: Any) -> Any:
    return nb.types.Array(kind, 1, "C")


_BYTES = _row(nb.uint8)
_LONGS = _row(nb.int64)
_INTS = _row(nb.int32)
_PAIRS = (_row(nb.float64), _row(nb.int16))
_TABLE = (_row(nb.uint64), nb.int64)
_STRINGS = (_LONGS, _BYTES, _BYTES)
_RANKED = (*_STRINGS, _INTS, *_TABLE, nb.boolean)

_SIGNATURES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "fill_table": (fill_table, (_LONGS, _BYTES, *_TABLE, nb.int64)),
    "find_strings": (find_strings, (_LONGS, _BYTES, _LONGS, _BYTES, *_TABLE, _INTS)),
    "rank_string": (rank_string, (_BYTES, nb.int64, nb.int64, *_RANKED)),
    "rank_strings": (
        rank_strings,
        (_INTS, _BYTES, _row(nb.boolean), nb.int64, nb.int64, *_RANKED, _INTS),
    ),
    "rank_large_strings": (
        rank_strings,
        (_LONGS, _BYTES, _row(nb.boolean), nb.int64, nb.int64, *_RANKED, _INTS),
    ),
    "unite_strings": (unite_strings, (*_STRINGS, *_STRINGS, *_STRINGS, _INTS, _INTS)),
    "rank_pair": (rank_pair, (nb.float64, nb.int64, *_PAIRS)),
    "rank_pairs": (rank_pairs, (*_PAIRS, *_PAIRS, _INTS)),
    "rank_integers": (rank_integers, (_LONGS, nb.int64, *_PAIRS, _INTS)),
    "rank_floats": (rank_floats, (_row(nb.float64), nb.int64, nb.int64, *_PAIRS, _INTS)),
    "split_integers": (split_integers, (_LONGS, *_PAIRS)),
    "unite_pairs": (unite_pairs, (*_PAIRS, *_PAIRS, *_PAIRS, _INTS, _INTS)),
}


NAMES = tuple(_SIGNATURES)


def compiled_by_name(name: str) -> Callable[..., Any]:
    """A kernel that is fast to call and checks no argument."""
    return compiled(*_SIGNATURES[name])
