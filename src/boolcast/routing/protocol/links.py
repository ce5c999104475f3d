"""A reliable link that keeps the order: a state machine below the broker.

The broker's `Send(link, message)` becomes `Offer(message)` here, a `HandUp(message)` becomes
`Received(link, message)` there, and `Established(fresh)` becomes `LinkUp(link, fresh)`.

The connection below may lose packets, repeat them, deliver them late and in any order, and break.
Messages are numbered and kept until they are acknowledged; a message that comes too early waits or
is dropped.

A *session* is one memory of a broker: it outlives connections, and also a crash if the broker has
its disk. Two sessions make a conversation, and packets of other conversations are dropped. A
neighbour that says hello with a new session has lost its memory. Then the numbers start again, and
the broker hears that the link is fresh. Events that the neighbour had not acknowledged stay queued,
marked to go everywhere, because nobody else would send them again. All other messages are dropped:
the broker announces its present state anew.
"""

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from boolcast.routing.protocol.messages import Message, Publish
from boolcast.routing.protocol.packets import Data, Hello, Packet, Receipt


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


class LinkState(msgspec.Struct, frozen=True):
    """The two sessions, and the last messages received and acknowledged."""

    session: int
    peer: int
    received: int
    acknowledged: int


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
    """Fire at that time; this replaces an earlier setting."""

    at: float


class PersistLink(msgspec.Struct, frozen=True):
    """Store the value under the key in place of the former one; None removes it.

    It must be durable before the effects after it are done, and together with what the broker
    persists for the messages handed up in the same step.
    """

    key: str
    value: LinkState | Message | None


LinkEffect = Transmit | HandUp | Established | SetResendTimer | PersistLink


class LinkConfiguration(msgspec.Struct, frozen=True):
    """Times and sizes of a link; at most `window` messages are under way."""

    resend_seconds: float = 0.5
    window: int = 1_024
    durable: bool = False


_STATE: Final = "state"


class LinkEnd:
    """One end of a link. `session` is above 0, and grows when its broker loses its memory."""

    def __init__(self, session: int, configuration: LinkConfiguration) -> None:
        self.session = session
        self.configuration = configuration
        self.peer = 0
        self.received = 0
        self.acknowledged = 0
        self.waiting: deque[Message] = deque()
        self.is_connected = False
        self.is_established = False
        self._early: dict[int, Message] = {}
        self._transmitted = 0
        """How many of the waiting messages are under way."""
        self._given = 0
        """The last number of a message that may have arrived, over any connection so far."""
        self._heard_at = 0.0
        self._timer_at: float | None = None
        self._now = 0.0
        self._effects: list[LinkEffect] = []

    @classmethod
    def restore(
        cls,
        session: int,
        configuration: LinkConfiguration,
        kept: Mapping[str, LinkState | Message],
    ) -> "LinkEnd":
        """The link end of that session from what it persisted, by key; it is not connected."""
        state = kept.get(_STATE, LinkState(session, 0, 0, 0))
        assert isinstance(state, LinkState)
        assert state.session == session
        end = cls(session, configuration)
        end.peer = state.peer
        end.received = state.received
        end.acknowledged = state.acknowledged
        number = state.acknowledged + 1
        while (message := kept.get(_key(number))) is not None:
            assert not isinstance(message, LinkState)
            end.waiting.append(message)
            number += 1
        # Nobody has recorded how many of them were sent.
        end._given = number - 1
        return end

    def handle(self, stimulus: LinkStimulus, *, now: float) -> list[LinkEffect]:
        """React to what happened; `now` in seconds."""
        self._now = now
        _ACTIONS[type(stimulus)](self, stimulus)
        effects, self._effects = self._effects, []
        return effects

    def validate(self) -> None:
        """Assert what holds between the steps."""
        assert 0 <= self._transmitted <= min(len(self.waiting), self.configuration.window)
        under_way, waiting = self._transmitted, len(self.waiting)
        assert under_way <= self._given - self.acknowledged <= waiting
        assert not self._effects
        assert all(number > self.received + 1 for number in self._early)
        assert self.is_connected or not self.is_established
        assert self.peer or not (self.received or self.acknowledged)

    def _offer(self, stimulus: Offer) -> None:
        self.waiting.append(stimulus.message)
        self._keep_message(len(self.waiting) - 1)
        self._pump()

    def _connect(self, stimulus: Connected) -> None:  # noqa: ARG002 - says no more than that
        self.is_connected = True
        self.is_established = False
        self._say_hello(is_answer=False)
        self._arm()

    def _disconnect(self, stimulus: Disconnected) -> None:  # noqa: ARG002 - says no more than that
        self.is_connected = self.is_established = False
        self._transmitted = 0

    def _arrive(self, stimulus: Arrived) -> None:
        if self.is_connected:
            _PACKETS[type(stimulus.packet)](self, stimulus.packet)

    def _hello(self, packet: Hello) -> None:
        if packet.session < self.peer:
            return
        is_fresh = packet.session != self.peer
        if is_fresh:
            self._begin_anew(packet.session)
        elif packet.knows == self.session:
            self._acknowledge(packet.received)
        if not packet.is_answer:
            self._say_hello(is_answer=True)
        if is_fresh or not self.is_established:
            self.is_established = True
            self._effects.append(Established(is_fresh))
        self._pump()

    def _begin_anew(self, peer: int) -> None:
        for index in range(len(self.waiting)):
            self._forget_message(self.acknowledged + 1 + index)
        self.peer = peer
        self.received = self.acknowledged = self._transmitted = self._given = 0
        self._early.clear()
        self.waiting = deque(
            replace(each, everywhere=True) for each in self.waiting if isinstance(each, Publish)
        )
        self._keep_state()
        for index in range(len(self.waiting)):
            self._keep_message(index)

    def _data(self, packet: Data) -> None:
        if (packet.sender, packet.receiver) != (self.peer, self.session):
            return
        if self.received < packet.number <= self.received + self.configuration.window:
            self._early[packet.number] = packet.message
        arrived: list[LinkEffect] = []
        while (message := self._early.pop(self.received + 1, None)) is not None:
            self.received += 1
            arrived.append(HandUp(message))
        if arrived:
            self._keep_state()
        self._effects += arrived
        self._effects.append(Transmit(Receipt(self.session, self.peer, self.received)))

    def _receipt(self, packet: Receipt) -> None:
        if (packet.sender, packet.receiver) == (self.peer, self.session):
            self._acknowledge(packet.received)
            self._pump()

    def _acknowledge(self, received: int) -> None:
        """Drop messages that have arrived; a number above the last given one counts as that."""
        done = min(received, self._given) - self.acknowledged
        if done <= 0:
            return
        for _ in range(done):
            self.waiting.popleft()
        if self.configuration.durable:
            for number in range(self.acknowledged + 1, self.acknowledged + 1 + done):
                self._forget_message(number)
        self.acknowledged += done
        self._transmitted = max(self._transmitted - done, 0)
        self._heard_at = self._now
        self._keep_state()

    def _pump(self) -> None:
        """Transmit what waits, as far as the window allows."""
        if not self.is_established:
            return
        end = min(len(self.waiting), self.configuration.window)
        if self._transmitted < end:
            if self._transmitted == 0:
                self._heard_at = self._now
            for index in range(self._transmitted, end):
                self._transmit(index)
            self._transmitted = end
            self._given = max(self._given, self.acknowledged + end)
        if self._transmitted:
            self._arm()

    def _transmit(self, index: int) -> None:
        number = self.acknowledged + 1 + index
        self._effects.append(Transmit(Data(self.session, self.peer, number, self.waiting[index])))

    def _say_hello(self, *, is_answer: bool) -> None:
        hello = Hello(self.session, self.peer, self.received, is_answer)
        self._effects.append(Transmit(hello))

    def _fire(self, stimulus: ResendTimerFired) -> None:  # noqa: ARG002 - says no more than that
        self._timer_at = None
        if not self.is_connected:
            return
        if not self.is_established:
            self._say_hello(is_answer=False)
            self._arm()
        elif self._transmitted:
            if self._heard_at + self.configuration.resend_seconds <= self._now:
                self._heard_at = self._now
                for index in range(self._transmitted):
                    self._transmit(index)
            self._arm()

    def _arm(self) -> None:
        """Set the timer, unless it is set already."""
        if self._timer_at is None or self._timer_at < self._now:
            since = self._heard_at if self.is_established else self._now
            self._timer_at = max(since + self.configuration.resend_seconds, self._now)
            self._effects.append(SetResendTimer(self._timer_at))

    def _keep_state(self) -> None:
        if self.configuration.durable:
            state = LinkState(self.session, self.peer, self.received, self.acknowledged)
            self._effects.append(PersistLink(_STATE, state))

    def _keep_message(self, index: int) -> None:
        if self.configuration.durable:
            key = _key(self.acknowledged + 1 + index)
            self._effects.append(PersistLink(key, self.waiting[index]))

    def _forget_message(self, number: int) -> None:
        if self.configuration.durable:
            self._effects.append(PersistLink(_key(number), None))


def _key(number: int) -> str:
    return f"message/{number}"


_PACKETS: Final[dict[type[Packet], Callable[[LinkEnd, Any], None]]] = {
    Hello: LinkEnd._hello,  # noqa: SLF001 - the table of the class above
    Data: LinkEnd._data,  # noqa: SLF001
    Receipt: LinkEnd._receipt,  # noqa: SLF001
}

_ACTIONS: Final[dict[type[LinkStimulus], Callable[[LinkEnd, Any], None]]] = {
    Offer: LinkEnd._offer,  # noqa: SLF001
    Arrived: LinkEnd._arrive,  # noqa: SLF001
    Connected: LinkEnd._connect,  # noqa: SLF001
    Disconnected: LinkEnd._disconnect,  # noqa: SLF001
    ResendTimerFired: LinkEnd._fire,  # noqa: SLF001
}
