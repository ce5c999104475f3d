"""Messages, packets and records as bytes, in JSON or MessagePack, and back again as they were.

All of them are Structs and say by a tag what they are. Only the values of events need help. An
event is flat, so a value that is written as an object stands for what has no form of its own:
`{"microseconds": 5}` is a timestamp, `{"description": "NaN"}` an opaque value, and
`{"infinity": -1}` the least number, for which JSON alone has no word.
"""

import math
from collections.abc import Callable
from typing import Any, Final, Literal, cast

import msgspec
from msgspec.structs import replace

from boolcast.errors import EventError, ProtocolError
from boolcast.model.events import Event
from boolcast.model.values import INTEGER_MAX, INTEGER_MIN, EventValue, Opaque, Timestamp
from boolcast.routing.messages import Message, Publish
from boolcast.routing.packets import Data, Packet
from boolcast.routing.records import Record

Notation = Literal["json", "msgpack"]


def encode(thing: Message | Packet | Record, notation: Notation) -> bytes:
    """The bytes of what goes to a neighbour or to the disk."""
    if notation == "msgpack":
        return _PACK(thing)
    return _WRITE(_without_infinities(thing))


def decode_message(data: bytes, notation: Notation) -> Message:
    """The message that was encoded. Raises ProtocolError."""
    return cast("Message", _decode(data, "message", notation))


def decode_packet(data: bytes, notation: Notation) -> Packet:
    """The packet that was encoded. Raises ProtocolError."""
    return cast("Packet", _decode(data, "packet", notation))


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
