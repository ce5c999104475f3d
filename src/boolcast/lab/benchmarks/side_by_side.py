"""An engine in several processes at once, each on a processor of its own.

Processors may share a core: what one does alone, two at a time do not each. So whatever runs on
several is held against as many engines that run on the same.
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
from boolcast.lab.benchmarks.match.batches import Field

_PATIENCE: Final = 600.0
"""Seconds until a process gives up waiting for the others to have loaded."""

_barrier: Barrier


def measure_side_by_side(
    engine: EngineName,
    workload: WorkloadName,
    *,
    subscriptions: int,
    events: int,
    repeats: int,
    seed: int,
    processors: Sequence[int],
) -> list[BatchFigures]:
    """The figures of each process; all of them begin to match when the last one has loaded."""
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
    field = Field(workload, subscriptions, events, seed)
    return field.measure(engine, repeats, before=_barrier.wait)
