"""Calls of `match` with one event as a dict, as a Python application makes them."""

from time import perf_counter_ns
from typing import Any

import numpy as np

from boolcast.lab.benchmarks.choices import EngineName
from boolcast.lab.benchmarks.figures import SingleFigures
from boolcast.lab.benchmarks.match.engines import (
    ENGINES,
    auction,
    count_matches,
    load,
    settle,
)
from boolcast.lab.one_core import median_seconds
from boolcast.matching.inputs.protocol import Engine


def measure_single(
    name: EngineName, subscriptions: int, calls: int, repeats: int, seed: int
) -> SingleFigures:
    """Time calls on class 1 of the workload `fixed`: a title, an end and two prices."""
    workload = auction("fixed", subscriptions, seed, only_class_1=True)
    engine = ENGINES[name].make()
    load(engine, workload.subscriptions(0, subscriptions))
    calls = max(calls // ENGINES[name].fewer_events, 2)
    count_matches(engine, [workload.events(0, calls)])
    settle(engine)
    events: list[dict[str, Any]] = workload.events(calls, calls).to_pylist()
    found = _match_all(engine, events)
    mean = median_seconds(lambda: _match_all(engine, events), repeats) / calls
    single = _single_calls(engine, events)
    return SingleFigures(
        subscriptions=subscriptions,
        engine=name,
        calls=calls,
        microseconds_per_call=mean * 1e6,
        median_microseconds=float(np.percentile(single, 50)) / 1e3,
        percentile_99_microseconds=float(np.percentile(single, 99)) / 1e3,
        matches_per_event=found / calls,
    )


def _match_all(engine: Engine, events: list[dict[str, Any]]) -> int:
    match = engine.match
    found = 0
    for event in events:
        found += len(match(event))
    return found


def _single_calls(engine: Engine, events: list[dict[str, Any]]) -> list[int]:
    match = engine.match
    taken: list[int] = []
    for event in events:
        start = perf_counter_ns()
        match(event)
        taken.append(perf_counter_ns() - start)
    return taken
