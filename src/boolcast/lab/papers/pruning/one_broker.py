"""Pruning one broker's table step by step: memory, matching events, work and time (P1-X5).

All subscriptions are those of neighbours. Selectivities are learnt from events of their own and
stay as they are (P1-E3). Then the table is pruned in equal steps to exhaustion, and at each step
the same events are matched. Times are left out unless asked for, since they are the machine's;
the rest is the same everywhere.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, TypeVar

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import replace

from boolcast.filters.expressions import Filter, IsNull, conjunction
from boolcast.lab.benchmarks.one_core import median_seconds
from boolcast.lab.papers.pruning.curves import (
    SETTINGS,
    Curve,
    PruningCurve,
    PruningPoint,
    Setting,
)
from boolcast.matching.counting.engine import CountingMatcher
from boolcast.matching.counting.forests import Forest
from boolcast.matching.inputs.protocol import Engine
from boolcast.matching.matcher import Matcher
from boolcast.model.identifiers import SubscriptionId
from boolcast.optimising.pruning.queues import SelectivityQueue
from boolcast.optimising.pruning.stopping import Operations
from boolcast.optimising.statistics.selectivities import Selectivities
from boolcast.workloads import PRESETS, Auction
from boolcast.workloads.classes import PRUNINGS

_TRAINING_ROW: Final = 1_000_000
"""Where the events begin that selectivities are learnt from: far behind those measured."""

_LESSON: Final = 50_000
"""How many of them are drawn at a time."""

_WORK_EVENTS: Final = 100
"""How many events the work is counted for, which is slow."""

_REPEATS: Final = 3

_NEVER: Final = IsNull("an attribute of no event", negated=True)

E = TypeVar("E", bound=Engine)


class PruningExperiment(msgspec.Struct, frozen=True, kw_only=True):
    """A table that is pruned in so many steps, and the events that it is measured with.

    Selectivities are learnt from ten events for each subscription, and 10,000 at least, if
    nothing else is said: with fewer, titles that happened to be rare lose what guards them too
    early. With 24 steps, points lie where each subscription of class 1, 2 or 3 has had the same
    number of prunings.

    Times are those of the first `timing_events`; without any, none are taken.
    """

    setting: Setting
    subscriptions: int
    events: int = 2_000
    steps: int = 24
    training_events: int | None = None
    timing_events: int = 0
    seed: int = 1

    @property
    def auction(self) -> Auction:
        """The auction of P1's runs, scaled down: as many subscriptions to a title as in W5."""
        return pruning_auction(self.setting, self.subscriptions, self.seed)

    def lessons(self) -> Iterator[pa.Table]:
        """The events that selectivities are learnt from."""
        auction, count = self.auction, self.training_events
        if count is None:
            count = max(10 * self.subscriptions, 10_000)
        for start in range(0, count, _LESSON):
            yield auction.events(_TRAINING_ROW + start, min(_LESSON, count - start))

    def goals(self) -> list[int | None]:
        """How many prunings are done after each step; None: all there are."""
        auction = self.auction
        total = sum(PRUNINGS[auction.subscription_class(row)] for row in range(self.subscriptions))
        return [*(round(total * step / self.steps) for step in range(self.steps)), None]


def pruning_auction(setting: Setting, subscriptions: int, seed: int) -> Auction:
    """The auction of P1's runs, scaled down: as many subscriptions to a title as in W5."""
    parameters = replace(
        PRESETS["P1"],
        titles=2 * subscriptions,
        authors=max(subscriptions // 10, 1),
        categories=max(subscriptions // 80, 1),
        subscription_classes=SETTINGS[setting],
    )
    return Auction(parameters, seed=seed)


def pruning_curve(experiment: PruningExperiment) -> PruningCurve:
    """Prune a table to exhaustion, and measure at each step.

    The mix gains nearly the same at 0.67 and at 0.75 of all prunings: which of them is its
    cut-off is not to be relied on.
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
    """The points from one step to another; what is pruned before the first is not measured."""
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


def learnt_selectivities(filters: Iterable[Filter], lessons: Iterable[pa.Table]) -> Selectivities:
    """What the counting engine learns from events about the predicates of filters.

    It counts for predicates and not for filters, so each predicate stands in it once, beside
    another that no event fulfils: nothing is ever a candidate, and it learns ten times as fast.
    """
    forest = Forest()
    for filter in filters:
        forest.plant(filter)
    matcher = CountingMatcher()
    for number, predicate in enumerate(forest.leaves):
        matcher.add(str(number), conjunction((predicate, _NEVER)))
    for events in lessons:
        _match(matcher, events)
    return Selectivities(matcher.statistics())


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
    """The point with its events counted, by the access engine if that is to be timed anyway."""
    counting = _loaded(CountingMatcher(), filters)
    associations, candidates, leaves = counting.work(events.slice(0, _WORK_EVENTS))
    at = replace(at, associations=associations, candidates=candidates, leaves=leaves)
    if not timing_events:
        return replace(at, matching=_match(counting, events))
    access = _loaded(Matcher(), filters)
    # What the engine learns from the events is put to use before it is timed.
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
