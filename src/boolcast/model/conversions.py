"""How values of Python and JSON become values of Boolcast; Arrow's are in `model.arrow`.

`CONVERSIONS` is the whole table as data: the documentation prints it, and the tests hold
the code to it.
"""

import math
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, Final

import msgspec

from boolcast.errors import EventError
from boolcast.model.values import (
    INTEGER_MAX,
    INTEGER_MIN,
    NOT_A_NUMBER,
    EventValue,
    Opaque,
    Timestamp,
    is_well_formed,
)


class Conversion(msgspec.Struct, frozen=True):
    """One row of the table: what comes in, and what an event then carries."""

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
    """Convert what is not of an exact known type: subclasses, numpy and pandas scalars.

    numpy and pandas are told by their module, so that they are never imported for this.
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
