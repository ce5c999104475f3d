"""Pruning one broker's table step by step: memory, matching events, work and time (P1-X5).

All subscriptions are those of neighbours. Selectivities are learnt from events of their own and
stay as they are (P1-E3). Then the table is pruned in equal steps to exhaustion, and at each step
the same events are matched by the counting engine. Times are left out unless asked for, since
they are the machine's; the rest is the same everywhere.
"""

from collections.abc import Mapping
from typing import Final, Literal, TypeVar

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import replace

from boolcast.experiments.one_core import median_seconds
from boolcast.filters.expressions import Filter
from boolcast.matching.access import Matcher
from boolcast.matching.counting import CountingMatcher
from boolcast.matching.protocol import Engine
from boolcast.model.identifiers import SubscriptionId
from boolcast.optimising.selectivities import Selectivities
from boolcast.optimising.selectivity_queue import SelectivityQueue
from boolcast.optimising.stopping import Operations, cut_off
from boolcast.workloads import PRESETS, Auction
from boolcast.workloads.classes import SubscriptionClass

Setting = Literal["1", "2", "3", "1-3"]

SETTINGS: Final[Mapping[Setting, tuple[SubscriptionClass, ...]]] = {
    "1": ("S1",),
    "2": ("S2",),
    "3": ("S3",),
    "1-3": ("S1", "S2", "S3"),
}
"""The classes of subscriptions in each of P1's settings."""

_TRAINING_ROW: Final = 1_000_000
"""Where the events begin that selectivities are learnt from: far behind those measured."""

_WORK_EVENTS: Final = 100
"""How many events the work is counted for, which is slow."""

_REPEATS: Final = 3

E = TypeVar("E", bound=Engine)


class PruningPoint(msgspec.Struct, frozen=True, kw_only=True):
    """The table after some of all possible prunings, and what events meet in it.

    `matching` of the events match one subscription at least. `associations`, `candidates` and
    `leaves` are those of `matching.counting.Work`. Times are microseconds an event.
    """

    operations: int
    predicates: int
    matching: int
    associations: float
    candidates: float
    leaves: float
    counting_microseconds: float | None = None
    access_microseconds: float | None = None

    @property
    def work(self) -> float:
        """Associations touched and leaves of trees to look at, an event."""
        return self.associations + self.leaves


class PruningCurve(msgspec.Struct, frozen=True, kw_only=True):
    """One setting, from the whole table to the exhausted one."""

    setting: Setting
    subscriptions: int
    events: int
    points: tuple[PruningPoint, ...]

    @property
    def cut_off(self) -> PruningPoint:
        """The point of the greatest gain (P1-X1)."""
        return self.points[cut_off([point.matching for point in self.points])]

    def proportion(self, point: PruningPoint) -> float:
        """Prunings done of all possible ones: the abscissa of the paper's figures."""
        return point.operations / max(self.points[-1].operations, 1)

    def relief(self, point: PruningPoint) -> float:
        """Predicates removed of all that can be."""
        whole, least = self.points[0].predicates, self.points[-1].predicates
        return (whole - point.predicates) / max(whole - least, 1)

    def growth(self, point: PruningPoint) -> float:
        """Events that match only because of pruning, of all events."""
        return (point.matching - self.points[0].matching) / self.events


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


def pruning_curve(
    setting: Setting,
    subscriptions: int,
    *,
    steps: int = 24,
    events: int = 2_000,
    training_events: int | None = None,
    seed: int = 1,
    timed: bool = False,
) -> PruningCurve:
    """Prune the table of one setting in so many steps, and measure at each.

    Selectivities are learnt from ten events for each subscription, and 10,000 at least, if
    nothing else is said: with fewer, titles that happened to be rare lose what guards them too
    early. With 24 steps, points lie where each subscription of class 1, 2 or 3 has had the same
    number of prunings. The mix gains nearly the same at 0.67 and at 0.75 of all prunings: which
    of them is its cut-off is not to be relied on.
    """
    auction = pruning_auction(setting, subscriptions, seed)
    lessons = max(10 * subscriptions, 10_000) if training_events is None else training_events
    filters: dict[SubscriptionId, Filter] = {
        SubscriptionId(f"s{row}"): filter
        for row, filter in enumerate(auction.subscription_filters(0, subscriptions))
    }
    queue = SelectivityQueue(learnt_selectivities(filters, auction.events(_TRAINING_ROW, lessons)))
    for subscription, filter in filters.items():
        queue.add(subscription, filter)
    total = len(queue.forecast()) - 1
    measured = auction.events(0, events)
    points: list[PruningPoint] = []
    done = 0
    for step in range(steps + 1):
        goal = round(total * step / steps)
        filters.update(queue.prune(Operations(goal - done)).changed)
        done = goal
        points.append(_point(done, queue.standing().predicates, filters, measured, timed=timed))
    return PruningCurve(
        setting=setting, subscriptions=subscriptions, events=events, points=tuple(points)
    )


def learnt_selectivities(
    filters: Mapping[SubscriptionId, Filter], events: pa.Table
) -> Selectivities:
    """What the counting engine learns from events."""
    matcher = _loaded(CountingMatcher(), filters)
    _match(matcher, events)
    return Selectivities(matcher.statistics())


def _loaded(engine: E, filters: Mapping[SubscriptionId, Filter]) -> E:
    for subscription, filter in filters.items():
        engine.add(subscription, filter)
    return engine


def _match(engine: Engine, events: pa.Table) -> int:
    """How many of the events match."""
    return len(pc.unique(engine.match_batch(events).read_all()["event"]))


def _point(
    operations: int,
    predicates: int,
    filters: Mapping[SubscriptionId, Filter],
    events: pa.Table,
    *,
    timed: bool,
) -> PruningPoint:
    counting = _loaded(CountingMatcher(), filters)
    associations, candidates, leaves = counting.work(events.slice(0, _WORK_EVENTS))
    return PruningPoint(
        operations=operations,
        predicates=predicates,
        matching=_match(counting, events),
        associations=associations,
        candidates=candidates,
        leaves=leaves,
        counting_microseconds=_microseconds(counting, events) if timed else None,
        access_microseconds=_microseconds(_settled(filters, events), events) if timed else None,
    )


def _settled(filters: Mapping[SubscriptionId, Filter], events: pa.Table) -> Matcher:
    """The access engine with what it learns from the events put to use."""
    matcher = _loaded(Matcher(), filters)
    _match(matcher, events)
    matcher.merge()
    return matcher


def _microseconds(engine: Engine, events: pa.Table) -> float:
    return median_seconds(lambda: _match(engine, events), _REPEATS) / len(events) * 1e6
