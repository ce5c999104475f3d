"""The files, folders and dotted names in the documents exist."""

import re

import pytest

from tests.architecture.tree import ROOT, SOURCE, files, name_of

DOCUMENTS = [ROOT / "README.md", ROOT / "CHANGELOG.md", *files(ROOT / "docs", ".md")]
ARCHITECTURE = ROOT / "docs" / "architecture.md"

RECURRING = {"__init__.py", "kernels/"}
"""Names that stand for the same thing in many folders."""

FILE = re.compile(r"`([\w./-]+\.py)`")
FOLDER = re.compile(r"`([\w./-]+/)`")
DOTTED = re.compile(r"`boolcast((?:\.\w+)+)(?:\([^`]*\))?`")


def missing_paths(names: list[str]) -> list[str]:
    """Those that lead nowhere, from the package or from the repository's root."""
    bases = (SOURCE, ROOT)
    return [
        name
        for name in names
        if name not in RECURRING and not any((base / name).exists() for base in bases)
    ]


def missing_names(text: str) -> list[str]:
    """The names such as `boolcast.model.Event` whose module does not exist or mention them."""
    missing = []
    for dotted in DOTTED.findall(text):
        module, names = SOURCE, dotted.strip(".").split(".")
        while names and (module / names[0]).is_dir():
            module /= names.pop(0)
        if names and (module / f"{names[0]}.py").exists():
            module = module / f"{names.pop(0)}.py"
        else:
            module /= "__init__.py"
        if names and not re.search(rf"\b{names[0]}\b", module.read_text(encoding="utf-8")):
            missing.append(f"boolcast{dotted}")
    return missing


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_files_and_names_exist(path):
    text = path.read_text(encoding="utf-8")
    assert missing_paths(FILE.findall(text)) == []
    assert missing_names(text) == []


def test_the_folders_of_the_map_exist():
    assert missing_paths(FOLDER.findall(ARCHITECTURE.read_text(encoding="utf-8"))) == []


def test_what_is_missing_is_found():
    text = "`filters/parsing.py`, `filters/missing.py`, `parsing.py`, `matching/store/`, `nowhere/`"
    assert missing_paths(FILE.findall(text)) == ["filters/missing.py", "parsing.py"]
    assert missing_paths(FOLDER.findall(text)) == ["nowhere/"]
    text = "`boolcast.parse(text)`, `boolcast.model.Event`, `boolcast.modle`, `boolcast.model.Even`"
    assert missing_names(text) == ["boolcast.modle", "boolcast.model.Even"]


def test_every_room_is_on_the_map():
    page = ARCHITECTURE.read_text(encoding="utf-8")
    rooms = [path.name for path in SOURCE.iterdir() if (path / "__init__.py").exists()]
    assert [room for room in sorted(rooms) if f"| `{room}/` |" not in page] == []


def test_no_word_is_explained_twice():
    _, _, glossary = ARCHITECTURE.read_text(encoding="utf-8").partition("## Glossary\n")
    rows = re.findall(r"^\| ([a-z][a-z ]+) \|", glossary.partition("\n## ")[0], re.MULTILINE)
    words = sorted(row for row in rows if row != "word")
    assert words == sorted(set(words))
    assert len(words) > 50
