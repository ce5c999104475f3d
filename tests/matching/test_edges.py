"""Wrong arguments of a matcher, and what its first calls in a process have to wait for."""

from pathlib import Path

import pytest

from boolcast.errors import UsageError
from boolcast.matching.matcher import Matcher


@pytest.mark.parametrize("url", ["s3://x/y", "file:///x", "memory::x"])
def test_a_url_is_no_folder(url, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for use in (Matcher().save, Matcher.load):
        with pytest.raises(UsageError, match="give a Store, which `boolcast.pipeline.*open_store`"):
            use(url)
    assert not list(tmp_path.iterdir())


def test_an_empty_path_names_no_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for use in (Matcher().save, Matcher.load):
        with pytest.raises(UsageError, match="an empty path names no folder"):
            use("")
    assert not list(tmp_path.iterdir())
    assert Matcher().save(Path()) == Matcher().save(".") - 1 == 1
