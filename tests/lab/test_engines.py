"""What stands behind the names that a user may choose."""

import pytest

from boolcast.lab.benchmarks.choices import AlternativeName, EngineName, WorkloadName
from boolcast.lab.benchmarks.match.class_one import ALTERNATIVES
from boolcast.lab.benchmarks.match.engines import (
    ENGINES,
    WORKLOADS,
    auction,
    count_matches,
    load,
    pairs,
    settle,
)

pytestmark = pytest.mark.slow


def test_every_name_has_something_behind_it():
    assert list(ENGINES) == list(EngineName)
    assert list(WORKLOADS) == list(WorkloadName)
    assert list(ALTERNATIVES) == list(AlternativeName)


def test_auctions_have_as_many_titles_as_subscriptions():
    for name in ("auction", "auction-zipf", "auction-random", "fixed"):
        workload = auction(name, 500, 1)
        assert workload.parameters.titles == 500
        assert WORKLOADS[WorkloadName(name)](500, 1).events(0, 9) == workload.events(0, 9)


def test_class_1_is_alone_if_wanted():
    workload = auction("fixed", 500, 1, only_class_1=True)
    assert set(workload.subscriptions(0, 50)["class"].to_pylist()) == {"S1"}


@pytest.mark.parametrize("workload", WorkloadName)
@pytest.mark.parametrize("engine", EngineName)
def test_every_engine_is_loaded_and_finds_what_the_filters_say(engine, workload):
    made = WORKLOADS[workload](40, 1)
    contender = ENGINES[engine].make()
    load(contender, made.subscriptions(0, 40))
    settle(contender)
    events = made.events(0, 60)
    filters = list(made.subscription_filters(0, 40))
    expected = {
        (row, f"s{number}")
        for row in range(60)
        for event in [made.event(row)]
        for number, filter in enumerate(filters)
        if filter.accepts(event)
    }
    assert pairs(contender, events) == expected
    assert count_matches(contender, [events.slice(0, 20), events.slice(20)]) == len(expected)
