"""Engines in several processes at once, each on its own processor.

Two processors may share a core and slow each other down. So what runs on several processors is
compared with as many engines on the same processors.
"""

import multiprocessing
import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing.synchronize import Barrier
from typing import Final

import pyarrow as pa

from boolcast.lab.benchmarks.choices import EngineName, WorkloadName
from boolcast.lab.benchmarks.figures import BatchFigures
from boolcast.lab.benchmarks.match.batches import SharedWorkload

_PATIENCE: Final = 600.0
"""Seconds that a process waits for the others to load."""

_barrier: Barrier


def measure_in_parallel(
    engine: EngineName,
    workload: WorkloadName,
    *,
    subscriptions: int,
    events: int,
    repeats: int,
    seed: int,
    processors: Sequence[int],
) -> list[BatchFigures]:
    """The figures of each process; all start to match when the last one has loaded."""
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(len(processors), timeout=_PATIENCE)
    with ProcessPoolExecutor(
        len(processors), mp_context=context, initializer=_share, initargs=(barrier,)
    ) as pool:
        started = [
            pool.submit(_measure, engine, workload, subscriptions, events, repeats, seed, each)
            for each in processors
        ]
        return [each.result() for each in started]


def _share(barrier: Barrier) -> None:
    global _barrier  # noqa: PLW0603 - a barrier can only be inherited
    _barrier = barrier


def _measure(
    engine: EngineName,
    workload: WorkloadName,
    subscriptions: int,
    events: int,
    repeats: int,
    seed: int,
    processor: int,
) -> BatchFigures:
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {processor})
    pa.set_cpu_count(1)
    shared = SharedWorkload(workload, subscriptions, events, seed)
    return shared.measure(engine, repeats, before=_barrier.wait)
