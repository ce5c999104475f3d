"""Brokers in one process, with a queue for each direction of a link, driven step by step.

No time passes unless a test says so; which queue moves next is the caller's choice. Every
broker's tables are validated after every step. It also keeps the disk of each broker, and knows
what a delivery checker needs: who settled what between which moments of rest.
"""

import itertools
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from msgspec.structs import replace

from boolcast.filters.expressions import Filter
from boolcast.filters.parsing import parse
from boolcast.matching.relations.analysed_filters import FilterAnalyser
from boolcast.matching.scan import ScanMatcher
from boolcast.model.events import Event
from boolcast.model.identifiers import BrokerId, ClientId, PublicationId
from boolcast.model.statistics import Statistics
from boolcast.routing.core.broker import Broker
from boolcast.routing.protocol.configuration import Configuration
from boolcast.routing.protocol.effects import (
    Complain,
    Confirm,
    Deliver,
    Effect,
    Persist,
    Refuse,
    ReviewReport,
    Send,
    SetTimer,
    Suspect,
)
from boolcast.routing.protocol.messages import Message, Publish
from boolcast.routing.protocol.records import Record
from boolcast.routing.protocol.stimuli import (
    ClientAdvertises,
    ClientPublishes,
    ClientSubscribes,
    ClientUnadvertises,
    ClientUnsubscribes,
    LinkUp,
    Received,
    Stimulus,
)
from boolcast.routing.tables.entries import Entry

Direction = tuple[BrokerId, BrokerId]


class Delivery(NamedTuple):
    client: str
    subscription: str
    publication: str


class Sent(NamedTuple):
    """A message that went over a link."""

    sender: str
    receiver: str
    message: Message


class Network:
    """A tree of brokers that share one configuration."""

    def __init__(
        self,
        links: Iterable[tuple[str, str]],
        configuration: Configuration,
        *,
        analyser: FilterAnalyser | None = None,
        statistics: Statistics | None = None,
    ) -> None:
        self.configuration = configuration
        self.statistics = statistics
        self.analyser = analyser or FilterAnalyser()
        self.now = 0.0
        self.neighbours: dict[BrokerId, list[BrokerId]] = {}
        for left, right in links:
            self.neighbours.setdefault(BrokerId(left), []).append(BrokerId(right))
            self.neighbours.setdefault(BrokerId(right), []).append(BrokerId(left))
        self.brokers = {
            name: Broker(
                name,
                configuration,
                neighbours=others,
                analyser=self.analyser,
                statistics=statistics,
            )
            for name, others in self.neighbours.items()
        }
        self.epochs = dict.fromkeys(self.brokers, 1)
        self.disks: dict[BrokerId, dict[str, Record]] = {name: {} for name in self.brokers}
        self.queues: dict[Direction, deque[Message]] = {
            (name, other): deque() for name, others in self.neighbours.items() for other in others
        }
        self.down: dict[frozenset[BrokerId], bool] = {}
        """The links that do not work, and whether they are to be made anew."""
        self.lost: set[str] = set()
        """The events that went down with a broker."""
        self.deliveries: list[Delivery] = []
        self.refusals: list[Effect] = []
        self.reports: list[tuple[str, ReviewReport]] = []
        self.confirmed: list[tuple[str, str]] = []
        self.sent: list[Sent] = []
        for left, right in links:
            self.connect(left, right)

    def break_link(self, left: str, right: str) -> None:
        """Let a link wait, with all that is on its way."""
        self.down.setdefault(frozenset((BrokerId(left), BrokerId(right))), False)

    def mend_links(self) -> None:
        """Let all links work again."""
        for link, is_new in list(self.down.items()):
            left, right = sorted(link)
            if is_new:
                self.connect(left, right)
            else:
                del self.down[link]
                self.act(left, LinkUp(right, fresh=False))
                self.act(right, LinkUp(left, fresh=False))

    def connect(self, left: str, right: str) -> None:
        """Make a link anew: what was on its way is lost, and both sides hear of it."""
        self.down.pop(frozenset((BrokerId(left), BrokerId(right))), None)
        for here, there in ((left, right), (right, left)):
            queue = self.queues[BrokerId(here), BrokerId(there)]
            # As `protocol.links` does: events outlive the conversation, all else is said anew.
            kept = [
                replace(message, everywhere=True)
                for message in queue
                if isinstance(message, Publish)
            ]
            queue.clear()
            queue.extend(kept)
        self.act(left, LinkUp(BrokerId(right), fresh=True))
        self.act(right, LinkUp(BrokerId(left), fresh=True))

    def act(self, broker: str, stimulus: Stimulus) -> list[Effect]:
        """Let a broker handle a stimulus, and carry out what it wants."""
        name = BrokerId(broker)
        effects = self.brokers[name].handle(stimulus, now=self.now)
        self.brokers[name].validate()
        check_engine(self.brokers[name])
        for effect in effects:
            match effect:
                case Send(link, message):
                    self.queues[name, link].append(message)
                    self.sent.append(Sent(name, link, message))
                case Deliver(client, publication, _, subscriptions):
                    self.deliveries += [
                        Delivery(client, each, publication) for each in subscriptions
                    ]
                case Persist(key, record):
                    if record is None:
                        self.disks[name].pop(key, None)
                    else:
                        self.disks[name][key] = record
                case Confirm(client, subscription):
                    self.confirmed.append((client, subscription))
                case Refuse() | Complain() | Suspect():
                    self.refusals.append(effect)
                case ReviewReport():
                    self.reports.append((name, effect))
                case SetTimer():
                    pass
        return effects

    def ready(self) -> list[Direction]:
        """The directions in which something is on its way."""
        return [
            direction
            for direction, queue in self.queues.items()
            if queue and frozenset(direction) not in self.down
        ]

    def move(self, direction: Direction) -> list[Effect]:
        """Let the next message of a direction arrive."""
        sender, receiver = direction
        return self.act(receiver, Received(sender, self.queues[direction].popleft()))

    def settle(self, choose: Callable[[list[Direction]], Direction] | None = None) -> None:
        """Let everything arrive."""
        while ready := self.ready():
            self.move(choose(ready) if choose else ready[0])

    def advertise(self, broker: str, client: str, name: str, filter: str | Filter) -> None:
        self.act(broker, ClientAdvertises(ClientId(client), name, tree(filter)))

    def unadvertise(self, broker: str, client: str, name: str) -> None:
        self.act(broker, ClientUnadvertises(ClientId(client), name))

    def subscribe(self, broker: str, client: str, name: str, filter: str | Filter) -> None:
        self.act(broker, ClientSubscribes(ClientId(client), name, tree(filter)))

    def unsubscribe(self, broker: str, client: str, name: str) -> None:
        self.act(broker, ClientUnsubscribes(ClientId(client), name))

    def publish(self, broker: str, client: str, publication: str, **event: object) -> None:
        converted = Event.from_python(event)
        self.act(broker, ClientPublishes(ClientId(client), PublicationId(publication), converted))

    def restart(self, broker: str, *, with_disk: bool) -> None:
        """Crash a broker and start it again.

        Without its disk, its links have to be made anew, and what it was about to send is lost.
        """
        name = BrokerId(broker)
        others = self.neighbours[name]
        if with_disk:
            before = memory(self.brokers[name])
            self.brokers[name] = Broker.restore(
                name,
                self.configuration,
                list(self.disks[name].values()),
                neighbours=others,
                epoch=self.epochs[name],
                analyser=self.analyser,
                statistics=self.statistics,
            )
            assert memory(self.brokers[name]) == before
            return
        self.epochs[name] += 1
        self.disks[name].clear()
        self.brokers[name] = Broker(
            name,
            self.configuration,
            neighbours=others,
            epoch=self.epochs[name],
            analyser=self.analyser,
            statistics=self.statistics,
        )
        for other in others:
            self.down[frozenset((name, other))] = True
            queue = self.queues[name, other]
            self.lost |= {each.publication for each in queue if isinstance(each, Publish)}
            queue.clear()

    def holders(self, client: str, subscription: str) -> list[str]:
        """The brokers that have the subscription in their tables, by its id at its client's."""
        for broker in self.brokers.values():
            entry = broker.state.subscriptions.named(ClientId(client), subscription)
            if entry is not None:
                return self.holders_of(entry.id)
        raise AssertionError(f"{client} has no subscription {subscription}")

    def id_of(self, broker: str, client: str, subscription: str) -> str:
        entry = self.brokers[BrokerId(broker)].state.subscriptions.named(
            ClientId(client), subscription
        )
        assert entry is not None
        return entry.id

    def holders_of(self, subscription: str) -> list[str]:
        return [
            name
            for name, broker in self.brokers.items()
            if subscription in broker.state.subscriptions
        ]

    def table(self, broker: str) -> list[str]:
        """The filters of the subscriptions that a broker holds, as texts."""
        state = self.brokers[BrokerId(broker)].state
        return sorted(str(entry.analysed.filter) for entry in state.subscriptions)

    def matched(self, broker: str) -> list[str]:
        """The filters by which a broker matches, as texts."""
        return sorted(map(str, engine_filters(self.brokers[BrokerId(broker)]).values()))


def engine_filters(broker: Broker) -> dict[str, Filter]:
    """What is really in the match engine, if that is the one that asks every filter."""
    engine = broker.state.engine
    return engine._filters if isinstance(engine, ScanMatcher) else {}


def check_engine(broker: Broker) -> None:
    """Clients' filters are matched as they are, neighbours' as the policy says (R1)."""
    state = broker.state
    if isinstance(state.engine, ScanMatcher):
        rewritten: Mapping[str, Filter] = state.rewriting.rewritten  # type: ignore[assignment]
        assert engine_filters(broker) == {
            entry.id: rewritten.get(entry.id, entry.analysed.filter)
            for entry in state.subscriptions
        }


def memory(broker: Broker) -> object:
    """All that a broker must still know after a crash with its disk."""
    state = broker.state
    pruned = dict(state.advertisement_rewriting.rewritten)
    return (
        pruned,
        [vars_of(entry) for entry in state.advertisements],
        [vars_of(entry) for entry in state.subscriptions],
        [vars_of(entry) for entry in state.constituents],
        {merger.id: (merger.filter, merger.constituents) for merger in state.mergers},
        {
            link: (
                # What only a pruned advertisement calls for and another covers may be forgotten.
                [] if pruned else sorted(each.subscriptions),
                sorted(each.advertisements),
                each.forwarded,
                each.forwarded_advertisements,
                each.unacknowledged,
                each.is_open,
                each.advertisements_sent,
                each.advertisements_received,
                each.subscriptions_sent,
                each.subscriptions_received,
            )
            for link, each in state.neighbours.items()
        },
        {key: vars(operation) for key, operation in state.operations.items()},
        (state.number, state.order, state.effects),
    )


def vars_of(entry: Entry) -> dict[str, object]:
    return {name: getattr(entry, name) for name in entry.__slots__}


def tree(filter: str | Filter):
    return parse(filter) if isinstance(filter, str) else filter


def chain(*brokers: str) -> list[tuple[str, str]]:
    return list(itertools.pairwise(brokers))


def check_that_nothing_is_lost(network_of_row: Callable[[], Network], steps: int) -> None:
    """F5 while s1 goes: every order of the first steps with events among them, then to the end."""
    for choices in itertools.product(range(3), repeat=steps):
        network = network_of_row()
        network.unsubscribe("B1", "c1", "s1")
        published = 0
        for choice in choices:
            ready = network.ready()
            if choice < len(ready):
                network.move(ready[choice])
            else:
                network.publish("B3", "p", f"e{published}", x=published % 5, y=1)
                published += 1
        network.publish("B3", "p", f"e{published}", x=1, y=1)
        network.settle()
        delivered = [each.publication for each in network.deliveries if each.client == "c2"]
        assert delivered == [f"e{number}" for number in range(published + 1)], choices
