"""Filters that are long or deep: what is taken is matched and saved, the rest refused at once."""

import pyarrow as pa
import pytest

from boolcast.errors import FilterLimitError
from boolcast.filters.expressions import And, Comparison, Filter, Matches, Or
from boolcast.filters.limits import DEEPEST, Limits
from boolcast.matching.counting.engine import CountingMatcher
from boolcast.matching.matcher import Matcher
from boolcast.matching.scan import ScanMatcher
from boolcast.matching.values.shapes import LONGEST

RAISED = Limits(text=10**8, depth=10**6, predicates=10**6)


def alternatives(count: int) -> Filter:
    return Or(tuple(Comparison("a", "=", number) for number in range(count)))


def nested(levels: int) -> Filter:
    node: Filter = Matches("s", "x")
    for level in range(levels):
        other = Comparison(f"a{level % 7}", "=", 1)
        node = Or((node, other)) if level % 2 else And((node, other))
    return node


@pytest.mark.parametrize("node", [alternatives(20_000), nested(300)], ids=["long", "deep"])
def test_a_tree_past_the_limits_is_refused_and_nothing_else_suffers(node, tmp_path):
    matcher = Matcher()
    matcher.add("good", "a = 1")
    with pytest.raises(FilterLimitError):
        matcher.add("bad", node)
    matcher.merge()
    matcher.save(tmp_path)
    assert Matcher.load(tmp_path).match({"a": 1}) == ["good"]


@pytest.mark.parametrize("make", [Matcher, CountingMatcher, ScanMatcher])
@pytest.mark.parametrize("node", [alternatives(20_000), nested(300)], ids=["long", "deep"])
def test_every_engine_refuses_a_tree_past_the_limits(make, node):
    engine = make()
    engine.add("s", "a = 1")
    with pytest.raises(FilterLimitError):
        engine.add("s", node)
    assert engine.match({"a": 1}) == ["s"]


def test_a_loaded_matcher_takes_limits_of_its_own(tmp_path):
    Matcher().save(tmp_path)
    raised = Matcher.load(tmp_path, limits=RAISED)
    raised.add("tree", alternatives(2_000))
    assert raised.match({"a": 1_999}) == ["tree"]
    with pytest.raises(FilterLimitError):
        Matcher.load(tmp_path).add("tree", alternatives(2_000))


@pytest.mark.parametrize("count", [LONGEST + 1, pytest.param(40_000, marks=pytest.mark.slow)])
def test_a_long_filter_within_raised_limits_works(count, tmp_path):
    matcher = Matcher(limits=RAISED)
    node = And((alternatives(count), Comparison("b", "=", 1)))
    matcher.add("tree", alternatives(count))
    matcher.add("text", f"({alternatives(count)}) and {nested(2)}")
    rows = pa.table({"subscription": ["row"], "filter": [str(node)]})
    assert matcher.add_many(rows).num_rows == 0
    matcher.add("always", "true")
    matcher.merge()
    events = pa.table({"a": [0, count - 1, count], "b": [1, 0, 1]})
    always = [(0, "always"), (1, "always"), (2, "always")]
    expected = [(0, "row"), (0, "tree"), (1, "tree"), *always]
    matcher.save(tmp_path)
    for each in (matcher, Matcher.load(tmp_path)):
        found = each.match_batch(events).read_all().to_pylist()
        assert sorted((row["event"], row["subscription"]) for row in found) == sorted(expected)
    assert set(matcher.match({"a": 5, "s": "x", "a0": 1})) == {"always", "tree", "text"}


def test_a_deep_filter_within_raised_limits_works_or_is_refused(tmp_path):
    matcher = Matcher(limits=RAISED)
    matcher.add("tree", nested(2 * DEEPEST))
    texts = [str(nested(2 * DEEPEST - 1)), str(nested(2 * DEEPEST + 4)), "(" * 5_000]
    rejects = matcher.add_many(pa.table({"subscription": ["a", "b", "c"], "filter": texts}))
    assert rejects["row"].to_pylist() == [1, 2]
    for refused in (nested(2 * DEEPEST + 4), *texts[1:]):
        with pytest.raises(FilterLimitError):
            matcher.add("refused", refused)
    matcher.merge()
    matcher.save(tmp_path)
    event = {"s": "x"} | {f"a{number}": 1 for number in range(7)}
    assert sorted(Matcher.load(tmp_path).match(event)) == ["a", "tree"]
