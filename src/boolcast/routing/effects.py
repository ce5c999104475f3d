"""What a broker wants done, in this order. Simulator and network are two interpreters of it.

`Persist` comes before everything else in a list: it must be durable before the rest is done, so
that nobody has been told what a broker with its disk would not know any more.
"""

import msgspec

from boolcast.errors import InputError
from boolcast.model.events import Event
from boolcast.model.identifiers import BrokerId, ClientId, PublicationId
from boolcast.routing.messages import Message
from boolcast.routing.records import Record
from boolcast.routing.stimuli import TimerName


class Persist(msgspec.Struct, frozen=True):
    """Keep the record under the key in place of what is there; None: keep nothing."""

    key: str
    record: Record | None


class Send(msgspec.Struct, frozen=True):
    """Send a message to a neighbour, in order. Where the link is down it waits."""

    link: BrokerId
    message: Message


class Deliver(msgspec.Struct, frozen=True):
    """Give an event to a client, once for all its subscriptions that accept it, by its names."""

    client: ClientId
    publication: PublicationId
    event: Event
    subscriptions: tuple[str, ...]


class Confirm(msgspec.Struct, frozen=True):
    """Tell a client that its subscription is gone wherever its removal had to go."""

    client: ClientId
    subscription: str


class Refuse(msgspec.Struct, frozen=True):
    """Tell a client that what it asked for was not done, and why."""

    client: ClientId
    error: InputError


class Complain(msgspec.Struct, frozen=True):
    """Tell a neighbour that it broke the protocol; what it said was ignored."""

    link: BrokerId
    error: InputError


class Suspect(msgspec.Struct, frozen=True):
    """Tell the operator that a neighbour has not acknowledged for too long (P2-B8)."""

    link: BrokerId
    number: int


class SetTimer(msgspec.Struct, frozen=True):
    """Fire the timer at that time; an earlier setting of the same timer no longer counts."""

    timer: TimerName
    at: float


Effect = Persist | Send | Deliver | Confirm | Refuse | Complain | Suspect | SetTimer
