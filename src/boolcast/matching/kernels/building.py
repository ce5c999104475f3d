"""What numpy would do in one call too, but with Python's lock in its hands."""

from collections.abc import Callable
from typing import Any

import numba as nb
from numpy.typing import NDArray

Array = NDArray[Any]


@nb.njit(cache=True, nogil=True)
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


def compiled_copy_runs() -> Callable[[Array, Array, Array, Array], None]:
    """`copy_runs`, as `kernels.access.compiled_match_events`."""
    rows = nb.types.Array(nb.int32, 2, "C")
    numbers = nb.types.Array(nb.int64, 1, "C")
    entry: Callable[[Array, Array, Array, Array], None] = copy_runs.compile(
        (rows, numbers, numbers, rows)
    )
    return entry
