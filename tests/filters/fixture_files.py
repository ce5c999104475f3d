"""Fixtures in text files: cases set apart by blank lines, `--` before a remark.

The first line of a case is the input, in which `\\n` and the like are read as in Python, so that it
can hold any character; the others are what is expected.
"""

from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).with_name("fixtures")


class Case(NamedTuple):
    text: str
    expected: str
    line: int


def read(name: str) -> list[Case]:
    """The cases of one file."""
    cases: list[Case] = []
    block: list[str] = []
    lines = (FOLDER / name).read_text(encoding="utf-8").splitlines()
    for number, line in enumerate([*lines, ""], start=1):
        if line.startswith("--"):
            continue
        if line:
            block.append(line)
        elif block:
            first, *rest = block
            cases.append(Case(unescaped(first), "\n".join(rest), number - len(block)))
            block = []
    return cases


def texts_in_fixtures() -> list[str]:
    """Every input, once."""
    return sorted({case.text for path in FOLDER.glob("*.txt") for case in read(path.name)})


def unescaped(line: str) -> str:
    """The line with its escapes read as in Python."""
    return line.encode("latin-1", "backslashreplace").decode("unicode-escape")
