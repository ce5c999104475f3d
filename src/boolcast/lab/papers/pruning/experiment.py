"""A table that is pruned step by step, and the curves that show what happens to it.

One broker's table (P1-X5) and the tables of five brokers (P1-X3) share the workload, the steps and
the shape of the curve. At a point of a curve, `operations` prunings are done and `predicates` are
left, counted as often as they occur. `passing` is what pruning makes grow.
"""

from collections.abc import Iterator, Mapping
from typing import Final, Generic, Literal, TypeVar

import msgspec
import pyarrow as pa
from msgspec.structs import replace

from boolcast.optimising.pruning.stopping import cut_off
from boolcast.workloads import PRESETS, Auction
from boolcast.workloads.classes import PRUNINGS, SubscriptionClass

_TRAINING_ROW: Final = 1_000_000
"""Selectivities are learnt from events that start here, far behind the measured ones."""

_LESSON: Final = 50_000
"""Training events drawn at a time."""

BROKERS: Final = 5
"""The brokers of P1-X3, in a line."""

Setting = Literal["1", "2", "3", "1-3"]

SETTINGS: Final[Mapping[Setting, tuple[SubscriptionClass, ...]]] = {
    "1": ("S1",),
    "2": ("S2",),
    "3": ("S3",),
    "1-3": ("S1", "S2", "S3"),
}
"""The classes of subscriptions in each of P1's settings."""


class PruningPoint(msgspec.Struct, frozen=True, kw_only=True):
    """A table, and what matching events against it takes.

    `matching` events match at least one subscription. `associations`, `candidates` and `leaves`
    are those of `matching.counting.engine.Work`. Times are for one event.
    """

    operations: int
    predicates: int
    counting_microseconds: float | None = None
    matching: int = 0
    associations: float = 0.0
    candidates: float = 0.0
    leaves: float = 0.0
    access_microseconds: float | None = None

    @property
    def passing(self) -> int:
        """The events that match."""
        return self.matching

    @property
    def work(self) -> float:
        """Associations touched and leaves evaluated for an event."""
        return self.associations + self.leaves


class NetworkPoint(msgspec.Struct, frozen=True, kw_only=True):
    """Five brokers after some of all possible prunings.

    `predicates` counts the predicates of all neighbours' entries at all brokers. `links` counts
    the events that crossed each link in either direction, from one end of the line to the other.
    `matched` counts the calls of a match engine.
    """

    operations: int
    predicates: int
    counting_microseconds: float | None = None
    deliveries: int
    are_deliveries_the_same: bool
    links: tuple[int, ...]
    matched: int

    @property
    def passing(self) -> int:
        """How often an event crossed a link."""
        return sum(self.links)


P = TypeVar("P", PruningPoint, NetworkPoint)


class Curve(msgspec.Struct, Generic[P], frozen=True, kw_only=True):
    """One setting, from whole tables to exhausted ones."""

    setting: Setting
    subscriptions: int
    events: int
    points: tuple[P, ...]

    @property
    def cut_off(self) -> P:
        """The point of the greatest gain (P1-X1)."""
        return self.points[cut_off([point.passing for point in self.points])]

    def proportion(self, point: P) -> float:
        """The share of all possible prunings that are done: the abscissa of the paper's figures."""
        return point.operations / max(self.points[-1].operations, 1)

    def relief(self, point: P) -> float:
        """The share of the removable predicates that are removed."""
        whole, least = self.points[0].predicates, self.points[-1].predicates
        return (whole - point.predicates) / max(whole - least, 1)

    def growth(self, point: P) -> float:
        """How often events pass only because of pruning, divided by their number."""
        return (point.passing - self.points[0].passing) / self.events

    def saving(self, point: P) -> float | None:
        """The share of the counting engine's time for an event that pruning saves."""
        whole, now = self.points[0].counting_microseconds, point.counting_microseconds
        return None if whole is None or now is None else 1 - now / whole


PruningCurve = Curve[PruningPoint]
NetworkCurve = Curve[NetworkPoint]


class PruningExperiment(msgspec.Struct, frozen=True, kw_only=True):
    """A table that is pruned in `steps` steps, and the events that measure it.

    By default, selectivities are learnt from ten events for each subscription, and at least
    10,000: with fewer, titles that happen to be rare in them are pruned too early. With 24 steps,
    every subscription of class 1, 2 or 3 has had the same number of prunings at each point.

    Times are taken with the first `timing_events`, and not at all if there are none.
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
        """The auction of P1, scaled down."""
        return pruning_auction(self.setting, self.subscriptions, self.seed)

    def lessons(self) -> Iterator[pa.Table]:
        """The events that selectivities are learnt from."""
        auction, count = self.auction, self.training_events
        if count is None:
            count = max(10 * self.subscriptions, 10_000)
        for start in range(0, count, _LESSON):
            yield auction.events(_TRAINING_ROW + start, min(_LESSON, count - start))

    def goals(self) -> list[int | None]:
        """The prunings done after each step; None means all that are possible."""
        auction = self.auction
        total = sum(PRUNINGS[auction.subscription_class(row)] for row in range(self.subscriptions))
        return [*(round(total * step / self.steps) for step in range(self.steps)), None]


def pruning_auction(setting: Setting, subscriptions: int, seed: int) -> Auction:
    """The auction of P1, scaled down to the same number of subscriptions for each title (W5)."""
    parameters = replace(
        PRESETS["P1"],
        titles=2 * subscriptions,
        authors=max(subscriptions // 10, 1),
        categories=max(subscriptions // 80, 1),
        subscription_classes=SETTINGS[setting],
    )
    return Auction(parameters, seed=seed)
