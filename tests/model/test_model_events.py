"""Events: nesting, clashes, what is malformed and what is not."""

import copy
import dataclasses
import json
import math
import pickle
from types import MappingProxyType
from typing import NamedTuple

import msgspec
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boolcast.errors import EventError
from boolcast.model.arrow import events_from_arrow
from boolcast.model.events import DEPTH_LIMIT, PREFIX_LIMIT, Event, with_timestamps
from boolcast.model.schemas import Attribute, Schema
from boolcast.model.values import Opaque, Timestamp

KEYS = st.sampled_from(("a", "b", "item", "price", ""))
LEAVES = st.none() | st.booleans() | st.integers(-5, 5) | st.floats() | st.text(max_size=3)
NESTED = st.dictionaries(
    KEYS, st.recursive(LEAVES, lambda inner: st.dictionaries(KEYS, inner, max_size=3)), max_size=4
)


def flattened(members: dict[str, object], prefix: str = "") -> dict[str, object]:
    """The same by recursion; a key holds no dot here, so that nothing can clash."""
    flat: dict[str, object] = {}
    for key, value in members.items():
        if isinstance(value, dict):
            flat |= flattened(value, f"{prefix}{key}.")
        elif value is not None:
            is_nan = isinstance(value, float) and math.isnan(value)
            flat[prefix + key] = Opaque("NaN") if is_nan else value
    return flat


@given(NESTED)
def test_objects_nest_to_dotted_names(members):
    event = Event.from_python(members)
    assert event == flattened(members)
    assert list(event) == list(flattened(members))
    assert Event.from_python(event) is event


def _is_json(members: object) -> bool:
    """False where Python writes NaN or Infinity, which JSON does not know."""
    try:
        json.dumps(members, allow_nan=False)
    except ValueError:
        return False
    return True


@given(NESTED)
def test_json_is_read_as_python_is(members):
    text = json.dumps(members)
    if not _is_json(members):
        with pytest.raises(EventError):
            Event.from_json(text)
    else:
        assert Event.from_json(text) == Event.from_json(text.encode()) == Event.from_python(members)


def test_an_object_is_no_value():
    assert Event.from_python({"item": {"price": 5}, "empty": {}}) == {"item.price": 5}


@dataclasses.dataclass
class Bid:
    price: float
    bidder: object = None


class Auction(msgspec.Struct, frozen=True):
    title: str
    bid: Bid


class Offer(NamedTuple):
    price: int


BID = Bid(21.5, {"name": "Ada"})


@pytest.mark.parametrize(
    ("record", "event"),
    [
        (MappingProxyType({"a": 1}), {"a": 1}),
        (BID, {"price": 21.5, "bidder.name": "Ada"}),
        (Auction("Emma", BID), {"title": "Emma", "bid.price": 21.5, "bid.bidder.name": "Ada"}),
        (Offer(5), {"price": 5}),
        (
            {"offers": Offer(5), "auction": Auction("Emma", Bid(1))},
            {
                "offers.price": 5,
                "auction.title": "Emma",
                "auction.bid.price": 1,
            },
        ),
    ],
)
def test_records_are_events(record, event):
    assert Event.from_python(record) == event


def test_a_record_with_an_attribute_that_was_never_set_lacks_it():
    bid = Bid(1)
    del bid.price
    assert Event.from_python(bid) == {}


def test_a_record_that_holds_itself_is_refused():
    bid = Bid(1)
    bid.bidder = bid
    with pytest.raises(EventError, match="nests deeper"):
        Event.from_python(bid)


def test_pydantic_models_are_events():
    pydantic = pytest.importorskip("pydantic")
    Seller = pydantic.create_model("Seller", name=(str, ...))  # noqa: N806 - a class
    Item = pydantic.create_model("Item", price=(float, ...), seller=(Seller, ...))  # noqa: N806
    item = Item(price=21, seller=Seller(name="Ada"))
    assert Event.from_python(item) == {"price": 21.0, "seller.name": "Ada"}
    assert Event.from_python({"item": item}) == {"item.price": 21.0, "item.seller.name": "Ada"}


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (None, "None"),
        ("price", "a value of type str"),
        ([1], "a value of type list"),
        ((1, 2), "a value of type tuple"),
        (5, "a value of type int"),
        (Timestamp(0), "a value of type Timestamp"),
        (Bid, "a value of type type"),
        (object(), "a value of type object"),
    ],
)
def test_what_is_no_event_is_refused_with_what_was_expected(given, found):
    with pytest.raises(EventError) as caught:
        Event.from_python(given)
    assert str(caught.value).startswith('an event is a mapping such as {"price": 21}, a dataclass,')
    assert str(caught.value).endswith(f"not {found}")


@pytest.mark.parametrize(
    ("members", "attribute"),
    [
        ({"item": {"price": 5}, "item.price": 6}, "item.price"),
        ({"item.price": 6, "item": {"price": 5}}, "item.price"),
        ({"a": {"b": {"c": 1}, "b.c": 1}}, "a.b.c"),
        ({"a": {"b": "x\ud800"}}, "a.b"),
        ({"a": {"b": ["\ud800"], "c": "\udfff"}}, "a.c"),
    ],
)
def test_what_is_malformed_is_refused_with_its_place(members, attribute):
    with pytest.raises(EventError) as caught:
        Event.from_python(members)
    assert caught.value.attribute == attribute
    assert attribute in str(caught.value)


@pytest.mark.parametrize(
    "members",
    [
        {"item": {"price": None}, "item.price": 6},
        {"item": 5, "item.price": 6},
        {"item": [5], "item.price": 6},
    ],
)
def test_what_does_not_clash(members):
    assert Event.from_python(members)["item.price"] == 6


@pytest.mark.parametrize("key", [1, None, b"a", ("a",), 1.5])
@pytest.mark.parametrize("nested", [False, True])
def test_names_are_strings(key, nested):
    members = {key: 1}
    with pytest.raises(EventError, match="name must be a string"):
        Event.from_python({"a": members} if nested else members)


def test_names_hold_no_lone_surrogate():
    with pytest.raises(EventError, match="lone surrogate"):
        Event.from_python({"a\ud800": 1})


def deep(levels: int) -> dict[str, object]:
    members: dict[str, object] = {"x": 1}
    for _ in range(levels - 1):
        members = {"x": members}
    return members


def test_the_limit_on_depth():
    assert len(Event.from_python(deep(DEPTH_LIMIT))) == 1
    with pytest.raises(EventError, match="deeper than 64"):
        Event.from_python(deep(DEPTH_LIMIT + 1))
    with pytest.raises(EventError, match="deeper than 64"):
        Event.from_json(json.dumps(deep(DEPTH_LIMIT + 1)))


def test_the_limit_on_depth_is_the_same_in_arrow():
    (event,) = events_from_arrow(pa.Table.from_pylist([deep(DEPTH_LIMIT)]))
    assert event == Event.from_python(deep(DEPTH_LIMIT))
    with pytest.raises(EventError, match="deeper than 64"):
        list(events_from_arrow(pa.Table.from_pylist([deep(DEPTH_LIMIT + 1)])))


def test_the_limit_on_names_that_members_repeat():
    longest = "x" * PREFIX_LIMIT
    assert Event.from_python({longest: {"y": 1}}) == {longest + ".y": 1}
    assert Event.from_python({longest * 2: 1}) == {longest * 2: 1}
    with pytest.raises(EventError, match="longer than 1,024"):
        Event.from_python({longest + "x": {"y": 1}})


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b"", "truncated"),
        (b'{"a": 1', "truncated"),
        (b'{"a": "x', "truncated"),
        (b'{"a": 1}}', "trailing"),
        (b"{'a': 1}", "malformed"),
        (b'{"a": NaN}', "malformed"),
        (b'{"a": "\xff"}', "UTF-8"),
        (b"\xff\xfe{", "malformed"),
        (b"[1]", "JSON object"),
        (b"5", "JSON object"),
        (b"null", "JSON object"),
        ('"\ud800"', "UTF-8"),
        (b'{"a":' + b"[" * 100_000, "nests deeper"),
        (rb'{"a": "\ud800"}', r"\\ud800 is a lone surrogate, .* \(byte 7\)"),
        (r'{"a": "\ud800"}', r"\\ud800 is a lone surrogate"),
        (rb'{"a": "x\uDBFFy", "b": "long enough"}', r"\\uDBFF is a lone surrogate"),
        (rb'{"a": "\udc00"}', r"\\udc00 is a lone surrogate"),
        (rb'{"a": "\ud83d\ude00\ud83d"}', r"\(byte 19\)"),
        (rb'{"a": "\ud83d\u0041"}', r"\\ud83d is a lone surrogate"),
        (rb'{"\ud800": 1}', r"\\ud800 is a lone surrogate"),
        (rb'{"a": "\ud83d', "truncated"),
        (rb'{"a": "\ud83d\ude', "truncated"),
        (rb'{"a": "\ud83d\ude00', "truncated"),
        (rb'{"a": "\\ud800", "b', "truncated"),
        (rb'{"a" "\ud800"}', "malformed: expected ':'"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_json_that_cannot_be_read(text, problem):
    with pytest.raises(EventError, match=problem):
        Event.from_json(text)


MOMENTS = Schema(
    attributes={"at": Attribute(kind="timestamp"), "name": Attribute(kind="string")},
    types={
        "sale": {"ends": Attribute(kind="timestamp")},
        "bid": {"ends": Attribute(kind="string")},
    },
)
NOON = Timestamp.parse("2026-01-31T12:00:00Z")


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ({"at": "2026-01-31T12:00:00Z"}, {"at": NOON}),
        ({"at": "2026-01-31T13:00:00+01:00"}, {"at": NOON}),
        ({"at": "noon"}, {"at": "noon"}),
        ({"at": 5}, {"at": 5}),
        ({"at": None}, {}),
        ({"name": "2026-01-31T12:00:00Z"}, {"name": "2026-01-31T12:00:00Z"}),
        (
            {"type": "sale", "ends": "2026-01-31T12:00:00Z"},
            {"type": "sale", "ends": NOON},
        ),
        (
            {"type": "bid", "ends": "2026-01-31T12:00:00Z"},
            {"type": "bid", "ends": "2026-01-31T12:00:00Z"},
        ),
        ({"ends": "2026-01-31T12:00:00Z"}, {"ends": "2026-01-31T12:00:00Z"}),
    ],
)
def test_strings_are_timestamps_where_the_schema_says_so(members, expected):
    assert Event.from_json(json.dumps(members), MOMENTS) == expected


def test_the_event_whose_strings_are_read_stays_as_it_was():
    event = Event.from_python({"at": "2026-01-31T12:00:00Z"})
    assert with_timestamps(event, MOMENTS) == {"at": NOON}
    assert event == {"at": "2026-01-31T12:00:00Z"}


@pytest.mark.parametrize(
    ("members", "type_"),
    [({"type": "sale"}, "sale"), ({"type": 5}, None), ({"type": ["sale"]}, None), ({}, None)],
)
def test_the_type_of_an_event_is_an_attribute(members, type_):
    assert Event.from_python(members).type == type_


def test_events_can_be_copied_and_sent():
    event = Event.from_python({"a": 1, "b": [1], "c": NOON.microseconds})
    for other in (copy.deepcopy(event), pickle.loads(pickle.dumps(event))):
        assert other == event
        assert type(other) is Event


def test_arrow_columns_clash_as_nested_objects_do():
    prices = pa.array([{"price": 5}, {"price": None}, {"price": 5}])
    table = pa.table({"item": prices, "item.price": pa.array([None, 6, 7])})
    events = events_from_arrow(table)
    assert next(events) == {"item.price": 5}
    assert next(events) == {"item.price": 6}
    with pytest.raises(EventError, match="two columns"):
        next(events)


def test_arrow_tables_of_several_batches():
    table = pa.concat_tables([pa.table({"a": [1, None]}), pa.table({"a": [3]})])
    assert list(events_from_arrow(table)) == [{"a": 1}, {}, {"a": 3}]
    assert list(events_from_arrow(table.to_batches()[1])) == [{"a": 3}]
    assert list(events_from_arrow(table.slice(1, 2))) == [{}, {"a": 3}]
    assert list(events_from_arrow(pa.table({}))) == []


def test_arrow_slices_of_nested_and_encoded_columns():
    table = pa.table(
        {
            "s": pa.array([{"x": 1}, None, {"x": 3}]),
            "d": pa.array(["p", "q", None]).dictionary_encode(),
            "r": pa.RunEndEncodedArray.from_arrays([2, 3], ["u", "v"]),
        }
    )
    assert list(events_from_arrow(table.slice(1))) == [{"d": "q", "r": "u"}, {"s.x": 3, "r": "v"}]
