"""A reliable link with the order kept, as a state machine of its own below the broker.

The broker's `Send(link, message)` becomes `Offer(message)` here, a `HandUp(message)` becomes
`Received(link, message)` there, and `Established(fresh)` becomes `LinkUp(link, fresh)`.
"""

import msgspec

from boolcast.routing.messages import Message
from boolcast.routing.packets import Packet


class Offer(msgspec.Struct, frozen=True):
    """The broker wants the message sent."""

    message: Message


class Arrived(msgspec.Struct, frozen=True):
    """A packet came out of the connection."""

    packet: Packet


class Connected(msgspec.Struct, frozen=True):
    """There is a connection: packets may get through from now on."""


class Disconnected(msgspec.Struct, frozen=True):
    """The connection is gone; nothing is transmitted until there is another."""


class ResendTimerFired(msgspec.Struct, frozen=True):
    """The time of the last `SetResendTimer` has come."""


LinkStimulus = Offer | Arrived | Connected | Disconnected | ResendTimerFired


class Transmit(msgspec.Struct, frozen=True):
    """Put the packet into the connection."""

    packet: Packet


class HandUp(msgspec.Struct, frozen=True):
    """Give the message to the broker."""

    message: Message


class Established(msgspec.Struct, frozen=True):
    """Tell the broker that the link works; fresh if one side does not know the past."""

    fresh: bool


class SetResendTimer(msgspec.Struct, frozen=True):
    """Fire at that time; an earlier setting no longer counts."""

    at: float


class PersistLink(msgspec.Struct, frozen=True):
    """Keep the link's state; it must be durable before the effects after it are done."""

    state: "LinkState"


class LinkState(msgspec.Struct, frozen=True):
    """All that a link end must know to go on after a crash with its disk."""

    session: int
    peer: int
    received: int
    acknowledged: int
    waiting: tuple[Message, ...]


LinkEffect = Transmit | HandUp | Established | SetResendTimer | PersistLink


class LinkConfiguration(msgspec.Struct, frozen=True):
    """Times and sizes of a link."""

    resend_seconds: float = 0.5
    window: int = 1_024
    durable: bool = False


class LinkEnd:
    """One end of a link. `session` grows whenever its broker has lost its memory."""

    def __init__(self, session: int, configuration: LinkConfiguration) -> None:
        self.session = session
        self.configuration = configuration

    @classmethod
    def restore(cls, state: LinkState, configuration: LinkConfiguration) -> "LinkEnd":
        """The link end as it was when the state was persisted, not connected."""
        raise NotImplementedError

    def handle(self, stimulus: LinkStimulus, *, now: float) -> list[LinkEffect]:
        """React to what happened; `now` in seconds."""
        raise NotImplementedError
