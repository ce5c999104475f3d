"""The limits do what they say, and the guide and the decision record say the same."""

import re

import msgspec
import pytest

from boolcast.errors import FilterLimitError
from boolcast.filters import regexes
from boolcast.filters.limits import Limits
from boolcast.filters.parsing import parse
from tests.architecture.tree import ROOT

GUIDE = (ROOT / "docs" / "guide-filters.md").read_text(encoding="utf-8")
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
