"""Segments of the access engine: cuts, merges, bulk loading, versions, learning."""

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boolcast.algebra.ordered_sets import after, before
from boolcast.errors import StoreError, UsageError
from boolcast.filters.expressions import Filter
from boolcast.filters.parsing import parse
from boolcast.filters.patterns import LikePattern
from boolcast.matching.matcher import PENDING_LIMIT, Matcher
from boolcast.matching.segment.kernels.access import fits_pattern, lies_in_list
from boolcast.matching.segment.live_segment import LiveSegment
from boolcast.matching.values.ranks import RankSpace
from boolcast.matching.values.shapes import short_circuit, take_apart
from boolcast.model.events import Event
from boolcast.model.statistics import AttributeStatistics, Statistics, ValueBin
from boolcast.model.values import Kind, Opaque, value_from_python
from boolcast.workloads import Auction, AuctionParameters
from tests.strategies import event_values, events, filters

AUCTION = Auction(AuctionParameters(titles=300, authors=40, categories=10), seed=3)


def accepting(model: dict[str, Filter], event: Event) -> list[str]:
    return sorted(name for name, filter in model.items() if filter.accepts(event))


def matches(reader: pa.RecordBatchReader) -> list[tuple[int, str]]:
    table = reader.read_all()
    return sorted(zip(table["event"].to_pylist(), table["subscription"].to_pylist(), strict=True))


@pytest.fixture(scope="module")
def loaded() -> tuple[Matcher, dict[str, Filter]]:
    table = AUCTION.subscriptions(0, 3_000)
    matcher = Matcher()
    assert matcher.add_many(table).num_rows == 0
    texts = zip(table["subscription"].to_pylist(), table["filter"].to_pylist(), strict=True)
    return matcher, {name: parse(text) for name, text in texts}


def test_bulk_loading_finds_what_single_adding_finds(loaded):
    matcher, model = loaded
    for event in AUCTION.events(0, 60).to_pylist():
        assert sorted(matcher.match(event)) == accepting(model, Event(event))


def test_a_batch_finds_what_single_events_find(loaded):
    matcher, _ = loaded
    table = AUCTION.events(100, 500)
    singly = sorted(
        (number, name)
        for number, event in enumerate(table.to_pylist())
        for name in matcher.match(event)
    )
    assert matches(matcher.match_batch(table)) == singly
    assert singly


@given(st.lists(filters(max_leaves=5), max_size=8), st.lists(events(), max_size=4))
def test_bulk_loading_of_any_filters(nodes: list[Filter], members: list[dict[str, object]]):
    """Printed and loaded as texts, whatever is in them, beside the same ones added singly."""
    table = pa.table(
        {
            "subscription": pa.array([f"s{number}" for number in range(len(nodes))], pa.string()),
            "filter": pa.array([str(node) for node in nodes], pa.string()),
        }
    )
    matcher = Matcher()
    assert matcher.add_many(table).num_rows == 0
    model: dict[str, Filter] = {f"s{number}": node for number, node in enumerate(nodes)}
    for each in members:
        assert sorted(matcher.match(each)) == accepting(model, Event.from_python(each))


def test_rows_that_cannot_be_taken_come_back_with_their_reasons():
    table = pa.table(
        {
            "subscription": ["a", "b", None, "d", "a"],
            "filter": ["price < 5", "price <", "price < 6", None, "price < 7"],
        }
    )
    matcher = Matcher()
    rejects = matcher.add_many(table).to_pylist()
    assert [(each["row"], each["subscription"]) for each in rejects] == [
        (1, "b"),
        (2, None),
        (3, "d"),
    ]
    assert "expected" in rejects[0]["error"]
    assert rejects[0]["position"] == 7
    assert len(matcher) == 1
    assert matcher.match({"price": 6}) == ["a"]


def test_json_lines_are_loaded_too():
    lines = b'{"subscription": "a", "filter": "price < 5"}\n{"subscription": "b"}\nnonsense\n'
    matcher = Matcher()
    rejects = matcher.add_many(lines).to_pylist()
    assert [each["row"] for each in rejects] == [1, 2]
    assert matcher.match({"price": 1}) == ["a"]


def test_a_table_without_the_columns_is_refused():
    with pytest.raises(UsageError, match="filter"):
        Matcher().add_many(pa.table({"subscription": ["a"]}))


def test_literals_that_change_the_shape_are_not_filled_in():
    """Texts of one form: an empty range, the empty string, equal values in a list."""
    texts = [
        "a between 1 and 2", "a between 2 and 1", "b != 'x'", "b != ''", "c in (1, 2)",
        "c in (1, 1)", "b < 'x'", "b < ''", "a < 5", "a < 99999999999999999999",
    ]  # fmt: skip
    matcher = Matcher()
    table = pa.table({"subscription": [f"{i}" for i in range(len(texts))], "filter": texts})
    assert matcher.add_many(table).num_rows == 0
    model: dict[str, Filter] = {f"{i}": parse(text) for i, text in enumerate(texts)}
    for event in ({"a": 1, "b": "", "c": 1}, {"a": 2, "b": "x", "c": 2}, {"a": 6, "b": "a"}, {}):
        assert sorted(matcher.match(event)) == accepting(model, Event.from_python(event))


def test_the_state_at_the_call_is_kept():
    matcher = Matcher()
    matcher.add("a", "x = 1")
    reader = matcher.match_batch(pa.table({"x": [1, 1]}))
    matcher.remove("a")
    matcher.add("b", "x = 1")
    assert matches(reader) == [(0, "a"), (1, "a")]
    assert matches(matcher.match_batch(pa.table({"x": [1]}))) == [(0, "b")]


def test_more_matches_than_a_piece_holds():
    matcher = Matcher()
    count = 3_000
    table = pa.table(
        {"subscription": [f"s{i}" for i in range(count)], "filter": ["x is not null"] * count}
    )
    matcher.add_many(table)
    assert len(matcher.match({"x": 1})) == count
    rows = 500
    reader = matcher.match_batch(pa.table({"x": list(range(rows))}))
    sizes = [batch.num_rows for batch in reader]
    assert sum(sizes) == count * rows
    assert len(sizes) > 1
    assert max(sizes) <= 1 << 20


def test_merging_keeps_everything_and_drops_the_dead():
    matcher = Matcher()
    model: dict[str, Filter] = {}
    filters_of_auction = list(AUCTION.subscription_filters(0, 3 * PENDING_LIMIT))
    for number, filter in enumerate(filters_of_auction):
        matcher.add(f"s{number}", filter)
        model[f"s{number}"] = filter
    for number in range(0, len(filters_of_auction), 3):
        matcher.remove(f"s{number}")
        del model[f"s{number}"]
    matcher.merge()
    stats = matcher.stats()
    assert stats.segments == (len(model),)
    assert stats.dead == 0
    for event in AUCTION.events(0, 40).to_pylist():
        assert sorted(matcher.match(event)) == accepting(model, Event(event))


def test_what_is_removed_while_a_merge_runs_stays_removed(monkeypatch):
    matcher = Matcher()
    matcher.add("a", "x = 1")
    matcher.add("b", "x = 1")
    merged = LiveSegment.merged

    def merged_meanwhile(*arguments):
        result = merged(*arguments)
        matcher.remove("a")
        matcher.add("c", "x = 1")
        return result

    monkeypatch.setattr(LiveSegment, "merged", merged_meanwhile)
    matcher.merge()
    assert sorted(matcher.match({"x": 1})) == ["b", "c"]
    assert matcher.stats().dead == 1


def test_saved_and_loaded(tmp_path, loaded):
    matcher, model = loaded
    folder = tmp_path / "index"
    assert matcher.save(folder) == 1
    again = Matcher.load(folder)
    assert len(again) == len(model)
    for event in AUCTION.events(0, 40).to_pylist():
        assert sorted(again.match(event)) == accepting(model, Event(event))
    again.remove("s7")
    again.add("new", "bid > reserve and title like '%x'")
    assert again.save(folder) == 2
    newest = Matcher.load(folder)
    assert newest.match({"bid": 2, "reserve": 1, "title": "ax"}) == ["new"]
    assert "s7" not in newest
    assert "s7" in Matcher.load(folder, version=1)


def test_a_damaged_folder_is_refused(tmp_path, loaded):
    matcher, _ = loaded
    matcher.save(tmp_path)
    victims = sorted(tmp_path.glob("segments/*/*.npy"))
    assert "index" in {victim.stem for victim in victims}
    for victim in victims:
        sound = victim.read_bytes()
        data = bytearray(sound)
        data[len(data) // 2] ^= 1
        victim.chmod(0o644)
        victim.write_bytes(data)
        with pytest.raises(StoreError, match=victim.name):
            Matcher.load(tmp_path)
        victim.write_bytes(sound)
    assert len(Matcher.load(tmp_path)) == len(matcher)
    with pytest.raises(StoreError):
        Matcher.load(tmp_path / "nothing")


def test_cuts_follow_what_is_known_of_values(tmp_path):
    """`a = 1` is rare among constants and common among events: statistics turn the choice."""
    texts = [f"a = {number % 50} and b = {number % 7}" for number in range(700)]
    table = pa.table({"subscription": [f"s{i}" for i in range(700)], "filter": texts})
    common = Statistics(
        events=1_000,
        attributes={
            "a": AttributeStatistics(events=1_000, bins={Kind.NUMBER: (ValueBin(1, 1, 1_000, 1),)}),
            "b": AttributeStatistics(
                events=1_000, bins={Kind.NUMBER: (ValueBin(-100, 100, 1_000, 200),)}
            ),
        },
    )
    shares = {}
    Matcher().save(tmp_path)
    for name, matcher in (
        ("guess", Matcher()),
        ("known", Matcher(statistics=common)),
        ("loaded", Matcher.load(tmp_path, statistics=common)),
    ):
        matcher.add_many(table)
        for value in range(60):
            matcher.match({"a": 1, "b": 1000 + value})
        shares[name] = matcher.stats().candidates_per_event
    assert shares["loaded"] == shares["known"] < shares["guess"]


def test_a_matcher_learns_from_events():
    texts = [f"a = {number % 50} and b = {number % 7}" for number in range(700)]
    table = pa.table({"subscription": [f"s{i}" for i in range(700)], "filter": texts})
    matcher = Matcher()
    matcher.add_many(table)
    for value in range(200):
        matcher.match({"a": 1, "b": 1000 + value})
    before = matcher.stats().candidates_per_event
    matcher.merge()
    fresh = matcher.stats().events
    for value in range(200):
        matcher.match({"a": 1, "b": 2000 + value})
    after = matcher.stats()
    later = (after.candidates_per_event * after.events - before * fresh) / 200
    assert later < before


def test_stats_count_events_and_matches():
    matcher = Matcher()
    matcher.add("a", "x < 250")
    assert matcher.match_batch(pa.table({"x": list(range(500))})).read_all().num_rows == 250
    matcher.match({"x": 1})
    stats = matcher.stats()
    assert stats.events == 501
    assert stats.matches_per_event == 251 / 501


def test_the_expensive_are_alive():
    matcher = Matcher()
    matcher.add_many(
        pa.table(
            {
                "subscription": [f"s{number}" for number in range(40)],
                "filter": [f"p < {1000 - number}" for number in range(40)],
            }
        )
    )
    for number in range(10):
        matcher.remove(f"s{number}")
    alive = {f"s{number}" for number in range(10, 40)}
    assert len({each.subscription for each in matcher.stats(expensive=5).expensive} & alive) == 5


def test_stats_name_what_is_expensive():
    matcher = Matcher()
    matcher.add("cheap", "a = 1 and b > 2")
    matcher.add("dear", "contains(title, 'x')")
    matcher.merge()
    for number in range(20):
        matcher.match({"a": number, "title": "abc"})
    (first, *_) = matcher.stats().expensive
    assert (first.subscription, first.filter) == ("dear", "contains(title, 'x')")
    assert first.share > 0.8


class TestKernelTwins:
    """Each compiled function beside the same thing in plain Python."""

    @given(st.text("ab%_", max_size=6), st.text("abc", max_size=8))
    def test_patterns(self, pattern: str, text: str):
        elements = [-2 if c == "%" else -1 if c == "_" else ord(c) for c in pattern]
        codes = np.array([ord(c) for c in text], dtype=np.uint32)
        array = np.array([*elements, 0], dtype=np.int32)
        expected = LikePattern.parse(pattern).matches(text)
        assert fits_pattern(codes, array, 0, len(elements)) == expected

    @given(st.sets(st.integers(0, 30), max_size=8), st.integers(0, 31))
    def test_lists(self, bounds: set[int], rank: int):
        ordered = np.array(sorted(bounds), dtype=np.int32)
        starts = np.array([0, len(ordered)], dtype=np.int32)
        expected = sum(bound <= rank for bound in bounds) % 2 == 1
        assert lies_in_list(rank, starts, ordered, 0) == expected


@given(filters(max_leaves=6), events())
def test_short_circuit_code_does_what_the_filter_does(node: Filter, members: dict[str, object]):
    """Run in plain Python on the truth of each test; residuals by the evaluator."""
    event = Event.from_python(members)
    parts = take_apart(node)
    if parts is None:
        assert not node.accepts(event)
        return
    shape, constants = parts
    if shape.root is None:
        assert node.accepts(event)
        return
    if any(test.kind == "residual" for test in shape.tests):
        return
    truths = []
    for test, cuts in zip(shape.tests, constants, strict=True):
        space = RankSpace.of_boundaries(cuts)
        value = event.get(test.attribute)
        inside = sum(space.bounds[cut] <= space.rank(value) for cut in cuts) % 2 == 1
        if test.pattern is not None and inside:
            compiled = LikePattern.compile(list(test.pattern.elements), test.pattern.stays)
            inside = compiled.matches(str(value)) == test.is_wanted
        truths.append(inside)
    code = short_circuit(shape.root, [0.5] * len(truths), frozenset())
    at = 0
    while at < len(code):
        test_number, if_true, if_false = code[at]
        at = if_true if truths[test_number] else if_false
    assert (at == len(code)) == node.accepts(event)


@given(st.lists(event_values(), min_size=1, max_size=6), event_values())
def test_ranks_order_as_values_do(constants: list[object], value: object):
    """Between two cuts a value keeps its side, whatever the kinds."""
    known = [value_from_python(constant) for constant in constants]
    places = [
        cut
        for constant in known
        if constant is not None
        and not isinstance(constant, Opaque)
        and not (isinstance(constant, float) and math.isinf(constant))
        for cut in (before(constant), after(constant))
    ]
    space = RankSpace.of_boundaries(places)
    converted = value_from_python(value)
    for constant in known:
        if isinstance(constant, float) and math.isinf(constant):
            continue
        if constant is None or isinstance(constant, Opaque):
            continue
        low, high = space.bounds[before(constant)], space.bounds[after(constant)]
        equal = (
            converted is not None
            and type(converted) is not Opaque
            and isinstance(converted, bool) == isinstance(constant, bool)
            and converted == constant
        )
        assert (low <= space.rank(converted) < high) == equal
