import errno
import os
import threading
from pathlib import Path
from unittest.mock import patch

import pytest

from boolcast.errors import StoreError
from boolcast.matching.store.store import FolderStore
from tests.matching.faults import (
    BEFORE,
    LINKING,
    POINTS,
    SYNCING,
    FaultyStore,
    MemoryStore,
    no_space,
)


def test_bytes_come_back_under_their_names(store):
    assert store.put_if_absent("a/b/c.npy", b"\0\xff" * 1000)
    assert store.put_if_absent("empty", b"")
    assert store.get("a/b/c.npy") == b"\0\xff" * 1000
    assert store.get("empty") == b""


def test_what_is_there_is_never_overwritten(store):
    assert store.put_if_absent("a/b", b"first")
    assert not store.put_if_absent("a/b", b"second")
    assert store.get("a/b") == b"first"
    assert store.list("") == ["a/b"]


def test_a_missing_name_cannot_be_read(store):
    with pytest.raises(FileNotFoundError):
        store.get("a")


def test_names_are_listed_by_prefix_and_in_order(store):
    assert store.list("") == []
    for name in ("b/2", "b/10", "bc", "a", "b/c/1"):
        store.put_if_absent(name, b"")
    assert store.list("") == ["a", "b/10", "b/2", "b/c/1", "bc"]
    assert store.list("b") == ["b/10", "b/2", "b/c/1", "bc"]
    assert store.list("b/") == ["b/10", "b/2", "b/c/1"]
    assert store.list("b/c") == ["b/c/1"]
    assert store.list("x/y") == []


def test_a_deleted_name_is_free_again(store):
    store.put_if_absent("a/b", b"first")
    store.delete("a/b")
    store.delete("a/b")
    assert store.list("") == []
    assert store.put_if_absent("a/b", b"second")
    assert store.get("a/b") == b"second"


def test_a_folder_goes_with_its_last_file(tmp_path):
    store = FolderStore(tmp_path)
    store.put_if_absent("a/b", b"")
    store.put_if_absent("a/c", b"")
    store.delete("a/b")
    assert (tmp_path / "a").is_dir()
    store.delete("a/c")
    assert list(tmp_path.iterdir()) == []
    store.put_if_absent("d", b"")
    store.delete("d")
    assert tmp_path.is_dir()


@pytest.mark.parametrize(
    "name",
    [
        "",
        "/etc/passwd",
        "..",
        "../a",
        "a/../../b",
        "a/..",
        "./a",
        "a//b",
        "a/",
        "a\\..\\b",
        "c:a",
        "a\0b",
        "a\n",
        ".hidden",
        "-a",
        "ä",
    ],
)
def test_no_name_leads_out_of_the_folder(tmp_path, name):
    store = FolderStore(tmp_path / "store")
    for operation in (
        store.get,
        store.path,
        store.delete,
        lambda name: store.put_if_absent(name, b""),
    ):
        with pytest.raises(StoreError, match="cannot be a name"):
            operation(name)
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_as_readable_as_the_user_wants(tmp_path):
    store = FolderStore(tmp_path)
    mask = os.umask(0o022)
    try:
        store.put_if_absent("a", b"")
    finally:
        os.umask(mask)
    assert store.path("a").stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("point", POINTS[:-1])
def test_a_full_disk_leaves_nothing_behind(tmp_path, point):
    store = FolderStore(tmp_path)
    store.put_if_absent("a", b"there")
    with pytest.raises(OSError, match="No space") as caught:
        FaultyStore(store, 1, no_space, point=point).put_if_absent("b", b"data")
    assert caught.value.errno == errno.ENOSPC
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert store.put_if_absent("b", b"data")


def opened(descriptor: int) -> Path:
    return Path(f"/proc/self/fd/{descriptor}").readlink()


def test_a_name_appears_only_when_its_bytes_are_on_disk(tmp_path, monkeypatch):
    store = FolderStore(tmp_path)
    steps: list[str] = []
    sync, link = os.fsync, os.link

    def log_sync(descriptor: int) -> None:
        path = opened(descriptor)
        steps.append("folder" if path == tmp_path else path.suffix)
        sync(descriptor)

    def log_link(source: Path, target: Path) -> None:
        assert source.read_bytes() == b"data"
        steps.append("link")
        link(source, target)

    monkeypatch.setattr(os, "fsync", log_sync)
    monkeypatch.setattr(os, "link", log_link)
    store.put_if_absent("a", b"data")
    assert steps[:3] == [".partial", "link", "folder"]


def test_a_new_folder_is_synced_up_to_its_parent(tmp_path, monkeypatch):
    synced: list[Path] = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: synced.append(opened(descriptor)))
    FolderStore(tmp_path / "store").put_if_absent("a/b/c", b"")
    folders = [tmp_path / "store/a/b", tmp_path / "store/a", tmp_path / "store", tmp_path]
    assert synced[1:] == folders


@pytest.mark.parametrize("point", [SYNCING, LINKING])
def test_what_a_killed_writer_left_is_listed_apart(tmp_path, point):
    # `unlink` does not run in a process that dies.
    store = FolderStore(tmp_path)
    with patch.object(Path, "unlink"), pytest.raises(OSError, match="No space"):
        FaultyStore(store, 1, no_space, point=point).put_if_absent("a/b", b"data")
    [left] = store.list("")
    assert left.startswith("a/b.")
    assert left.endswith(".partial")
    assert store.put_if_absent("a/b", b"data")
    store.delete(left)
    assert store.list("") == ["a/b"]


def test_of_many_writers_at_once_one_wins(store):
    wins: list[bytes] = []
    start = threading.Barrier(8)

    def put(name: str, data: bytes) -> None:
        start.wait()
        if store.put_if_absent(name, data):
            wins.append(data)

    for turn in range(5):
        name = f"a/{turn}"
        puts = [(name, bytes([i]) * 9999) for i in range(8)]
        threads = [threading.Thread(target=put, args=each) for each in puts]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert wins == [store.get(name)]
        wins.clear()
    assert store.list("") == [f"a/{turn}" for turn in range(5)]


def test_the_faults_strike_once_and_in_their_place():
    struck: list[int] = []
    faulty = FaultyStore(MemoryStore(), 2, lambda: struck.append(faulty.calls), point=BEFORE)
    faulty.put_if_absent("a", b"")
    faulty.get("a")
    assert struck == []
    faulty.delete("a")
    faulty.delete("a")
    assert struck == [2]
