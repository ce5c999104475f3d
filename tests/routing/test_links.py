"""The link protocol over a connection that loses, repeats, delays, reorders and breaks."""

from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from msgspec.structs import replace

from boolcast.model.events import Event
from boolcast.model.identifiers import AdvertisementId, PublicationId
from boolcast.routing.protocol.links import (
    Arrived,
    Connected,
    Disconnected,
    Established,
    HandUp,
    LinkConfiguration,
    LinkEnd,
    LinkStimulus,
    Offer,
    PersistLink,
    ResendTimerFired,
    SetResendTimer,
    Transmit,
)
from boolcast.routing.protocol.messages import Acknowledge, Message, Publish
from boolcast.routing.protocol.packets import Data, Hello, Packet, Receipt

CONFIGURATION = LinkConfiguration(resend_seconds=1.0, window=3)


def publication(number: int) -> Publish:
    return Publish(PublicationId(f"e{number}"), AdvertisementId("a"), Event())


def joined(session: int = 7, peer: int = 9) -> LinkEnd:
    """An end that is connected and knows its peer."""
    end = LinkEnd(session, CONFIGURATION)
    end.handle(Connected(), now=0)
    end.handle(Arrived(Hello(peer, session, 0, is_answer=True)), now=0)
    return end


def test_two_ends_say_hello():
    end = LinkEnd(7, CONFIGURATION)
    assert end.handle(Offer(Acknowledge(1)), now=0) == []
    assert end.handle(Connected(), now=0) == [Transmit(Hello(7, 0, 0)), SetResendTimer(1.0)]
    assert end.handle(Arrived(Hello(9, 0, 0)), now=0.5) == [
        Transmit(Hello(7, 9, 0, is_answer=True)),
        Established(fresh=True),
    ]
    # What was offered before is for the broker to say anew.
    assert end.handle(Offer(Acknowledge(2)), now=0.5) == [
        Transmit(Data(7, 9, 1, Acknowledge(2))),
    ]


def test_a_hello_is_resent_until_it_is_answered_and_always_answered():
    end = LinkEnd(7, CONFIGURATION)
    end.handle(Connected(), now=0)
    assert end.handle(ResendTimerFired(), now=1) == [
        Transmit(Hello(7, 0, 0)),
        SetResendTimer(2.0),
    ]
    end.handle(Arrived(Hello(9, 7, 0, is_answer=True)), now=1.5)
    # The answer to the neighbour's own hello was lost: it asks again.
    assert end.handle(Arrived(Hello(9, 7, 0)), now=2) == [
        Transmit(Hello(7, 9, 0, is_answer=True)),
    ]


def test_messages_are_resent_until_they_are_acknowledged():
    end = joined()
    assert end.handle(ResendTimerFired(), now=1) == []
    assert end.handle(Offer(Acknowledge(1)), now=2) == [
        Transmit(Data(7, 9, 1, Acknowledge(1))),
        SetResendTimer(3.0),
    ]
    assert end.handle(ResendTimerFired(), now=3) == [
        Transmit(Data(7, 9, 1, Acknowledge(1))),
        SetResendTimer(4.0),
    ]
    assert end.handle(Arrived(Receipt(9, 7, 1)), now=3.5) == []
    assert end.handle(ResendTimerFired(), now=4) == []


def test_messages_are_handed_up_in_order_and_once():
    end = joined()
    second = Arrived(Data(9, 7, 2, Acknowledge(2)))
    assert end.handle(second, now=0) == [Transmit(Receipt(7, 9, 0))]
    assert end.handle(Arrived(Data(9, 7, 1, Acknowledge(1))), now=0) == [
        HandUp(Acknowledge(1)),
        HandUp(Acknowledge(2)),
        Transmit(Receipt(7, 9, 2)),
    ]
    assert end.handle(second, now=0) == [Transmit(Receipt(7, 9, 2))]


def test_no_more_than_the_window_is_under_way():
    end = joined()
    for number in range(5):
        end.handle(Offer(Acknowledge(number)), now=0)
    assert end.handle(Arrived(Receipt(9, 7, 2)), now=0) == [
        Transmit(Data(7, 9, 4, Acknowledge(3))),
        Transmit(Data(7, 9, 5, Acknowledge(4))),
    ]


def test_a_connection_is_resumed_where_it_broke():
    end = joined()
    for number in (1, 2):
        end.handle(Offer(Acknowledge(number)), now=0)
    end.handle(Disconnected(), now=1)
    assert end.handle(Connected(), now=5)[0] == Transmit(Hello(7, 9, 0))
    assert end.handle(Arrived(Hello(9, 7, 1, is_answer=True)), now=5)[:2] == [
        Established(fresh=False),
        Transmit(Data(7, 9, 2, Acknowledge(2))),
    ]


def test_a_neighbour_that_lost_its_memory_is_noticed_and_events_stay_in_line():
    end = joined()
    for message in (publication(1), Acknowledge(1), publication(2)):
        end.handle(Offer(message), now=0)
    assert end.handle(Arrived(Hello(10, 0, 0)), now=0) == [
        Transmit(Hello(7, 10, 0, is_answer=True)),
        Established(fresh=True),
        Transmit(Data(7, 10, 1, replace(publication(1), everywhere=True))),
        Transmit(Data(7, 10, 2, replace(publication(2), everywhere=True))),
    ]


@pytest.mark.parametrize(
    "packet",
    [
        Data(8, 7, 1, Acknowledge(1)),
        Data(9, 6, 1, Acknowledge(1)),
        Receipt(9, 6, 1),
        Hello(8, 7, 0),
    ],
)
def test_packets_of_another_conversation_are_dropped(packet):
    end = joined()
    end.handle(Offer(Acknowledge(1)), now=0)
    assert end.handle(Arrived(packet), now=0) == []
    assert len(end.waiting) == 1


def test_an_acknowledgement_of_what_was_never_sent_is_not_believed():
    end = joined()
    end.handle(Offer(Acknowledge(1)), now=0)
    end.handle(Arrived(Receipt(9, 7, 5)), now=0)
    end.handle(Offer(Acknowledge(2)), now=0)
    end.validate()
    assert list(end.waiting) == [Acknowledge(2)]
    assert end.acknowledged == 1


def test_what_waits_for_the_window_cannot_have_arrived():
    end = joined()
    for number in range(5):
        end.handle(Offer(Acknowledge(number)), now=0)
    assert end.handle(Arrived(Receipt(9, 7, 10**9)), now=0) == [
        Transmit(Data(7, 9, 4, Acknowledge(3))),
        Transmit(Data(7, 9, 5, Acknowledge(4))),
    ]
    # What was under way when the connection broke may have arrived, and no more.
    end.handle(Offer(Acknowledge(5)), now=0)
    end.handle(Offer(Acknowledge(6)), now=0)
    end.handle(Disconnected(), now=1)
    end.handle(Connected(), now=1)
    end.handle(Arrived(Hello(9, 7, 10**9, is_answer=True)), now=1)
    end.validate()
    assert list(end.waiting) == [Acknowledge(6)]


class Links(RuleBasedStateMachine):
    """Two ends and everything that can go wrong between them."""

    @initialize(durable=st.booleans())
    def begin(self, durable: bool) -> None:
        self.configuration = LinkConfiguration(resend_seconds=1.0, window=3, durable=durable)
        self.now = 0.0
        self.serial = 0
        self.sessions = 2
        self.ends = [LinkEnd(1, self.configuration), LinkEnd(2, self.configuration)]
        self.kept: list[dict[str, Any]] = [{}, {}]
        self.packets: list[list[Packet]] = [[], []]
        self.timers: list[float | None] = [None, None]
        # By conversation, as (sender's session, receiver's): what is to come, what came.
        self.expected: dict[tuple[int, int], list[Message]] = {}
        self.came: dict[tuple[int, int], list[Message]] = {}
        self.owed: list[set[str]] = [set(), set()]
        self.arrived: list[set[str]] = [set(), set()]

    def act(self, side: int, stimulus: LinkStimulus) -> None:
        end = self.ends[side]
        for effect in end.handle(stimulus, now=self.now):
            match effect:
                case Transmit(packet):
                    self.packets[1 - side].append(packet)
                case HandUp(message):
                    key = (end.peer, end.session)
                    self.came.setdefault(key, []).append(message)
                    if isinstance(message, Publish):
                        self.arrived[side].add(message.publication)
                    # In order and once, from the beginning of the conversation.
                    row = self.came[key]
                    assert row == self.expected[key][: len(row)]
                case Established(fresh):
                    if fresh:
                        self.expected[end.session, end.peer] = list(end.waiting)
                case SetResendTimer(at):
                    assert at >= self.now
                    self.timers[side] = at
                case PersistLink(key, value):
                    if value is None:
                        self.kept[side].pop(key, None)
                    else:
                        self.kept[side][key] = value
        end.validate()

    @rule(side=st.integers(0, 1), is_event=st.booleans())
    def offer(self, side: int, is_event: bool) -> None:
        self.serial += 1
        message: Message = publication(self.serial) if is_event else Acknowledge(self.serial)
        end = self.ends[side]
        if end.peer:
            self.expected[end.session, end.peer].append(message)
        if isinstance(message, Publish):
            self.owed[side].add(message.publication)
        self.act(side, Offer(message))

    @rule(side=st.integers(0, 1), choice=st.integers(0, 9))
    def deliver(self, side: int, choice: int) -> None:
        if bag := self.packets[side]:
            self.act(side, Arrived(bag.pop(choice % len(bag))))

    @rule(side=st.integers(0, 1), count=st.integers(1, 8))
    def deliver_in_order(self, side: int, count: int) -> None:
        for _ in range(count):
            if self.packets[side]:
                self.act(side, Arrived(self.packets[side].pop(0)))

    @rule(side=st.integers(0, 1), choice=st.integers(0, 9))
    def lose(self, side: int, choice: int) -> None:
        if bag := self.packets[side]:
            bag.pop(choice % len(bag))

    @rule(side=st.integers(0, 1), choice=st.integers(0, 9))
    def repeat(self, side: int, choice: int) -> None:
        if bag := self.packets[side]:
            bag.append(bag[choice % len(bag)])

    @rule(side=st.integers(0, 1))
    def connect(self, side: int) -> None:
        if not self.ends[side].is_connected:
            self.act(side, Connected())

    @rule(side=st.integers(0, 1))
    def disconnect(self, side: int) -> None:
        if self.ends[side].is_connected:
            self.act(side, Disconnected())

    @rule(seconds=st.sampled_from([0.3, 1.0, 2.0]))
    def wait(self, seconds: float) -> None:
        self.now += seconds
        for side in (0, 1):
            at = self.timers[side]
            if at is not None and at <= self.now:
                self.timers[side] = None
                self.act(side, ResendTimerFired())

    @rule(side=st.integers(0, 1))
    def lose_memory(self, side: int) -> None:
        self.sessions += 1
        self.ends[side] = LinkEnd(self.sessions, self.configuration)
        self.kept[side].clear()
        self.timers[side] = None
        self.owed[side].clear()

    @precondition(lambda self: self.configuration.durable)
    @rule(side=st.integers(0, 1))
    def crash_with_disk(self, side: int) -> None:
        session = self.ends[side].session
        before = list(self.ends[side].waiting)
        self.ends[side] = LinkEnd.restore(session, self.configuration, self.kept[side])
        assert list(self.ends[side].waiting) == before
        self.timers[side] = None

    @invariant()
    def bags_stay_small(self) -> None:
        for bag in self.packets if hasattr(self, "packets") else []:
            del bag[:-60]

    def teardown(self) -> None:
        """Once the connection is good, everything gets through."""
        if not hasattr(self, "ends"):
            return
        for side in (0, 1):
            self.act(side, Disconnected())
        for side in (0, 1):
            self.act(side, Connected())
        for _ in range(40):
            self.wait(1.0)
            for side in (0, 1):
                self.deliver_in_order(side, 1_000)
        left, right = self.ends
        for sender, receiver in ((left, right), (right, left)):
            key = (sender.session, receiver.session)
            assert self.came.get(key, []) == self.expected[key]
            assert not sender.waiting
        for side in (0, 1):
            assert self.owed[side] <= self.arrived[1 - side]


Links.TestCase.settings = settings(stateful_step_count=40)
TestLinks = Links.TestCase
