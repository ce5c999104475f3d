"""How many bytes packets take on the wire."""

from typing import Final

import msgspec

from boolcast.routing.protocol.messages import Message, Publish, Subscribe
from boolcast.routing.protocol.packets import Data, Packet

_HEADER: Final = 24
"""What a packet takes beside a message, and without one."""


class Sizes:
    """The sizes of packets; those of events and subscriptions are remembered by id."""

    def __init__(self) -> None:
        self._encode = msgspec.json.Encoder().encode
        self._known: dict[str, int] = {}

    def of(self, packet: Packet | Message) -> int:
        """The bytes of a packet."""
        message = packet.message if type(packet) is Data else packet
        kind = type(message)
        if kind is Publish:
            key = message.publication  # type: ignore[union-attr]
        elif kind is Subscribe:
            key = message.subscription  # type: ignore[union-attr]
        else:
            return _HEADER + len(self._encode(message))
        size = self._known.get(key)
        if size is None:
            size = self._known[key] = _HEADER + len(self._encode(message))
        return size
