"""The matcher as a collection: look-up, iteration, copies, and warming up."""

import copy
import subprocess
import sys
from datetime import UTC, datetime
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boolcast.errors import SubscriptionIdError, UnknownSubscriptionError, UsageError
from boolcast.filters.expressions import Filter
from boolcast.filters.parsing import parse
from boolcast.matching import matcher as matcher_module
from boolcast.matching.matcher import Matcher
from boolcast.matching.scan import ScanMatcher
from tests.strategies import events, filters

COUNT = 40


@pytest.fixture
def mixed() -> tuple[Matcher, dict[str, Filter]]:
    """Some subscriptions in segments, some pending, some removed; residuals among them."""
    texts = {f"s{n}": f"x = {n % 7} and y < {n}" for n in range(COUNT)}
    texts |= {f"r{n}": f"x > y and z = {n % 3}" for n in range(6)}
    columns = {"subscription": list(texts), "filter": list(texts.values())}
    matcher = Matcher()
    matcher.add_many(pa.table(columns))
    for n in range(4):
        texts[f"p{n}"] = f"y like '{n}%'"
        matcher.add(f"p{n}", texts[f"p{n}"])
    for gone in ("s3", "r1", "p2"):
        matcher.remove(gone)
        del texts[gone]
    return matcher, {name: parse(text) for name, text in texts.items()}


def test_a_matcher_is_a_collection_of_subscriptions(mixed):
    matcher, model = mixed
    assert sorted(matcher) == sorted(model)
    assert {name: str(filter) for name, filter in matcher.items()} == {
        name: str(filter) for name, filter in model.items()
    }
    assert all(str(matcher[name]) == str(filter) for name, filter in model.items())
    assert repr(matcher) == f"<Matcher: {len(model)} subscriptions>"
    assert ("s1" in matcher, "s3" in matcher, 5 in matcher, [] in matcher) == (
        True,
        False,
        False,
        False,
    )


def test_iteration_shows_the_subscriptions_at_the_call(mixed):
    matcher, model = mixed
    ids, items = iter(matcher), matcher.items()
    matcher.remove("s1")
    matcher.remove("p1")
    matcher.add("new", "x = 1")
    assert sorted(ids) == sorted(model)
    assert sorted(name for name, _ in items) == sorted(model)


def test_an_unknown_id_has_no_filter(mixed):
    matcher, _ = mixed
    wrong: Any
    for take in (matcher.__getitem__, matcher.remove):
        with pytest.raises(UnknownSubscriptionError, match="there is no subscription 's3'") as told:
            take("s3")
        assert isinstance(told.value, KeyError)
        with pytest.raises(SubscriptionIdError):
            take("\ud800")
        for wrong in (5, None, [], b"s1"):
            with pytest.raises(UsageError, match="id of a subscription is a string"):
                take(wrong)


OPERATIONS = st.lists(
    st.tuples(
        st.sampled_from(["add", "remove", "add_many", "merge", "match", "batch"]),
        st.integers(0, 1),
        st.sampled_from("abcde"),
        filters(max_leaves=4, small=True),
        events(small=True),
    ),
    min_size=1,
    max_size=12,
)


def apply(engine, name, subscription, filter) -> None:
    """One change; engines without the operation do the nearest."""
    match name:
        case "add":
            engine.add(subscription, filter)
        case "add_many" if isinstance(engine, Matcher):
            columns = {"subscription": [subscription], "filter": [str(filter)]}
            engine.add_many(pa.table(columns))
        case "add_many":
            engine.add(subscription, filter)
        case "merge" if isinstance(engine, Matcher):
            engine.merge()
        case "remove":
            try:
                engine.remove(subscription)
            except UnknownSubscriptionError:
                return


@given(OPERATIONS, OPERATIONS, st.sampled_from([copy.copy, copy.deepcopy]), st.integers(1, 3))
def test_a_copy_and_its_original_go_their_own_ways(before, after, duplicate, limit):
    with patch.object(matcher_module, "PENDING_LIMIT", limit):
        original = Matcher()
        oracles = [ScanMatcher(), ScanMatcher()]
        for name, _, subscription, filter, event in before:
            for engine in (original, *oracles):
                apply(engine, name, subscription, filter)
            assert sorted(original.match(event)) == sorted(oracles[0].match(event))
        engines = [original, duplicate(original)]
        for name, which, subscription, filter, event in after:
            for engine in (engines[which], oracles[which]):
                apply(engine, name, subscription, filter)
            for engine, oracle in zip(engines, oracles, strict=True):
                assert sorted(engine.match(event)) == sorted(oracle.match(event))
                assert len(engine) == len(oracle) == len(list(engine))
        for engine, oracle in zip(engines, oracles, strict=True):
            table = pa.table({"a": [1, 2], "b": ["x", None]})
            mine, others = engine.match_batch(table), oracle.match_batch(table)
            assert sorted(map(str, mine.read_all().to_pylist())) == sorted(
                map(str, others.read_all().to_pylist())
            )


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy])
def test_what_one_copy_removes_the_other_keeps(duplicate):
    """Both removals make the same version, in the same segment."""
    names = [f"s{number}" for number in range(5)]
    original = Matcher()
    for name in names:
        original.add(name, "x = 1")
    original.merge()
    other = duplicate(original)
    original.remove("s0")
    other.remove("s1")
    assert sorted(original.match({"x": 1})) == ["s1", "s2", "s3", "s4"]
    assert sorted(other.match({"x": 1})) == ["s0", "s2", "s3", "s4"]


def test_a_copy_keeps_what_the_matcher_was_made_with(mixed):
    matcher, _ = mixed
    matcher.match({"x": 1, "y": 0})
    twin = copy.copy(matcher)
    assert twin.stats() == matcher.stats()
    assert twin.stats().events == 1
    twin.match({"x": 1})
    assert (twin.stats().events, matcher.stats().events) == (2, 1)


def prepared(matcher: Matcher) -> list[tuple[str, ...]]:
    """The attributes that the rank spaces and their constants have, lazily made ones among them."""
    (live,) = matcher._state.segments
    return [
        tuple(vars(each))
        for space in live.spaces.spaces
        for each in (space, space.numbers, space.strings, space.timestamps)
    ]


@pytest.mark.parametrize("source", ["added", "merged", "loaded"])
def test_after_warming_up_no_match_prepares_anything(source, tmp_path):
    texts = ["x = 'v1'", "x >= 'v2'", "n < 5", "m between 2 and 3.5", "x = 'v3' and n = 7"]
    matcher = Matcher()
    matcher.add_many(pa.table({"subscription": texts, "filter": texts}))
    if source == "merged":
        matcher.add("t", "t > timestamp '2026-01-31T12:00:00Z'")
        matcher.merge()
    elif source == "loaded":
        matcher.save(place=tmp_path)
        matcher = Matcher.load(place=tmp_path)
    matcher.warm_up()
    before = prepared(matcher)
    moment = datetime(2026, 2, 1, tzinfo=UTC)
    matcher.match({"x": "v3", "n": 7, "m": 2.5, "t": moment})
    matcher.match({"x": 4, "n": "w", "m": moment, "t": "w"})
    columns = {"x": ["v3", "w"], "n": [7, None], "m": [2.5, 9.0], "t": [moment, None]}
    matcher.match_batch(pa.table(columns)).read_all()
    assert prepared(matcher) == before


WARM = """
import sys
import pyarrow as pa
from boolcast import Matcher
texts = ["a = 1", "a < 5.5", "b like 'x%'", "b >= 'm'", "a > c", "b in ('p', 'q') or t = 3"]
matcher = Matcher()
assert matcher.warm_up() is None
from numba.core.dispatcher import Dispatcher
def overloads():
    return {
        (module, name): len(value.overloads)
        for module in list(sys.modules) if module.startswith("boolcast.matching")
        for name, value in list(vars(sys.modules[module]).items()) if isinstance(value, Dispatcher)
    }
before = overloads()
assert sum(before.values()) > 10, before
assert matcher.match({"a": 1}) == []
for number, text in enumerate(texts):
    matcher.add(str(number), text)
matcher.warm_up()
assert matcher.stats().pending == matcher.stats().events - 1 == 0
matcher.match_batch(pa.table({"a": [1, 2], "b": ["xy", "z"], "c": [0.5, None]})).read_all()
assert sorted(matcher.match({"a": 1, "b": "xy", "c": 0})) == ["0", "1", "2", "3", "4"]
assert overloads() == before
"""


def test_after_warming_up_no_match_compiles():
    done = subprocess.run([sys.executable, "-c", WARM], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
