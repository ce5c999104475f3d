"""Prune the tables of five brokers in a line step by step, and publish events (P1-X3).

Subscribers and publishers are spread evenly over the brokers (P1-E5). Subscriptions are flooded
and not covered, so each broker holds all of them: one fifth from its own clients and four fifths
from neighbours. Each broker's own policy prunes the neighbours' entries; those of clients stay
whole. Selectivities are learnt from separate events and stay fixed (P1-E3). All brokers have the
same ones, so one queue of all subscriptions determines how far each broker prunes: its target is
the memory that its entries take after that many prunings.

What counts is visible from outside: deliveries are the same at every step, and links carry more
events. Times are those of the match engines alone, and taken only on request.
"""

import sys
from collections.abc import Iterable, Mapping
from itertools import pairwise
from time import process_time
from typing import Final

from boolcast.filters.expressions import TRUE, Filter
from boolcast.lab.papers.pruning.experiment import (
    BROKERS,
    Curve,
    NetworkCurve,
    NetworkPoint,
    PruningExperiment,
)
from boolcast.lab.papers.selectivities import learnt_selectivities
from boolcast.matching.counting.engine import CountingMatcher
from boolcast.model.events import Event
from boolcast.model.identifiers import BrokerId, ClientId, PublicationId, SubscriptionId
from boolcast.optimising.pruning.queues import SelectivityQueue
from boolcast.optimising.pruning.stopping import MemoryTarget, Operations
from boolcast.optimising.statistics.selectivities import Selectivities
from boolcast.routing.core.state import State
from boolcast.routing.protocol.configuration import configure
from boolcast.routing.protocol.stimuli import (
    ClientAdvertises,
    ClientPublishes,
    ClientSubscribes,
    Request,
)
from boolcast.routing.rewriting.subscription_rewriting import SubscriptionPruning
from boolcast.simulation.network.broker_process import Job, Step
from boolcast.simulation.network.costs import FREE
from boolcast.simulation.network.observation import Observer
from boolcast.simulation.network.simulator import Simulation
from boolcast.simulation.scenarios import topologies
from boolcast.workloads import Auction

_PUBLISHER: Final = ClientId("publisher")


def network_curve(experiment: PruningExperiment) -> NetworkCurve:
    """Prune five brokers in steps, and publish the same events at each.

    With any `timing_events`, matching is timed for all events.
    """
    auction = experiment.auction
    filters = list(auction.subscription_filters(0, experiment.subscriptions))
    selectivities = learnt_selectivities(filters, experiment.lessons())
    queue = SelectivityQueue(selectivities)
    network = _Network(filters)
    for subscription, filter in network.originals().items():
        queue.add(subscription, filter)
    published = _events(auction, experiment.events)
    points: list[NetworkPoint] = []
    first: list[tuple[str, str]] = []
    done = 0
    for goal in experiment.goals():
        run = queue.prune(*([] if goal is None else [Operations(goal - done)]))
        done += run.after.operations
        targets = {name: queue.filter_of(name) for name in queue}
        predicates = network.prune(targets, selectivities)
        watched = network.publish(published)
        delivered = sorted(watched.delivered)
        first = delivered if not points else first
        spent = network.seconds() / watched.matched * 1e6
        points.append(
            NetworkPoint(
                operations=done,
                predicates=predicates,
                deliveries=len(delivered),
                are_deliveries_the_same=delivered == first,
                links=tuple(
                    watched.crossed.get(frozenset(pair), 0) for pair in pairwise(network.names)
                ),
                matched=watched.matched,
                counting_microseconds=spent if experiment.timing_events else None,
            )
        )
    return Curve(
        setting=experiment.setting,
        subscriptions=experiment.subscriptions,
        events=experiment.events,
        points=tuple(points),
    )


def _events(auction: Auction, count: int) -> list[Event]:
    return [Event.from_python(row) for row in auction.events(0, count).to_pylist()]


class _Watch(Observer):
    """Records deliveries, crossings of links, and how often an event was matched."""

    def __init__(self) -> None:
        self.delivered: list[tuple[str, str]] = []
        self.crossed: dict[frozenset[str], int] = {}
        self.matched = 0

    def forget(self) -> None:
        """Start again from nothing."""
        self.delivered, self.crossed, self.matched = [], {}, 0

    def delivers(
        self,
        time: float,  # noqa: ARG002
        broker: BrokerId,  # noqa: ARG002
        client: ClientId,
        publication: PublicationId,
        event: Event,  # noqa: ARG002
        names: tuple[str, ...],  # noqa: ARG002
    ) -> None:
        self.delivered.append((client, publication))

    def steps(self, time: float, broker: BrokerId, job: Job, step: Step) -> None:  # noqa: ARG002
        self.matched += 1
        for sent in step.sent:
            link = frozenset((broker, sent.link))
            self.crossed[link] = self.crossed.get(link, 0) + 1


class _Timed:
    """A match engine that adds up the time it takes to match."""

    def __init__(self, engine: CountingMatcher) -> None:
        self.engine = engine
        self.seconds = 0.0

    def add(self, subscription: str, filter: Filter) -> None:
        self.engine.add(subscription, filter)

    def remove(self, subscription: str) -> None:
        self.engine.remove(subscription)

    def __len__(self) -> int:
        return len(self.engine)

    def match(self, event: Event) -> list[str]:
        start = process_time()
        found = self.engine.match(event)
        self.seconds += process_time() - start
        return found

    def begin(self) -> None:
        """Build the index, so that no event pays for it, and start the clock."""
        self.engine.statistics()
        self.seconds = 0.0


class _Network:
    """Five brokers that know all subscriptions."""

    def __init__(self, filters: list[Filter]) -> None:
        topology = topologies.line(BROKERS)
        self.names = topology.brokers
        self._watch = _Watch()
        self._simulation = Simulation(
            topology,
            configure(
                {
                    "preset": "flood",
                    "engine": "counting",
                    "rewriting": "pruning",
                    # No review by itself: `prune` does it.
                    "reviews.events": sys.maxsize,
                }
            ),
            costs=FREE,
            observers=[self._watch],
            is_direct=True,
        )
        self._engines: list[_Timed] = []
        for state in self._states():
            assert isinstance(state.engine, CountingMatcher)
            state.engine = timed = _Timed(state.engine)
            self._engines.append(timed)
        came_to_rest = self._simulation.set_up(self._requests(filters))
        assert came_to_rest

    def _requests(self, filters: list[Filter]) -> Iterable[tuple[BrokerId, Request]]:
        for name in self.names:
            yield name, ClientAdvertises(_PUBLISHER, "all", TRUE)
        for row, filter in enumerate(filters):
            client = ClientId(f"c{row}")
            yield self.names[row % BROKERS], ClientSubscribes(client, "s", filter)

    def _states(self) -> list[State]:
        return [self._simulation.broker(name).state for name in self.names]

    def originals(self) -> dict[SubscriptionId, Filter]:
        """The filters of clients, by the ids that brokers gave them."""
        return {
            SubscriptionId(entry.id): entry.analysed.filter
            for state in self._states()
            for entry in state.subscriptions
            if entry.client is not None
        }

    def prune(self, targets: Mapping[SubscriptionId, Filter], selectivities: Selectivities) -> int:
        """Let every broker prune to the memory that its entries take as these filters.

        This is what a review does (`routing.core.reviewing`). Returns the predicates left.
        """
        left = 0
        for state in self._states():
            policy = state.rewriting
            assert isinstance(policy, SubscriptionPruning)
            target = sum(_occurrences(targets[SubscriptionId(name)]) for name in state.link_of)
            done = policy.rewrite(selectivities, MemoryTarget(target))
            for name, filter in done.changed.items():
                state.engine.add(name, filter)
            entries = state.subscriptions.entries
            whole = sum(_occurrences(entries[name].analysed.filter) for name in state.link_of)
            left += whole - policy.removed()
        return left

    def publish(self, events: list[Event]) -> _Watch:
        """Publish all events, in turn at each broker, and let them arrive."""
        for engine in self._engines:
            engine.begin()
        self._watch.forget()
        for number, event in enumerate(events):
            request = ClientPublishes(_PUBLISHER, PublicationId(f"e{number}"), event)
            self._simulation.request(self.names[number % BROKERS], request)
        came_to_rest = self._simulation.settle()
        assert came_to_rest
        return self._watch

    def seconds(self) -> float:
        """The time that all engines have spent on matching since `publish` began."""
        return sum(engine.seconds for engine in self._engines)


def _occurrences(filter: Filter) -> int:
    return sum(1 for _ in filter.predicates())
