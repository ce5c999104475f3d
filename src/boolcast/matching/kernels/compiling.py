"""How kernels are compiled: once in an installation, and kept in a cache that numba finds.

That is `NUMBA_CACHE_DIR`, or beside the source, or in the user's cache folder. Where none can be
written numba refuses to compile at all, and where the disk is full it fails once it has compiled.
A matcher works all the same, compiles in every process, and says so.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from threading import Timer
from typing import Any, Final

import numba as nb
from numba.core import event

PATIENCE_S: Final = 1.0
"""What is compiled for longer than this is announced."""


def kernel(function: Callable[..., Any]) -> Any:
    """The function compiled at its first call, without Python's lock."""
    compiled: Any = nb.njit(nogil=True)(function)
    try:
        compiled.enable_caching()
    except RuntimeError:
        warn_of_no_cache()
        return compiled
    # numba has no public place for this.
    kept = compiled._cache  # noqa: SLF001
    save = kept.save_overload

    def save_if_possible(signature: object, result: object) -> None:
        try:
            save(signature, result)
        except OSError:
            warn_of_no_cache()

    kept.save_overload = save_if_possible
    return compiled


@cache
def warn_of_no_cache() -> None:
    """Say it once in a process."""
    sys.stderr.write(
        "boolcast: compiled kernels cannot be kept here, so each process compiles them anew: "
        "set NUMBA_CACHE_DIR to a folder that can be written\n"
    )


@contextmanager
def announced(what: str) -> Iterator[None]:
    """Say on stderr that something is being compiled, if it takes long.

    What is found in the cache is not announced, however slow the machine.
    """
    line = f"boolcast: compiling {what}, once in an installation …\n"
    timer = Timer(PATIENCE_S, sys.stderr.write, [line])
    timer.daemon = True
    with event.install_listener("numba:compile", _Starter(timer)):
        try:
            yield
        finally:
            timer.cancel()


class _Starter(event.Listener):
    """Starts a timer when the first function begins to be compiled."""

    def __init__(self, timer: Timer) -> None:
        self.timer = timer

    def on_start(self, _: object) -> None:
        if self.timer.ident is None:
            self.timer.start()

    def on_end(self, _: object) -> None:
        pass
