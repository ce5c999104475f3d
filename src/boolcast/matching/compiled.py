"""Compiled kernels on demand: numba is imported when the first one is asked for."""

import sys
import threading
from collections.abc import Callable
from functools import cache
from typing import Any


@cache
def ranking_kernel(name: str) -> Callable[..., Any]:
    """A kernel of `kernels.ranking`, by its name there."""
    with Announcement():
        from boolcast.matching.kernels.ranking import compiled  # noqa: PLC0415 - imports numba

        return compiled(name)


@cache
def building_kernel(name: str) -> Callable[..., Any]:
    """A kernel of `kernels.building`, by its name there."""
    with Announcement():
        from boolcast.matching.kernels.building import compiled  # noqa: PLC0415 - imports numba

        return compiled(name)


class Announcement:
    """Tells on stderr why the first use in an installation takes long, if it does."""

    def __enter__(self) -> None:
        self._timer = threading.Timer(1.0, _announce)
        self._timer.start()

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()


@cache
def _announce() -> None:
    sys.stderr.write("boolcast: compiling the match kernels, once in an installation …\n")
