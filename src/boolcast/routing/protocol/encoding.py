"""Messages, packets and records as bytes, in JSON or MessagePack, and back again as they were.

All of them are Structs and say by a tag what they are. Only the values of events need help. An
event is flat, so a value that is written as an object stands for what JSON cannot write otherwise:
`{"microseconds": 5}` is a timestamp, `{"description": "NaN"}` an opaque value, and
`{"infinity": -1}` the least number, for which JSON alone has no word.

Whoever writes to us may be hostile, so filters in messages and packets are held against the limits
for texts. Records are our own.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, Literal, cast

import msgspec
from msgspec.structs import replace

from boolcast.errors import EventError, FilterLimitError, ProtocolError
from boolcast.filters.encoding import check_size
from boolcast.filters.limits import DEFAULT_LIMITS, Limits
from boolcast.filters.size_check import check_limits
from boolcast.model.events import Event
from boolcast.model.values import INTEGER_MAX, INTEGER_MIN, EventValue, Opaque, Timestamp
from boolcast.routing.protocol.messages import Advertise, Message, Publish, Subscribe, Unsubscribe
from boolcast.routing.protocol.packets import Data, Packet
from boolcast.routing.protocol.records import Record

Notation = Literal["json", "msgpack"]


def encode(thing: Message | Packet | Record, notation: Notation) -> bytes:
    """The bytes of what goes to a neighbour or to the disk."""
    if notation == "msgpack":
        return _PACK(thing)
    return _WRITE(_without_infinities(thing))


def decode_message(data: bytes, notation: Notation, *, limits: Limits = DEFAULT_LIMITS) -> Message:
    """The message that was encoded. Raises ProtocolError, caused by FilterLimitError if it is so.

    Past a limit the work is in proportion to the data.
    """
    with _limited("message"):
        _check_regexes(data, notation, limits)
        message = cast("Message", _decode(data, "message", notation))
        _check_filters(message, limits)
    return message


def decode_packet(data: bytes, notation: Notation, *, limits: Limits = DEFAULT_LIMITS) -> Packet:
    """The packet that was encoded. Raises as `decode_message` does."""
    with _limited("packet"):
        _check_regexes(data, notation, limits)
        packet = cast("Packet", _decode(data, "packet", notation))
        if isinstance(packet, Data):
            _check_filters(packet.message, limits)
    return packet


def decode_record(data: bytes, notation: Notation) -> Record:
    """The record that was encoded. Raises ProtocolError."""
    return cast("Record", _decode(data, "record", notation))


def _decode(data: bytes, kind: str, notation: Notation) -> object:
    try:
        return _DECODERS[kind, notation](data)
    except RecursionError:
        raise ProtocolError(f"a {kind} nests too deep") from None
    except (msgspec.MsgspecError, UnicodeError, EventError) as error:
        raise ProtocolError(f"not a {kind} in {notation}: {error}") from None


@contextmanager
def _limited(kind: str) -> Iterator[None]:
    try:
        yield
    except FilterLimitError as error:
        raise ProtocolError(f"a {kind} with too large a filter: {error}") from error


def _check_filters(message: Message, limits: Limits) -> None:
    match message:
        case Subscribe() | Advertise():
            check_limits(message.filter, limits)
        case Unsubscribe():
            for each in message.payload:
                check_limits(each.filter, limits)


def _check_regexes(data: bytes, notation: Notation, limits: Limits) -> None:
    """Check the number of regular expressions before compiling them, which is slow.

    Data that cannot have too many is not decoded for it.
    """
    if data.count(_REGEX) + data.count(_ESCAPE) > limits.regexes:
        try:
            waiting = [_PLAIN[notation](data)]
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            return
        while waiting:
            value = waiting.pop()
            members = value if isinstance(value, list) else []
            if isinstance(value, dict):
                members = [value.get(name) for name in ("message", "payload")]
                check_size(value.get("filter"), limits)
            waiting += members


def _without_infinities(thing: Message | Packet | Record) -> Message | Packet | Record:
    if isinstance(thing, Data):
        return replace(thing, message=_without_infinities(thing.message))
    if not isinstance(thing, Publish) or not any(map(_is_infinite, thing.event.values())):
        return thing
    members = {
        name: {"infinity": 1 if value > 0 else -1} if _is_infinite(value) else value  # type: ignore[operator]
        for name, value in thing.event.items()
    }
    return replace(thing, event=members)


def _is_infinite(value: EventValue) -> bool:
    return type(value) is float and math.isinf(value)


def _read(kind: type, members: Any) -> Event:
    """An event from its members; msgspec asks because it does not know the type."""
    assert kind is Event
    if not isinstance(members, dict):
        raise EventError("an event is an object")
    return Event.from_python(
        {
            name: _value(value) if isinstance(value, dict) else value
            for name, value in members.items()
        }
    )


def _value(written: dict[Any, Any]) -> EventValue:
    match written:
        case {"microseconds": int() as moment} if len(written) == 1 and _is_whole(moment):
            return Timestamp(moment)
        case {"description": str() as text} if len(written) == 1:
            return Opaque(text)
        case {"infinity": 1} if len(written) == 1:
            return math.inf
        case {"infinity": -1} if len(written) == 1:
            return -math.inf
    raise EventError("a value of an event is an object that stands for nothing")


def _is_whole(number: int) -> bool:
    return number is not True and number is not False and INTEGER_MIN <= number <= INTEGER_MAX


_REGEX: Final = b"matches"
_ESCAPE: Final = b"\\u"
"""In JSON a tag may be spelt with these."""
_PLAIN: Final[dict[Notation, Callable[[bytes], Any]]] = {
    "json": msgspec.json.decode,
    "msgpack": msgspec.msgpack.decode,
}

_WRITE: Final = msgspec.json.Encoder().encode
_PACK: Final = msgspec.msgpack.Encoder().encode

_DECODERS: Final[dict[tuple[str, Notation], Callable[[bytes], object]]] = {
    ("message", "json"): msgspec.json.Decoder(Message, dec_hook=_read).decode,
    ("message", "msgpack"): msgspec.msgpack.Decoder(Message, dec_hook=_read).decode,
    ("packet", "json"): msgspec.json.Decoder(Packet, dec_hook=_read).decode,
    ("packet", "msgpack"): msgspec.msgpack.Decoder(Packet, dec_hook=_read).decode,
    ("record", "json"): msgspec.json.Decoder(Record).decode,
    ("record", "msgpack"): msgspec.msgpack.Decoder(Record).decode,
}
