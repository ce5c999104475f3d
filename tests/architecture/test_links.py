"""Links between the documents lead somewhere."""

import re
from pathlib import Path

import pytest

from tests.architecture.tree import ROOT, files, name_of

DOCUMENTS = [ROOT / "README.md", ROOT / "CHANGELOG.md", *files(ROOT / "docs", ".md")]
_LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)")
_HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
_FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def anchors(markdown: str) -> set[str]:
    """The names of the headings, as GitHub makes them."""
    headings = _HEADING.findall(_FENCED.sub("", markdown))
    return {re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in headings}


def broken_links(path: Path) -> list[str]:
    """The links of a document to files or headings that are not there."""
    broken = []
    for file, anchor in _LINK.findall(_FENCED.sub("", path.read_text(encoding="utf-8"))):
        target = path.parent / file if file else path
        if not target.exists() or (
            anchor and anchor not in anchors(target.read_text(encoding="utf-8"))
        ):
            broken.append(f"{file}#{anchor}" if anchor else file)
    return broken


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_links_lead_somewhere(path):
    assert broken_links(path) == []


def test_a_broken_link_is_noticed(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# A title: here\n[a](page.md#a-title-here) [b](none.md) [c](#none)\n")
    assert broken_links(page) == ["none.md", "#none"]
