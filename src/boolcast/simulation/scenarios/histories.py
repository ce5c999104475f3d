"""What clients do, and when. A history is drawn before it is played, so every policy sees the same.

`random_history` is for finding faults: few values, so that filters cover and equal each other all
the time; bursts, so that much is on its way at once; long pauses, so that things settle.
"""

from collections.abc import Iterable, Iterator
from random import Random
from typing import TYPE_CHECKING, Final, NamedTuple

from boolcast.filters.parsing import parse
from boolcast.model.events import Event
from boolcast.model.identifiers import BrokerId, ClientId, PublicationId
from boolcast.routing.protocol.stimuli import (
    ClientAdvertises,
    ClientLeaves,
    ClientPublishes,
    ClientSubscribes,
    ClientUnadvertises,
    ClientUnsubscribes,
    Request,
)

if TYPE_CHECKING:
    from boolcast.simulation.network.simulator import Simulation


class Action(NamedTuple):
    """A client of a broker asks for something at a time."""

    at: float
    broker: BrokerId
    request: Request


def play(simulation: "Simulation", history: Iterable[Action]) -> None:
    """Put a history on the agenda; before each action it is seen whether there was rest."""

    def act(action: Action) -> None:
        simulation.look_for_rest()
        simulation.request(action.broker, action.request)

    for action in history:
        simulation.timeline.at(action.at, act, action)


FILTERS: Final = tuple(
    parse(text)
    for text in (
        *(f"x between {low} and {high}" for low in range(6) for high in range(low, 6)),
        *("true", "x != 2", "x < 2 or x > 3", "x = 1 or y = 1", "not (x < 2 and y = 1)"),
        *("y = 1 and x > 1", "y is null", "x between 1 and 4 and y is null", "x = y"),
    )
)
ALIKE: Final = tuple(
    parse(text)
    for text in (
        *("y = 1 and x < 4", "y = 1 and x = 2", "y = 1 and x < 3 and x != 1", "x < 5 and y = 1"),
        *("y = 1 and (x < 2 or x > 4)", "x < 3 and y = 1 or x > 4 and y is null"),
        *("x > 1 and y = 1 and x != 4", "y = 1 and x > 3", "y is null and x > 1 and x < 5"),
        *("y = 1 and x = 4", "y = 1 and x > 4", "y = 1 and x >= 5", "y = 1 and x < 2"),
    )
)
"""For pruning, replacement and merging: ANDs with predicates in common, and ANDs below an OR."""

EVENTS: Final = (
    *(Event(x=x) for x in range(6)),
    *(Event(x=x, y=1) for x in range(6)),
    Event(y=3),
)


class _Clients:
    """Who has subscribed and advertised what, while a history is drawn."""

    def __init__(self, chance: Random, brokers: tuple[BrokerId, ...]) -> None:
        self.chance = chance
        self.brokers = brokers
        self.subscribed: dict[tuple[BrokerId, ClientId, str], None] = {}
        self.advertised: dict[tuple[BrokerId, ClientId, str], None] = {}
        self.count = 0

    def _new(self, kind: str) -> tuple[BrokerId, ClientId, str]:
        self.count += 1
        broker = self.chance.choice(self.brokers)
        client = ClientId(f"{kind}{self.chance.randrange(3)}")
        return broker, client, f"{kind}{self.count}"

    def subscribe(self) -> tuple[BrokerId, Request]:
        broker, client, name = self._new("s")
        self.subscribed[broker, client, name] = None
        filters = FILTERS if self.chance.random() < 0.6 else ALIKE
        return broker, ClientSubscribes(client, name, self.chance.choice(filters))

    def unsubscribe(self) -> tuple[BrokerId, Request]:
        if not self.subscribed:
            return self.subscribe()
        chosen = self.chance.choice(list(self.subscribed))
        del self.subscribed[chosen]
        broker, client, name = chosen
        return broker, ClientUnsubscribes(client, name)

    def advertise(self) -> tuple[BrokerId, Request]:
        broker, client, name = self._new("a")
        self.advertised[broker, client, name] = None
        # Most publishers may publish much, or else hardly anything would be published.
        filter = FILTERS[21] if self.chance.random() < 0.6 else self.chance.choice(FILTERS)
        return broker, ClientAdvertises(client, name, filter)

    def unadvertise(self) -> tuple[BrokerId, Request]:
        if len(self.advertised) < 2:
            return self.advertise()
        chosen = self.chance.choice(list(self.advertised))
        del self.advertised[chosen]
        broker, client, name = chosen
        return broker, ClientUnadvertises(client, name)

    def leave(self) -> tuple[BrokerId, Request]:
        """Let a client go with all it has, unless it is the last publisher."""
        here = {
            (broker, client): None for broker, client, _ in (*self.subscribed, *self.advertised)
        }
        chosen = self.chance.choice(list(here))
        stay = [each for each in self.advertised if each[:2] != chosen]
        if not stay:
            return self.subscribe()
        self.advertised = dict.fromkeys(stay)
        self.subscribed = {each: None for each in self.subscribed if each[:2] != chosen}
        broker, client = chosen
        return broker, ClientLeaves(client)

    def publish(self) -> tuple[BrokerId, Request]:
        broker, client, _ = self.chance.choice(list(self.advertised))
        return broker, self.publication(client, self.chance.choice(EVENTS))

    def publication(self, client: ClientId, event: Event) -> ClientPublishes:
        self.count += 1
        return ClientPublishes(client, PublicationId(f"e{self.count}"), event)


def random_history(
    chance: Random, brokers: tuple[BrokerId, ...], *, actions: int, seconds: float
) -> Iterator[Action]:
    """Publishers and subscribers, then so many actions in so many seconds, then all events."""
    clients = _Clients(chance, brokers)
    time = 0.0
    for begin in [clients.advertise] * 2 + [clients.subscribe] * 5:
        time += chance.random() * 0.05
        yield Action(time, *begin())
    choices = (
        [clients.subscribe] * 9
        + [clients.unsubscribe] * 8
        + [clients.publish] * 24
        + [clients.advertise, clients.unadvertise] * 2
        + [clients.leave]
    )
    time = 1.0
    for _ in range(actions):
        # Most follow each other closely; the gaps between the bursts make up the time.
        if chance.random() < 0.25:
            time += chance.expovariate(0.25 * actions / seconds)
        else:
            time += chance.random() * 0.02
        yield Action(time, *chance.choice(choices)())


def final_round(simulation: "Simulation") -> None:
    """Let every publisher publish one event of each kind, now that all is at rest."""
    count = 0
    for broker in simulation.topology.brokers:
        for client in list(simulation.broker(broker).state.advertisements.by_client):
            for event in EVENTS:
                count += 1
                publication = PublicationId(f"final{count}")
                simulation.request(broker, ClientPublishes(client, publication, event))
