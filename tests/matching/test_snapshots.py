"""What is published can be loaded, byte for byte."""

import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boolcast.matching.store.snapshots import (
    StoredSegment,
    delete_old_versions,
    load,
    pack_strings,
    publish,
    unpack_strings,
    versions,
)
from boolcast.matching.store.store import FolderStore
from tests.matching.faults import NEW, OLD
from tests.matching.versions import assert_holds


def test_versions_count_up_and_the_highest_is_current(store):
    assert versions(store) == []
    assert publish(store, OLD, b"old") == 1
    assert publish(store, NEW, b"new") == 2
    assert versions(store) == [1, 2]
    assert_holds(load(store), NEW, b"new")
    assert_holds(load(store, version=1), OLD, b"old")
    assert load(store).version == 2


def test_arrays_of_every_plain_kind_come_back(store):
    arrays = {
        "bool": np.array([True, False]),
        "bytes": np.array([b"ab", b"c"]),
        "big_endian": np.arange(3, dtype=">i8"),
        "cube": np.arange(24, dtype=np.uint16).reshape(2, 3, 4),
        "empty": np.zeros((0, 7), dtype=np.float32),
        "float": np.array([np.nan, -0.0, np.inf]),
        "fortran": np.asfortranarray(np.arange(6).reshape(2, 3)),
        "number": np.array(5, dtype=np.int8),
        "sparse": np.arange(10)[::3],
        "time": np.array(["2026-01-31T12:00"], dtype="datetime64[us]"),
    }
    publish(store, [StoredSegment(arrays), StoredSegment({}, b"\0" * 9)])
    assert_holds(load(store), [StoredSegment(arrays), StoredSegment({}, b"\0" * 9)])


def test_a_version_without_segments_is_one(store):
    publish(store, [], b"\xff")
    assert_holds(load(store), [], b"\xff")


def test_files_are_numpys_own(tmp_path):
    publish(FolderStore(tmp_path), OLD)
    found = {path.name: np.load(path) for path in tmp_path.glob("segments/*/*.npy")}
    assert found.keys() == {"codes.npy", "flags.npy"}
    assert found["codes.npy"].shape == (3, 4)


def test_arrays_of_objects_are_a_bug(store):
    with pytest.raises(AssertionError):
        publish(store, [StoredSegment({"a": np.array([None])})])
    with pytest.raises(AssertionError):
        publish(store, [StoredSegment({"a": np.zeros(2, dtype=[("x", "i4"), ("y", "i8")])})])
    assert store.list("") == []


def test_arrays_are_read_only(store):
    publish(store, OLD)
    with pytest.raises(ValueError, match="read-only"):
        load(store).segments[0].arrays["codes"][0, 0] = 1


def test_local_files_are_mapped_and_hold_no_descriptor(tmp_path):
    store = FolderStore(tmp_path)
    big = StoredSegment({f"big{i}": np.full(1 << 20, i, dtype=np.int64) for i in range(4)})
    publish(store, [big])
    before = len(list(Path("/proc/self/fd").iterdir()))
    snapshot = load(store)
    assert len(list(Path("/proc/self/fd").iterdir())) == before
    mapped = Path("/proc/self/maps").read_text()
    assert all(f"/big{i}.npy" in mapped for i in range(4))
    delete_old_versions(store, keep=1)
    shutil.rmtree(tmp_path / "segments")
    assert_holds(snapshot, [big])
    for array in snapshot.segments[0].arrays.values():
        assert array.ctypes.data % 64 == 0


def test_an_unchanged_segment_is_written_once(store):
    publish(store, OLD)
    before = store.list("segments/")
    publish(store, NEW)
    [changed] = {name.split("/")[1] for name in set(store.list("segments/")) - set(before)}
    assert changed.startswith("00000002-")
    publish(store, NEW)
    publish(store, NEW[::-1] * 2)
    assert {int(name[9:17]) for name in store.list("segments/")} == {1, 2}
    assert_holds(load(store), NEW[::-1] * 2)


@given(st.lists(st.text()), st.sampled_from([pa.string(), pa.large_string()]))
def test_strings_come_back(strings, kind):
    offsets, data = pack_strings(pa.array(strings, kind))
    assert offsets.dtype == (np.int32 if kind == pa.string() else np.int64)
    assert data.dtype == np.uint8
    assert len(offsets) == len(strings) + 1
    encoded = [string.encode() for string in strings]
    assert data.tobytes() == b"".join(encoded)
    assert np.diff(offsets).tolist() == [len(each) for each in encoded]
    again = unpack_strings(offsets, data)
    assert again.type == kind
    assert again.to_pylist() == strings


def test_packed_strings_survive_the_store(store):
    strings = ["", "ä\0", "\N{GRINNING FACE}", ""]
    offsets, data = pack_strings(pa.array(strings, pa.large_string()))
    publish(store, [StoredSegment({"offsets": offsets, "data": data})])
    arrays = load(store).segments[0].arrays
    assert unpack_strings(arrays["offsets"], arrays["data"]).to_pylist() == strings
