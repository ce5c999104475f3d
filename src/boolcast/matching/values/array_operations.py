"""Integer arrays: what numpy can do too, but compiled, so that other threads run meanwhile."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]


def number_rows(rows: NDArray[np.int32]) -> tuple[Integers, Integers]:
    """The first row of each different kind, and for each row the number of its kind."""
    table = np.zeros(1 << (2 * len(rows)).bit_length(), dtype=np.int32)
    first = np.empty(len(rows), dtype=np.int64)
    which = np.empty(len(rows), dtype=np.int64)
    count = _kernel("number_rows")(np.ascontiguousarray(rows), table, first, which)
    return first[:count], which


def copy_runs(rows: NDArray[np.int32], starts: Integers, sizes: Integers) -> NDArray[np.int32]:
    """`sizes[i]` rows from `starts[i]` on, for each i, one run behind the other."""
    copied = np.empty((int(sizes.sum()), rows.shape[1]), dtype=np.int32)
    _kernel("copy_runs")(rows, starts, sizes, copied)
    return copied


def count_numbers(numbers: NDArray[np.int32], counts: Integers) -> None:
    """Add to `counts` how often each number occurs."""
    _kernel("count_numbers")(numbers, counts)


def load_kernels() -> None:
    """Compile all kernels of this module, or read them from the cache."""
    from boolcast.matching.values.kernels import array_operations  # noqa: PLC0415 - loads numba

    for name in array_operations.NAMES:
        _kernel(name)


@cache
def _kernel(name: str) -> Callable[..., Any]:
    from boolcast.matching.values.kernels import array_operations  # noqa: PLC0415 - loads numba

    return array_operations.compiled_by_name(name)
