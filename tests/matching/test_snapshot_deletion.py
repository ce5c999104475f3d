"""Old versions are deleted, with what only they need and nothing else."""

from unittest.mock import patch

import pytest

from boolcast.errors import StoreError
from boolcast.matching.store import snapshots
from boolcast.matching.store.snapshots import delete_old_versions, load, publish, versions
from boolcast.matching.store.store import FolderStore
from tests.matching.faults import NEW, OLD, MemoryStore, segment
from tests.matching.versions import assert_holds


def test_old_versions_go_and_what_only_they_need(store):
    third = [segment(4)]
    for segments in (OLD, NEW, third):
        publish(store, segments)
    delete_old_versions(store, keep=3)
    assert versions(store) == [1, 2, 3]
    delete_old_versions(store, keep=2)
    assert versions(store) == [2, 3]
    assert_holds(load(store, version=2), NEW)
    with pytest.raises(StoreError, match="no version 1"):
        load(store, version=1)
    delete_old_versions(store, keep=1)
    assert_holds(load(store), third)
    assert len(store.list("")) == 4
    assert publish(store, OLD) == 4
    assert_holds(load(store), OLD)


def test_collecting_where_nothing_is_does_nothing(store):
    delete_old_versions(store, keep=1)
    assert store.list("") == []


def test_what_is_not_ours_is_left_alone(store):
    publish(store, OLD)
    publish(store, NEW)
    names = ["notes", "versions/notes", "segments/notes", "segments/7/a", "other/00000001.json"]
    for name in names:
        store.put_if_absent(name, b"mine")
    delete_old_versions(store, keep=1)
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
        delete_old_versions(store, keep=1)
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
        delete_old_versions(store, keep=2)
    assert versions(store) == [2, 3]
    assert_holds(load(store, version=2), NEW)


def test_nothing_is_deleted_when_a_kept_manifest_cannot_be_read(tmp_path):
    store = FolderStore(tmp_path)
    for segments in (OLD, NEW, OLD):
        publish(store, segments)
    store.path("versions/00000002.json").write_bytes(b"{}")
    before = store.list("")
    with pytest.raises(StoreError, match=r"00000002\.json is damaged"):
        delete_old_versions(store, keep=2)
    assert store.list("") == before
    delete_old_versions(store, keep=1)
    assert_holds(load(store), OLD)
