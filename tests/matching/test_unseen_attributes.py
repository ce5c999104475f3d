"""Attributes that filters use and no event has: probably misspelled."""

import copy
import json
from collections.abc import Callable

import pyarrow as pa
import pytest

from boolcast.matching.inputs.event_sample import EventSample
from boolcast.matching.matcher import Matcher
from boolcast.matching.stats import UnseenAttribute
from boolcast.model.events import Event

TEXTS = {"a": "auther = 'x'", "b": "auther = 'y' and price < 5", "c": "price < 5", "d": "zz > zy"}
ROWS = [{"author": "x", "price": 3, "none": None}, {"author": "y", "price": 9, "none": None}]


def one_by_one(matcher: Matcher, rows: list[dict[str, object]]) -> None:
    for row in rows:
        matcher.match(row)


def as_rows(matcher: Matcher, rows: list[dict[str, object]]) -> None:
    matcher.match_batch(pa.Table.from_pylist(rows)).read_all()


def as_lines(matcher: Matcher, rows: list[dict[str, object]]) -> None:
    matcher.match_batch("\n".join(map(json.dumps, rows)).encode()).read_all()


FEEDS = [one_by_one, as_rows, as_lines]
Feed = Callable[[Matcher, list[dict[str, object]]], None]


def singly(texts: dict[str, str]) -> Matcher:
    matcher = Matcher()
    for name, text in texts.items():
        matcher.add(name, text)
    return matcher


def at_once(texts: dict[str, str]) -> Matcher:
    matcher = Matcher()
    columns = {"subscription": list(texts), "filter": list(texts.values())}
    matcher.add_many(pa.table(columns))
    return matcher


@pytest.mark.parametrize("make", [singly, at_once])
@pytest.mark.parametrize("feed", FEEDS)
def test_attributes_that_no_event_had(make, feed: Feed):
    matcher = make(TEXTS)
    assert matcher.stats().unseen_attributes == ()
    feed(matcher, ROWS)
    unseen = matcher.stats().unseen_attributes
    assert unseen == (
        UnseenAttribute("auther", 2, 2, "author"),
        UnseenAttribute("zy", 2, 1, None),
        UnseenAttribute("zz", 2, 1, None),
    )
    assert str(unseen[0]) == "`auther` was in 0 of 2 events; did you mean `author`?"
    assert str(unseen[1]) == "`zy` was in 0 of 2 events"
    feed(matcher, [{"auther": "x", "zy": 1}])
    assert [each.attribute for each in matcher.stats().unseen_attributes] == ["zz"]
    matcher.remove("d")
    assert matcher.stats().unseen_attributes == ()


@pytest.mark.parametrize("feed", FEEDS)
def test_a_column_of_nulls_is_no_attribute(feed: Feed):
    matcher = singly({"a": "none = 1"})
    feed(matcher, ROWS * 10)
    (unseen,) = matcher.stats().unseen_attributes
    assert (unseen.attribute, unseen.events) == ("none", 20)


@pytest.mark.parametrize("feed", FEEDS)
def test_events_count_from_the_first_filter_that_uses_the_attribute(feed: Feed):
    matcher = singly({"a": "price < 5"})
    feed(matcher, ROWS)
    matcher.add("b", "prize < 5")
    feed(matcher, ROWS[:1])
    assert matcher.stats().unseen_attributes == (UnseenAttribute("prize", 1, 1, "price"),)
    matcher.add("c", "prize < 6")
    matcher.merge()
    feed(matcher, ROWS)
    assert matcher.stats().unseen_attributes == (UnseenAttribute("prize", 3, 2, "price"),)


def test_a_copy_and_a_loaded_matcher_watch_for_themselves(tmp_path):
    matcher = singly(TEXTS)
    one_by_one(matcher, ROWS)
    twin = copy.copy(matcher)
    one_by_one(twin, [{"auther": "x"}])
    assert len(twin.stats().unseen_attributes) == 2
    assert len(matcher.stats().unseen_attributes) == 3
    matcher.save(tmp_path)
    loaded = Matcher.load(tmp_path)
    assert loaded.stats().unseen_attributes == ()
    one_by_one(loaded, ROWS)
    assert len(loaded.stats().unseen_attributes) == 3


def test_the_names_that_are_remembered_are_bounded():
    sample = EventSample()
    for number in range(40):
        sample.learn(Event({f"n{number}_{each}": 1 for each in range(30)}))
    assert len(sample.names) == 1_000


@pytest.mark.parametrize("make", [singly, at_once])
@pytest.mark.parametrize("feed", FEEDS)
def test_an_attribute_that_is_meant_to_be_missing_is_not_reported(make, feed: Feed):
    texts = {
        "a": "x is null",
        "b": "price < 5 and not (x is not null)",
        "c": "x is null and price > author",
        "d": "y is null or y < 3",
        "e": "z is not null",
        "f": "v is null and v != author",
        "g": "w is null or not w is null",
        "h": "w = 4",
    }
    matcher = make(texts)
    feed(matcher, ROWS)
    unseen = {each.attribute: each.filters for each in matcher.stats().unseen_attributes}
    assert unseen == {"w": 2, "v": 1, "y": 1, "z": 1}
