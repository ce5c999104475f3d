import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import cycle
from pathlib import Path
from unittest.mock import patch

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boolcast.errors import StoreError
from boolcast.matching import snapshots
from boolcast.matching.snapshots import (
    Snapshot,
    StoredSegment,
    collect,
    load,
    pack_strings,
    publish,
    unpack_strings,
    versions,
)
from boolcast.matching.store import FolderStore, Store
from tests.matching.faults import (
    CALLS,
    LINKING,
    NEW,
    OLD,
    POINTS,
    RACES,
    FaultyStore,
    MemoryStore,
    no_space,
    segment,
    take_turns,
)

ROOT = Path(__file__).parents[2]


@pytest.fixture(params=["folder", "memory"])
def store(request, tmp_path) -> Store:
    return FolderStore(tmp_path / "index") if request.param == "folder" else MemoryStore()


def assert_holds(snapshot: Snapshot, segments: list[StoredSegment], metadata: bytes = b"") -> None:
    assert snapshot.metadata == metadata
    assert len(snapshot.segments) == len(segments)
    for found, expected in zip(snapshot.segments, segments, strict=True):
        assert found.metadata == expected.metadata
        assert found.arrays.keys() == expected.arrays.keys()
        for name, array in expected.arrays.items():
            assert found.arrays[name].dtype == array.dtype
            assert found.arrays[name].shape == array.shape
            assert found.arrays[name].tobytes() == array.tobytes()


# --- What is published can be loaded


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
    collect(store, keep=1)
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


@given(st.lists(st.text()))
def test_strings_come_back(strings):
    offsets, data = pack_strings(strings)
    assert offsets.dtype == np.int64
    assert data.dtype == np.uint8
    assert len(offsets) == len(strings) + 1
    encoded = [string.encode() for string in strings]
    assert data.tobytes() == b"".join(encoded)
    assert np.diff(offsets).tolist() == [len(each) for each in encoded]
    assert unpack_strings(offsets, data) == strings


def test_packed_strings_survive_the_store(store):
    strings = ["", "ä\0", "\N{GRINNING FACE}", ""]
    offsets, data = pack_strings(strings)
    publish(store, [StoredSegment({"offsets": offsets, "data": data})])
    arrays = load(store).segments[0].arrays
    assert unpack_strings(arrays["offsets"], arrays["data"]) == strings


# --- What is damaged is refused


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
    with pytest.raises(StoreError, match=r"00000002\.json.* has format 7.* reads format 1"):
        load(store)
    with pytest.raises(StoreError, match="has format 7"):
        collect(store, keep=1)
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


# --- Collecting


def test_old_versions_go_and_what_only_they_need(store):
    third = [segment(4)]
    for segments in (OLD, NEW, third):
        publish(store, segments)
    collect(store, keep=3)
    assert versions(store) == [1, 2, 3]
    collect(store, keep=2)
    assert versions(store) == [2, 3]
    assert_holds(load(store, version=2), NEW)
    with pytest.raises(StoreError, match="no version 1"):
        load(store, version=1)
    collect(store, keep=1)
    assert_holds(load(store), third)
    assert len(store.list("")) == 4
    assert publish(store, OLD) == 4
    assert_holds(load(store), OLD)


def test_collecting_where_nothing_is_does_nothing(store):
    collect(store, keep=1)
    assert store.list("") == []


def test_what_is_not_ours_is_left_alone(store):
    publish(store, OLD)
    publish(store, NEW)
    names = ["notes", "versions/notes", "segments/notes", "segments/7/a", "other/00000001.json"]
    for name in names:
        store.put_if_absent(name, b"mine")
    collect(store, keep=1)
    assert set(names) <= set(store.list(""))
    assert_holds(load(store), NEW)


def test_manifests_go_first_and_the_oldest_before_the_others():
    # Past eight digits names no longer sort like numbers.
    store = MemoryStore()
    for number in (99_999_998, 99_999_999):
        manifest = snapshots.Manifest(snapshots.FORMAT, number, (), b"")
        store.put_if_absent(f"versions/{number}.json", snapshots._encode(manifest))
    assert [publish(store, OLD), publish(store, [])] == [100_000_000, 100_000_001]
    deleted: list[str] = []
    with patch.object(store, "delete", deleted.append):
        collect(store, keep=1)
    assert deleted[:3] == [f"versions/{n}.json" for n in (99_999_998, 99_999_999, 100_000_000)]
    assert len(deleted) == 3 + 2 * 3


def test_a_version_missing_in_a_listing_that_ran_beside_its_publisher_is_kept():
    store = MemoryStore()
    for segments in (OLD, NEW, []):
        publish(store, segments)
    stale = [name for name in store.list("versions/") if "00000002" not in name]
    whole = store.list
    listings = iter([stale])
    with patch.object(store, "list", lambda prefix: next(listings, None) or whole(prefix)):
        collect(store, keep=2)
    assert versions(store) == [2, 3]
    assert_holds(load(store, version=2), NEW)


def test_nothing_is_deleted_when_a_kept_manifest_cannot_be_read(tmp_path):
    store = FolderStore(tmp_path)
    for segments in (OLD, NEW, OLD):
        publish(store, segments)
    store.path("versions/00000002.json").write_bytes(b"{}")
    before = store.list("")
    with pytest.raises(StoreError, match=r"00000002\.json is damaged"):
        collect(store, keep=2)
    assert store.list("") == before
    collect(store, keep=1)
    assert_holds(load(store), OLD)


# --- Full disks and killed processes


def rest_is_collected(store: Store) -> bool:
    """True if a collector leaves exactly the files of the current version."""
    collect(store, keep=1)
    current = snapshots.read_manifest(store, versions(store)[-1])
    named = {path for each in current.segments for path in each.paths()}
    return set(store.list("")) == {snapshots._manifest_name(current.version), *named}


def attempts(point: str, store: Store) -> Iterator[FaultyStore]:
    """A store that is full at the first write, one at the second, until none is reached."""
    for at in range(1, sys.maxsize):
        faulty = FaultyStore(store, at, no_space, point=point)
        yield faulty
        if not faulty.reached:
            return


@pytest.mark.parametrize("point", POINTS[:-1])
def test_a_full_disk_leaves_the_old_version(tmp_path, point):
    store = FolderStore(tmp_path)
    publish(store, OLD, b"old")
    failures = 0
    for faulty in attempts(point, store):
        shutil.rmtree(tmp_path)
        publish(store, OLD, b"old")
        try:
            publish(faulty, NEW, b"new")
        except OSError:
            failures += 1
            assert_holds(load(store), OLD, b"old")
            assert versions(store) == [1]
            assert not [name for name in store.list("") if name.endswith(".partial")]
        assert publish(store, NEW, b"new") in {2, 3}
        assert_holds(load(store), NEW, b"new")
        assert rest_is_collected(store)
    assert failures == 4  # metadata, two arrays, manifest


def run(action: str, folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    command = [sys.executable, "-m", "tests.matching.faults", action, str(folder)]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.slow
def test_a_killed_publisher_leaves_all_or_nothing(tmp_path):
    run("publish-everywhere", tmp_path)
    outcomes = set()
    victims = sorted(tmp_path.iterdir())
    # From nothing: two segments of three files and the manifest; from the old: one segment less.
    assert len(victims) == len(POINTS) * (7 + 4)
    for victim in victims:
        store = FolderStore(victim)
        start, point, _ = victim.name.split("-")
        earlier = [1] if start == "old" else []
        present = versions(store)
        outcomes.add((start, point, len(present) > len(earlier)))
        if present == earlier:
            if earlier:
                assert_holds(load(store), OLD, b"old")
            else:
                with pytest.raises(StoreError, match="there is no index"):
                    load(store)
        else:
            assert present == [*earlier, len(earlier) + 1]
            assert_holds(load(store), NEW, b"new")
            if earlier:
                assert_holds(load(store, version=1), OLD, b"old")
        publish(store, NEW, b"newer")
        assert_holds(load(store), NEW, b"newer")
        assert rest_is_collected(store)
    # Only who dies after the last write has published.
    assert {(start, point) for start, point, whole in outcomes if whole} == {
        ("nothing", "after"),
        ("old", "after"),
    }
    assert len(outcomes) == 2 * len(POINTS) + 2


@pytest.mark.slow
def test_a_killed_collector_leaves_the_current_version(tmp_path):
    run("collect-everywhere", tmp_path)
    victims = sorted(tmp_path.iterdir())
    assert len(victims) == 2 * 4  # a manifest, and a segment of three files
    for victim in victims:
        store = FolderStore(victim)
        assert_holds(load(store), NEW, b"new")
        for version in versions(store):
            load(store, version)
        assert publish(store, OLD) == 3
        assert_holds(load(store), OLD)
        assert rest_is_collected(store)


# --- Several at once


@pytest.mark.slow
def test_publishers_in_two_processes_all_get_their_versions(tmp_path):
    run("race", tmp_path)
    publishers, turns = RACES
    store = FolderStore(tmp_path)
    assert versions(store) == list(range(1, publishers * turns + 1))
    published = [load(store, version).metadata.decode().split() for version in versions(store)]
    for who in range(publishers):
        assert [turn for name, turn in published if name == str(who)] == list(
            map(str, range(turns))
        )


@pytest.mark.slow
def test_a_collector_beside_publishers_and_readers_breaks_nothing(tmp_path):
    run("race-with-collector", tmp_path)
    store = FolderStore(tmp_path)
    publishers, turns = RACES
    assert load(store).version >= 1 + publishers * turns
    assert rest_is_collected(store)


def interleave(
    store_with: Callable[[], MemoryStore],
    action: Callable[[Store], object],
    rival: Callable[[Store], object],
) -> Iterator[MemoryStore]:
    """The stores after `action`, each with all of `rival` at another moment of it."""
    for at in range(1, sys.maxsize):
        store = store_with()
        faulty = FaultyStore(store, at, partial(rival, store), operations=CALLS)
        action(faulty)
        if not faulty.reached:
            return
        yield store


def old_store() -> MemoryStore:
    store = MemoryStore()
    publish(store, OLD, b"old")
    return store


def test_a_number_that_another_took_is_skipped():
    stores = interleave(
        old_store, lambda s: publish(s, NEW, b"new"), lambda s: publish(s, [], b"x")
    )
    last = set()
    for store in stores:
        assert versions(store) == [1, 2, 3]
        assert {load(store, 2).metadata, load(store, 3).metadata} == {b"new", b"x"}
        assert_holds(load(store, 1), OLD, b"old")
        last.add(load(store).metadata)
    assert last == {b"new", b"x"}


def publish_and_collect(*contents: list[StoredSegment]) -> Callable[[Store], None]:
    def rival(store: Store) -> None:
        collect(store, keep=1)
        for segments in contents:
            publish(store, segments, b"rival")
            collect(store, keep=1)

    return rival


@pytest.mark.parametrize(
    "contents",
    # The last two: the publisher's number is taken and collected before it comes to use it.
    [[], [[]], [NEW], [NEW, OLD], [[], [], []], [NEW, [], []]],
    ids=["no rival", "empty", "same", "same, old", "empty thrice", "same, empty twice"],
)
def test_a_publisher_survives_rivals_and_collectors(contents):
    rival = publish_and_collect(*contents)
    for store in interleave(old_store, lambda s: publish(s, NEW, b"new"), rival):
        current = load(store)
        if current.metadata == b"new":
            assert_holds(current, NEW, b"new")
        else:
            assert current.metadata == b"rival"
            assert current.version > 2
        for version in versions(store):
            load(store, version)


def test_a_publisher_does_not_return_a_number_below_a_rivals_unless_it_came_first():
    rival = publish_and_collect([], [], [])
    for at in range(1, sys.maxsize):
        store = old_store()
        faulty = FaultyStore(store, at, partial(rival, store), operations=["put_if_absent"])
        number = publish(faulty, NEW, b"new")
        if not faulty.reached:
            break
        # The rival ran before the manifest was put, so ours comes after all of its versions.
        assert number == 5
        assert_holds(load(store), NEW, b"new")


def test_a_publisher_starts_over_when_its_half_written_file_is_collected(tmp_path):
    for at in range(1, sys.maxsize):
        store = FolderStore(tmp_path / str(at))
        publish(store, OLD)
        rival = partial(publish_and_collect([], []), store)
        faulty = FaultyStore(store, at, rival, point=LINKING)
        number = publish(faulty, NEW)
        if not faulty.reached:
            break
        assert number == 4
        assert_holds(load(store), NEW)
        assert rest_is_collected(store)


def test_a_publisher_starts_over_when_the_segment_it_shares_is_collected():
    def first(store: Store) -> None:
        publish(store, NEW, b"rival")

    for begin in range(1, sys.maxsize):
        ended = False
        for end in range(begin, sys.maxsize):
            store = old_store()
            second = partial(publish_and_collect([]), store)
            late = FaultyStore(store, end, second, operations=CALLS)
            faulty = FaultyStore(late, begin, partial(first, store), operations=CALLS)
            number = publish(faulty, NEW, b"new")
            if not late.reached:
                break
            ended = True
            assert load(store).version >= number
            assert_holds(
                load(store), NEW if load(store).version == number else [], load(store).metadata
            )
        if not ended:
            return


@pytest.mark.parametrize("segments", [OLD, NEW, [*OLD, *NEW]])
def test_a_stalled_collector_leaves_what_is_published_meanwhile(segments):
    def store_with_garbage() -> MemoryStore:
        store = old_store()
        publish(store, NEW, b"new")
        return store

    for store in interleave(
        store_with_garbage, lambda s: collect(s, keep=1), lambda s: publish(s, segments, b"newer")
    ):
        assert_holds(load(store), segments, b"newer")


@pytest.mark.parametrize("keep", [1, 2])
@pytest.mark.parametrize("contents", [[], [NEW], [NEW, OLD]], ids=["none", "same", "same, old"])
def test_collectors_do_not_disturb_each_other(keep, contents):
    def store_with_garbage() -> MemoryStore:
        store = old_store()
        publish(store, [], b"empty")
        publish(store, NEW, b"new")
        return store

    rival = publish_and_collect(*contents)
    for store in interleave(store_with_garbage, lambda s: collect(s, keep), rival):
        assert_holds(
            load(store), contents[-1] if contents else NEW, b"rival" if contents else b"new"
        )
        assert load(store).version == 3 + len(contents)


def test_a_reader_whose_version_is_collected_takes_the_next():
    loaded: list[Snapshot] = []

    def read(store: Store) -> None:
        loaded.append(load(store))

    for _ in interleave(old_store, read, publish_and_collect(NEW, [segment(9)])):
        if loaded[-1].version == 1:
            assert_holds(loaded[-1], OLD, b"old")
        else:
            assert_holds(loaded[-1], [segment(9)], b"rival")
    assert {snapshot.version for snapshot in loaded} == {1, 3}


@given(data=st.data())
def test_no_order_of_steps_breaks_the_current_version(data):
    store = old_store()
    published: dict[bytes, int] = {}
    contents = st.lists(st.sampled_from([*OLD, *NEW]), max_size=2)

    def publisher(name: str) -> Callable[[Store], None]:
        # Drawn before the threads start.
        turns = [(f"{name}{turn}".encode(), data.draw(contents)) for turn in range(2)]

        def run(stepped: Store) -> None:
            for metadata, segments in turns:
                published[metadata] = publish(stepped, segments, metadata)

        return run

    def collector(stepped: Store) -> None:
        for _ in range(2):
            collect(stepped, keep=1)

    actors: list[Callable[[Store], object]] = [publisher("a"), publisher("b"), load]
    actors += [collector, collector]
    schedule = data.draw(st.lists(st.integers(0, 59), min_size=1, max_size=60))
    turns = cycle(schedule)
    take_turns(store, actors, lambda n: next(turns) % n, lambda: load(store))
    assert len(set(published.values())) == 4
    assert load(store).version == max(published.values())
    assert rest_is_collected(store)
