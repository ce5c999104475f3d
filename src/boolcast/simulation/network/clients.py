"""Clients, as far as their brokers go: what they ask for, and what they still want."""

from collections.abc import Iterable
from typing import TypeGuard

from boolcast.model.identifiers import ClientId
from boolcast.routing.protocol.stimuli import (
    ClientAdvertises,
    ClientLeaves,
    ClientPublishes,
    ClientSubscribes,
    ClientUnadvertises,
    ClientUnsubscribes,
    Request,
)


def is_request(job: object) -> TypeGuard[Request]:
    """True of what clients ask for."""
    return isinstance(job, Request)


class Wishes:
    """What the clients of one broker want of it.

    `waiting` is what they could not ask for because it is down; `are_forgotten`: they have to ask
    for everything again.
    """

    def __init__(self) -> None:
        self.waiting: list[Request] = []
        self.are_forgotten = False
        self._wanted: dict[tuple[type, ClientId, str], ClientAdvertises | ClientSubscribes] = {}

    def note(self, request: Request) -> None:
        """Keep what a client wants from now on, or no longer."""
        match request:
            case ClientSubscribes(client, name):
                self._wanted[ClientSubscribes, client, name] = request
            case ClientUnsubscribes(client, name):
                self._wanted.pop((ClientSubscribes, client, name), None)
            case ClientAdvertises(client, name):
                self._wanted[ClientAdvertises, client, name] = request
            case ClientUnadvertises(client, name):
                self._wanted.pop((ClientAdvertises, client, name), None)
            case ClientLeaves(client):
                for key in [each for each in self._wanted if each[1] == client]:
                    del self._wanted[key]
            case ClientPublishes():
                pass

    def ends_of(self, client: ClientId) -> list[ClientUnsubscribes | ClientUnadvertises]:
        """What a client that leaves would ask for, one by one."""
        return [
            ClientUnsubscribes(client, name)
            if kind is ClientSubscribes
            else ClientUnadvertises(client, name)
            for kind, who, name in self._wanted
            if who == client
        ]

    def anew(self) -> Iterable[ClientAdvertises | ClientSubscribes]:
        """What must be asked again of a broker that has forgotten it.

        What came while it was down is among it; only publications still wait.
        """
        if not self.are_forgotten:
            return []
        self.are_forgotten = False
        self.waiting = [each for each in self.waiting if isinstance(each, ClientPublishes)]
        return list(self._wanted.values())
