"""Compiled kernels on demand: numba is imported when the first one is asked for."""

from collections.abc import Callable
from functools import cache
from typing import Any


@cache
def ranking_kernel(name: str) -> Callable[..., Any]:
    """A kernel of `kernels.ranking`, by its name there."""
    from boolcast.matching.values.kernels.ranking import compiled_by_name  # noqa: PLC0415 - imports numba

    return compiled_by_name(name)


@cache
def building_kernel(name: str) -> Callable[..., Any]:
    """A kernel of `kernels.building`, by its name there."""
    from boolcast.matching.values.kernels.building import compiled_by_name  # noqa: PLC0415 - imports numba

    return compiled_by_name(name)
