"""Subscriptions as lines of JSON: `{"subscription": "alert-1", "filter": "price < 25"}`."""

from typing import Final, NamedTuple

import msgspec

from boolcast.cli.input.sources import Line
from boolcast.errors import InputError
from boolcast.filters.encoding import decode
from boolcast.filters.expressions import Filter
from boolcast.filters.parsing import parse
from boolcast.model.identifiers import SubscriptionId
from boolcast.model.json_faults import subscription_fault
from boolcast.model.schemas import Schema

_EXAMPLE: Final = '{"subscription": "alert-1", "filter": "price < 25"}'


class _SubscriptionLine(msgspec.Struct, frozen=True):
    """A line of JSON; further members are ignored."""

    subscription: str | int
    filter: msgspec.Raw


_DECODER: Final = msgspec.json.Decoder(_SubscriptionLine)


class UnreadSubscription(NamedTuple):
    """A subscription whose filter is still a text, or the JSON form of a filter if text is None."""

    line: int
    subscription: SubscriptionId
    text: str | None
    json: bytes

    def filter(self, schema: Schema | None) -> Filter:
        """Read the filter. Raises FilterError."""
        if self.text is None:
            return decode(self.json, schema=schema)
        return parse(self.text, schema=schema)


def read_subscription(line: Line) -> UnreadSubscription:
    """Read all but the filter; a number as an id becomes text. Raises InputError."""
    try:
        parsed = _DECODER.decode(line.data)
        data = bytes(parsed.filter)
        text = msgspec.json.decode(data, type=str) if data.startswith(b'"') else None
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise InputError(
            f"{_reason(error, line.data)}; a subscription is a line such as {_EXAMPLE}"
        ) from None
    return UnreadSubscription(line.number, SubscriptionId(str(parsed.subscription)), text, data)


def conflict(subscription: SubscriptionId, line: int) -> InputError:
    """The error of a subscription that an earlier line has with another filter."""
    return InputError(
        f"subscription `{subscription}` is already on line {line} with a different filter; "
        "that one is kept. Use unique ids."
    )


class Subscriptions(dict[SubscriptionId, Filter]):
    """The subscriptions of a file, added line by line."""

    def __init__(self, schema: Schema | None) -> None:
        super().__init__()
        self._schema = schema
        self._lines: dict[SubscriptionId, int] = {}

    def read(self, line: Line) -> SubscriptionId:
        """Add the subscription of a line. Raises InputError.

        The same id may come again with the same filter, not with another: the first stays.
        """
        unread = read_subscription(line)
        filter = unread.filter(self._schema)
        if self.setdefault(unread.subscription, filter) != filter:
            raise conflict(unread.subscription, self._lines[unread.subscription])
        self._lines.setdefault(unread.subscription, line.number)
        return unread.subscription


def _reason(error: Exception, data: bytes) -> str:
    match error:
        case UnicodeError():
            return f"the text is not valid UTF-8: {error}"
        case RecursionError():
            return "the JSON nests too deep"
        case _:
            return subscription_fault(error, data)
