"""How long pruning takes, and how fast events are matched before and after.

`make bench` measures; as tests these run once, on little data.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, Final

import pytest

from boolcast.lab.benchmarks.match.engines import count_matches
from boolcast.lab.papers.pruning.experiment import pruning_auction
from boolcast.matching.counting.engine import CountingMatcher
from boolcast.matching.inputs.protocol import Engine
from boolcast.matching.matcher import Matcher
from boolcast.model.identifiers import SubscriptionId
from boolcast.optimising.pruning.queues import SelectivityQueue
from boolcast.optimising.statistics.selectivities import Selectivities

pytestmark = pytest.mark.slow

Benchmark = Callable[..., Any]

SUBSCRIPTIONS: Final = 1_000
AUCTION: Final = pruning_auction("1-3", SUBSCRIPTIONS, 1)


@cache
def selectivities() -> Selectivities:
    matcher = CountingMatcher()
    for row, filter in enumerate(AUCTION.subscription_filters(0, SUBSCRIPTIONS)):
        matcher.add(str(row), filter)
    count_matches(matcher, [AUCTION.events(10_000, 2_000)])
    return Selectivities(matcher.statistics())


def queue() -> SelectivityQueue:
    made = SelectivityQueue(selectivities())
    for row, filter in enumerate(AUCTION.subscription_filters(0, SUBSCRIPTIONS)):
        made.add(SubscriptionId(str(row)), filter)
    return made


@pytest.mark.benchmark(group="pruning")
def test_prune_to_exhaustion(benchmark: Benchmark) -> None:
    run = benchmark(lambda: queue().prune())
    assert run.stopped_by is None


@pytest.mark.benchmark(group="matching")
@pytest.mark.parametrize("engine", [CountingMatcher, Matcher])
@pytest.mark.parametrize("is_pruned", [False, True])
def test_match(benchmark: Benchmark, engine: Callable[[], Engine], is_pruned: bool) -> None:
    entries = queue()
    if is_pruned:
        entries.prune(entries.cut_off())
    made = engine()
    for name in entries:
        made.add(name, entries.filter_of(name))
    events = AUCTION.events(0, 1_000)
    assert benchmark(lambda: count_matches(made, [events])) > 0
