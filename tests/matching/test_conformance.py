"""The one suite that every match engine passes."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import run_state_machine_as_test

from boolcast.algebra.simplification import simplify
from boolcast.errors import (
    ArgumentError,
    EventError,
    FilterError,
    UnknownSubscriptionError,
    UsageError,
)
from boolcast.filters.parsing import parse
from boolcast.matching.inputs.protocol import MATCHES, Engine
from boolcast.model.arrow import events_from_arrow
from boolcast.model.values import Timestamp
from boolcast.workloads import PRESETS, Auction
from tests.matching.conformance import (
    BY_HAND,
    COLUMNS,
    ENGINES,
    JSON_EVENTS,
    PROBES,
    STRING_BOUNDS,
    accepting,
    accepting_each,
    filled,
    json_lines,
    matches_of,
    numbered_lines,
    numbered_rows,
    tables,
)
from tests.matching.machine import machine
from tests.model.test_conversions import ARROW, JSON, PYTHON, BadEvent
from tests.strategies import SMALL_DOMAIN, event_values, events, filters, predicates

Make = Callable[[], Engine]


@pytest.fixture(params=ENGINES.values(), ids=list(ENGINES), scope="session")
def make(request: pytest.FixtureRequest) -> Make:
    """How to make an engine of one kind; Hypothesis wants fixtures that outlive a test."""
    maker: Make = request.param
    return maker


@pytest.mark.parametrize(("text", "event", "accepted"), BY_HAND)
def test_by_hand(make, text, event, accepted):
    assert filled(make, {"s": text}).match(event) == ["s"] * accepted


def test_by_hand_all_at_once(make):
    """Filters that share an index do not disturb each other."""
    texts = {text for text, _, _ in BY_HAND}
    engine = filled(make, {text: text for text in texts})
    for text, event, accepted in BY_HAND:
        assert (text in engine.match(event)) is accepted


def test_arguments_of_other_types_raise_typed_errors(make):
    engine = filled(make, {"s": "a = 1"})
    wrong: Any
    for wrong in (5, None, [], b"a = 1", {"a": 1}):
        with pytest.raises(ArgumentError, match="a filter is a text such as"):
            engine.add("q", wrong)
        for take in (engine.remove, lambda each: engine.add(each, "a = 1")):
            with pytest.raises(UsageError, match="the id of a subscription is a string"):
                take(wrong)
    for wrong in ([1], None, "a", 5, ("a", 1)):
        with pytest.raises(EventError, match="an event is a mapping such as"):
            engine.match(wrong)
    assert len(engine) == 1
    assert engine.match({"a": 1}) == ["s"]


class Point(NamedTuple):
    """An event as a named tuple."""

    a: int


@dataclass
class Record:
    """An event as a dataclass."""

    a: int


def test_filters_and_events_in_every_guise(make):
    engine = filled(make, {"text": "a = 1"})
    engine.add("tree", parse("a = 1"))
    engine.add("simplified", simplify(parse("a = 1 and a < 5")))
    for event in ({"a": 1}, Point(1), Record(1)):
        assert sorted(engine.match(event)) == ["simplified", "text", "tree"]


@pytest.mark.parametrize("value", ["a", "l", "m", "m\0", "n", "", 5])
def test_order_and_equality_of_strings_on_one_attribute(make, value):
    for first in STRING_BOUNDS:
        for second in STRING_BOUNDS:
            subscriptions = {text: parse(text) for text in (first, second)}
            found = filled(make, subscriptions).match({"x": value})
            assert sorted(found) == accepting(subscriptions, {"x": value})


def test_a_new_engine_matches_nothing(make):
    engine = make()
    assert len(engine) == 0
    assert engine.match({"a": 1}) == []
    assert matches_of(engine, b'{"a": 1}\n') == []


def test_ids_under_equal_filters_all_match(make):
    engine = filled(make, {f"s{number}": "a = 1" for number in range(100)})
    engine.add("as a float", "a = 1.0")
    engine.add("other", "a = true")
    assert len(engine) == 102
    equal = sorted([*(f"s{number}" for number in range(100)), "as a float"])
    assert sorted(engine.match({"a": 1})) == equal
    engine.remove("s50")
    equal.remove("s50")
    assert sorted(engine.match({"a": 1})) == equal
    assert matches_of(engine, b'{"a": 1}\n{"a": true}') == [
        *((0, name) for name in equal),
        (1, "other"),
    ]


def test_adding_again_replaces(make):
    engine = filled(make, {"s": "a = 1", "t": "a = 1"})
    engine.add("s", "a = 2")
    assert len(engine) == 2
    assert engine.match({"a": 1}) == ["t"]
    assert engine.match({"a": 2}) == ["s"]
    engine.add("s", "a = 2")
    assert engine.match({"a": 2}) == ["s"]


def test_what_is_removed_matches_no_more(make):
    engine = filled(make, {"s": "a = 1", "t": "a is null"})
    engine.remove("s")
    assert len(engine) == 1
    assert engine.match({"a": 1}) == []
    assert engine.match({}) == ["t"]
    engine.remove("t")
    assert engine.match({}) == []
    engine.add("s", "a = 1")
    assert engine.match({"a": 1}) == ["s"]


def test_an_unknown_subscription_cannot_be_removed(make):
    engine = filled(make, {"s": "a = 1"})
    with pytest.raises(UnknownSubscriptionError) as caught:
        engine.remove("t")
    assert caught.value.subscription == "t"
    engine.remove("s")
    with pytest.raises(UnknownSubscriptionError):
        engine.remove("s")


def test_a_bad_filter_changes_nothing(make):
    engine = filled(make, {"s": "a = 1"})
    for name in ("s", "t"):
        with pytest.raises(FilterError):
            engine.add(name, "a =")
    assert len(engine) == 1
    assert engine.match({"a": 1}) == ["s"]


@pytest.mark.parametrize(
    "event", [{"a": "\ud800"}, {5: 1}, {"a": {"b": 1}, "a.b": 2}, {"a": {"x\udfff": 1}}]
)
def test_a_malformed_event_is_refused(make, event):
    with pytest.raises(EventError):
        filled(make, {"s": "true"}).match(event)


@pytest.mark.parametrize("value", SMALL_DOMAIN, ids=repr)
def test_values_of_every_kind(make, value):
    engine = filled(make, PROBES)
    assert sorted(engine.match({"a": value})) == accepting(PROBES, {"a": value})


@pytest.mark.parametrize("rows", PYTHON.values(), ids=PYTHON)
def test_every_python_type(make, rows):
    engine = filled(make, PROBES)
    for value, becomes in rows:
        if becomes is BadEvent:
            with pytest.raises(EventError):
                engine.match({"a": value})
        else:
            assert sorted(engine.match({"a": value})) == accepting(PROBES, {"a": value})


@pytest.mark.parametrize("rows", JSON.values(), ids=JSON)
def test_every_json_type(make, rows):
    engine = filled(make, PROBES)
    for text, becomes in rows:
        line = f'{{"a": {text}}}'.encode()
        if becomes is BadEvent:
            with pytest.raises(EventError, match="line 1: "):
                matches_of(engine, line)
        else:
            assert matches_of(engine, line) == accepting_each(PROBES, numbered_lines(line))


@pytest.mark.parametrize("rows", ARROW.values(), ids=ARROW)
def test_every_arrow_type(make, rows):
    engine = filled(make, PROBES)
    for array, becomes in rows:
        table = pa.table({"a": array})
        if becomes is BadEvent:
            with pytest.raises(EventError, match="event 0: "):
                matches_of(engine, table)
        else:
            assert matches_of(engine, table) == accepting_each(PROBES, numbered_rows(table))


@pytest.mark.parametrize("type_", COLUMNS, ids=str)
def test_columns_with_nulls(make, type_):
    engine = filled(make, PROBES)
    array = pa.array([None, *COLUMNS[type_], None, *COLUMNS[type_]], type_)
    for rows in (array, array.slice(2)):
        table = pa.table({"a": rows})
        assert matches_of(engine, table) == accepting_each(PROBES, numbered_rows(table))


@pytest.mark.parametrize("size", [1, 9])
def test_encoded_columns_of_views(make, size):
    """A dictionary longer than its column, or shorter, and runs."""
    texts = pa.array(["x", "y", None, "z"], pa.string_view())
    codes = pa.array([[1, None, 0][number % 3] for number in range(size)], pa.int8())
    ends = pa.array([1, 3, 5, 9], pa.int32())
    engine = filled(make, {"x": "a = 'x'", "y": "a like 'y%'", "z": "a > 'y'"})
    for column in (
        pa.DictionaryArray.from_arrays(codes, texts),
        pa.RunEndEncodedArray.from_arrays(ends, texts).slice(9 - size),
    ):
        table = pa.table({"a": column})
        expected = [
            (row, name)
            for row, text in enumerate(column.to_pylist())
            for name in (("y",) if text == "y" else ("x",) if text == "x" else ())
        ]
        expected += [(row, "z") for row, text in enumerate(column.to_pylist()) if text == "z"]
        assert matches_of(engine, table) == sorted(expected)


def test_structs_nest(make):
    rows = [{"x": 1}, {"x": None}, None, {"x": 2, "y": "z"}]
    table = pa.table({"a": rows, "b": [1, 2, None, 4]})
    engine = filled(make, PROBES)
    assert matches_of(engine, table) == accepting_each(PROBES, numbered_rows(table))
    engine = filled(make, {"x": "a.x = 1", "y": "a.y = 'z' and b = 4", "a": "a is not null"})
    assert matches_of(engine, table) == [(0, "x"), (3, "y")]


def test_columns_that_clash(make):
    """A struct's field and a column of its dotted name, in the row where both have a value."""
    rows = {"a": [{"b": 1}, {"b": None}, {"b": 1}], "a.b": [None, 2, 3]}
    engine = filled(make, {"s": "a.b >= 1"})
    assert matches_of(engine, pa.table(rows).slice(0, 2)) == [(0, "s"), (1, "s")]
    with pytest.raises(EventError, match="event 2: ") as caught:
        matches_of(engine, pa.table(rows))
    assert caught.value.attribute == "a.b"


def test_two_columns_of_one_name_clash(make):
    table = pa.Table.from_arrays([pa.array([1, None]), pa.array([None, 2])], ["a", "a"])
    engine = filled(make, {"s": "a = 2"})
    assert matches_of(engine, table) == [(1, "s")]
    both = pa.Table.from_arrays([pa.array([1, 1]), pa.array([None, 2])], ["a", "a"])
    with pytest.raises(EventError, match="event 1: "):
        matches_of(engine, both)


def test_every_holder_of_arrow(make):
    """Events are numbered through all chunks and batches."""
    table = pa.concat_tables([pa.table({"a": [1, 2]}), pa.table({"a": [3, None, 1]})])
    engine = filled(make, {"one": "a = 1", "none": "a is null"})
    expected = [(0, "one"), (3, "none"), (4, "one")]
    assert matches_of(engine, table) == expected
    assert matches_of(engine, table.to_reader()) == expected
    assert matches_of(engine, table.combine_chunks().to_batches()[0]) == expected
    assert matches_of(engine, table.slice(3)) == [(0, "none"), (1, "one")]


@pytest.mark.parametrize("nothing", [b"", b"\n \n", pa.table({"a": pa.array([], pa.int8())})])
def test_no_events(make, nothing):
    reader = filled(make, {"s": "true"}).match_batch(nothing)
    assert reader.schema == MATCHES
    assert reader.read_all().num_rows == 0


def test_events_without_columns(make):
    table = pa.table({"a": [1, 2]}).select([])
    assert matches_of(filled(make, {"s": "a is null", "t": "a = 1"}), table) == [(0, "s"), (1, "s")]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("is_closed", [True, False])
def test_json_lines(make, end, is_closed):
    """The number of an event is that of its line, from 0; blank lines count."""
    lines = end.join(['{"a": 1}', "", '{"a": 2}', "  ", '{"a": 1, "b": "x\\ny"}'])
    engine = filled(make, {"one": "a = 1", "two": "a = 2", "both": "contains(b, '\n')"})
    found = matches_of(engine, (lines + end * is_closed).encode())
    assert found == [(0, "one"), (2, "two"), (4, "both"), (4, "one")]


@pytest.mark.parametrize("bad", ["{", "5", "[]", '{"a": "\\ud800"}', '{"a": {"b": 1}, "a.b": 2}'])
def test_a_malformed_line_is_named(make, bad):
    engine = filled(make, {"s": "a = 1"})
    with pytest.raises(EventError, match="line 4: "):
        matches_of(engine, f'{{"a": 1}}\n\n{{"a": 2}}\n{bad}\n{{}}'.encode())


def test_a_line_that_is_no_utf_8_is_named(make):
    with pytest.raises(EventError, match="line 2: "):
        matches_of(filled(make, {"s": "a = 1"}), b'{"a": 1}\n{"a": "\xff"}')


def test_a_malformed_row_is_named(make):
    first = pa.table({"a": ["x"] * 3})
    second = pa.table({"a": pa.array([b"x", b"\xff", b"x"]).view(pa.string())})
    engine = filled(make, {"s": "a = 'x'"})
    with pytest.raises(EventError, match="event 4: "):
        matches_of(engine, pa.concat_tables([first, second]))


def test_a_reader_shows_the_state_at_the_call(make):
    engine = filled(make, {"s": "a = 1", "t": "a = 1", "u": "b = 1"})
    readers = [engine.match_batch(pa.table({"a": [1]})), engine.match_batch(b'{"a": 1}')]
    engine.remove("s")
    engine.add("u", "a = 1")
    engine.add("v", "true")
    engine.match({"a": 1})
    for reader in readers:
        assert sorted(reader.read_all()["subscription"].to_pylist()) == ["s", "t"]
    assert matches_of(engine, b'{"a": 1}') == [(0, "t"), (0, "u"), (0, "v")]


def test_results_come_as_they_are_asked_for(make):
    """Neither all events nor all matches are held at once."""
    taken = 0

    def batches() -> Iterator[pa.RecordBatch]:
        nonlocal taken
        for _ in range(100):
            taken += 1
            yield batch

    batch = pa.record_batch({"a": [1] * 1_000})
    events = pa.RecordBatchReader.from_batches(batch.schema, batches())
    engine = filled(make, {f"s{number}": "a = 1" for number in range(500)})
    reader = engine.match_batch(events)
    assert taken <= 1
    first = reader.read_next_batch()
    assert 0 < first.num_rows <= 1_000_000
    assert taken < 20


@given(st.lists(filters(max_leaves=6, small=True), max_size=8), st.lists(events(small=True)))
def test_filters_that_bear_on_each_other(make, trees, several):
    subscriptions = {f"s{number}": tree for number, tree in enumerate(trees)}
    engine = filled(make, subscriptions)
    for event in several:
        assert sorted(engine.match(event)) == accepting(subscriptions, event)


@given(st.lists(filters(max_leaves=4), max_size=6), st.lists(events(), max_size=4))
def test_any_filters_and_events(make, trees, several):
    subscriptions = {f"s{number}": tree for number, tree in enumerate(trees)}
    engine = filled(make, subscriptions)
    for event in several:
        assert sorted(engine.match(event)) == accepting(subscriptions, event)


@given(predicates(), st.data())
def test_every_predicate_alone(make, predicate, data):
    event = {name: data.draw(event_values()) for name in predicate.names()}
    assert filled(make, {"s": predicate}).match(event) == ["s"] * predicate.accepts(event)
    assert filled(make, {"s": ~predicate}).match(event) == ["s"] * (~predicate).accepts(event)


@given(st.lists(filters(max_leaves=4, small=True), max_size=6), tables())
def test_any_table(make, trees, table):
    subscriptions = {f"s{number}": tree for number, tree in enumerate(trees)}
    expected = accepting_each(subscriptions, numbered_rows(table))
    assert matches_of(filled(make, subscriptions), table) == expected


@given(st.lists(filters(max_leaves=4, small=True), max_size=6), st.lists(JSON_EVENTS))
def test_any_json(make, trees, members):
    subscriptions = {f"s{number}": tree for number, tree in enumerate(trees)}
    lines = json_lines(members)
    expected = accepting_each(subscriptions, numbered_lines(lines))
    assert matches_of(filled(make, subscriptions), lines) == expected


@pytest.mark.parametrize("preset", ["auction", "auction-random"])
def test_the_auction(make, preset):
    """Few titles, authors and categories, so that most filters match an event or two."""
    parameters = PRESETS[preset]
    auction = Auction(
        type(parameters)(
            titles=20,
            authors=10,
            categories=5,
            zipf_exponent=parameters.zipf_exponent,
            ending_bound=parameters.ending_bound,
        ),
        seed=7,
    )
    rows = auction.subscriptions(0, 300)
    names, texts = rows["subscription"].to_pylist(), rows["filter"].to_pylist()
    subscriptions = dict(zip(names, auction.subscription_filters(0, 300), strict=True))
    table = auction.events(0, 60)
    expected = accepting_each(subscriptions, enumerate(events_from_arrow(table)))
    assert len(expected) > 100
    assert matches_of(filled(make, dict(zip(names, texts, strict=True))), table) == expected


def test_timestamps_at_the_ends_of_64_bits(make):
    engine = filled(make, {"s": "a > timestamp '9999-12-31'", "t": "a < timestamp '0001-01-01'"})
    assert engine.match({"a": Timestamp(2**63 - 1)}) == ["s"]
    assert engine.match({"a": Timestamp(-(2**63))}) == ["t"]


def test_any_sequence_of_operations(make):
    run_state_machine_as_test(machine(make), settings=settings(stateful_step_count=30))


@pytest.mark.slow
def test_long_sequences_of_operations(make):
    many = settings(stateful_step_count=100, max_examples=30)
    run_state_machine_as_test(machine(make), settings=many)


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_tens_of_thousands_of_operations(make):
    endless = machine(make)
    many = settings(stateful_step_count=100, max_examples=1_000)
    run_state_machine_as_test(endless, settings=many)
    assert endless.states > 50_000
