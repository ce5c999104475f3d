"""One measurement in several processes at once, each on its own processor.

Two processors may share a core and slow each other down. So what Spark does on several processors
is compared with as many engines at work on the same processors.
"""

import multiprocessing
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing.synchronize import Barrier
from typing import Final, TypeVar

import pyarrow as pa

T = TypeVar("T")

_PATIENCE: Final = 600.0
"""Seconds that a process waits for the others to be ready."""

_barrier: Barrier


def in_parallel(measure: Callable[[Callable[[], object]], T], processors: Sequence[int]) -> list[T]:
    """The results of all processes.

    `measure` must be importable. It calls its argument when it is ready, and goes on when all
    processes are.
    """
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(len(processors), timeout=_PATIENCE)
    with ProcessPoolExecutor(
        len(processors), mp_context=context, initializer=_share, initargs=(barrier,)
    ) as pool:
        started = [pool.submit(_measure, measure, each) for each in processors]
        return [each.result() for each in started]


def _share(barrier: Barrier) -> None:
    global _barrier  # noqa: PLW0603 - a barrier can only be inherited
    _barrier = barrier


def _measure(measure: Callable[[Callable[[], object]], T], processor: int) -> T:
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {processor})
    pa.set_cpu_count(1)
    return measure(_barrier.wait)
