"""Engines in several processes at once."""

import os
from functools import partial

import pytest

from boolcast.lab.benchmarks.choices import SparkPart
from boolcast.lab.benchmarks.spark.parallel import in_parallel
from boolcast.lab.benchmarks.spark.run import SparkChoice, measure_access, processors

CHOICE = SparkChoice(
    parts=[SparkPart.AUCTION],
    subscriptions=200,
    events=100,
    theta_subscriptions=1,
    theta_events=1,
    cores=2,
    repeats=1,
    seed=1,
)


@pytest.mark.slow
def test_each_processor_gets_an_engine():
    here = processors()[:2]
    before = os.sched_getaffinity(0)
    found = in_parallel(partial(measure_access, CHOICE), here)
    assert len(found) == len(here)
    assert len({(each.events, each.matches_per_event) for each in found}) == 1
    assert all(each.events_per_second > 0 for each in found)
    assert os.sched_getaffinity(0) == before
