"""A full disk or a killed process leaves a version whole or not at all."""

import shutil
import sys
from collections.abc import Iterator

import pytest

from boolcast.errors import StoreError
from boolcast.matching.store.snapshots import load, publish, versions
from boolcast.matching.store.store import FolderStore, Store
from tests.matching.faults import NEW, OLD, POINTS, FaultyStore, no_space
from tests.matching.versions import assert_holds, rest_is_collected
from tests.matching.victims import run


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
