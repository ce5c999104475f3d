"""What every match engine must do, as data and as a machine; `test_conformance` puts it to each.

A new engine is one line in `ENGINES`.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Final, TypeVar

import msgspec
import pyarrow as pa
from hypothesis import strategies as st
from hypothesis.strategies import sampled_from

from boolcast.filters.expressions import Filter
from boolcast.filters.parsing import parse
from boolcast.matching.counting.engine import CountingMatcher
from boolcast.matching.diagrams.engine import MbdEngine
from boolcast.matching.inputs.protocol import MATCHES, Engine, Events
from boolcast.matching.matcher import Matcher
from boolcast.matching.scan import ScanMatcher
from boolcast.model.arrow import events_from_arrow
from boolcast.model.events import Event
from tests.strategies import SMALL_NAMES

ENGINES: Final[dict[str, Callable[[], Engine]]] = {
    "scan": ScanMatcher,
    "counting": CountingMatcher,
    "mbd": MbdEngine,
    "access": Matcher,
}

AnyEngine = TypeVar("AnyEngine", bound=Engine)
Matches = list[tuple[int, str]]
"""Numbers of events and ids of subscriptions, sorted."""


def accepting(subscriptions: Mapping[str, Filter], event: Mapping[str, object]) -> list[str]:
    """What the reference evaluator says of one event, sorted."""
    return sorted(name for name, filter in subscriptions.items() if filter.accepts(event))


def accepting_each(
    subscriptions: Mapping[str, Filter], numbered: Iterable[tuple[int, Mapping[str, object]]]
) -> Matches:
    """What the reference evaluator says of many events."""
    return sorted(
        (number, name) for number, event in numbered for name in accepting(subscriptions, event)
    )


def filled(make: Callable[[], AnyEngine], subscriptions: Mapping[str, Filter | str]) -> AnyEngine:
    """An engine with these subscriptions."""
    engine = make()
    for name, filter in subscriptions.items():
        engine.add(name, filter)
    return engine


def matches_of(engine: Engine, many: Events) -> Matches:
    """What `match_batch` says of many events."""
    return read(engine.match_batch(many))


def read(reader: pa.RecordBatchReader) -> Matches:
    """The rows of a result, sorted; its columns are checked."""
    assert reader.schema == MATCHES
    found: Matches = []
    for batch in reader:
        columns = batch.to_pydict()
        found += zip(columns["event"], columns["subscription"], strict=True)
    return sorted(found)


# By hand: a filter, an event, and whether the one accepts the other.

ON_NUMBERS: Final[dict[str, tuple[tuple[object, ...], tuple[object, ...]]]] = {
    # A filter: the values of `a` that it accepts, and some that it does not.
    "a = 5": ((5, 5.0), (4, 6, 5.1)),
    "a != 5": ((4, 6, 5.1), (5, 5.0)),
    "a < 5": ((4, 4.9), (5, 6)),
    "a <= 5": ((4, 5), (5.1, 6)),
    "a > 5": ((5.1, 6), (4, 5)),
    "a >= 5": ((5, 6), (4, 4.9)),
    "a between 2 and 4": ((2, 3.5, 4), (1, 5)),
    "a not between 2 and 4": ((1, 5), (2, 3.5, 4)),
    "a between 4 and 2": ((), (2, 3, 4)),
    "a in (1, 3, 5)": ((1, 3, 5.0), (0, 2, 4, 6)),
    "a not in (1, 3)": ((0, 2, 4), (1, 3.0)),
    "not (a in (1, 3))": ((0, 2, 4), (1, 3.0)),
    "a > 1 and a < 3": ((2,), (1, 3)),
    "a < 1 or a > 3": ((0, 4), (1, 3)),
    "not (a < 1 or a > 3)": ((1, 3), (0, 4)),
}

BY_HAND: Final[list[tuple[str, dict[str, object], bool]]] = [
    *((text, {"a": value}, True) for text, (ins, _) in ON_NUMBERS.items() for value in ins),
    *((text, {"a": value}, False) for text, (_, outs) in ON_NUMBERS.items() for value in outs),
    ("a = 9007199254740993", {"a": 2.0**53}, False),
    ("a = 9007199254740993", {"a": 2**53 + 1}, True),
    ("a > 9007199254740992.0", {"a": 2**53 + 1}, True),
    ("a = 0", {"a": -0.0}, True),
    ("a > 1e308", {"a": math.inf}, True),
    ("a >= -1e308", {"a": -math.inf}, False),
    ("a = 1", {"a": True}, False),
    ("a = true", {"a": 1}, False),
    ("a = true", {"a": True}, True),
    ("a = false", {"a": False}, True),
    ("a > false", {"a": True}, True),
    ("a != 1", {"a": "1"}, False),
    ("a != 5", {"a": math.nan}, False),
    ("a is not null", {"a": math.nan}, True),
    ("a = 'ab'", {"a": "ab"}, True),
    ("a = ''", {"a": ""}, True),
    ("a != ''", {"a": ""}, False),
    ("a != ''", {"a": "x"}, True),
    ("a < 'b'", {"a": "abc"}, True),
    ("a <= 'b'", {"a": "b"}, True),
    ("a <= 'b'", {"a": "b\0"}, False),
    ("a < '\U00010000'", {"a": "\uffff"}, True),
    ("starts_with(a, 'ab')", {"a": "abc"}, True),
    ("starts_with(a, 'ab')", {"a": "ac"}, False),
    ("ends_with(a, 'bc')", {"a": "abc"}, True),
    ("contains(a, 'b')", {"a": "abc"}, True),
    ("not contains(a, 'b')", {"a": "ac"}, True),
    ("not contains(a, 'b')", {"a": 5}, False),
    ("not contains(a, 'b')", {}, False),
    ("a like 'a_c%'", {"a": "abcd"}, True),
    ("a like 'a_c%'", {"a": "a😀c"}, True),
    ("a not like '%b%'", {"a": "abc"}, False),
    ("matches(a, '^a.c$')", {"a": "abc"}, True),
    ("not matches(a, '^a')", {"a": "b"}, True),
    ("not matches(a, '^a')", {}, False),
    ("a > b", {"a": 2, "b": 1.5}, True),
    ("a > b", {"a": 2}, False),
    ("not (a > b)", {"a": 2}, False),
    ("a != b", {"a": 2, "b": "2"}, False),
    ("a = a", {"a": [1]}, False),
    ("a = timestamp '2026-01-31'", {"a": datetime(2026, 1, 31, tzinfo=UTC)}, True),
    ("a < timestamp '2026-01-31'", {"a": date(2026, 1, 30)}, True),
    ("a = timestamp '2026-01-31'", {"a": "2026-01-31"}, False),
    ("a is null", {}, True),
    ("a is null", {"a": None}, True),
    ("a is null", {"b": 1}, True),
    ("a is null", {"a": [1]}, False),
    ("a is not null", {"a": [1]}, True),
    ("a is not null", {}, False),
    ("not (a = 5)", {}, False),
    ("not (a = 5)", {"a": 6}, True),
    ("a is null and b = 1", {"b": 1}, True),
    ("a is null and b = 1", {"a": 0, "b": 1}, False),
    ("a is null or b = 1", {"a": 0}, False),
    ("true", {}, True),
    ("false", {}, False),
    ("a = 1 or true", {}, True),
    ("a = 1 and false", {"a": 1}, False),
    ("a = 1 or false", {"a": 1}, True),
    ("not (a = 1 and true)", {"a": 2}, True),
    ("item.price < 25", {"item": {"price": 21.0}}, True),
    ("item.price < 25", {"item.price": 21.0}, True),
    ("item.price < 25", {"item": 21.0}, False),
    # P1-T7, and its like with more of the same.
    ("(a = 1 or b = 1) and (a = 1 or c = 1)", {"a": 1}, True),
    ("(a = 1 or b = 1) and (a = 1.0 or c = 1) and (c = 1 or a in (1))", {"a": 1}, True),
    ("(a = 1 or b = 1) and (a = 1 or c = 1)", {"b": 1}, False),
    ("(a = 1 or b = 1) and (a = 1 or c = 1)", {"b": 1, "c": 1}, True),
    ("a = 1 and a = 1", {"a": 1}, True),
]

STRING_BOUNDS: Final = ("x <= 'm'", "x = 'm'", "x >= 'm'", "x < 'm'", "x > 'm'", "x != 'm'")
"""On one attribute, equality and order use the same places among the strings."""

# Every kind of test on `a` and on what a struct `a` nests: for values that come in many forms.

PROBES: Final[dict[str, Filter]] = {
    text: parse(text)
    for text in (
        *("a is null", "a is not null", "a = true", "a = false", "not (a = true)"),
        *("a = 1", "a != 1", "a <= 1.5", "a > 1", "a < 0", "a between 1 and 5", "a not in (1, 5)"),
        *("a = 19.99", "a >= 1e300", "a = 9223372036854775807", "a >= 9223372036854775808"),
        *("a = 18446744073709551615", "a = 0.10000000149011612", "a = 9007199254740993"),
        *("a = 'x'", "a != 'x'", "a >= 'w'", "a < 'x'", "starts_with(a, 'x')", "a like '%x_'"),
        *("not contains(a, 'x')", "matches(a, 'x')", "not matches(a, 'y')", "a = a", "a = b"),
        *("a = timestamp '1970-01-01'", "a < timestamp '1970-01-01T00:00:00.001Z'"),
        *("a >= timestamp '1970-01-01T00:00:01Z'", "a = timestamp '2026-01-31'"),
        *("a = timestamp '2026-01-31T12:00:00Z'", "a != timestamp '1970-01-01T00:00:00.000001Z'"),
        *("a.x = 1", "a.x is null", "a.x.y = 1", "a.x.y is not null", "a.y is null or a = 1"),
        *("true", "false"),
    )
}

COLUMNS: Final[dict[pa.DataType, tuple[object, ...]]] = {
    **dict.fromkeys((pa.int8(), pa.int16(), pa.int32(), pa.int64()), (-1, 0, 1, 2, 3)),
    **dict.fromkeys((pa.uint8(), pa.uint16(), pa.uint32()), (0, 1, 2, 3)),
    pa.uint64(): (0, 1, 2, 2**63, 2**64 - 1),
    **dict.fromkeys(
        (pa.float32(), pa.float64()), (-math.inf, -0.0, 0.5, 1.0, 1.5, 2.0, math.nan, math.inf)
    ),
    **dict.fromkeys(
        (pa.decimal128(5, 2), pa.decimal256(40, 3)), tuple(map(Decimal, ("0", "1", "1.5", "2.25")))
    ),
    **dict.fromkeys(
        (
            *(pa.string(), pa.large_string(), pa.string_view()),
            *(pa.dictionary(pa.int8(), pa.string()), pa.dictionary(pa.int32(), pa.large_string())),
        ),
        ("", "a", "aa", "ab", "b", "é"),
    ),
    pa.dictionary(pa.int8(), pa.int64()): (0, 1, 2),
    pa.bool_(): (False, True),
    pa.date32(): (date(1969, 12, 31), date(1970, 1, 1), date(1970, 1, 2)),
    pa.date64(): (date(1970, 1, 1), date(1970, 1, 2)),
    pa.timestamp("s"): (-1, 0, 1, 2**62),
    pa.timestamp("ms"): (-1, 0, 1_000, 2**62),
    pa.timestamp("us", "Europe/Berlin"): (-1, 0, 1, 1_000_000),
    pa.timestamp("ns"): (-1, 0, 999, 1_000, 10**9),
    pa.null(): (None,),
    pa.list_(pa.int8()): ([], [1]),
    pa.binary(): (b"", b"a"),
    pa.json_(): ("", "a", "ab"),
    pa.uuid(): (bytes(16),),
}
"""Types of Arrow, and values of theirs that bear on the small filters."""


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    """Tables with the attributes that small filters look at, in chunks, with nulls."""
    rows = draw(st.integers(0, 6))
    columns: dict[str, pa.ChunkedArray] = {}
    for name in draw(st.lists(sampled_from(SMALL_NAMES), unique=True)):
        type_ = draw(sampled_from(list(COLUMNS)))
        value = sampled_from((None, *COLUMNS[type_]))
        values = draw(st.lists(value, min_size=rows + 1, max_size=rows + 1))
        # A slice: its first value lies before it, and must not count.
        array = pa.array(values, type_).slice(1)
        cut = draw(st.integers(0, rows))
        columns[name] = pa.chunked_array([array.slice(0, cut), array.slice(cut)], type_)
    return pa.table(columns)


JSON_VALUES: Final = (None, False, True, -1, 0, 1, 1.5, 2, 1e400, "", "a", "ab", "b", [1], {"x": 1})
JSON_EVENTS: Final = st.dictionaries(sampled_from(SMALL_NAMES), sampled_from(JSON_VALUES))


def json_lines(members: Iterable[Mapping[str, object] | None]) -> bytes:
    """A line for each event; None is a blank one. An infinity is a number past float64."""
    texts = (b" " if each is None else msgspec.json.encode(each) for each in members)
    return b"\n".join(texts)


def numbered_lines(lines: bytes) -> list[tuple[int, Event]]:
    """The events of JSON lines by the number of their line, from 0."""
    return [
        (number, Event.from_json(line))
        for number, line in enumerate(lines.split(b"\n"))
        if line.strip()
    ]


def numbered_rows(table: pa.Table) -> list[tuple[int, Event]]:
    """The events of a table by the number of their row, from 0."""
    return list(enumerate(events_from_arrow(table)))
