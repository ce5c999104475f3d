"""The table of conversions, row by row: what comes in, and what an event then carries."""

import dataclasses
import enum
import math
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from decimal import Decimal
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
import pytest

from boolcast.errors import EventError
from boolcast.model.arrow import events_from_arrow
from boolcast.model.events import Event
from boolcast.model.schemas import Attribute, Schema
from boolcast.model.values import CONVERSIONS, Opaque, Timestamp, kind_of, value_from_python

NOON = Timestamp.parse("2026-01-31T12:00:00Z")
MIDNIGHT = Timestamp.parse("2026-01-31")
NAN = Opaque("NaN")
MISSING = None


class BadEvent:
    """Stands for an EventError in the column of results."""


class NAType:
    """By its name and nothing else what pandas has for a missing value."""


class NaTType(datetime):
    """pandas has it derived from datetime."""


class Members(Mapping[str, object]):
    def __getitem__(self, name: str) -> object:
        return {"x": 1}[name]

    def __iter__(self) -> Iterator[str]:
        return iter(["x"])

    def __len__(self) -> int:
        return 1


class Colour(str, enum.Enum):  # noqa: UP042 - `str()` of it is not its value
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


@dataclasses.dataclass
class Seller:
    name: str


class Item(msgspec.Struct):
    price: int | msgspec.UnsetType
    seller: Seller | None = None


class Place(NamedTuple):
    city: str
    at: dict[str, int]


class Model:
    """What pydantic's models have that matters."""

    def model_dump(self) -> dict[str, object]:
        return {"price": 21, "seller": {"name": "Ada"}}


class ListModel:
    """As pydantic's root models of lists."""

    def model_dump(self) -> list[int]:
        return [1]


class NoOffset(tzinfo):
    def utcoffset(self, moment: datetime | None) -> timedelta | None:
        return None

    dst = utcoffset

    def tzname(self, moment: datetime | None) -> str | None:
        return None


PYTHON: dict[str, list[tuple[Any, Any]]] = {
    "None, pandas.NA, pandas.NaT, msgspec.UNSET": [
        (None, MISSING),
        (msgspec.UNSET, MISSING),
        (NAType(), MISSING),
        (NaTType(2026, 1, 31), MISSING),
    ],
    "bool": [(True, True), (False, False)],
    "int": [
        (5, 5),
        (-(2**63), -(2**63)),
        (2**63 - 1, 2**63 - 1),
        (2**63, 2.0**63),
        (-(2**63) - 1, -(2.0**63)),
        (10**400, math.inf),
        (-(10**400), -math.inf),
    ],
    "float": [(1.5, 1.5), (math.nan, NAN), (math.inf, math.inf), (-math.inf, -math.inf)],
    "Decimal": [
        (Decimal("19.99"), 19.99),
        (Decimal("NaN"), NAN),
        (Decimal("sNaN"), NAN),
        (Decimal("Infinity"), math.inf),
        (Decimal("1e999999"), math.inf),
    ],
    "str": [("Harry", "Harry"), ("\0", "\0"), ("\U0010ffff", "\U0010ffff"), ("\ud800", BadEvent)],
    "datetime": [
        (datetime(2026, 1, 31, 12, tzinfo=UTC), NOON),
        (datetime(2026, 1, 31, 12), NOON),  # noqa: DTZ001 - this is what is tested
        (datetime(2026, 1, 31, 13, tzinfo=timezone(timedelta(hours=1))), NOON),
        (datetime(2026, 1, 31, 12, tzinfo=NoOffset()), NOON),
        (datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC), Timestamp(-1)),
    ],
    "date": [(date(2026, 1, 31), MIDNIGHT)],
    "numpy scalar": [
        (np.int8(5), 5),
        (np.uint64(2**64 - 1), float(2**64 - 1)),
        (np.float32(1.5), 1.5),
        (np.float64("nan"), NAN),
        (np.float16("inf"), math.inf),
        (np.longdouble(1.5), 1.5),
        (np.bool_(True), True),
        (np.str_("x"), "x"),
        (np.array(5), 5),
        (np.datetime64("2026-01-31T12:00:00"), NOON),
        (np.datetime64("2026-01-31"), MIDNIGHT),
        (np.datetime64(-1, "ns"), Timestamp(-1)),
        (np.datetime64(1999, "ns"), Timestamp(1)),
        (np.datetime64("NaT"), MISSING),
        (np.datetime64("NaT", "D"), MISSING),
        (np.datetime64(10**12, "D"), Opaque("datetime64[D]")),
    ],
    "subclass of one of these": [
        (Colour.RED, "red"),
        (Level.HIGH, 3),
        (type("Day", (date,), {})(2026, 1, 31), MIDNIGHT),
        (type("Moment", (datetime,), {})(2026, 1, 31, 12), NOON),
        (type("Number", (float,), {})("nan"), NAN),
        (type("Money", (Decimal,), {})("19.99"), 19.99),
    ],
    "mapping": [
        ({"x": 1}, {"a.x": 1}),
        (OrderedDict(x=OrderedDict(y=1)), {"a.x.y": 1}),
        (Members(), {"a.x": 1}),
        ({}, {}),
    ],
    "dataclass, msgspec Struct, pydantic model, named tuple": [
        (Seller("Ada"), {"a.name": "Ada"}),
        (Item(21, Seller("Ada")), {"a.price": 21, "a.seller.name": "Ada"}),
        (Item(msgspec.UNSET), {}),
        (Place("Paris", {"x": 1}), {"a.city": "Paris", "a.at.x": 1}),
        (Model(), {"a.price": 21, "a.seller.name": "Ada"}),
        (ListModel(), Opaque("ListModel")),
        (Seller, Opaque("type")),
    ],
    "anything else": [
        ([1], Opaque("list")),
        ((1,), Opaque("tuple")),
        (b"x", Opaque("bytes")),
        (1j, Opaque("complex")),
        (object(), Opaque("object")),
        (timedelta(1), Opaque("timedelta")),
        (np.array([1, 2]), Opaque("ndarray")),
        (np.array(["2026-01-31"], "M8[D]"), Opaque("ndarray")),
        (np.array([1.5]), Opaque("ndarray")),
        (np.bytes_(b"x"), Opaque("bytes_")),
        (np.timedelta64(1, "D"), Opaque("timedelta")),
        (np.complex64(1), Opaque("complex64")),
        (np.add, Opaque("ufunc")),
    ],
}

JSON: dict[str, list[tuple[str, Any]]] = {
    "null": [("null", MISSING)],
    "true, false": [("true", True), ("false", False)],
    "number": [
        ("5", 5),
        ("5.0", 5.0),
        ("-0.0", -0.0),
        ("1e3", 1000.0),
        ("9223372036854775807", 2**63 - 1),
        ("9223372036854775808", 2.0**63),
        ("18446744073709551616", 2.0**64),
        ("1e400", math.inf),
        ("-1e400", -math.inf),
        ("1" * 400, math.inf),
        ("1" * 5_000, BadEvent),
        ("5e-324", 5e-324),
        ("0.1000000000000000055511151231257827", 0.1),
    ],
    "string": [
        ('"x"', "x"),
        ('"2026-01-31"', "2026-01-31"),
        (r'"\u0000"', "\0"),
        (r'"\ud83d\ude00"', "😀"),
        (r'"\ud83d"', BadEvent),
        ('{"when": "2026-01-31"}', {"a.when": MIDNIGHT}),
        ('{"when": "today"}', {"a.when": "today"}),
    ],
    "object": [('{"x": {"y": 1}}', {"a.x.y": 1}), ('{"x": 1, "x": 2}', {"a.x": 2}), ("{}", {})],
    "array": [("[]", Opaque("list")), ("[1, {}]", Opaque("list"))],
}
WHEN = Schema(attributes={"a.when": Attribute(kind="timestamp")})


def dictionary(values: list[str | None]) -> pa.Array:
    return pa.array(values).dictionary_encode()


ARROW: dict[str, list[tuple[pa.Array, Any]]] = {
    "null (any type)": [
        (pa.array([None], kind), MISSING)
        for kind in (
            *(pa.null(), pa.bool_(), pa.int8(), pa.float64(), pa.decimal128(5, 2), pa.string()),
            *(pa.date32(), pa.date64(), pa.timestamp("us"), pa.binary(), pa.list_(pa.int8())),
            pa.dictionary(pa.int8(), pa.string()),
        )
    ],
    "bool": [(pa.array([True]), True), (pa.array([False]), False)],
    "int8 … int64, uint8 … uint64": [
        *((pa.array([-1], kind), -1) for kind in (pa.int8(), pa.int16(), pa.int32(), pa.int64())),
        *((pa.array([1], kind), 1) for kind in (pa.uint8(), pa.uint16(), pa.uint32())),
        (pa.array([2**64 - 1], pa.uint64()), float(2**64 - 1)),
        (pa.array([2**63 - 1], pa.uint64()), 2**63 - 1),
    ],
    "float16, float32, float64": [
        (pa.array([np.float16(1.5)], pa.float16()), 1.5),
        (pa.array([1.5], pa.float32()), 1.5),
        (pa.array([0.1], pa.float32()), float(np.float32(0.1))),
        (pa.array([1.5]), 1.5),
        (pa.array([math.nan]), NAN),
        (pa.array([math.nan], from_pandas=True), MISSING),
        (pa.array([np.float16("nan")], pa.float16()), NAN),
        (pa.array([math.inf]), math.inf),
    ],
    "decimal32 … decimal256": [
        (pa.array([Decimal("19.99")], kind), 19.99)
        for kind in (
            *(pa.decimal32(5, 2), pa.decimal64(5, 2)),
            *(pa.decimal128(5, 2), pa.decimal256(5, 2)),
        )
    ],
    "string, large_string, string_view, arrow.json": [
        *((pa.array(["x"], kind), "x") for kind in (pa.string(), pa.large_string())),
        (pa.array(["x"], pa.string_view()), "x"),
        (pa.array(["x"], pa.json_()), "x"),
        (pa.array([None], pa.json_()), MISSING),
        (pa.array([b"\xff"]).view(pa.string()), BadEvent),
    ],
    "date32, date64": [
        (pa.array([date(2026, 1, 31)], pa.date32()), MIDNIGHT),
        (pa.array([date(2026, 1, 31)], pa.date64()), MIDNIGHT),
        (pa.array([date(1, 1, 1)], pa.date32()), Timestamp.parse("0001-01-01")),
        (pa.array([-1], pa.int64()).view(pa.date64()), Timestamp.parse("1969-12-31")),
        (pa.array([2**31 - 1], pa.int32()).view(pa.date32()), Opaque("date32")),
        (pa.array([2**63 - 1], pa.int64()).view(pa.date64()), Opaque("date64")),
    ],
    "timestamp, any unit and zone": [
        (pa.array([1], pa.timestamp("s")), Timestamp(1_000_000)),
        (pa.array([1], pa.timestamp("ms")), Timestamp(1_000)),
        (pa.array([1], pa.timestamp("us")), Timestamp(1)),
        (pa.array([1_999], pa.timestamp("ns")), Timestamp(1)),
        (pa.array([-1], pa.timestamp("ns")), Timestamp(-1)),
        (pa.array([1], pa.timestamp("us", "Europe/Berlin")), Timestamp(1)),
        (pa.array([2**62], pa.timestamp("s")), Opaque("s")),
        (pa.array([-(2**63)], pa.timestamp("ms")), Opaque("ms")),
        (pa.array([2**63 - 1], pa.timestamp("us")), Timestamp(2**63 - 1)),
    ],
    "dictionary, run-end encoded": [
        (dictionary(["x"]), "x"),
        (dictionary([None]), MISSING),
        (
            pa.DictionaryArray.from_arrays([0], pa.array([NOON.microseconds], pa.timestamp("us"))),
            NOON,
        ),
        (pa.RunEndEncodedArray.from_arrays([1], ["x"]), "x"),
        (pa.RunEndEncodedArray.from_arrays([1], pa.array([None], pa.int8())), MISSING),
    ],
    "struct": [
        (pa.array([{"x": 1, "y": None}]), {"a.x": 1}),
        (pa.array([{"x": {"y": 1}}]), {"a.x.y": 1}),
        (pa.array([None], pa.struct({"x": pa.int8()})), {}),
        (
            pa.StructArray.from_arrays([pa.array([1])], ["x"], mask=pa.array([True])),
            {},
        ),
        (pa.array([{}], pa.struct([])), {}),
    ],
    "list, map, binary, time, duration, other extensions, …": [
        (pa.array([[1]]), Opaque("list<item: int64>")),
        (pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int8())), Opaque("map<string, int8>")),
        (pa.array([b"x"]), Opaque("binary")),
        (pa.array([1], pa.time64("us")), Opaque("time64[us]")),
        (pa.array([1], pa.duration("us")), Opaque("duration[us]")),
        (
            pa.ExtensionArray.from_storage(pa.uuid(), pa.array([b"x" * 16], pa.binary(16))),
            Opaque("extension<arrow.uuid>"),
        ),
    ],
}

COLUMNS: dict[str, dict[str, list[tuple[Any, Any]]]] = {
    "Python": PYTHON,
    "JSON": JSON,
    "Arrow": ARROW,
}


def read(source: str, given: Any) -> Event:
    """The event that has the value as its member `a`."""
    match source:
        case "Python":
            return Event.from_python({"a": given})
        case "JSON":
            return Event.from_json(f'{{"a": {given}}}', WHEN)
        case _:
            (event,) = events_from_arrow(pa.table({"a": given}))
            return event


def test_every_row_of_the_table_is_tested():
    tested = [(source, type_) for source, rows in COLUMNS.items() for type_ in rows]
    assert tested == [(row.source, row.type) for row in CONVERSIONS]


@pytest.mark.parametrize(
    ("row", "given", "becomes"),
    [
        pytest.param(row, given, becomes, id=f"{row.source} {row.type} {index}")
        for row in CONVERSIONS
        for index, (given, becomes) in enumerate(COLUMNS[row.source].get(row.type, []))
    ],
)
def test_a_value_becomes(row, given, becomes):
    if becomes is BadEvent:
        with pytest.raises(EventError):
            read(row.source, given)
        return
    expected = becomes if isinstance(becomes, dict) else {"a": becomes}
    event = read(row.source, given)
    assert event == {name: value for name, value in expected.items() if value is not MISSING}
    for name, value in event.items():
        assert type(value) is type(expected[name])
        assert kind_of(value) in row.becomes or row.becomes.startswith(("as ", "its "))


def test_values_already_converted_stay():
    for value in (NOON, NAN):
        assert value_from_python(value) is value
