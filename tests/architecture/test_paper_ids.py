"""Every id of a paper's statement that is cited has an entry in `docs/papers.md`."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.tree import CODE, ROOT, files, name_of

PAPERS = ROOT / "docs" / "papers.md"

# P3-B4 means a statement wherever it stands. W2, R2, F3 and Z1 may also be somebody's attribute
# or variable: they count in prose only, that is in comments, docstrings and Markdown text.
LONG_ID = r"P[1-5]-[ABTXE]\d{1,2}"
SHORT_ID = r"[WFZ]\d|R\d{1,2}"
ANYWHERE = re.compile(rf"\b(?:{LONG_ID})\b")
IN_PROSE = re.compile(rf"(?<![\w-])(?:{LONG_ID}|{SHORT_ID})(?![\w-])")

# An entry begins a line, in bold or as a table's first cell: `**P3-B4** ...`, `| P3-B4 | ...`.
ENTRY = re.compile(
    rf"^(?:[-*] +)?(?:\| *)?(?:\*\*)?`?({LONG_ID}|{SHORT_ID})`?(?:\*\*| *\|)", re.MULTILINE
)

CODE_IN_MARKDOWN = re.compile(r"^(```+|~~~+).*?^\1|`[^`\n]*`", re.MULTILINE | re.DOTALL)


def prose_of_python(text: str) -> Iterator[str]:
    """The comments and docstrings of a module."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.string
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield ast.get_docstring(node) or ""


def cited(text: str, suffix: str) -> set[str]:
    """The ids that a Python or Markdown file cites."""
    prose = prose_of_python(text) if suffix == ".py" else [CODE_IN_MARKDOWN.sub("", text)]
    return {*ANYWHERE.findall(text), *IN_PROSE.findall("\n".join(prose))}


CITING = [
    ROOT / "README.md",
    *(
        path
        for folder in [*CODE, ROOT / "docs"]
        for path in files(folder, ".py", ".md")
        # This file gives examples that are no citations.
        if path != Path(__file__)
    ),
]


@pytest.fixture(scope="module")
def entries() -> set[str]:
    return set(ENTRY.findall(PAPERS.read_text(encoding="utf-8")))


def test_cited_ids_are_explained(entries):
    unknown = {
        name_of(path): cited(path.read_text(encoding="utf-8"), path.suffix) - entries
        for path in CITING
    }
    assert {name: ids for name, ids in unknown.items() if ids} == {}


def test_no_id_is_explained_twice():
    ids = ENTRY.findall(PAPERS.read_text(encoding="utf-8"))
    assert sorted(ids) == sorted(set(ids))


@pytest.mark.parametrize(
    ("text", "suffix", "ids"),
    [
        ('"""As P1-A5 says."""\nR1 = "R2"  # by R3', ".py", {"P1-A5", "R3"}),
        ('check("P3-T0")', ".py", {"P3-T0"}),
        ("By R2 and `W3`:\n```python\nF1 = 'P2-T6'\n```\n", ".md", {"R2", "P2-T6"}),
        ("UTF-8, F12, R2D2, P9-A1", ".md", set()),
    ],
)
def test_what_counts_as_a_citation(text, suffix, ids):
    assert cited(text, suffix) == ids
