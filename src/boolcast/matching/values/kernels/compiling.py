"""Compile kernels once per installation, and keep them in numba's cache.

The cache is `NUMBA_CACHE_DIR`, or beside the source, or in the user's cache folder. If none can be
written numba refuses to compile at all, and if the disk is full it fails after compiling. A
matcher works all the same: it compiles in every process, and says so.
"""

import sys
from collections.abc import Callable
from functools import cache
from threading import Timer
from types import FunctionType
from typing import Any, Final

import numba as nb
from numba.core import event

PATIENCE_S: Final = 1.0
"""Compiling for longer than this is announced."""


def kernel(function: Callable[..., Any]) -> Any:
    """The function compiled at its first call; it runs without Python's lock."""
    return _kept(nb.njit(nogil=True)(function))


def short_kernel(function: Callable[..., Any]) -> Any:
    """The same for one that is over sooner than the lock could change hands; it keeps it."""
    return _kept(nb.njit(function))


def renamed(function: FunctionType, name: str) -> FunctionType:
    """A copy to compile with other options; numba's cache distinguishes it by its name."""
    copy = FunctionType(function.__code__, function.__globals__, name)
    copy.__qualname__ = name
    return copy


def _kept(compiled: Any) -> Any:
    """The function with a cache, where one can be written."""
    try:
        compiled.enable_caching()
    except RuntimeError:
        warn_of_no_cache()
        return compiled
    # numba offers no public way.
    cached = compiled._cache  # noqa: SLF001
    save = cached.save_overload

    def save_if_possible(signature: object, result: object) -> None:
        try:
            save(signature, result)
        except OSError:
            warn_of_no_cache()

    cached.save_overload = save_if_possible
    return compiled


@cache
def warn_of_no_cache() -> None:
    """Say it once in a process."""
    sys.stderr.write(
        "boolcast: compiled kernels cannot be kept here, so each process compiles them anew: "
        "set NUMBA_CACHE_DIR to a folder that can be written\n"
    )


def compiled(function: Any, signature: object) -> Callable[..., Any]:
    """A kernel for arguments of exactly these types, compiled or read from the cache.

    Announces on stderr that it is compiling, if that takes long. Reading from the cache is never
    announced.
    """
    timer = Timer(PATIENCE_S, _announce)
    # A process that ends meanwhile does not wait for it.
    timer.daemon = True
    with event.install_listener("numba:compile", _Starter(timer)):
        try:
            entry: Callable[..., Any] = function.compile(signature)
        finally:
            timer.cancel()
    return entry


@cache
def _announce() -> None:
    sys.stderr.write("boolcast: compiling the match kernels, once in an installation …\n")


class _Starter(event.Listener):
    """Starts a timer when the first function begins to be compiled."""

    def __init__(self, timer: Timer) -> None:
        self.timer = timer

    def on_start(self, _: object) -> None:
        if self.timer.ident is None:
            self.timer.start()

    def on_end(self, _: object) -> None:
        pass
