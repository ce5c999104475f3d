"""Whatever makes a broker act: messages, clients, links, timers.

A client names its advertisements and subscriptions itself; the names need only differ among
its own. Filters are trees already: text is parsed, and refused, at the edge.
"""

from typing import Literal

import msgspec

from boolcast.filters.expressions import Filter
from boolcast.model.events import Event
from boolcast.model.identifiers import BrokerId, ClientId, PublicationId
from boolcast.routing.protocol.messages import Message


class Received(msgspec.Struct, frozen=True):
    """A message from a neighbour, in the order in which that sent it."""

    link: BrokerId
    message: Message


class LinkUp(msgspec.Struct, frozen=True):
    """The link works. `fresh`: nothing that was said on it before counts for the other side.

    A link is fresh when it is made, and when either side has lost its memory since.
    """

    link: BrokerId
    fresh: bool = True


class LinkDown(msgspec.Struct, frozen=True):
    """The link does not work for now; what is sent waits below the broker."""

    link: BrokerId


class ClientAdvertises(msgspec.Struct, frozen=True):
    """A client wants to publish events that the filter accepts."""

    client: ClientId
    advertisement: str
    filter: Filter


class ClientUnadvertises(msgspec.Struct, frozen=True):
    """A client withdraws an advertisement."""

    client: ClientId
    advertisement: str


class ClientSubscribes(msgspec.Struct, frozen=True):
    """A client wants the events that the filter accepts."""

    client: ClientId
    subscription: str
    filter: Filter


class ClientUnsubscribes(msgspec.Struct, frozen=True):
    """A client withdraws a subscription."""

    client: ClientId
    subscription: str


class ClientPublishes(msgspec.Struct, frozen=True):
    """A client publishes an event under one of its advertisements.

    Without `advertisement`, under the first of them that accepts the event.
    """

    client: ClientId
    publication: PublicationId
    event: Event
    advertisement: str | None = None


class ClientLeaves(msgspec.Struct, frozen=True):
    """A client withdraws whatever it has subscribed and advertised."""

    client: ClientId


TimerName = Literal["acknowledgements"]


class TimerFired(msgspec.Struct, frozen=True):
    """A timer that the broker had set; one that it has set anew since is ignored."""

    timer: TimerName


Request = (
    ClientAdvertises
    | ClientUnadvertises
    | ClientSubscribes
    | ClientUnsubscribes
    | ClientPublishes
    | ClientLeaves
)
"""What a client may ask its broker for."""

Stimulus = Received | LinkUp | LinkDown | TimerFired | Request
