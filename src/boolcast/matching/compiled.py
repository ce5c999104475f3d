"""Compiled kernels on demand: numba is imported when the first one is asked for."""

import sys
import threading
from collections.abc import Callable
from functools import cache
from typing import Any, Final

_PATIENCE_S: Final = 1.0
"""What takes longer is said to take long."""


@cache
def ranking_kernel(name: str) -> Callable[..., Any]:
    """A kernel of `kernels.ranking`, by its name there."""
    from boolcast.matching.kernels.ranking import compiled  # noqa: PLC0415 - imports numba

    with Announcement():
        return compiled(name)


@cache
def building_kernel(name: str) -> Callable[..., Any]:
    """A kernel of `kernels.building`, by its name there."""
    from boolcast.matching.kernels.building import compiled  # noqa: PLC0415 - imports numba

    with Announcement():
        return compiled(name)


class Announcement:
    """Tells on stderr why the first use in an installation takes long, if it does."""

    def __enter__(self) -> None:
        self._timer = threading.Timer(_PATIENCE_S, _announce)
        # A process that ends meanwhile does not wait for it.
        self._timer.daemon = True
        self._timer.start()

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()


@cache
def _announce() -> None:
    sys.stderr.write("boolcast: compiling the match kernels, once in an installation …\n")
