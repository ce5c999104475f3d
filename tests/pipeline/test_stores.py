import sys
from pathlib import Path

import pytest

from boolcast.errors import StoreError, UsageError
from boolcast.matching.store.store import FolderStore
from boolcast.pipeline.spark.stores import ObjectStore, open_store
from tests.matching.faults import MemoryStore


@pytest.mark.parametrize(
    ("place", "folder"),
    [
        ("/a/b", "/a/b"),
        ("/a b/ä", "/a b/ä"),
        (Path("/a/b"), "/a/b"),
        ("file:///a/b", "/a/b"),
        ("file://localhost/a%20b", "/a b"),
        ("/odd:/name", "/odd:/name"),
    ],
)
def test_paths_and_file_urls_are_folders(place, folder):
    store = open_store(place)
    assert isinstance(store, FolderStore)
    assert store.folder == Path(folder)


@pytest.mark.parametrize("place", ["index", Path("index"), FolderStore("index")])
def test_a_folder_becomes_absolute(tmp_path, monkeypatch, place):
    monkeypatch.chdir(tmp_path)
    store = open_store(place)
    assert isinstance(store, FolderStore)
    assert store.folder == tmp_path / "index"


@pytest.mark.parametrize("url", ["s3://bucket/prefix", "s3a://bucket"])
def test_other_urls_are_object_stores(url):
    assert open_store(url) == ObjectStore(url)
    assert str(open_store(f"{url}/")) == url


def test_a_store_is_itself():
    store = MemoryStore()
    assert open_store(store) is store


def test_an_unknown_protocol_is_refused():
    with pytest.raises(UsageError, match=r"gopher://a/b: fsspec knows no protocol gopher"):
        open_store("gopher://a/b")


@pytest.mark.parametrize(("url", "package"), [("s3://b/a", "s3fs"), ("gs://b/a", "gcsfs")])
def test_a_missing_package_is_named(monkeypatch, url, package):
    monkeypatch.delitem(sys.modules["fsspec.registry"]._registry, url[:2], raising=False)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(UsageError, match=f"{url} needs another package: .*{package}"):
        open_store(url)


@pytest.mark.parametrize("url", ["memory://a", "http://localhost/a", "simplecache::s3://b/a"])
def test_where_nothing_is_atomic_no_index_is_kept(url):
    with pytest.raises(StoreError, match=r"has no write that never overwrites. Use .* s3://"):
        open_store(url)


@pytest.mark.parametrize("url", ["file://host/a", "file://", "s3://", "s3:///"])
def test_a_url_without_a_place_is_refused(url):
    with pytest.raises(UsageError, match=url):
        open_store(url)


def test_anything_else_is_refused():
    with pytest.raises(UsageError, match="given: int"):
        open_store(5)  # type: ignore[arg-type]
