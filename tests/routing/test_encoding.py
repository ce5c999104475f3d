"""What goes over the wire or to the disk comes back as it was."""

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from boolcast.errors import FilterLimitError, ProtocolError
from boolcast.filters.expressions import And, Comparison, Filter, In, Matches, Or
from boolcast.filters.limits import Limits
from boolcast.model.events import Event
from boolcast.model.identifiers import AdvertisementId, BrokerId, PublicationId, SubscriptionId
from boolcast.model.values import Opaque, Timestamp
from boolcast.routing.protocol.encoding import (
    Notation,
    decode_message,
    decode_packet,
    decode_record,
    encode,
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
from boolcast.routing.protocol.packets import Data, Hello, Packet, Receipt
from boolcast.routing.protocol.records import OperationRecord, SubscriptionRecord
from tests.routing.test_broker import tree
from tests.strategies import event_values, filters, names, texts

NOTATIONS: tuple[Notation, ...] = ("json", "msgpack")
EVENTS = st.dictionaries(
    names(),
    event_values()
    | st.sampled_from([math.inf, -math.inf, math.nan, [1, 2]])
    | st.builds(Timestamp, st.integers(-(2**63), 2**63 - 1))
    | st.builds(Opaque, texts()),
).map(Event.from_python)


def publish(event):
    return Publish(PublicationId("e"), AdvertisementId("a"), event, 2, 1)


@given(event=EVENTS)
@example(event=Event.from_python({"i": math.inf, "n": math.nan, "l": [1], "t": Timestamp(0)}))
def test_an_event_comes_back_as_it_was(event):
    for notation in NOTATIONS:
        packet = Data(1, 2, 3, publish(event))
        again = decode_packet(encode(packet, notation), notation)
        assert again == packet
        message = decode_message(encode(packet.message, notation), notation)
        assert message == packet.message
        assert isinstance(message, Publish)
        assert type(message.event) is Event
        assert list(map(type, message.event.values())) == list(map(type, event.values()))


@given(filter=filters())
def test_a_filter_comes_back_as_it_was(filter):
    for notation in NOTATIONS:
        message = Subscribe(SubscriptionId("s"), filter)
        assert decode_message(encode(message, notation), notation) == message
        record = SubscriptionRecord(SubscriptionId("s"), filter, 3)
        assert decode_record(encode(record, notation), notation) == record


@pytest.mark.parametrize("notation", NOTATIONS)
def test_every_kind_of_message_packet_and_record_comes_back(notation):
    messages: list[Message] = [
        Advertise(1, AdvertisementId("a"), tree("x = 1")),
        Unadvertise(AdvertisementId("a")),
        Unsubscribe(
            1,
            SubscriptionId("s"),
            (PruningDistance(AdvertisementId("a"), None),),
            (Subscribe(SubscriptionId("t"), tree("x like 'a%'")),),
        ),
        Acknowledge(1),
        Synchronised("advertisements"),
    ]
    for message in messages:
        assert decode_message(encode(message, notation), notation) == message
    packets: list[Packet] = [Hello(1, 2, 3), Receipt(1, 2, 3)]
    for packet in packets:
        assert decode_packet(encode(packet, notation), notation) == packet
    record = OperationRecord(1, 2.5, ((BrokerId("A"), 1),))
    assert decode_record(encode(record, notation), notation) == record


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"\xff",
        b'{"type":"confetti"}',
        b'{"type":"publish","publication":"e","advertisement":"a","event":[]}',
        b'{"type":"publish","publication":"e","advertisement":"a","event":{"x":{"y":1}}}',
        b'{"type":"publish","publication":"e","advertisement":"a","event":{"x":{"infinity":2}}}',
        b'{"type":"publish","publication":"e","advertisement":"a","event":{"t":{"microseconds":true}}}',
        b'{"type":"subscribe","subscription":"s","filter":'
        + b'{"type":"not","child":' * 100_000
        + b"1"
        + b"}" * 100_001,
    ],
)
def test_what_is_no_message_is_refused(data):
    with pytest.raises(ProtocolError):
        decode_message(data, "json")


def conjunction_of(count: int) -> Filter:
    return And(tuple(Comparison("x", "!=", number) for number in range(count)))


def nested(depth: int) -> Filter:
    node: Filter = Comparison("x", "=", 1)
    for level in range(depth):
        pair = (node, Comparison("y", "=", level))
        node = And(pair) if level % 2 else Or(pair)
    return node


@pytest.mark.parametrize("notation", NOTATIONS)
@pytest.mark.parametrize(
    ("filter", "limit"),
    [
        (conjunction_of(1_025), "predicates"),
        (nested(140), "depth"),
        (In("x", tuple(range(10_001))), "values"),
        (Comparison("x", "=", "z" * 16_385), "text"),
        (And(tuple(Matches("x", f"a{number}") for number in range(33))), "regexes"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_filter_past_a_limit_is_a_neighbours_fault(filter, limit, notation):
    """Wherever it stands; what is just within them is taken."""
    subscribe = Subscribe(SubscriptionId("s"), filter)
    for message in (
        subscribe,
        Advertise(1, AdvertisementId("a"), filter),
        Unsubscribe(1, SubscriptionId("t"), None, (subscribe,)),
    ):
        with pytest.raises(ProtocolError, match="too large a filter") as found:
            decode_message(encode(message, notation), notation)
        assert isinstance(found.value.__cause__, FilterLimitError)
        assert found.value.__cause__.limit == limit
        with pytest.raises(ProtocolError, match="too large a filter"):
            decode_packet(encode(Data(1, 1, 1, message), notation), notation)
    allowed = Limits(text=20_000, depth=100, predicates=2_000, values=20_000, regexes=40)
    assert decode_message(encode(subscribe, notation), notation, limits=allowed) == subscribe
    # What this broker wrote itself it can read again.
    record = SubscriptionRecord(SubscriptionId("s"), filter, 1)
    assert decode_record(encode(record, notation), notation) == record


@pytest.mark.parametrize("notation", NOTATIONS)
def test_regular_expressions_past_the_limit_are_not_compiled(notation, monkeypatch):
    many = And(tuple(Matches("x", f"a{number}") for number in range(33)))
    data = encode(Subscribe(SubscriptionId("s"), many), notation)

    def compiled(pattern: str) -> None:
        raise AssertionError(pattern)

    monkeypatch.setattr("boolcast.filters.regexes.compile_regex", compiled)
    for written in (data, data.replace(b'"matches"', b'"m\\u0061tches"')):
        with pytest.raises(ProtocolError, match="more than 32 regular expressions"):
            decode_message(written, notation)
    event = Publish(PublicationId("e"), AdvertisementId("a"), Event(text="matches" * 40))
    assert decode_message(encode(event, notation), notation) == event
