"""Was every event delivered to all who wanted it? A checker for P4-X1's load, by arithmetic.

The checker of `simulation` evaluates filters one by one, which is too slow for 80,000
subscriptions and 100,000 events. Here every subscription has a random code. Two searches in a
sorted list tell how many subscriptions want an event, and the sum of their codes. Each delivery is
subtracted from both. In the end both are 0 only if exactly those subscriptions got the event, each
once (except with probability 2⁻⁶⁴, that different codes have the same sum).

Like the other checker, this one knows only what clients did. A root may or may not get the events
that are on their way when it unsubscribes, but nothing after the unsubscription is confirmed. An
event is on its way to a broker until the broker has delivered a later one of the same publisher.

Events of one publisher must reach a subscription in the order in which they were published.
"""

from typing import TYPE_CHECKING

import msgspec
import numpy as np
from numpy.typing import NDArray

from boolcast.model.events import Event
from boolcast.model.identifiers import BrokerId, ClientId, PublicationId
from boolcast.simulation.network.observation import Observer

if TYPE_CHECKING:
    from boolcast.lab.papers.unsubscription.workload import Groups

_MASK = (1 << 64) - 1


class DeliveryFigures(msgspec.Struct, frozen=True, kw_only=True):
    """The numbers of deliveries that were due, made, missing and wrong.

    A delivery is wrong if it is unwanted, repeated, too late or out of order. An event with a
    missing and a wrong delivery that cancel each other counts once in each.
    """

    due: int
    came: int
    missing: int
    wrong: int


class Deliveries(Observer):
    """Observes a run of that load; call `figures` when the network is at rest."""

    def __init__(self, groups: "Groups", seed: int) -> None:
        self._groups = groups
        load = groups.load
        random = np.random.default_rng([seed, 1])
        codes = random.integers(0, 1 << 64, load.subscriptions, dtype=np.uint64)
        self._codes: list[int] = codes.tolist()
        self._lows: list[int] = [0] * load.roots + groups.lows.tolist()
        self._sorted: list[tuple[NDArray[np.int64], NDArray[np.uint64]]] = []
        """For each group, the lower ends of its children, and the running sums of their codes."""
        for group in range(load.roots):
            numbers = np.arange(load.roots + group, load.subscriptions, load.roots)
            lows = groups.lows[numbers - load.roots]
            order = np.argsort(lows, kind="stable")
            sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(codes[numbers[order]])])
            self._sorted.append((lows[order], sums))
        self._due: dict[PublicationId, list[int]] = {}
        """For each event, the deliveries still due, and the sum of their codes."""
        self._going: dict[int, set[PublicationId]] = {
            root: set() for root in range(load.unsubscriptions)
        }
        """For each root that will be removed, its missing events, until it unsubscribes."""
        self._asked: dict[PublicationId, tuple[BrokerId, int]] = {}
        """The publisher's broker, and the number of each event among all."""
        self._last_at: dict[tuple[BrokerId, BrokerId], int] = {}
        """For publisher and broker, the last event delivered there."""
        self._last_for: dict[tuple[BrokerId, int], int] = {}
        """For publisher and subscription, the last event delivered to it."""
        self._gone: set[int] = set()
        self._total = self._came = self._wrong = self._withheld = 0

    def publishes(
        self,
        time: float,  # noqa: ARG002
        broker: BrokerId,
        client: ClientId,  # noqa: ARG002
        publication: PublicationId,
        event: Event,
    ) -> None:
        self._asked[publication] = (broker, len(self._asked))
        group, value = event["group"], event["x"]
        assert isinstance(group, int)
        assert isinstance(value, int)
        lows, sums = self._sorted[group]
        first = np.searchsorted(lows, value - self._groups.width + 1)
        last = np.searchsorted(lows, value, side="right")
        count = int(last - first)
        code = (int(sums[last]) - int(sums[first])) & _MASK
        if group >= self._groups.load.unsubscriptions:
            count += 1
            code += self._codes[group]
        elif group in self._going:
            self._going[group].add(publication)
        self._total += count
        self._due[publication] = [count, code & _MASK]

    def unsubscribes(self, time: float, broker: BrokerId, client: ClientId, name: str) -> None:  # noqa: ARG002
        for publication in self._going.pop(int(name)):
            publisher, sequence = self._asked[publication]
            is_past = sequence < self._last_at.get((publisher, broker), -1)
            self._withheld += is_past
            self._total += is_past

    def confirms(self, time: float, broker: BrokerId, client: ClientId, name: str) -> None:  # noqa: ARG002
        self._gone.add(int(name))

    def delivers(
        self,
        time: float,  # noqa: ARG002
        broker: BrokerId,
        client: ClientId,  # noqa: ARG002
        publication: PublicationId,
        event: Event,
        names: tuple[str, ...],
    ) -> None:
        groups = self._groups
        publisher, sequence = self._asked[publication]
        if sequence > self._last_at.get((publisher, broker), -1):
            self._last_at[publisher, broker] = sequence
        for name in names:
            number = int(name)
            self._came += 1
            if sequence < self._last_for.get((publisher, number), -1):
                self._wrong += 1
            self._last_for[publisher, number] = sequence
            is_root = groups.is_root(number)
            is_wanted = groups.group_of(number) == event["group"] and (
                is_root or 0 <= event["x"] - self._lows[number] < groups.width  # type: ignore[operator]
            )
            if not is_wanted or groups.brokers[number] != broker or number in self._gone:
                self._wrong += 1
            elif not is_root or number >= groups.load.unsubscriptions:
                due = self._due[publication]
                due[0] -= 1
                due[1] = (due[1] - self._codes[number]) & _MASK
            elif number in self._going:
                if publication in self._going[number]:
                    self._going[number].discard(publication)
                    self._total += 1
                else:
                    self._wrong += 1

    def figures(self) -> DeliveryFigures:
        """The deliveries of the whole run."""
        missing = sum(max(count, 0) for count, _ in self._due.values())
        repeated = sum(max(-count, 0) for count, _ in self._due.values())
        cancelled = sum(count == 0 and code != 0 for count, code in self._due.values())
        return DeliveryFigures(
            due=self._total,
            came=self._came,
            missing=missing + cancelled + self._withheld,
            wrong=self._wrong + repeated + cancelled,
        )
