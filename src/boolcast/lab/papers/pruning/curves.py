"""What pruning does step by step, as data: of one broker's table (P1-X5), and of five (P1-X3).

`operations` prunings are done at a point, and `predicates` are left, counted as often as they
occur. `passing` is what pruning lets grow.
"""

from collections.abc import Mapping
from typing import Final, Generic, Literal, TypeVar

import msgspec

from boolcast.optimising.pruning.stopping import cut_off
from boolcast.workloads.classes import SubscriptionClass

Setting = Literal["1", "2", "3", "1-3"]

SETTINGS: Final[Mapping[Setting, tuple[SubscriptionClass, ...]]] = {
    "1": ("S1",),
    "2": ("S2",),
    "3": ("S3",),
    "1-3": ("S1", "S2", "S3"),
}
"""The classes of subscriptions in each of P1's settings."""


class PruningPoint(msgspec.Struct, frozen=True, kw_only=True):
    """A table, and what events meet in it.

    `matching` of the events match one subscription at least. `associations`, `candidates` and
    `leaves` are those of `matching.counting.engine.Work`. Times are for an event.
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
        """Associations touched and leaves of trees to look at, an event."""
        return self.associations + self.leaves


class NetworkPoint(msgspec.Struct, frozen=True, kw_only=True):
    """The brokers after some of all possible prunings of their subscriptions.

    `predicates` are those of all entries of neighbours at all brokers. `links` says how many
    events crossed each link, in both directions, from one end of the line to the other.
    `matched` events were shown to a match engine.
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
        """Prunings done of all possible ones: the abscissa of the paper's figures."""
        return point.operations / max(self.points[-1].operations, 1)

    def relief(self, point: P) -> float:
        """Predicates removed of all that can be."""
        whole, least = self.points[0].predicates, self.points[-1].predicates
        return (whole - point.predicates) / max(whole - least, 1)

    def growth(self, point: P) -> float:
        """How often an event passes only because of pruning, of all events."""
        return (point.passing - self.points[0].passing) / self.events

    def saving(self, point: P) -> float | None:
        """By which share the counting engine takes less time for an event."""
        whole, now = self.points[0].counting_microseconds, point.counting_microseconds
        return None if whole is None or now is None else 1 - now / whole


PruningCurve = Curve[PruningPoint]
NetworkCurve = Curve[NetworkPoint]
