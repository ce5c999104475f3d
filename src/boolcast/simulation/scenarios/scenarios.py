"""Whole loads by name: what is there when the clock starts, and what clients do from then on.

`groups` is the load of P4-X1. `auction`, `diverse` and `pairs` take their filters and events from
the workloads of that name; of the last eight subscriptions on average differ in one predicate
only. `random` is for finding faults (`histories`).
"""

from collections.abc import Callable, Iterator
from itertools import islice
from random import Random
from typing import Final, NamedTuple, Protocol

import msgspec
from msgspec.structs import replace

from boolcast.errors import UsageError
from boolcast.filters.expressions import TRUE
from boolcast.model.events import Event
from boolcast.model.identifiers import BrokerId, ClientId, PublicationId
from boolcast.routing.protocol.stimuli import (
    ClientAdvertises,
    ClientPublishes,
    ClientSubscribes,
    ClientUnsubscribes,
    Request,
)
from boolcast.routing.protocol.topology import Topology
from boolcast.simulation.scenarios.groups import RANGE, child, root
from boolcast.simulation.scenarios.histories import Action, random_history
from boolcast.simulation.scenarios.topologies import PUBLISHER_EDGES, edges
from boolcast.workloads import PAIR_SETS, Auction, Diverse, Pairs, Workload


class Load(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How much of everything. `interval_ms` lies between two publications.

    The first unsubscription comes after `warm_up_seconds`, another one every `unsubscription_ms`;
    by default after half the publications, and spread over a quarter of them. `groups` only: so
    many roots, which are what is unsubscribed, and each event is accepted by `matching` of the
    other subscriptions on average.
    """

    subscriptions: int = 400
    publications: int = 2_000
    unsubscriptions: int = 4
    interval_ms: float = 10.0
    unsubscription_ms: float | None = None
    warm_up_seconds: float | None = None
    groups: int = 8
    matching: float = 5.0
    publishers: int = 3

    @property
    def seconds(self) -> float:
        """How long publications take."""
        return self.publications * self.interval_ms / 1_000

    def unsubscription_times(self, count: int) -> list[float]:
        """When so many subscriptions end."""
        start, step = self.warm_up_seconds, self.unsubscription_ms
        first = self.seconds / 2 if start is None else start
        gap = self.seconds / 4 / max(count, 1) if step is None else step / 1_000
        return [first + number * gap for number in range(count)]


class _Pace(Protocol):
    @property
    def publications(self) -> int: ...
    @property
    def interval_ms(self) -> float: ...


class Scenario(NamedTuple):
    """What clients have asked for before the clock starts, what they do then, and how long."""

    beginning: list[tuple[BrokerId, Request]]
    actions: Iterator[Action]
    seconds: float


_LOWER_VALUES: Final = 5
"""How many values the tails of pairs have: so few that events match at all."""


def groups(topology: Topology, load: Load, seed: int, chance: Random) -> Scenario:  # noqa: ARG001
    """P4-X1: `group = g` covers many `group = g and x between l and l + w`, in random order."""
    publishing, subscribing = _client_brokers(topology, load)
    roots = min(load.groups, load.subscriptions)
    children = (load.subscriptions - roots) / roots
    width = min(int(RANGE * load.matching / max(children, load.matching)), RANGE)
    rows = [(f"root{group}", root(group)) for group in range(roots)] + [
        (f"child{number}", child(number % roots, chance.randrange(RANGE), width))
        for number in range(load.subscriptions - roots)
    ]
    chance.shuffle(rows)
    subscribers = [
        (chance.choice(subscribing), ClientSubscribes(ClientId(f"client-{name}"), name, filter))
        for name, filter in rows
    ]
    at = {request.subscription: broker for broker, request in subscribers}

    def events() -> Iterator[Event]:
        while True:
            yield Event(group=chance.randrange(roots), x=chance.randrange(RANGE))

    def removals() -> Iterator[Action]:
        times = load.unsubscription_times(min(load.unsubscriptions, roots))
        for number, time in enumerate(times):
            name = f"root{number}"
            request = ClientUnsubscribes(ClientId(f"client-{name}"), name)
            yield Action(time, at[name], request)

    actions = [*publications(load, publishing, events()), *removals()]
    return Scenario(
        [*publishers(publishing), *subscribers],
        iter(sorted(actions, key=lambda action: action.at)),
        load.seconds,
    )


def _pairs(load: Load, seed: int) -> Pairs:
    parameters = replace(
        PAIR_SETS["A"], pairs=max(load.subscriptions // 8, 1), lower_values=_LOWER_VALUES
    )
    return Pairs(parameters, seed=seed)


def _from_workload(workload: Callable[[Load, int], Workload]) -> Callable[..., Scenario]:
    def scenario(topology: Topology, load: Load, seed: int, chance: Random) -> Scenario:
        publishing, subscribing = _client_brokers(topology, load)
        source = workload(load, seed)
        subscribers = [
            (
                chance.choice(subscribing),
                ClientSubscribes(ClientId(f"client{row}"), f"s{row}", filter),
            )
            for row, filter in enumerate(source.subscription_filters(0, load.subscriptions))
        ]
        rows = source.events(0, load.publications).to_pylist()
        leaving = chance.sample(subscribers, min(load.unsubscriptions, len(subscribers)))
        removals = [
            Action(time, broker, ClientUnsubscribes(request.client, request.subscription))
            for time, (broker, request) in zip(
                load.unsubscription_times(len(leaving)), leaving, strict=True
            )
        ]
        actions = [*publications(load, publishing, map(Event.from_python, rows)), *removals]
        return Scenario(
            [*publishers(publishing), *subscribers],
            iter(sorted(actions, key=lambda action: action.at)),
            load.seconds,
        )

    return scenario


def random_load(topology: Topology, load: Load, seed: int, chance: Random) -> Scenario:  # noqa: ARG001
    """A random history of 60 actions in 20 s, whatever the load says."""
    seconds = 20.0
    actions = random_history(chance, topology.brokers, actions=60, seconds=seconds)
    return Scenario([], actions, seconds + 5.0)


SCENARIOS: Final[dict[str, Callable[[Topology, Load, int, Random], Scenario]]] = {
    "random": random_load,
    "groups": groups,
    "auction": _from_workload(lambda load, seed: Auction(seed=seed)),
    "diverse": _from_workload(lambda load, seed: Diverse(seed=seed)),
    "pairs": _from_workload(_pairs),
}


def scenario(name: str, topology: Topology, load: Load, seed: int, chance: Random) -> Scenario:
    """The load of that name. Raises UsageError."""
    if name not in SCENARIOS:
        raise UsageError(f"there is no workload {name!r}: take {', '.join(SCENARIOS)}")
    return SCENARIOS[name](topology, load, seed, chance)


def _client_brokers(topology: Topology, load: Load) -> tuple[list[BrokerId], list[BrokerId]]:
    """Where publishers are, and where subscribers: at different edges where there are enough."""
    if set(PUBLISHER_EDGES) <= set(topology.brokers):
        publishing = list(PUBLISHER_EDGES)
    else:
        publishing = edges(topology)[-load.publishers :]
    rest = [each for each in edges(topology) if each not in publishing]
    return publishing, rest or list(topology.brokers)


def publishers(brokers: list[BrokerId]) -> list[tuple[BrokerId, Request]]:
    """A client at each broker advertises everything."""
    return [
        (broker, ClientAdvertises(ClientId("publisher"), "all", TRUE))
        for broker in dict.fromkeys(brokers)
    ]


def publications(load: _Pace, brokers: list[BrokerId], events: Iterator[Event]) -> Iterator[Action]:
    """An event every `interval_ms`, from one broker after the other."""
    for number, event in enumerate(islice(events, load.publications)):
        request = ClientPublishes(ClientId("publisher"), PublicationId(f"e{number}"), event)
        yield Action(number * load.interval_ms / 1_000, brokers[number % len(brokers)], request)
