"""Scripts: stimuli in, effects out."""

import pytest

from boolcast.errors import (
    DuplicateNameError,
    EmptyAdvertisementError,
    ProtocolError,
    UnadvertisedError,
    UnknownAdvertisementError,
    UnknownSubscriptionError,
)
from boolcast.filters.expressions import Filter
from boolcast.filters.parsing import parse
from boolcast.model.events import Event
from boolcast.model.identifiers import (
    AdvertisementId,
    BrokerId,
    ClientId,
    PublicationId,
    SubscriptionId,
)
from boolcast.routing.core import persistence
from boolcast.routing.core.broker import Broker
from boolcast.routing.protocol.configuration import Configuration, configure
from boolcast.routing.protocol.effects import (
    Complain,
    Confirm,
    Deliver,
    Effect,
    Persist,
    Refuse,
    Send,
    SetTimer,
    Suspect,
)
from boolcast.routing.protocol.messages import (
    Acknowledge,
    Advertise,
    Message,
    PruningDistance,
    Publish,
    Subscribe,
    Synchronised,
    Unadvertise,
    Unsubscribe,
)
from boolcast.routing.protocol.records import CounterRecord, SubscriptionRecord
from boolcast.routing.protocol.stimuli import (
    ClientAdvertises,
    ClientLeaves,
    ClientPublishes,
    ClientSubscribes,
    ClientUnadvertises,
    ClientUnsubscribes,
    LinkDown,
    LinkUp,
    Received,
    Stimulus,
    TimerFired,
)

A, C = BrokerId("A"), BrokerId("C")
ANN, PAT = ClientId("ann"), ClientId("pat")


def tree(text: str) -> Filter:
    return parse(text)


def advertise(number: int, name: str, text: str) -> Advertise:
    return Advertise(number, AdvertisementId(name), tree(text))


def subscribe(name: str, text: str) -> Subscribe:
    return Subscribe(SubscriptionId(name), tree(text))


def unsubscribe(number: int, name: str) -> Unsubscribe:
    return Unsubscribe(number, SubscriptionId(name))


class Script:
    """Broker B between A and C, synchronised with both."""

    def __init__(self, configuration: Configuration | None = None) -> None:
        self.broker = Broker(
            BrokerId("B"), configuration or Configuration(engine="scan"), neighbours=[A, C]
        )
        self.now = 0.0
        for link in (A, C):
            self.do(LinkUp(link))
        for link in (A, C):
            self.get(link, Synchronised("advertisements"))
            self.get(link, Synchronised("subscriptions"))

    def do(self, stimulus: Stimulus) -> list[Effect]:
        effects = self.broker.handle(stimulus, now=self.now)
        self.broker.validate()
        return effects

    def get(self, link: BrokerId, message: Message) -> list[Effect]:
        return self.do(Received(link, message))


def test_two_links_are_synchronised_stage_by_stage():
    broker = Broker(BrokerId("B"), Configuration(engine="scan"), neighbours=[A, C])
    assert broker.handle(LinkUp(A), now=0) == []
    assert broker.handle(LinkUp(C), now=0) == []
    # What A has said is all that C must know.
    assert broker.handle(Received(A, Synchronised("advertisements")), now=0) == [
        Send(C, Synchronised("advertisements"))
    ]
    assert broker.handle(Received(C, Synchronised("advertisements")), now=0) == [
        Send(A, Synchronised("advertisements"))
    ]
    assert broker.handle(Received(A, Synchronised("subscriptions")), now=0) == [
        Send(C, Synchronised("subscriptions"))
    ]
    assert broker.handle(Received(C, Synchronised("subscriptions")), now=0) == [
        Send(A, Synchronised("subscriptions"))
    ]
    assert broker.handle(Received(C, Synchronised("subscriptions")), now=0) == []


def test_an_advertisement_is_passed_on_and_wakes_subscriptions():
    script = Script()
    assert script.do(ClientSubscribes(ANN, "cheap", tree("price < 25"))) == []
    assert script.get(A, advertise(5, "A:1:1", "price > 20")) == [
        SetTimer("acknowledgements", 30.0),
        Send(C, advertise(3, "A:1:1", "price > 20")),
        Send(A, subscribe("B:1:1", "price < 25")),
    ]
    # C may still answer with subscriptions: until then A gets no acknowledgement.
    assert script.get(C, Acknowledge(3)) == [Send(A, Acknowledge(5))]


def test_an_event_goes_once_to_each_link_and_client_and_never_back():
    script = Script()
    script.get(A, advertise(1, "A:1:1", "true"))
    script.get(C, Acknowledge(2))
    for name, text in [("C:1:1", "x > 1"), ("C:1:2", "x > 2")]:
        script.get(C, subscribe(name, text))
    script.do(ClientSubscribes(ANN, "one", tree("x > 1")))
    script.do(ClientSubscribes(ANN, "three", tree("x > 3")))
    script.do(ClientSubscribes(ANN, "two", tree("x > 2")))
    event = Event(x=3)
    message = Publish(PublicationId("e"), AdvertisementId("A:1:1"), event)
    assert script.get(A, message) == [
        Send(C, message),
        Deliver(ANN, PublicationId("e"), event, ("one", "two")),
    ]


def test_an_event_goes_to_a_neighbour_that_has_not_said_what_it_wants():
    broker = Broker(BrokerId("B"), Configuration(engine="scan"), neighbours=[A])
    broker.handle(ClientAdvertises(PAT, "all", tree("true")), now=0)
    message = Publish(PublicationId("e"), AdvertisementId("B:1:1"), Event(x=1))
    publishes = ClientPublishes(PAT, PublicationId("e"), Event(x=1))
    assert broker.handle(publishes, now=0) == [Send(A, message)]
    broker.handle(LinkUp(A), now=0)
    broker.handle(Received(A, Synchronised("advertisements")), now=0)
    broker.handle(Received(A, Synchronised("subscriptions")), now=0)
    # It knows of the advertisement, and has not answered it yet.
    assert broker.handle(publishes, now=0) == [Send(A, message)]
    broker.handle(Received(A, Acknowledge(3)), now=0)
    assert broker.handle(publishes, now=0) == []


def test_active_covering_makes_before_it_breaks():
    """R2 and P2-B8: the newcomer first, then the removal of what it covers."""
    script = Script()
    script.get(A, advertise(1, "A:1:1", "true"))
    script.get(C, subscribe("C:1:1", "x < 5"))
    assert [
        effect for effect in script.get(C, subscribe("C:1:2", "x < 9")) if isinstance(effect, Send)
    ] == [Send(A, subscribe("C:1:2", "x < 9")), Send(A, unsubscribe(5, "C:1:1"))]


def test_a_removal_is_confirmed_when_it_is_done_everywhere():
    """P2-B8 and P2-B9: the chain of acknowledgements."""
    script = Script(configure({"engine": "scan", "covering": "none"}))
    script.get(A, advertise(1, "A:1:1", "true"))
    script.get(C, Acknowledge(2))
    script.do(ClientSubscribes(ANN, "s", tree("x = 1")))
    assert script.do(ClientUnsubscribes(ANN, "s")) == [
        Send(A, unsubscribe(6, "B:1:4")),
        SetTimer("acknowledgements", 30.0),
    ]
    assert script.get(A, Acknowledge(6)) == [Confirm(ANN, "s")]
    script.do(ClientSubscribes(ANN, "local", tree("false")))
    assert script.do(ClientUnsubscribes(ANN, "local")) == [Confirm(ANN, "local")]


def test_a_neighbour_that_does_not_acknowledge_is_suspect():
    script = Script(
        configure({"engine": "scan", "covering": "none", "acknowledgement_seconds": 10})
    )
    script.get(A, advertise(1, "A:1:1", "true"))
    script.get(C, Acknowledge(2))
    script.do(ClientSubscribes(ANN, "s", tree("x = 1")))
    script.do(ClientUnsubscribes(ANN, "s"))
    script.now = 9
    assert script.do(TimerFired("acknowledgements")) == [SetTimer("acknowledgements", 10.0)]
    script.now = 10
    assert script.do(TimerFired("acknowledgements")) == [
        Suspect(A, 6),
        SetTimer("acknowledgements", 20.0),
    ]
    script.get(A, Acknowledge(6))
    assert script.do(TimerFired("acknowledgements")) == []


def test_an_advertisement_that_goes_takes_its_subscriptions_along():
    """F6: what overlaps with nothing from that link any more is withdrawn from it."""
    script = Script()
    script.get(A, advertise(1, "A:1:1", "x < 5"))
    script.get(A, advertise(2, "A:1:2", "x > 3"))
    script.get(C, subscribe("C:1:1", "x < 2"))
    script.get(C, subscribe("C:1:2", "x = 4"))
    sends = [
        effect
        for effect in script.get(A, Unadvertise(AdvertisementId("A:1:1")))
        if isinstance(effect, Send)
    ]
    assert sends == [
        Send(C, Unadvertise(AdvertisementId("A:1:1"))),
        Send(A, unsubscribe(8, "C:1:1")),
    ]


def test_advertisements_are_covered_too():
    script = Script(configure({"engine": "scan", "covering.advertisements": "active"}))
    assert Send(C, advertise(2, "A:1:1", "x < 9")) in script.get(A, advertise(1, "A:1:1", "x < 9"))
    assert script.get(C, Acknowledge(2)) == [Send(A, Acknowledge(1))]
    # Nothing is sent: whoever wants x < 5 is found by x < 9.
    assert script.get(A, advertise(2, "A:1:2", "x < 5")) == [Send(A, Acknowledge(2))]
    sends = [
        effect
        for effect in script.get(A, Unadvertise(AdvertisementId("A:1:1")))
        if isinstance(effect, Send)
    ]
    assert sends == [
        Send(C, advertise(5, "A:1:2", "x < 5")),
        Send(C, Unadvertise(AdvertisementId("A:1:1"))),
    ]


@pytest.mark.parametrize(
    ("stimulus", "error"),
    [
        (ClientUnsubscribes(ANN, "none"), UnknownSubscriptionError("none")),
        (ClientUnadvertises(ANN, "none"), UnknownAdvertisementError("none")),
        (ClientSubscribes(ANN, "s", tree("x = 2")), DuplicateNameError("s")),
        (ClientAdvertises(ANN, "a", tree("x = 2")), DuplicateNameError("a")),
        *(
            (ClientAdvertises(ANN, "b", tree(text)), EmptyAdvertisementError("b", text))
            for text in (
                "false",
                "x between 5 and 3",
                "x > 5 and x < 3",
                "(x = 1 or y = 1) and x != 1 and y > 1",
            )
        ),
        (ClientPublishes(ANN, PublicationId("e"), Event(x=2)), UnadvertisedError("e")),
        (ClientPublishes(PAT, PublicationId("e"), Event(x=1)), UnadvertisedError("e")),
        (ClientPublishes(ANN, PublicationId("e"), Event(x=2), "a"), UnadvertisedError("e")),
        (
            ClientPublishes(ANN, PublicationId("e"), Event(x=1), "none"),
            UnknownAdvertisementError("none"),
        ),
    ],
)
def test_a_client_that_is_wrong_is_told_so(stimulus, error):
    script = Script()
    script.do(ClientSubscribes(ANN, "s", tree("x = 1")))
    script.do(ClientAdvertises(ANN, "a", tree("x = 1")))
    (effect,) = script.do(stimulus)
    assert isinstance(effect, Refuse)
    assert effect.client == stimulus.client
    assert type(effect.error) is type(error)
    assert str(effect.error) == str(error)


@pytest.mark.parametrize(
    "stimulus",
    [
        ClientSubscribes(ANN, "s", tree("x = 1")),
        ClientAdvertises(ANN, "a", tree("x = 1")),
        ClientLeaves(PAT),
        LinkUp(A, fresh=False),
        LinkDown(A),
        TimerFired("acknowledgements"),
        Received(A, subscribe("A:1:7", "x = 7")),
        Received(A, Unadvertise(AdvertisementId("none"))),
        Received(A, Synchronised("subscriptions")),
    ],
)
def test_a_repeat_is_ignored(stimulus):
    """R14."""
    script = Script()
    script.do(ClientSubscribes(ANN, "s", tree("x = 1")))
    script.do(ClientAdvertises(ANN, "a", tree("x = 1")))
    script.get(A, subscribe("A:1:7", "x = 7"))
    assert [effect for effect in script.do(stimulus) if not isinstance(effect, SetTimer)] == []


def test_an_unknown_removal_is_acknowledged():
    """R14."""
    assert Script().get(A, unsubscribe(4, "none")) == [Send(A, Acknowledge(4))]


@pytest.mark.parametrize(
    ("link", "message", "problem", "answers"),
    [
        (C, subscribe("Z:1:1", "x = 1"), "came from elsewhere", []),
        (C, subscribe("A:1:1", "x = 1"), "has an id of A", []),
        (A, subscribe("A:1:1", "x = 2"), "another filter", []),
        (C, unsubscribe(3, "A:1:1"), "came from elsewhere", [Send(C, Acknowledge(3))]),
        (C, advertise(3, "Z:1:2", "x = 1"), "came from elsewhere", [Send(C, Acknowledge(3))]),
        (C, advertise(3, "A:1:2", "x = 1"), "has an id of A", [Send(C, Acknowledge(3))]),
        (A, advertise(3, "A:1:2", "x = 2"), "another filter", [Send(A, Acknowledge(3))]),
        (C, Unadvertise(AdvertisementId("A:1:2")), "came from elsewhere", []),
        (A, subscribe("B:1:99", "x = 1"), "has an id of this broker", []),
        (A, subscribe("B:7:1", "x = 1"), "has an id of this broker", []),
        (A, advertise(3, "B:1:99", "x = 1"), "has an id of this broker", [Send(A, Acknowledge(3))]),
        (A, Acknowledge(99), "nothing with the number 99", []),
        (BrokerId("X"), Synchronised("subscriptions"), "not up", []),
    ],
)
def test_a_neighbour_that_breaks_the_protocol_is_told_so(link, message, problem, answers):
    script = Script()
    script.get(A, subscribe("A:1:1", "x = 1"))
    script.get(A, advertise(1, "A:1:2", "x = 1"))
    script.get(A, subscribe("Z:1:1", "x = 1"))
    script.get(A, advertise(2, "Z:1:2", "x = 1"))
    complaint, *rest = script.get(link, message)
    assert isinstance(complaint, Complain)
    assert complaint.link == link
    assert isinstance(complaint.error, ProtocolError)
    assert problem in str(complaint.error)
    assert rest == answers
    # The broker goes on, and what held before holds still.
    event = Event(x=1)
    message = Publish(PublicationId("e"), AdvertisementId("C:1:1"), event)
    assert script.get(C, message) == [Send(A, message)]


def test_the_id_of_a_ghost_is_not_used_again():
    """Decision 20: the neighbour may still hold it, and others are quenched by it."""
    script = Script(configure({"engine": "scan", "unsubscription": "incremental"}))
    script.get(C, advertise(1, "C:1:1", "x >= 0"))
    script.get(A, subscribe("A:1:1", "x > 0"))
    script.get(A, subscribe("A:1:2", "x > 5"))
    distances = (PruningDistance(AdvertisementId("C:1:1"), 0),)
    script.get(A, Unsubscribe(1, SubscriptionId("A:1:1"), distances))
    assert script.broker.state.neighbours[C].ghosts() == ["A:1:1"]
    for text in ("x > 0", "x > -1", "x > 7", "y > 7 and x >= 0"):
        again = subscribe("A:1:1", text)
        packed = Unsubscribe(2, SubscriptionId("none"), payload=(again,))
        rows: list[tuple[Message, list[Effect]]] = [
            (again, []),
            (packed, [Send(A, Acknowledge(2))]),
        ]
        for message, answers in rows:
            complaint, *rest = script.get(A, message)
            assert isinstance(complaint, Complain)
            assert complaint.link == A
            assert "was taken back" in str(complaint.error)
            assert rest == answers


def test_a_neighbour_cannot_take_the_ids_of_another():
    """Whoever claimed them first would keep the other's subscriptions out."""
    script = Script()
    messages: list[Message] = [subscribe("C:1:2", "x = 77"), advertise(3, "C:1:3", "x = 77")]
    for message in messages:
        complaint = script.get(A, message)[0]
        assert isinstance(complaint, Complain)
        assert (complaint.link, "has an id of C" in str(complaint.error)) == (A, True)
    script.do(ClientAdvertises(PAT, "all", tree("true")))
    assert script.get(C, subscribe("C:1:2", "x > 5")) == []
    # A broker further off is believed, wherever its ids come from first.
    assert script.get(A, subscribe("Z:1:2", "x = 77")) == []
    assert sorted(script.broker.state.subscriptions.entries) == ["C:1:2", "Z:1:2"]


@pytest.mark.parametrize(
    ("advertisement", "problem"),
    [
        ("B:1:3", "has an id of this broker"),
        ("B:9:9", "has an id of this broker"),
        ("C:9:9", "has an id of C"),
        ("Z:1:1", "came from elsewhere"),
    ],
)
def test_an_event_that_cannot_come_from_there_goes_nowhere(advertisement, problem):
    script = Script()
    script.get(C, advertise(1, "Z:1:1", "true"))
    script.do(ClientAdvertises(PAT, "all", tree("true")))
    script.do(ClientSubscribes(ANN, "all", tree("true")))
    event = Publish(PublicationId("e"), AdvertisementId(advertisement), Event(x=1))
    (effect,) = script.get(A, event)
    assert isinstance(effect, Complain)
    assert effect.link == A
    assert problem in str(effect.error)


def test_records_come_first_and_are_enough_to_go_on():
    configuration = Configuration(engine="scan", durable=True)
    script = Script(configuration)
    effects = script.do(ClientSubscribes(ANN, "s", tree("x = 1")))
    record = SubscriptionRecord(SubscriptionId("B:1:1"), tree("x = 1"), 1, client=ANN, name="s")
    assert effects == [
        Persist("counter", CounterRecord(1, 1)),
        Persist("subscription/B:1:1", record),
    ]
    kept = [effect.record for effect in effects if isinstance(effect, Persist) and effect.record]
    restored = Broker.restore(BrokerId("B"), configuration, kept, neighbours=[A, C])
    restored.validate()
    # Its id is not used again.
    effects = restored.handle(ClientSubscribes(ANN, "t", tree("x = 2")), now=0)
    assert "B:1:2" in restored.state.subscriptions


@pytest.mark.parametrize("durable", [True, False])
def test_a_broker_without_a_disk_builds_no_record(monkeypatch, durable):
    built: list[object] = []
    for name in ("CounterRecord", "SubscriptionRecord", "LinkRecord"):
        monkeypatch.setattr(persistence, name, lambda *fields: built.append(fields))
    script = Script(Configuration(engine="scan", durable=durable))
    script.do(ClientSubscribes(ANN, "s", tree("x = 1")))
    assert bool(built) is durable


def test_a_client_that_leaves_leaves_nothing_behind():
    script = Script()
    script.do(ClientSubscribes(ANN, "s", tree("x = 1")))
    script.do(ClientAdvertises(ANN, "a", tree("x = 1")))
    script.do(ClientLeaves(ANN))
    assert not len(script.broker.state.subscriptions)
    assert not len(script.broker.state.advertisements)
