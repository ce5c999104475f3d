"""What was chosen is measured step by step, on one core."""

import os
import sys
from collections import Counter
from time import sleep

import pyarrow as pa
import pytest
from msgspec.structs import replace

from boolcast.lab.benchmarks.choices import AlternativeName, EngineName, WorkloadName
from boolcast.lab.benchmarks.figures import BatchFigures
from boolcast.lab.benchmarks.match.run import Choice, run
from boolcast.lab.benchmarks.match.single_events import measure_single
from boolcast.lab.one_core import (
    _idle_ticks,
    _idlest,
    median_seconds,
    one_core,
    seconds,
)

pytestmark = pytest.mark.slow

EVERYTHING = Choice(
    workloads=[WorkloadName.AUCTION, WorkloadName.DIVERSE],
    sizes=[60, 90],
    engines=[EngineName.ACCESS, EngineName.COUNTING],
    single=True,
    against=[AlternativeName.NUMPY, AlternativeName.LAMBDAS],
    events=40,
    repeats=1,
    seed=1,
)


@pytest.mark.long
def test_everything_that_was_chosen_is_measured():
    begun: list[str] = []
    figures = list(run(EVERYTHING, begun.append))
    assert Counter(each.measure for each in figures) == {
        "batch": 8,
        "growth": 2,
        "single": 2,
        "rival": 3,
    }
    assert len(begun) == EVERYTHING.steps
    assert begun[:3] == [
        "drawing auction with 60 subscriptions",
        "access on auction with 60 subscriptions",
        "counting on auction with 60 subscriptions",
    ]
    assert begun[-1] == "lambdas on class 1"


def test_ratios_are_there_when_a_figure_is():
    first, *_ = run(replace(EVERYTHING, single=False, against=()), lambda _: None)
    assert isinstance(first, BatchFigures)
    assert first.times_counting is not None


def test_nothing_else_is_measured():
    nothing = Choice(sizes=[60], engines=[EngineName.ACCESS], events=40, repeats=1, seed=1)
    assert nothing.steps == 0
    assert list(run(nothing, lambda _: None)) == []


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="only where a system can tell")
def test_one_core_is_one_and_is_given_back(monkeypatch):
    given: list[set[int]] = []
    threads = pa.cpu_count()
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    monkeypatch.setattr(os, "sched_setaffinity", lambda _, processors: given.append(processors))
    with one_core():
        assert given in ([{0}], [{1}])
        assert pa.cpu_count() == 1
    assert given[1:] == [{0, 1}]
    assert pa.cpu_count() == threads


def test_the_idlest_processor_is_taken(monkeypatch):
    ticks = iter([{0: 100, 1: 900, 2: 50}, {0: 180, 1: 910, 2: 70}])
    monkeypatch.setattr("boolcast.lab.one_core._idle_ticks", lambda: next(ticks))
    assert _idlest({0, 1, 2}) == 0


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux has this count")
def test_idle_ticks_are_known_of_every_processor():
    assert set(_idle_ticks()) >= os.sched_getaffinity(0)


def test_the_time_is_that_of_the_processor():
    assert seconds(lambda: sleep(0.3)) < 0.2
    assert seconds(lambda: sum(range(3_000_000))) > 0.01


def test_the_median_is_of_all_repeats(monkeypatch):
    clock = iter([0, 5, 10, 11, 20, 23])
    monkeypatch.setattr("boolcast.lab.one_core.process_time", lambda: next(clock))
    assert median_seconds(lambda: None, 3) == 3


def test_single_calls_find_what_batches_find():
    figures = [measure_single(engine, 50, 100, 1, 1) for engine in EngineName]
    assert [each.calls for each in figures] == [100, 5, 25, 2]
    assert figures[0].matches_per_event > 0
    for each in figures:
        assert 0 < each.median_microseconds <= each.percentile_99_microseconds
