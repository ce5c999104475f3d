"""The load of P4-X1 at the paper's size: large subscriptions that cover many small ones.

Filters, publishers and publications are those of `simulation.scenarios`. What comes on top is what
the paper varies: the covering degree, the number of children that accept an event, clusters of
subscribers, and arrays instead of lists for 80,000 subscriptions. Events are uniform over groups
and `x`. The more children accept an event, the more of a root's events are wanted by others anyway.
"""

from collections.abc import Iterator
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from boolcast.filters.expressions import Filter
from boolcast.model.events import Event
from boolcast.model.identifiers import BrokerId, ClientId
from boolcast.routing.protocol.stimuli import (
    ClientSubscribes,
    ClientUnsubscribes,
    Request,
)
from boolcast.routing.protocol.topology import Topology
from boolcast.simulation.scenarios.groups import RANGE, child, root
from boolcast.simulation.scenarios.histories import Action
from boolcast.simulation.scenarios.scenarios import publications, publishers
from boolcast.simulation.scenarios.topologies import PUBLISHER_EDGES, edges, paper_49

Placement = Literal["scattered", "clustered"]


class Load(msgspec.Struct, frozen=True, kw_only=True):
    """Numbers and times; the defaults are those of P4-X3 at the paper's size.

    Each of the `roots` has `degree` children, and on average `matching` of them accept an event of
    their group. A publication comes every `interval_ms`. After `warm_up_seconds` the first roots
    are removed, evenly within `unsubscription_seconds`. Publications go on for `seconds_after`
    from the first removal.
    """

    roots: int = 38
    degree: int = 2_100
    matching: float = 42.0
    unsubscriptions: int = 20
    unsubscription_seconds: float = 10.0
    interval_ms: float = 10.0
    warm_up_seconds: float = 200.0
    seconds_after: float = 800.0
    placement: Placement = "scattered"

    @property
    def subscriptions(self) -> int:
        """Roots and children."""
        return self.roots * (self.degree + 1)

    @property
    def seconds(self) -> float:
        """The duration of all publications."""
        return self.warm_up_seconds + self.seconds_after

    @property
    def publications(self) -> int:
        """The number of publications."""
        return round(self.seconds * 1_000 / self.interval_ms)


class Groups:
    """Subscriptions, their brokers, and events, all drawn from a seed.

    Subscriptions are numbered: roots first, then children. The numbers of one group differ by
    multiples of `roots`.
    """

    def __init__(self, load: Load, seed: int) -> None:
        self.load = load
        self.topology: Topology = paper_49()
        self.publishing = list(PUBLISHER_EDGES)
        self.subscribing = [each for each in edges(self.topology) if each not in self.publishing]
        self._random = np.random.default_rng(seed)
        children = load.roots * load.degree
        self.width = width_for(load.degree, load.matching)
        # From below 0, so that the first values of `x` are covered as often as all others.
        self.lows: NDArray[np.int64] = self._random.integers(-self.width + 1, RANGE, children)
        self.brokers = self._brokers()
        self.order: list[int] = self._random.permutation(load.subscriptions).tolist()
        count = load.publications
        self.event_groups: NDArray[np.int64] = self._random.integers(0, load.roots, count)
        self.event_values: NDArray[np.int64] = self._random.integers(0, RANGE, count)

    def _brokers(self) -> list[BrokerId]:
        """The broker of each subscription: any edge, or two to four neighbouring ones per group.

        Edges are ordered so that those of one inner broker, and of brokers nearby, are adjacent.
        """
        count, edge_count = self.load.subscriptions, len(self.subscribing)
        if self.load.placement == "scattered":
            chosen = self._random.integers(0, edge_count, count)
        else:
            sizes = self._random.integers(2, 5, self.load.roots)
            starts = self._random.integers(0, edge_count - sizes + 1)
            groups = np.arange(count) % self.load.roots
            chosen = starts[groups] + self._random.integers(0, sizes[groups])
        return [self.subscribing[edge] for edge in chosen.tolist()]

    def group_of(self, number: int) -> int:
        """The group of a subscription."""
        return number % self.load.roots

    def is_root(self, number: int) -> bool:
        """True of the subscription to a whole group."""
        return number < self.load.roots

    def filter_of(self, number: int) -> Filter:
        """The filter of a subscription."""
        group = self.group_of(number)
        if self.is_root(number):
            return root(group)
        return child(group, int(self.lows[number - self.load.roots]), self.width)

    def beginning(self) -> Iterator[tuple[BrokerId, Request]]:
        """Requests before the clock starts: publishers, and subscriptions in random order."""
        yield from publishers(self.publishing)
        for number in self.order:
            name = str(number)
            request = ClientSubscribes(ClientId(f"c{name}"), name, self.filter_of(number))
            yield self.brokers[number], request

    def publications(self) -> Iterator[Action]:
        """An event every `interval_ms`, from one publisher after the other."""
        rows = zip(self.event_groups.tolist(), self.event_values.tolist(), strict=True)
        events = (Event(group=group, x=value) for group, value in rows)
        return publications(self.load, self.publishing, events)

    def removals(self) -> Iterator[Action]:
        """The first roots unsubscribe, one after the other."""
        gap = self.load.unsubscription_seconds / max(self.load.unsubscriptions, 1)
        for number in range(self.load.unsubscriptions):
            at = self.load.warm_up_seconds + number * gap
            request = ClientUnsubscribes(ClientId(f"c{number}"), str(number))
            yield Action(at, self.brokers[number], request)


def width_for(degree: int, matching: float) -> int:
    """The width at which `matching` of `degree` children accept an event on average.

    A child begins anywhere from `1 - width` to the end of the range, so it accepts every value
    with the same probability, width / (range + width).
    """
    assert 0 < matching < degree, "not all children can accept every event"
    return round(RANGE * matching / (degree - matching))
