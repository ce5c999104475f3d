"""Prune one broker's table step by step: memory, matching events, work and time (P1-X5).

All subscriptions come from neighbours. Selectivities are learnt from separate events and stay
fixed (P1-E3). Then the table is pruned in equal steps to exhaustion, and the same events are
matched at each step. Times depend on the machine, so they are taken only on request; everything
else is the same everywhere.
"""

from collections.abc import Mapping
from typing import Final, TypeVar

import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import replace

from boolcast.filters.expressions import Filter
from boolcast.lab.one_core import median_seconds
from boolcast.lab.papers.pruning.experiment import (
    Curve,
    PruningCurve,
    PruningExperiment,
    PruningPoint,
)
from boolcast.lab.papers.selectivities import learnt_selectivities
from boolcast.matching.counting.engine import CountingMatcher
from boolcast.matching.inputs.protocol import Engine
from boolcast.matching.matcher import Matcher
from boolcast.model.identifiers import SubscriptionId
from boolcast.optimising.pruning.queues import SelectivityQueue
from boolcast.optimising.pruning.stopping import Operations

_WORK_EVENTS: Final = 100
"""Work is counted for this many events, because counting is slow."""

_REPEATS: Final = 3

E = TypeVar("E", bound=Engine)


def pruning_curve(experiment: PruningExperiment) -> PruningCurve:
    """Prune a table to exhaustion, and measure at each step.

    The mix gains nearly the same at 0.67 and at 0.75 of all prunings, so do not rely on which of
    the two is its cut-off.
    """
    return Curve(
        setting=experiment.setting,
        subscriptions=experiment.subscriptions,
        events=experiment.events,
        points=pruning_points(experiment, 0, experiment.steps),
    )


def pruning_points(
    experiment: PruningExperiment, first: int, last: int
) -> tuple[PruningPoint, ...]:
    """The points from one step to another; earlier steps are pruned but not measured."""
    auction = experiment.auction
    filters: dict[SubscriptionId, Filter] = {
        SubscriptionId(f"s{row}"): filter
        for row, filter in enumerate(auction.subscription_filters(0, experiment.subscriptions))
    }
    queue = SelectivityQueue(learnt_selectivities(filters.values(), experiment.lessons()))
    for subscription, filter in filters.items():
        queue.add(subscription, filter)
    events = auction.events(0, experiment.events)
    points: list[PruningPoint] = []
    done = 0
    for step, goal in enumerate(experiment.goals()[: last + 1]):
        run = queue.prune(*([] if goal is None else [Operations(goal - done)]))
        done += run.after.operations
        filters.update(run.changed)
        if step >= first:
            at = PruningPoint(operations=done, predicates=run.after.predicates)
            points.append(_measured(at, filters, events, experiment.timing_events))
    return tuple(points)


def _loaded(engine: E, filters: Mapping[SubscriptionId, Filter]) -> E:
    for subscription, filter in filters.items():
        engine.add(subscription, filter)
    return engine


def _match(engine: Engine, events: pa.Table) -> int:
    """How many of the events match."""
    return len(pc.unique(engine.match_batch(events).read_all()["event"]))


def _measured(
    at: PruningPoint,
    filters: Mapping[SubscriptionId, Filter],
    events: pa.Table,
    timing_events: int,
) -> PruningPoint:
    """The point with its figures; the access engine counts matches if it is timed anyway."""
    counting = _loaded(CountingMatcher(), filters)
    associations, candidates, leaves = counting.work(events.slice(0, _WORK_EVENTS))
    at = replace(at, associations=associations, candidates=candidates, leaves=leaves)
    if not timing_events:
        return replace(at, matching=_match(counting, events))
    access = _loaded(Matcher(), filters)
    # Let the engine use what it learns from the events before it is timed.
    matching = _match(access, events)
    access.merge()
    timed = events.slice(0, timing_events)
    assert _match(counting, timed) == _match(access, timed)
    return replace(
        at,
        matching=matching,
        counting_microseconds=_microseconds(counting, timed),
        access_microseconds=_microseconds(access, timed),
    )


def _microseconds(engine: Engine, events: pa.Table) -> float:
    return median_seconds(lambda: _match(engine, events), _REPEATS) / len(events) * 1e6
