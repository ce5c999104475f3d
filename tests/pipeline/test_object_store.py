"""What the suite over all stores (`tests/matching`) does not ask of an object store."""

import ast
import errno
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from boolcast.errors import StoreError, UsageError
from boolcast.matching.store.snapshots import StoredSegment, load, publish
from boolcast.pipeline.spark import stores
from boolcast.pipeline.spark.stores import ObjectStore
from tests.matching.faults import NEW, OLD
from tests.matching.versions import assert_holds
from tests.s3 import S3Server, ignore_condition, lose_answer, refuse

CONFLICT = refuse("409 Conflict", "ConditionalRequestConflict")
NAME = f"segments/00000001-{'0f' * 32}/codes.npy"


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture
def store(s3, cache) -> Iterator[ObjectStore]:
    yield ObjectStore(f"{s3.new_bucket()}/index", s3.options, cache=cache)
    left = len(s3.faults)
    s3.faults.clear()
    assert not left


# --- What it is


def test_it_can_be_pickled(store):
    store.put_if_absent("a", b"bytes")
    copy = pickle.loads(pickle.dumps(store))
    assert copy.get("a") == b"bytes"
    assert copy == store
    assert hash(copy) == hash(store)


def test_stores_are_the_same_by_place_and_options(store):
    assert ObjectStore(f"{store}/", store.options) == store
    assert ObjectStore(f"{store}x", store.options) != store
    assert ObjectStore(str(store)) != store
    assert store != str(store)


def test_it_does_not_show_its_options(store):
    assert "secret" in store.options
    assert "secret" not in f"{store} {store!r}"


def test_names_under_other_prefixes_are_not_its_own(s3):
    bucket = s3.new_bucket()
    whole = ObjectStore(bucket, s3.options)
    part = ObjectStore(f"{bucket}/a", s3.options)
    part.put_if_absent("b", b"")
    whole.put_if_absent("ab", b"")
    assert part.list("") == ["b"]
    assert whole.list("") == ["a/b", "ab"]


def test_what_is_no_name_is_not_listed(store, s3):
    for key in ("folder/", ".hidden", "a b"):
        store._files.pipe_file(f"{store}/{key}", b"")
    store.put_if_absent("a", b"")
    assert store.list("") == ["a"]


def test_what_others_put_is_listed_at_once(store):
    other = "import pickle, sys; pickle.loads(sys.stdin.buffer.read()).put_if_absent('b', b'')"
    store.put_if_absent("a", b"")
    assert store.list("") == ["a"]
    subprocess.run([sys.executable, "-c", other], input=pickle.dumps(store), check=True)
    assert store.list("") == ["a", "b"]


@pytest.mark.parametrize("name", ["", "/a", "../a", "a/..", "a//b", "a/", ".boolcast", "a?b", "*"])
def test_no_name_leads_out_of_the_prefix(store, name):
    for operation in (
        store.get,
        store.path,
        store.delete,
        lambda name: store.put_if_absent(name, b""),
    ):
        with pytest.raises(StoreError, match="cannot be a name"):
            operation(name)


# --- Conditional writes


def test_a_write_whose_answer_is_lost_has_won(store, s3):
    store.put_if_absent("a", b"")
    s3.faults.append(lose_answer)
    assert store.put_if_absent("b", b"bytes")
    assert store.get("b") == b"bytes"


def test_a_write_whose_answer_is_lost_does_not_win_from_another(store, s3):
    store.put_if_absent("a", b"same")
    s3.faults.append(lose_answer)
    assert not store.put_if_absent("a", b"same")


def test_a_conflict_is_asked_again(store, s3):
    store.put_if_absent("a", b"")
    s3.faults += [CONFLICT, CONFLICT]
    assert store.put_if_absent("b", b"bytes")
    s3.faults += [CONFLICT]
    assert not store.put_if_absent("b", b"other")
    assert store.get("b") == b"bytes"


def test_conflicts_without_end_are_an_error(store, s3, monkeypatch):
    store.put_if_absent("a", b"")
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    s3.faults += [CONFLICT] * stores._CONFLICTS
    with pytest.raises(OSError, match=f"{store}/b cannot be written: .*on purpose"):
        store.put_if_absent("b", b"")
    assert store.list("") == ["a"]


def test_a_server_that_stumbles_is_asked_again(store, s3):
    store.put_if_absent("a", b"")
    s3.faults.append(refuse("500 Internal Server Error", "InternalError"))
    assert store.put_if_absent("b", b"")


def test_what_is_forbidden_is_told(store, s3):
    store.put_if_absent("a", b"")
    s3.faults.append(refuse("403 Forbidden", "AccessDenied"))
    with pytest.raises(PermissionError, match=f"{store}/b cannot be written: on purpose"):
        store.put_if_absent("b", b"")


@pytest.mark.parametrize(
    "fault", [ignore_condition, refuse("501 Not Implemented", "NotImplemented")]
)
def test_a_store_without_conditional_writes_is_refused(store, s3, fault):
    s3.faults += [fault] * (2 if fault is ignore_condition else 1)
    with pytest.raises(StoreError, match="does not support conditional writes"):
        store.put_if_absent("a", b"")
    assert store.list("") == []


def test_a_store_is_proven_once(store, s3):
    store.put_if_absent("a", b"")
    s3.requests.clear()
    pickle.loads(pickle.dumps(store)).put_if_absent("b", b"")
    assert [request.split("/")[-1] for request in s3.requests] == ["b"]


def test_a_large_object_is_put_in_parts_and_whole_or_not_at_all(store, s3, monkeypatch):
    # As s3fs does it from 100 MB on.
    files = type(store._files)
    put = files._pipe_file

    async def put_in_parts(*arguments: object, **options: object) -> None:
        await put(*arguments, chunksize=5 << 20, **options)

    monkeypatch.setattr(files, "_pipe_file", put_in_parts)
    store.options["config_kwargs"] = {"user_agent_extra": "parts"}  # a file system of its own
    store.put_if_absent("small", b"")
    large = bytes(range(256)) * (11 << 12)
    s3.requests.clear()
    s3.faults.append(lose_answer)
    assert store.put_if_absent("large", large)
    assert sum(request.startswith("PUT") for request in s3.requests) == 3
    assert not store.put_if_absent("large", large[::-1])
    assert store.get("large") == large
    assert store.list("") == ["large", "small"]
    assert store._files.list_multipart_uploads(store._root.split("/")[0]) == []


RACER = """
import pickle, sys
store = pickle.load(sys.stdin.buffer)
store.list("")
print("ready", flush=True)
sys.stdin.buffer.read(1)
print([store.put_if_absent(f"race/{turn}", sys.argv[1].encode()) for turn in range(50)])
"""


def test_of_several_processes_at_once_one_wins(store):
    names = ["a", "b"]
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", RACER, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        for name in names
    ]

    def send(data: bytes) -> None:
        for racer in racers:
            assert racer.stdin is not None
            racer.stdin.write(data)
            racer.stdin.flush()

    send(pickle.dumps(store))
    for racer in racers:
        assert racer.stdout is not None
        assert racer.stdout.readline() == b"ready\n"
    send(b"!")
    told = [racer.communicate()[0] for racer in racers]
    wins = [ast.literal_eval(each.decode()) for each in told]
    for turn in range(50):
        [winner] = [name for name, won in zip(names, wins, strict=True) if won[turn]]
        assert store.get(f"race/{turn}") == winner.encode()


# --- What cannot be reached


def test_a_bucket_that_is_not_there_is_told(s3):
    store = ObjectStore("s3://nowhere/index", s3.options)
    assert store.list("") == []
    with pytest.raises(FileNotFoundError, match="s3://nowhere/index/a cannot be read"):
        store.get("a")
    with pytest.raises(
        FileNotFoundError, match=r"s3://nowhere/index/a cannot be written: .*bucket"
    ):
        store.put_if_absent("a", b"")
    with pytest.raises(StoreError, match="there is no index in s3://nowhere/index"):
        load(store)


def test_a_server_that_is_gone_is_told(cache, monkeypatch):
    server = S3Server()
    options = server.options | {"config_kwargs": {"retries": {"max_attempts": 0}}}
    store = ObjectStore(f"{server.new_bucket()}/index", options, cache=cache)
    monkeypatch.setattr(type(store._files), "retries", 1)
    publish(store, OLD)
    snapshot = load(store)
    server.stop()
    for operation in (store.get, store.delete, lambda name: store.put_if_absent(name, b"")):
        with pytest.raises(OSError, match=f"{store}/versions/00000001.json cannot be .*onnect"):
            operation("versions/00000001.json")
    with pytest.raises(OSError, match=f"{store} cannot be listed: .*onnect"):
        store.list("")
    with pytest.raises(StoreError, match=f"{store}/versions/00000001.json cannot be read"):
        load(store, version=1)
    assert_holds(snapshot, OLD)


# --- Local copies


def test_what_is_loaded_is_mapped_from_the_cache(store, cache, s3):
    big = StoredSegment({"big": np.arange(1 << 18)})
    publish(store, [big])
    assert_holds(load(store), [big])
    snapshot = load(store)
    copies = [path for path in cache.iterdir() if path.name.endswith("-big.npy")]
    assert len(copies) == 1
    assert str(copies[0]) in Path("/proc/self/maps").read_text()
    # Who has it mapped keeps it.
    copies[0].unlink()
    assert_holds(snapshot, [big])
    assert_holds(load(store), [big])


def test_a_copy_is_fetched_once(store, s3):
    publish(store, OLD)
    load(store)
    s3.requests.clear()
    load(store)
    assert not any("segments" in request for request in s3.requests)


def test_only_what_never_changes_is_copied(store, cache):
    store.put_if_absent("versions/00000001.json", b"")
    assert store.path("versions/00000001.json") is None
    assert not store.forget("versions/00000001.json")
    store.put_if_absent(NAME, b"bytes")
    assert store.path(NAME) == cache / f"{'0f' * 32}-codes.npy"
    assert [path.name for path in cache.iterdir()] == [f"{'0f' * 32}-codes.npy"]


def test_a_copy_goes_with_its_name(store, cache):
    store.put_if_absent(NAME, b"bytes")
    path = store.path(NAME)
    assert path is not None
    assert path.read_bytes() == b"bytes"
    store.delete(NAME)
    assert not path.exists()
    assert store.path(NAME) == path
    assert not path.exists()


@pytest.mark.parametrize("damage", [b"", b"x" * 200], ids=["cut off", "altered"])
def test_a_damaged_copy_is_fetched_anew(store, cache, damage):
    publish(store, OLD)
    load(store)
    for path in cache.iterdir():
        path.write_bytes(damage)
    assert_holds(load(store), OLD)


def test_damage_in_the_store_is_told(store, cache):
    publish(store, OLD)
    load(store)
    [name] = [name for name in store.list("") if name.endswith("codes.npy")][:1]
    store.delete(name)
    with pytest.raises(StoreError, match=f"{store}/{name} is damaged: it is missing"):
        load(store)
    store.put_if_absent(name, b"x")
    with pytest.raises(StoreError, match=f"{name} is damaged: it has 1 bytes instead of"):
        load(store)


def test_a_segment_of_which_only_a_copy_is_left_is_put_again(store):
    publish(store, OLD)
    load(store)
    name = store.list("segments/")[0]
    # As somebody else would: our own copy stays.
    store._files.rm_file(f"{store}/{name}")
    publish(store, OLD)
    assert sum(each.startswith("segments/00000002-") for each in store.list("")) == 3
    publish(store, NEW)
    assert_holds(load(store), NEW)


def test_a_cache_that_cannot_be_written_is_told(store, cache):
    publish(store, OLD)
    cache.write_text("in the way")
    with pytest.raises(StoreError, match=f"cannot be copied to {cache} .*BOOLCAST_CACHE"):
        load(store)


def test_the_environment_names_the_cache(s3, tmp_path, monkeypatch):
    store = ObjectStore(f"{s3.new_bucket()}/index", s3.options)
    store.put_if_absent(NAME, b"bytes")
    monkeypatch.setenv("BOOLCAST_CACHE", str(tmp_path / "named"))
    path = store.path(NAME)
    assert path is not None
    assert path.parent == tmp_path / "named"
    monkeypatch.setenv("BOOLCAST_CACHE_BYTES", "many")
    with pytest.raises(UsageError, match="BOOLCAST_CACHE_BYTES is 'many'"):
        store.path(NAME)


def test_without_a_name_the_cache_is_in_a_temporary_folder_of_ones_own(s3, tmp_path, monkeypatch):
    store = ObjectStore(f"{s3.new_bucket()}/index", s3.options)
    store.put_if_absent(NAME, b"bytes")
    monkeypatch.delenv("BOOLCAST_CACHE", raising=False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    path = store.path(NAME)
    assert path is not None
    assert path.parent == tmp_path / f"boolcast-{os.getuid()}"
    assert path.parent.stat().st_mode & 0o777 == 0o700
    path.parent.rename(tmp_path / "elsewhere")
    path.parent.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StoreError, match="belongs to another user: set BOOLCAST_CACHE"):
        store.path(NAME)


def test_a_full_disk_leaves_no_copy(store, cache, monkeypatch):
    publish(store, OLD)

    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(store._files, "get_file", fail)
        with pytest.raises(StoreError, match="No space left on device"):
            load(store)
    assert list(cache.iterdir()) == []
    assert_holds(load(store), OLD)
