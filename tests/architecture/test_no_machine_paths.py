"""The files of the repository make sense on every machine."""

import re

import pytest

from tests.architecture.tree import ROOT, files, name_of

# In pieces, so that this file passes its own test.
MACHINE = re.compile(
    "|".join(
        [
            r"(?<![\w.])/(?:home|root|Users|work|opt)" + r"/[\w.]",
            r"[A-Z]:" + r"\\Users\\",
            r"--(?:extra-)?index" + r"-url\s+\S*:",
            r"--find" + r"-links",
            r"https?://\S*/simp" + r"le\b",
            r"(?:pypi\.org|files\.python" + r"hosted\.org)",
        ]
    )
)


def lines_with_a_machine(text: str) -> list[str]:
    """The lines that name a path of one machine, or the host of a package registry."""
    return [line.strip() for line in text.splitlines() if MACHINE.search(line)]


def test_no_file_names_a_machine():
    found = {
        name_of(path): lines_with_a_machine(path.read_text(encoding="utf-8", errors="replace"))
        for path in files(ROOT)
    }
    assert {name: lines for name, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    "line",
    ["cd " + "/wo" + "rk/x", "x = '/ro" + "ot/.cache'", "--find" + "-links wheels"],
)
def test_a_machine_is_noticed(line):
    assert lines_with_a_machine(f"before\n{line}\nafter") == [line]


def test_a_relative_path_is_no_machine():
    assert lines_with_a_machine("see docs/wo" + "rk/notes.md and ./ho" + "me/page") == []
