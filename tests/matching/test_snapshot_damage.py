"""What is damaged, missing or foreign is refused, and the message says which file it is."""

import shutil
from collections.abc import Callable
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boolcast.errors import StoreError
from boolcast.matching.store import snapshots
from boolcast.matching.store.snapshots import StoredSegment, delete_old_versions, load, publish
from boolcast.matching.store.store import FolderStore
from tests.matching.faults import NEW, OLD, FaultyStore, MemoryStore, no_space
from tests.matching.versions import assert_holds


@pytest.fixture(scope="module")
def intact(tmp_path_factory) -> Path:
    folder: Path = tmp_path_factory.mktemp("intact")
    publish(FolderStore(folder), [*OLD, StoredSegment({"e": np.zeros(0)})], b"metadata")
    return folder


@pytest.fixture(scope="module")
def damaged(intact, tmp_path_factory) -> Callable[[str, bytes | None], StoreError]:
    """What `load` says when one file holds something else, or is missing."""
    folder = tmp_path_factory.mktemp("damaged") / "index"
    shutil.copytree(intact, folder)
    store = FolderStore(folder)

    def refusal(name: str, data: bytes | None) -> StoreError:
        path = folder / name
        if data is None:
            path.unlink()
        else:
            path.write_bytes(data)
        try:
            with pytest.raises(StoreError) as caught:
                load(store)
        finally:
            path.write_bytes((intact / name).read_bytes())
        return caught.value

    load(store)
    return refusal


def files(folder: Path) -> dict[str, bytes]:
    paths = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


@given(data=st.data())
def test_a_flipped_bit_is_refused(intact, damaged, data):
    contents = files(intact)
    name = data.draw(st.sampled_from([name for name in contents if contents[name]]))
    changed = bytearray(contents[name])
    changed[data.draw(st.integers(0, len(changed) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    refusal = str(damaged(name, bytes(changed)))
    assert name in refusal
    assert "is damaged" in refusal
    assert "save the index again" in refusal


@given(data=st.data())
def test_a_file_of_another_length_is_refused(intact, damaged, data):
    contents = files(intact)
    name = data.draw(st.sampled_from(list(contents)))
    size = data.draw(st.integers(0, len(contents[name])))
    changed = contents[name][:size]
    if changed == contents[name]:
        changed += data.draw(st.binary(min_size=1))
    refusal = str(damaged(name, changed))
    assert name in refusal
    problem = f"it has {len(changed):,} bytes instead of {len(contents[name]):,}"
    assert "is damaged" in refusal if "versions/" in name else problem in refusal


def test_every_bit_of_a_manifest_counts():
    store = MemoryStore()
    publish(store, OLD, b"metadata")
    [name] = store.list("versions/")
    manifest = store.contents[name]
    damages = [manifest[:size] for size in range(len(manifest))]
    for offset, byte in enumerate(manifest):
        flipped = (bytes([byte ^ 1 << bit]) for bit in range(8))
        damages += [manifest[:offset] + each + manifest[offset + 1 :] for each in flipped]
    for damage in damages:
        store.contents[name] = damage
        with pytest.raises(StoreError, match="is damaged"):
            load(store)


def test_every_missing_file_is_named(intact, damaged):
    for name in files(intact):
        refusal = str(damaged(name, None))
        assert "there is no index" in refusal if "versions/" in name else name in refusal


def test_a_file_from_another_place_is_refused(intact, damaged):
    contents = files(intact)
    for name, data in contents.items():
        for other in contents.values():
            if other != data:
                assert name in str(damaged(name, other))


@pytest.mark.parametrize(
    "foreign",
    [
        b"",
        b"{}",
        b"[]",
        b"null",
        b'{"checksum": "", "manifest": {}}',
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"checksum":"","manifest":' + b"[" * 100_000,
    ],
)
def test_what_is_no_manifest_is_refused(damaged, foreign):
    assert "00000001.json is damaged" in str(damaged("versions/00000001.json", foreign))


def test_another_spelling_of_a_manifest_is_refused(intact, damaged):
    name = "versions/00000001.json"
    manifest = files(intact)[name]
    assert "checksum is wrong" in str(damaged(name, manifest + b"\n"))
    assert "checksum is wrong" in str(
        damaged(name, manifest.replace(b'"manifest":', b'"manifest": '))
    )


def test_a_manifest_under_another_number_is_refused(store):
    publish(store, OLD)
    store.put_if_absent("versions/00000002.json", store.get("versions/00000001.json"))
    with pytest.raises(StoreError, match=r"00000002\.json.* is the manifest of version 1"):
        load(store)


def test_an_unknown_format_is_refused(store, monkeypatch):
    publish(store, OLD)
    body = msgspec.json.encode({"format": 7, "something": "else"})
    envelope = {"checksum": snapshots._checksum(body), "manifest": msgspec.Raw(body)}
    store.put_if_absent("versions/00000002.json", msgspec.json.encode(envelope))
    with pytest.raises(StoreError, match=r"00000002\.json.* has format 7.* reads format 2"):
        load(store)
    with pytest.raises(StoreError, match="has format 7"):
        delete_old_versions(store, keep=1)
    assert_holds(load(store, version=1), OLD)


def test_where_there_is_no_index_that_is_said(store, tmp_path):
    with pytest.raises(StoreError, match=r"there is no index in .*: save one there first"):
        load(store)
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match=r"there is no index in|cannot be read"):
        load(FolderStore(tmp_path / "file"))


def test_a_version_that_is_not_there_is_told_from_the_others(store):
    publish(store, OLD)
    publish(store, NEW)
    with pytest.raises(StoreError, match=r"no version 3 .* the newest are 1, 2"):
        load(store, version=3)


def test_a_folder_in_place_of_a_file_is_refused(tmp_path):
    store = FolderStore(tmp_path)
    publish(store, OLD)
    for path in [path for path in tmp_path.rglob("*") if path.is_file()]:
        path.rename(tmp_path / "aside")
        path.mkdir()
        with pytest.raises(StoreError) as caught:
            load(store)
        assert path.name in str(caught.value) or "there is no index" in str(caught.value)
        path.rmdir()
        (tmp_path / "aside").rename(path)
    load(store)


def test_an_old_version_loads_though_the_new_one_is_damaged(tmp_path):
    store = FolderStore(tmp_path)
    publish(store, OLD, b"old")
    publish(store, NEW, b"new")
    store.path("versions/00000002.json").write_bytes(b"")
    with pytest.raises(StoreError, match="load an older version"):
        load(store)
    assert_holds(load(store, version=1), OLD, b"old")
    assert publish(store, NEW, b"newer") == 3
    assert_holds(load(store), NEW, b"newer")


def test_a_damaged_segment_is_not_used_again(tmp_path):
    store = FolderStore(tmp_path)
    publish(store, OLD)
    for path in tmp_path.glob("segments/*/codes.npy"):
        path.write_bytes(path.read_bytes()[:-1] + b"x")
    with pytest.raises(StoreError, match=r"codes\.npy is damaged: its checksum is wrong"):
        load(store)
    publish(store, OLD)
    assert_holds(load(store), OLD)


def test_a_damaged_leftover_is_not_published(tmp_path):
    store = FolderStore(tmp_path)
    publish(store, OLD)
    with pytest.raises(OSError, match="No space"):
        publish(FaultyStore(store, 4, no_space), NEW)
    for path in tmp_path.glob("segments/00000002-*/codes.npy"):
        path.write_bytes(b"")
    with pytest.raises(StoreError, match=r"codes\.npy is in the way .*: delete it"):
        publish(store, NEW)
    assert_holds(load(store), OLD)
