"""What the tests of snapshots ask of a store and its versions."""

from boolcast.matching.store import snapshots
from boolcast.matching.store.snapshots import Snapshot, StoredSegment, delete_old_versions, versions
from boolcast.matching.store.store import Store


def assert_holds(snapshot: Snapshot, segments: list[StoredSegment], metadata: bytes = b"") -> None:
    """Every array of the snapshot is what was published, in dtype, shape and bytes."""
    assert snapshot.metadata == metadata
    assert len(snapshot.segments) == len(segments)
    for found, expected in zip(snapshot.segments, segments, strict=True):
        assert found.metadata == expected.metadata
        assert found.arrays.keys() == expected.arrays.keys()
        for name, array in expected.arrays.items():
            assert found.arrays[name].dtype == array.dtype
            assert found.arrays[name].shape == array.shape
            assert found.arrays[name].tobytes() == array.tobytes()


def rest_is_collected(store: Store) -> bool:
    """True if a collector leaves exactly the files of the current version."""
    delete_old_versions(store, keep=1)
    current = snapshots.read_manifest(store, versions(store)[-1])
    named = {path for each in current.segments for path in each.paths()}
    return set(store.list("")) == {snapshots._manifest_name(current.version), *named}
