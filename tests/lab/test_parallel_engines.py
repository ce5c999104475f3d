"""Engines in several processes at once."""

import os

import pytest

from boolcast.lab.benchmarks.choices import EngineName, WorkloadName
from boolcast.lab.benchmarks.spark.parallel_engines import measure_in_parallel
from boolcast.lab.benchmarks.spark.run import processors


@pytest.mark.slow
def test_each_processor_gets_an_engine():
    here = processors()[:2]
    before = os.sched_getaffinity(0)
    found = measure_in_parallel(
        EngineName.ACCESS,
        WorkloadName.AUCTION,
        subscriptions=200,
        events=100,
        repeats=1,
        seed=1,
        processors=here,
    )
    assert len(found) == len(here)
    assert len({(each.events, each.matches_per_event) for each in found}) == 1
    assert all(each.events_per_second > 0 for each in found)
    assert os.sched_getaffinity(0) == before
