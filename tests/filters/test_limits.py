"""The limits do what they say, and the guide and the decision record say the same."""

import re

import msgspec
import pytest
from hypothesis import given

from boolcast.errors import FilterLimitError
from boolcast.filters import regexes
from boolcast.filters.expressions import Comparison, Filter, Not
from boolcast.filters.limits import DEEPEST, Limits
from boolcast.filters.parsing import parse
from boolcast.filters.size_check import check_limits
from tests.architecture.tree import ROOT
from tests.strategies import filters

GUIDE = (ROOT / "docs" / "guides" / "filters.md").read_text(encoding="utf-8")
(RECORD,) = (
    path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "decisions").glob("0010-*.md")
)
HEADER = "| limit | default | counts |\n|---|---|---|\n"
ROW = re.compile(r"\| `(\w+)` \| ([0-9,]+) \| .+ \|")


def test_the_table_in_the_guide_is_that_of_the_code():
    _, found, below = GUIDE.partition(HEADER)
    assert found
    rows = [ROW.fullmatch(row) for row in below.partition("\n\n")[0].splitlines()]
    documented = {row[1]: int(row[2].replace(",", "")) for row in rows if row is not None}
    assert len(documented) == len(rows)
    assert documented == msgspec.structs.asdict(Limits())


@pytest.mark.parametrize("text", [GUIDE, RECORD], ids=["guide", "decision"])
def test_the_bounds_on_regular_expressions_are_those_of_the_code(text):
    assert f"{regexes._SIZE_BYTES >> 10} KiB" in text
    assert f"{regexes._MEMORY_BYTES >> 20} MiB" in text
    assert re.search(rf"\b{regexes._UNICODE_CLASSES} (Unicode )?classes", text)


def test_the_decision_knows_the_other_numbers():
    assert f"at most {Limits().regexes} predicates with `matches`" in RECORD
    assert f"{regexes.compile_regex.cache_info().maxsize:,} compiled patterns are cached" in RECORD


def test_a_text_cut_in_the_middle_of_a_word_is_too_long_and_not_wrong():
    text = "a != 1 and b >= 'it''s' and c = 5"
    for size in range(len(text)):
        with pytest.raises(FilterLimitError):
            parse(text, limits=Limits(text=size))


LIMITS = Limits(text=60, depth=3, predicates=4, values=3, regexes=2)


@pytest.mark.parametrize(
    ("limit", "text"),
    [
        ("predicates", "a = 1 or a = 2 or a = 3 or a = 4 or a = 5"),
        ("depth", "not (a = 1 and not (b = 1 or c = 1))"),
        ("depth", "not not not not contains(a, 'x')"),
        ("values", "a in (1, 2, 3, 4)"),
        ("regexes", "matches(a, 'x') or matches(a, 'y') or matches(a, 'z')"),
        ("text", f"a = '{'x' * 61}'"),
        ("text", f"a in ('{'x' * 61}')"),
        ("text", f"{'a' * 40} = {'b' * 40}"),
        ("text", f"contains(a, '{'x' * 61}')"),
        ("text", f"a like '{'x' * 61}'"),
        ("text", f"matches(a, '{'x' * 61}')"),
        ("text", " and ".join(["true"] * 61)),
    ],
)
def test_a_tree_is_held_to_the_limits_too(limit, text):
    with pytest.raises(FilterLimitError) as caught:
        check_limits(parse(text), LIMITS)
    assert caught.value.limit == limit


@given(filters())
def test_a_tree_passes_the_limits_that_its_text_passes(node):
    limits = Limits(text=60, depth=2, predicates=3, values=2, regexes=1)
    try:
        parse(str(node), limits=limits)
    except FilterLimitError:
        return
    check_limits(node, limits)


def test_a_tree_deeper_than_a_matcher_can_go_is_refused_whatever_the_limits():
    node: Filter = Comparison("a", "=", 1)
    for _ in range(DEEPEST):
        node = Not(node)
    check_limits(node, Limits(depth=10**6))
    with pytest.raises(FilterLimitError, match=f"deeper than {DEEPEST} levels") as caught:
        check_limits(Not(node), Limits(depth=10**6))
    assert "whatever the limit" in str(caught.value)


def test_a_text_that_python_cannot_descend_into_is_refused():
    with pytest.raises(FilterLimitError) as caught:
        parse("(" * 5_000 + "a = 1" + ")" * 5_000, limits=Limits(depth=10**6))
    assert caught.value.limit == "depth"
