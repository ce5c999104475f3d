"""The table in the documentation is the table in the code."""

import re

from boolcast.model import CONVERSIONS, Conversion
from tests.architecture.tree import ROOT

PAGE = ROOT / "docs" / "conversions.md"
HEADER = "| source | type | becomes |\n|---|---|---|\n"
ROW = re.compile(r"\| (.+?) \| (.+) \| (.+) \|")


def test_the_documented_table_is_that_of_the_code():
    _, _, below = PAGE.read_text(encoding="utf-8").partition(HEADER)
    rows = below.partition("\n\n")[0].splitlines()
    found = [ROW.fullmatch(row) for row in rows]
    documented = [Conversion(*row.groups()) for row in found if row is not None]
    assert len(documented) == len(rows)
    assert documented == list(CONVERSIONS)
