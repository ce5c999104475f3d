"""What travels below the link protocol, where packets may be lost, repeated and late."""

import msgspec

from boolcast.routing.protocol.messages import Message


class Hello(msgspec.Struct, frozen=True, tag="hello"):
    """Sent when a connection begins, and again until it is answered; an answer is not.

    `session` is the sender's, `knows` the session of the receiver that the sender remembers
    (0: none), `received` the last message that it has from that session.
    """

    session: int
    knows: int
    received: int
    is_answer: bool = False


class Data(msgspec.Struct, frozen=True, tag="data"):
    """A message with its number in the conversation of two sessions."""

    sender: int
    receiver: int
    number: int
    message: Message


class Receipt(msgspec.Struct, frozen=True, tag="receipt"):
    """All messages up to this number have arrived."""

    sender: int
    receiver: int
    received: int


Packet = Hello | Data | Receipt
