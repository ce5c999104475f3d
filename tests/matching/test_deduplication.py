"""Equal filters are kept once, however they are spelt."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boolcast import parse
from boolcast.filters.limits import DEFAULT_LIMITS
from boolcast.matching.matcher import Matcher
from boolcast.matching.segment.deduplication import are_equal

SPELLINGS = {
    "a": "price < 10 and title = 'x'",
    "b": "price<10 AND title='x'",
    "c": "(price < 10.0) and (title = 'x')",
    "other": "price < 11 and title = 'x'",
}
EVENT = {"price": 5, "title": "x"}


@pytest.mark.parametrize("is_bulk", [True, False])
def test_spellings_are_stored_once_and_all_who_hold_them_are_found(is_bulk):
    matcher = Matcher()
    if is_bulk:
        columns = {"subscription": list(SPELLINGS), "filter": list(SPELLINGS.values())}
        assert matcher.add_many(pa.table(columns)).num_rows == 0
    else:
        for subscription, text in SPELLINGS.items():
            matcher.add(subscription, text)
        matcher.merge()
    assert matcher.stats().filters == 2
    assert sorted(matcher.match(EVENT)) == sorted(SPELLINGS)
    matcher.remove("a")
    assert sorted(matcher.match(EVENT)) == ["b", "c", "other"]
    matcher.add("d", SPELLINGS["b"].lower())
    matcher.merge()
    assert matcher.stats().filters == 2
    assert sorted(matcher.match(EVENT)) == ["b", "c", "d", "other"]


def test_what_only_the_evaluator_tells_apart_stays_apart():
    matcher = Matcher()
    matcher.add("a", "matches(title, 'x+') and price < 10")
    matcher.add("b", "matches(title, 'y+') and price < 10")
    matcher.merge()
    assert matcher.stats().filters == 2
    assert matcher.match(EVENT) == ["a"]


def test_saved_and_loaded_they_are_still_once(tmp_path):
    matcher = Matcher()
    for subscription, text in SPELLINGS.items():
        matcher.add(subscription, text)
    matcher.save(tmp_path)
    loaded = Matcher.load(tmp_path)
    assert loaded.stats().filters == 2
    assert sorted(loaded.match(EVENT)) == sorted(SPELLINGS)


TEXTS = st.sampled_from(
    [
        *SPELLINGS.values(),
        "not (price >= 10 or title != 'x')",
        "price < 10",
        "price < 010",
        "title like 'x%'",
        "title LIKE 'x%'",
        "starts_with(title, 'x')",
        "false",
        "matches(title, 'x')",
        "matches( title, 'x')",
        "no filter",
    ]
)


@given(TEXTS, TEXTS)
def test_equal_filters_accept_the_same_events(text, other):
    if are_equal(text, other, DEFAULT_LIMITS) and text != other:
        for event in ({}, {"price": 9.5}, EVENT, {"price": 10, "title": "xy"}):
            assert parse(text).accepts(event) == parse(other).accepts(event)


@pytest.mark.parametrize(
    ("text", "other", "expected"),
    [
        ("price < 10", "price<10", True),
        ("price < 10", "price < 11", False),
        ("price < 10", "prices < 10", False),
        ("no filter", "no filter", True),
        ("no filter 1", "no  filter 1", False),
        ("matches(a, 'x')", "matches( a, 'x')", False),
        ("a = 1 and b = 1", "b = 1 and a = 1", False),
    ],
)
def test_which_are_equal(text, other, expected):
    assert are_equal(text, other, DEFAULT_LIMITS) is expected
