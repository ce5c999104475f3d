"""The files and folders that `docs/architecture.md` names exist."""

import re

from tests.architecture.tree import ROOT, SOURCE

PAGE = ROOT / "docs" / "architecture.md"
RECURRING = {"__init__.py", "kernels/"}
"""Names that stand for the same thing in many folders."""

PATH = re.compile(r"`([\w./-]+(?:\.py|\.toml|/))`")


def missing(markdown: str) -> list[str]:
    """The paths in a text that lead nowhere, from the package or from the repository's root."""
    return [
        path
        for path in PATH.findall(markdown)
        if path not in RECURRING and not any((base / path).exists() for base in (SOURCE, ROOT))
    ]


def test_the_paths_exist():
    assert missing(PAGE.read_text(encoding="utf-8")) == []


def test_a_missing_path_is_found():
    text = "`filters/parsing.py`, `filters/missing.py`, `parsing.py`, `matching/store/`, `nowhere/`"
    assert missing(text) == ["filters/missing.py", "parsing.py", "nowhere/"]


def test_every_room_is_on_the_map():
    page = PAGE.read_text(encoding="utf-8")
    rooms = [path.name for path in SOURCE.iterdir() if (path / "__init__.py").exists()]
    assert [room for room in sorted(rooms) if f"| `{room}/` |" not in page] == []


def test_no_word_is_explained_twice():
    _, _, glossary = PAGE.read_text(encoding="utf-8").partition("## Glossary\n")
    words = re.findall(r"^\| ([a-z][a-z ]+) \|", glossary.partition("\n## ")[0], re.MULTILINE)
    words = [word for word in words if word != "word"]
    assert sorted(words) == sorted(set(words))
    assert len(words) > 50
