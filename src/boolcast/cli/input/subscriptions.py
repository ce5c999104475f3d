"""Subscriptions as lines of JSON: `{"subscription": "alert-1", "filter": "price < 25"}`."""

from typing import Final

import msgspec

from boolcast.cli.input.sources import Line
from boolcast.errors import InputError
from boolcast.filters.encoding import decode
from boolcast.filters.expressions import Filter
from boolcast.filters.parsing import parse
from boolcast.model.identifiers import SubscriptionId
from boolcast.model.json_faults import fault
from boolcast.model.schemas import Schema

_EXAMPLE: Final = '{"subscription": "alert-1", "filter": "price < 25"}'


class _SubscriptionLine(msgspec.Struct, frozen=True):
    """A line as it stands; further members are allowed, and ignored."""

    subscription: str | int
    filter: msgspec.Raw


_DECODER: Final = msgspec.json.Decoder(_SubscriptionLine)


class Subscriptions(dict[SubscriptionId, Filter]):
    """The subscriptions of a file, added line by line."""

    def __init__(self, schema: Schema | None) -> None:
        super().__init__()
        self._schema = schema
        self._lines: dict[SubscriptionId, int] = {}

    def read(self, line: Line) -> SubscriptionId:
        """Add the subscription of a line. The filter may be text, or the JSON form of a filter.

        The same subscription twice is one, and with another filter an error: the first stays.
        A number as an id is taken as its text.
        """
        try:
            parsed = _DECODER.decode(line.data)
            data = bytes(parsed.filter)
            text = msgspec.json.decode(data, type=str) if data.startswith(b'"') else None
        except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
            raise InputError(
                f"{_reason(error, line.data)}; a subscription is a line such as {_EXAMPLE}"
            ) from None
        if text is None:
            filter = decode(data, schema=self._schema)
        else:
            filter = parse(text, schema=self._schema)
        subscription = SubscriptionId(str(parsed.subscription))
        if self.setdefault(subscription, filter) != filter:
            raise InputError(
                f"the subscription {subscription} stands in line {self._lines[subscription]} "
                "with another filter, which is kept; give each subscription an id of its own"
            )
        self._lines.setdefault(subscription, line.number)
        return subscription


def _reason(error: Exception, data: bytes) -> str:
    match error:
        case UnicodeError():
            return f"the text is not valid UTF-8: {error}"
        case RecursionError():
            return "the JSON nests too deep"
        case _:
            return f"the JSON cannot be read: {fault(error, data)}"
