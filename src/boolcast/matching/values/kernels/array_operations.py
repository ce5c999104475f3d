"""Integer arrays, without holding Python's lock as numpy does."""

from collections.abc import Callable
from typing import Any

import numba as nb
import numpy as np
from numpy.typing import NDArray

from boolcast.matching.values.kernels.compiling import compiled, kernel

Array = NDArray[Any]


@kernel
def copy_runs(rows: Array, starts: Array, sizes: Array, copied: Array) -> None:
    """Runs of rows, one behind the other: `sizes[i]` rows from `starts[i]` on, for each i.

    `rows` and `copied` are int32 with the same number of columns; `copied` has as many rows as
    the sizes add up to.
    """
    columns = rows.shape[1]
    at = 0
    for run in range(starts.shape[0]):
        for row in range(starts[run], starts[run] + sizes[run]):
            for column in range(columns):
                copied[at, column] = rows[row, column]
            at += 1


@kernel
def number_rows(rows: Array, table: Array, first: Array, which: Array) -> int:
    """Number n rows so that equal ones get one number; returns how many are different.

    `rows` is int32 [n, k]; `table` int32, all 0, its length a power of two above n. `first` gets
    the first row of each number, `which` [n] each row's number. Numbers come in order of rows.
    """
    mask = np.uint64(table.shape[0] - 1)
    columns = rows.shape[1]
    count = 0
    for row in range(rows.shape[0]):
        mixed = np.uint64(0)
        for column in range(columns):
            mixed = (mixed ^ np.uint64(rows[row, column])) * np.uint64(0x9E3779B97F4A7C15)
            mixed ^= mixed >> np.uint64(32)
        slot = mixed & mask
        while True:
            known = table[slot] - 1
            if known < 0:
                table[slot] = count + 1
                first[count] = row
                which[row] = count
                count += 1
                break
            other = first[known]
            column = 0
            while column < columns and rows[row, column] == rows[other, column]:
                column += 1
            if column == columns:
                which[row] = known
                break
            slot = (slot + np.uint64(1)) & mask
    return count


@kernel
def count_numbers(numbers: Array, counts: Array) -> None:
    """Add how often each number occurs to its count: `np.bincount`, without a copy as int64."""
    for at in range(numbers.shape[0]):
        counts[numbers[at]] += 1


_ROWS = nb.types.Array(nb.int32, 2, "C")
_TABLE = nb.types.Array(nb.int32, 1, "C")
_NUMBERS = nb.types.Array(nb.int64, 1, "C")

_SIGNATURES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "copy_runs": (copy_runs, (_ROWS, _NUMBERS, _NUMBERS, _ROWS)),
    "count_numbers": (count_numbers, (_TABLE, _NUMBERS)),
    "number_rows": (number_rows, (_ROWS, _TABLE, _NUMBERS, _NUMBERS)),
}


NAMES = tuple(_SIGNATURES)


def compiled_by_name(name: str) -> Callable[..., Any]:
    """A kernel that is fast to call and checks no argument."""
    return compiled(*_SIGNATURES[name])
