"""The values that filters are written with and events carry.

Five kinds: boolean, number (64-bit integer or float64), string, timestamp (UTC,
microseconds), and *opaque* for whatever is present but of no known kind (an array, NaN):
it satisfies `is not null` and nothing else. Values compare within their kind only.

Python's own comparisons already do what is wanted inside a kind: integers and floats
compare exactly, -0.0 equals 0, strings order by code point. Across kinds they do not
(`True == 1`), so whoever compares values asks for their kinds first.
"""

import math
import re
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Final, cast

import msgspec


class Kind(StrEnum):
    """The kinds of value; two values of different kinds never compare."""

    BOOLEAN = "boolean"
    NUMBER = "number"
    STRING = "string"
    TIMESTAMP = "timestamp"
    OPAQUE = "opaque"


_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_FIRST_PRINTABLE: Final = (datetime.min.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND
_LAST_PRINTABLE: Final = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND

_TIMESTAMP_TEXT: Final = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)"
    r"(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?"
    r"(Z|[+-]\d\d:\d\d)?)?",
    re.ASCII | re.IGNORECASE,
)


class Timestamp(msgspec.Struct, frozen=True, order=True):
    """An instant, in microseconds since 1970 UTC, anywhere in the range of 64 bits.

    >>> str(Timestamp.parse("2026-01-31T13:00:00+01:00"))
    '2026-01-31T12:00:00Z'
    """

    microseconds: int

    @classmethod
    def parse(cls, text: str) -> "Timestamp":
        """Read ISO 8601: a date, or a date and a time; UTC where no zone is given.

        Digits past the microsecond are dropped. Raises ValueError with the reason.
        """
        parts = _TIMESTAMP_TEXT.fullmatch(text)
        if parts is None:
            raise ValueError("it does not look like 2026-01-31T12:00:00Z")
        year, month, day, hour, minute, second, fraction, zone = parts.groups()
        local = datetime(
            int(year),
            int(month),
            int(day),
            int(hour or 0),
            int(minute or 0),
            int(second or 0),
            int((fraction or "0").ljust(6, "0")[:6]),
            tzinfo=UTC,
        )
        moment = cls((local - _EPOCH - _offset(zone)) // _MICROSECOND)
        if not moment.has_text:
            raise ValueError("the year must lie between 0001 and 9999 in UTC")
        return moment

    @classmethod
    def from_datetime(cls, moment: datetime) -> "Timestamp":
        """Convert a datetime; one without a zone is taken as UTC."""
        if moment.utcoffset() is None:
            moment = moment.replace(tzinfo=UTC)
        return cls((moment - _EPOCH) // _MICROSECOND)

    @property
    def has_text(self) -> bool:
        """True if the year lies between 1 and 9999, so that the text can be read again."""
        return _FIRST_PRINTABLE <= self.microseconds <= _LAST_PRINTABLE

    def __str__(self) -> str:
        if not self.has_text:
            return f"{self.microseconds} microseconds since 1970"
        moment = _EPOCH + self.microseconds * _MICROSECOND
        return moment.replace(tzinfo=None).isoformat() + "Z"


def _offset(zone: str | None) -> timedelta:
    if zone is None or zone in "Zz":
        return timedelta()
    hours, minutes = int(zone[1:3]), int(zone[4:6])
    if hours > 23 or minutes > 59:
        raise ValueError(f"no such zone: {zone}")
    offset = timedelta(hours=hours, minutes=minutes)
    return -offset if zone[0] == "-" else offset


class Opaque(msgspec.Struct, frozen=True):
    """A value of no known kind: present, and nothing more can be said of it."""

    description: str

    def __str__(self) -> str:
        return self.description


NOT_A_NUMBER: Final = Opaque("NaN")

Value = bool | int | float | str | Timestamp
"""What a filter can be written with."""

EventValue = Value | Opaque
"""What an event can carry."""

_KINDS: Final[dict[type, Kind]] = {
    bool: Kind.BOOLEAN,
    int: Kind.NUMBER,
    float: Kind.NUMBER,
    str: Kind.STRING,
    Timestamp: Kind.TIMESTAMP,
    Opaque: Kind.OPAQUE,
}


def kind_of(value: EventValue) -> Kind:
    """The kind of a value that is already converted (see `boolcast.model.conversions`)."""
    return _KINDS[type(value)]


INTEGER_MIN: Final = -(2**63)
INTEGER_MAX: Final = 2**63 - 1


def is_well_formed(text: str) -> bool:
    """False for a string with a lone surrogate, which no encoding can carry."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def written(value: Value) -> Value:
    """A value in the one form in which filters and schemas hold it.

    Integers past 64 bits become the nearest float64. Raises ValueError for what cannot be
    written: numbers that are not finite, lone surrogates, timestamps without a text.
    """
    kind = type(value)
    if kind is str:
        if not is_well_formed(cast("str", value)):
            raise ValueError("a string holds a lone surrogate, which is not a character")
    elif kind is int:
        if not INTEGER_MIN <= cast("int", value) <= INTEGER_MAX:
            return _nearest_float(cast("int", value))
    elif kind is float:
        if not math.isfinite(cast("float", value)):
            raise ValueError("a number must be finite as float64")
    elif kind is Timestamp:
        if not cast("Timestamp", value).has_text:
            raise ValueError("a timestamp's year must lie between 0001 and 9999")
    elif kind is not bool:
        raise ValueError(f"a filter holds no value of type {kind.__name__}")
    return value


def _nearest_float(value: int) -> float:
    try:
        return float(value)
    except OverflowError:
        raise ValueError("a number must be finite as float64") from None
