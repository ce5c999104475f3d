"""The values that filters are written with and events carry.

There are four kinds: boolean, number (64-bit integer or float64), string, and timestamp (UTC,
microseconds). Any other value (an array, NaN) is *opaque*, of no kind: it satisfies `is not null`
and nothing else. Values compare within their kind only.

Within a kind, Python's own comparisons are right: integers and floats
compare exactly, -0.0 equals 0, strings order by code point. Across kinds they do not
(`True == 1`), so compare kinds first.

`value_from_python` converts what a program or JSON gives; `model.arrow` does it for Arrow.
`CONVERSIONS` is the whole table as data: the documentation prints it, and the tests hold the
code to it.
"""

import math
import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Any, Final, cast

import msgspec

from boolcast.errors import EventError


class Kind(StrEnum):
    """The four kinds, and `OPAQUE` for a value of none; only values of one kind compare."""

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
    """A value of no known kind: present, but it compares with nothing."""

    description: str

    def __str__(self) -> str:
        return self.description


NOT_A_NUMBER: Final = Opaque("NaN")

Value = bool | int | float | str | Timestamp
"""The values that a filter can hold."""

EventValue = Value | Opaque
"""The values that an event can carry."""

_KINDS: Final[dict[type, Kind]] = {
    bool: Kind.BOOLEAN,
    int: Kind.NUMBER,
    float: Kind.NUMBER,
    str: Kind.STRING,
    Timestamp: Kind.TIMESTAMP,
    Opaque: Kind.OPAQUE,
}


def kind_of(value: EventValue) -> Kind:
    """The kind of a value that is already converted (see `value_from_python`)."""
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
    """The value as filters and schemas hold it.

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


class Conversion(msgspec.Struct, frozen=True):
    """One row of the table: the type that comes in, and what an event then carries."""

    source: str
    type: str
    becomes: str


CONVERSIONS: Final = (
    Conversion("Python", "None, pandas.NA, pandas.NaT, msgspec.UNSET", "missing"),
    Conversion("Python", "bool", "boolean"),
    Conversion("Python", "int", "number; past 64 bits the nearest float64"),
    Conversion("Python", "float", "number; NaN is opaque, infinities stay"),
    Conversion("Python", "Decimal", "number: the nearest float64; NaN is opaque"),
    Conversion("Python", "str", "string; a lone surrogate makes a bad event"),
    Conversion("Python", "datetime", "timestamp; without a zone it is UTC"),
    Conversion("Python", "date", "timestamp: midnight UTC"),
    Conversion("Python", "numpy scalar", "as the Python value it stands for; NaT is missing"),
    Conversion("Python", "subclass of one of these", "as its base; a str enumeration: its value"),
    Conversion("Python", "mapping", "its members, under dotted names"),
    Conversion(
        "Python",
        "dataclass, msgspec Struct, pydantic model, named tuple",
        "its attributes, under dotted names",
    ),
    Conversion("Python", "anything else", "opaque: satisfies only `is not null`"),
    Conversion("JSON", "null", "missing"),
    Conversion("JSON", "true, false", "boolean"),
    Conversion(
        "JSON",
        "number",
        "number; integers past 64 bits the nearest float64, past 4,300 digits a bad event",
    ),
    Conversion(
        "JSON", "string", "string; a timestamp where the schema says so and it reads as one"
    ),
    Conversion("JSON", "object", "its members, under dotted names; a repeated name: the last"),
    Conversion("JSON", "array", "opaque"),
    Conversion("Arrow", "null (any type)", "missing"),
    Conversion("Arrow", "bool", "boolean"),
    Conversion("Arrow", "int8 … int64, uint8 … uint64", "number; past 64 bits the nearest float64"),
    Conversion("Arrow", "float16, float32, float64", "number; NaN is opaque, infinities stay"),
    Conversion("Arrow", "decimal32 … decimal256", "number: the nearest float64"),
    Conversion(
        "Arrow",
        "string, large_string, string_view, arrow.json",
        "string; invalid UTF-8 makes a bad event",
    ),
    Conversion(
        "Arrow", "date32, date64", "timestamp: midnight UTC; past 64 bits of microseconds opaque"
    ),
    Conversion(
        "Arrow",
        "timestamp, any unit and zone",
        "timestamp; without a zone UTC, nanoseconds dropped; past 64 bits of microseconds opaque",
    ),
    Conversion("Arrow", "dictionary, run-end encoded", "as the values they stand for"),
    Conversion("Arrow", "struct", "its fields, under dotted names"),
    Conversion("Arrow", "list, map, binary, time, duration, other extensions, …", "opaque"),
)


def value_from_python(value: object) -> EventValue | None:
    """Convert one Python value that is neither mapping nor record; None means missing."""
    convert = _BY_TYPE.get(type(value))
    if convert is not None:
        return convert(value)
    return _value_of_subclass(value)


def _number_from_int(value: int) -> EventValue:
    if INTEGER_MIN <= value <= INTEGER_MAX:
        return value
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _number_from_float(value: float) -> EventValue:
    return NOT_A_NUMBER if math.isnan(value) else value


def _number_from_decimal(value: Decimal) -> EventValue:
    return NOT_A_NUMBER if value.is_nan() else float(value)


def _string(value: str) -> EventValue:
    if not is_well_formed(value):
        raise EventError("a string holds a lone surrogate, which is not a character")
    return value


def _timestamp_from_date(value: date) -> EventValue:
    return Timestamp.from_datetime(datetime(value.year, value.month, value.day, tzinfo=UTC))


_BY_TYPE: Final[dict[type, Callable[[Any], EventValue | None]]] = {
    type(None): lambda value: None,
    msgspec.UnsetType: lambda value: None,
    bool: lambda value: value,
    int: _number_from_int,
    float: _number_from_float,
    str: _string,
    Timestamp: lambda value: value,
    Opaque: lambda value: value,
    datetime: Timestamp.from_datetime,
    date: _timestamp_from_date,
    Decimal: _number_from_decimal,
    list: lambda value: Opaque("list"),
}

SIMPLE_TYPES: Final = frozenset(_BY_TYPE)
"""The types that are certainly neither a mapping nor a record."""


def _value_of_subclass(value: object) -> EventValue | None:
    """Convert a value of another type: a subclass of a known one, a numpy or pandas scalar.

    numpy and pandas are recognised by their module, so they are never imported for this.
    """
    if type(value).__name__ in ("NaTType", "NAType"):
        return None
    if type(value).__module__ == "numpy":
        return _value_from_numpy(value)
    for known, plain in _PLAIN:
        if isinstance(value, known):
            return _BY_TYPE[known](plain(value))
    return Opaque(type(value).__name__)


# `str(value)` would be what the subclass prints: the name of an enumeration's member.
_PLAIN: Final[tuple[tuple[type, Callable[[Any], Any]], ...]] = (
    (datetime, lambda value: value),
    (date, lambda value: value),
    (Decimal, Decimal),
    (int, int),
    (float, float),
    (str, str.__str__),
)


def _value_from_numpy(value: Any) -> EventValue | None:
    import numpy as np  # noqa: PLC0415 - it is there already, or there would be no such value

    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    match value:
        case np.datetime64():
            return _timestamp_from_numpy(value, np)
        case np.floating():
            return _number_from_float(float(value))
        case np.bool_() | np.integer() | np.str_():
            return value_from_python(value.item())
        case _:
            return Opaque(type(value).__name__)


def _timestamp_from_numpy(value: Any, np: Any) -> EventValue | None:
    if np.isnat(value):
        return None
    rounded = value.astype("datetime64[us]")
    is_finer = np.datetime_data(value.dtype)[0] in ("ns", "ps", "fs", "as")
    # numpy overflows in silence.
    if not is_finer and rounded.astype(value.dtype) != value:
        return Opaque(str(value.dtype))
    return Timestamp(int(rounded.astype("int64")))
