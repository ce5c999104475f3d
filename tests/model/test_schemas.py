"""Schemas: what is malformed, what conforms, and what the parser says."""

import math

import pytest

from boolcast.errors import FilterSchemaError, SchemaError
from boolcast.filters.encoding import decode, encode
from boolcast.filters.parsing import parse
from boolcast.model.events import Event, conforms
from boolcast.model.schemas import Attribute, Schema
from boolcast.model.values import Kind, Timestamp

AUCTIONS = Schema.from_json(
    b"""{
    "attributes": {
        "title": {"kind": "string", "required": true},
        "price": {"kind": "number", "minimum": 0},
        "bids": {"kind": "number", "integer": true, "minimum": 0, "maximum": 100},
        "condition": {"kind": "string", "values": ["new", "used"]},
        "signed": {"kind": "boolean"},
        "ending": {"kind": "timestamp", "minimum": "2026-01-01", "maximum": "2026-12-31T23:59:59Z"}
    }}"""
)
TYPED = Schema.from_json(
    b"""{
    "attributes": {"id": {"kind": "string"}},
    "types": {
        "sale": {"price": {"kind": "number"}, "code": {"kind": "number"}},
        "bid": {"amount": {"kind": "number"}, "code": {"kind": "string"}}
    }}"""
)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "truncated"),
        ("[]", "object"),
        ('{"attribute": {}}', "unknown field"),
        ('{"attributes": {"a": {}}}', "kind"),
        ('{"attributes": {"a": {"kind": "int"}}}', "Invalid enum value"),
        ('{"attributes": {"a": {"kind": "opaque"}}}', "Invalid enum value"),
        ('{"attributes": {"a": {"kind": "number", "min": 1}}}', "unknown field"),
        ('{"attributes": {"a": {"kind": "string", "integer": true}}}', "only numbers"),
        ('{"attributes": {"a": {"kind": "number", "minimum": "1"}}}', "is not a number"),
        ('{"attributes": {"a": {"kind": "number", "minimum": true}}}', "is not a number"),
        ('{"attributes": {"a": {"kind": "string", "values": ["x", 5]}}}', "is not a string"),
        ('{"attributes": {"a": {"kind": "string", "values": []}}}', "at least one value"),
        ('{"attributes": {"a": {"kind": "number", "minimum": 2, "maximum": 1}}}', "between"),
        ('{"attributes": {"a": {"kind": "timestamp", "minimum": "noon"}}}', "does not look like"),
        ('{"attributes": {"a": {"kind": "timestamp", "minimum": 5}}}', "is not a timestamp"),
        ('{"attributes": {"type": {"kind": "string"}}, "types": {"a": {}}}', "already described"),
        ('{"types": {"a": {"type": {"kind": "string"}}}}', "already described"),
        ('{"attributes": {"a": {"kind": "number", "minimum": 1e999}}}', "out of range"),
        ('{"attributes": ' + '{"a":' * 100_000, "cannot be read"),
        (b'{"attributes": {"\xff": {"kind": "number"}}}', "UTF-8|utf-8"),
    ],
)
def test_a_malformed_schema_is_refused(text, problem):
    with pytest.raises(SchemaError, match=problem):
        Schema.from_json(text)


@pytest.mark.parametrize(
    ("change", "fits"),
    [
        ({}, True),
        ({"title": None}, False),
        ({"title": 5}, False),
        ({"price": None}, True),
        ({"price": 0}, True),
        ({"price": -0.01}, False),
        ({"price": math.nan}, False),
        ({"price": True}, False),
        ({"bids": 5.0}, True),
        ({"bids": 5.5}, False),
        ({"bids": 101}, False),
        ({"bids": math.inf}, False),
        ({"bids": 2**53 + 1}, False),
        ({"condition": "used"}, True),
        ({"condition": "old"}, False),
        ({"signed": False}, True),
        ({"signed": 0}, False),
        ({"ending": Timestamp.parse("2026-06-01")}, True),
        ({"ending": Timestamp.parse("2027-06-01")}, False),
        ({"ending": "2026-06-01"}, False),
        ({"pages": 5}, False),
        ({"signed": [1]}, False),
    ],
)
def test_which_events_conform(change, fits):
    event = {"title": "Harry Potter", "price": 21.5, "bids": 3, "condition": "new"} | change
    assert conforms(Event.from_python(event), AUCTIONS) is fits


@pytest.mark.parametrize(
    ("event", "fits"),
    [
        ({"type": "sale", "price": 5, "id": "x"}, True),
        ({"type": "sale", "code": 5}, True),
        ({"type": "bid", "code": 5}, False),
        ({"type": "bid", "code": "x"}, True),
        ({"type": "sale", "amount": 5}, False),
        ({"type": "gift"}, False),
        ({"id": "x"}, False),
        ({"type": 5}, False),
    ],
)
def test_which_events_conform_to_their_type(event, fits):
    assert conforms(Event.from_python(event), TYPED) is fits


def test_nan_is_a_number_where_nothing_is_said_of_its_values():
    nan = Event.from_python({"a": math.nan})
    assert conforms(nan, Schema(attributes={"a": Attribute(kind="number")}))
    for attribute in (
        Attribute(kind="number", integer=True),
        Attribute(kind="number", maximum=5),
        Attribute(kind="number", values=(1,)),
        Attribute(kind="string"),
    ):
        assert not conforms(nan, Schema(attributes={"a": attribute}))


def test_a_type_may_have_an_empty_name():
    schema = Schema(types={"": {"a": Attribute(kind="timestamp")}})
    assert schema.attributes_of(None) == {}
    assert schema.timestamps("") == ["a"]


def test_names_and_kinds():
    assert list(AUCTIONS.names()) == ["title", "price", "bids", "condition", "signed", "ending"]
    assert list(TYPED.names()) == ["type", "id", "price", "code", "amount"]
    assert TYPED.kinds("code") == {Kind.NUMBER, Kind.STRING}
    assert TYPED.kinds("type") == {Kind.STRING}
    assert AUCTIONS.kinds("type") == frozenset()
    assert TYPED.attributes_of("bid").keys() == {"id", "amount", "code"}
    assert TYPED.attributes_of(None).keys() == {"id"}


@pytest.mark.parametrize(
    "text",
    [
        "title = 'x' and price < 25 and bids in (1, 2) and signed = true",
        "ending > timestamp '2026-06-01' or title is null or bids < price",
        "contains(title, 'x') and matches(title, 'y') and condition like 'n%'",
        "25 > price",
    ],
)
def test_a_filter_that_fits(text):
    assert parse(text, schema=AUCTIONS) == parse(text)
    assert decode(encode(parse(text)), schema=AUCTIONS) == parse(text)


@pytest.mark.parametrize(
    ("text", "position", "problem", "hint"),
    [
        ("prize < 25", 0, "the schema has no attribute `prize`", "did you mean `price`?"),
        ("title = 'x' and pages > 5", 16, "no attribute `pages`", "it has title, price, bids"),
        ("zzz is null", 0, "no attribute `zzz`", "it has title"),
        ("25 > prize", 5, "no attribute `prize`", "did you mean `price`?"),
        ("price < prize", 8, "no attribute `prize`", "did you mean `price`?"),
        ("contains(titel, 'x')", 9, "no attribute `titel`", "did you mean `title`?"),
        ("price < '25'", 8, "`price` is a number, which never compares with a string", "without"),
        ("title = 25", 8, "`title` is a string, which never compares with a number", "quotes"),
        ("25 = title", 0, "`title` is a string, which never compares with a number", "quotes"),
        ("signed = 1", 9, "`signed` is a boolean", "true and false"),
        ("ending < '2026-01-31'", 9, "`ending` is a timestamp", "write timestamp"),
        ("price in (1, 2) and bids in ('a')", 29, "`bids` is a number", "without quotes"),
        ("price between 'a' and 'b'", 14, "`price` is a number", "without quotes"),
        ("bids like '5%'", 10, "`bids` is a number", "without quotes"),
        ("matches(bids, '5')", 14, "`bids` is a number", "without quotes"),
        ("title > price", 8, "`title` is a string and `price` a number", None),
    ],
)
def test_a_filter_that_does_not_fit(text, position, problem, hint):
    with pytest.raises(FilterSchemaError) as caught:
        parse(text, schema=AUCTIONS)
    error = caught.value
    assert error.position == position
    assert problem in error.problem
    assert (hint or "") in (error.hint or "")
    assert (error.hint is None) is (hint is None)
    with pytest.raises(FilterSchemaError) as decoded:
        decode(encode(parse(text)), schema=AUCTIONS)
    assert (decoded.value.problem, decoded.value.hint) == (error.problem, error.hint)


def test_an_attribute_has_the_kinds_of_every_type():
    parse("code = 5 or code = 'x' or type = 'sale'", schema=TYPED)
    with pytest.raises(FilterSchemaError, match="number or string"):
        parse("code = true", schema=TYPED)
    with pytest.raises(FilterSchemaError, match="never compares"):
        parse("type = 5", schema=TYPED)
