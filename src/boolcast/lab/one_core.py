"""Measure on one core, by processor time.

Processor time adds up all threads of this process. It is what a core of its own would take,
whatever else runs on the machine, because nothing that is measured here waits.
"""

import gc
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from time import process_time, sleep

import pyarrow as pa


@contextmanager
def one_core() -> Iterator[None]:
    """Confine this process to one processor, if the system can, and Arrow to one thread.

    Threads share that processor too, whether of an engine that merges in the background or of
    another library.
    """
    threads = pa.cpu_count()
    allowed = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
    pa.set_cpu_count(1)
    if allowed:
        os.sched_setaffinity(0, {_idlest(allowed)})
    try:
        yield
    finally:
        pa.set_cpu_count(threads)
        if allowed:
            os.sched_setaffinity(0, allowed)


def _idlest(processors: set[int]) -> int:
    """The processor that is least busy now, so that two benchmarks at once use different ones."""
    if len(processors) == 1:
        return max(processors)
    before = _idle_ticks()
    sleep(0.2)
    after = _idle_ticks()
    return max(processors, key=lambda number: after.get(number, 0) - before.get(number, 0))


def _idle_ticks() -> dict[int, int]:
    """How long each processor has been idle, as Linux counts it."""
    try:
        lines = Path("/proc/stat").read_text(encoding="ascii").splitlines()
    except OSError:
        return {}
    fields = [line.split() for line in lines if line.startswith("cpu") and line[3].isdigit()]
    return {int(name[3:]): int(idle) for name, _, _, _, idle, *_ in fields}


def seconds(run: Callable[[], object]) -> float:
    """The processor time of a call."""
    start = process_time()
    run()
    return process_time() - start


def median_seconds(run: Callable[[], object], repeats: int) -> float:
    """The median of several calls; garbage is collected before them, and not meanwhile."""
    gc.collect()
    gc.disable()
    try:
        return median(seconds(run) for _ in range(repeats))
    finally:
        gc.enable()
