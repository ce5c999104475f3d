"""A version is there whole or not at all, whoever fails, and whoever publishes meanwhile."""

from collections.abc import Callable
from itertools import count
from shutil import rmtree

import pytest
from pyspark.errors import PythonException

from boolcast import Matcher
from boolcast.errors import StoreError
from boolcast.matching.store.catalog import catalog_of
from boolcast.matching.store.segment_codec import to_stored
from boolcast.matching.store.snapshots import StoredSegment, delete_old_versions, load, versions
from boolcast.matching.store.store import FolderStore
from boolcast.pipeline import apply_changes, build_index, match
from tests.pipeline.contents import ROWS, filters_of
from tests.pipeline.failing import ContestedStore, FullStore

OLD = [("a", "x = 1"), ("b", "x = 2"), ("c", "x = 3")]
NEW = [("a", "x = 2"), ("b", None), ("d", "x = 4"), ("e", "x <")]


def failure_of(action: Callable[[], object]) -> str | None:
    """What the store refused, if it did."""
    try:
        action()
    except StoreError as error:
        return str(error)
    return None


@pytest.mark.parametrize("publish", [build_index, apply_changes])
def test_a_full_disk_leaves_the_old_version(spark, tmp_path, publish):
    folder = tmp_path / "index"
    build_index(spark.createDataFrame(OLD, ROWS), folder, buckets=1)
    rows = spark.createDataFrame(NEW, ROWS)
    options = {"buckets": 1} if publish is build_index else {}
    expected = {"a": "x = 2", "d": "x = 4"}
    if publish is apply_changes:
        expected["c"] = "x = 3"
    for at in count(1):
        full = FullStore(folder, tmp_path / f"writes-{at}", at)
        failure = failure_of(lambda: publish(rows, full, **options))  # noqa: B023 - called here
        if not full.reached:
            break
        assert failure == (
            f"the index in {folder} could not be written: [Errno 28] No space left on device; "
            "version 1 is still current"
        )
        assert versions(FolderStore(folder)) == [1]
        assert filters_of(folder) == dict(OLD)
    assert at > 8
    assert versions(FolderStore(folder)) == [1, 2]
    assert filters_of(folder) == expected
    load(FolderStore(folder))


def other_writer(*filters: str) -> tuple[list[StoredSegment], bytes]:
    """What somebody else publishes: the segments and the metadata."""
    matcher = Matcher()
    for each in filters:
        matcher.add(each, each)
    matcher.merge()
    segments = matcher._state.segments
    return [to_stored(each) for each in segments], catalog_of(segments)


def test_a_build_that_is_beaten_to_its_number_takes_another(spark, tmp_path):
    store = ContestedStore(tmp_path, other_writer("x = 7"), times=2)
    report = build_index(spark.createDataFrame(OLD, ROWS), store)
    assert report.version == 3
    assert filters_of(tmp_path) == dict(OLD)
    assert "x = 7" in Matcher.load(tmp_path, version=2)
    assert load(FolderStore(tmp_path)).version == 3


def test_changes_that_are_beaten_apply_to_what_was_published_meanwhile(spark, tmp_path):
    build_index(spark.createDataFrame(OLD, ROWS), tmp_path)
    store = ContestedStore(tmp_path, other_writer("x = 7", "x = 8"), times=1)
    report = apply_changes(spark.createDataFrame([("x = 7", None), ("n", "x = 9")], ROWS), store)
    assert (report.version, report.deleted) == (3, 1)
    assert filters_of(tmp_path) == {"x = 8": "x = 8", "n": "x = 9"}


def test_a_publication_gives_up_in_the_end(spark, tmp_path):
    store = ContestedStore(tmp_path, other_writer("x = 7"), times=100)
    with pytest.raises(StoreError, match=r"other writers published .* 5 times meanwhile"):
        build_index(spark.createDataFrame(OLD, ROWS), store)


def test_collecting_keeps_what_the_current_version_needs(spark, tmp_path):
    build_index(spark.createDataFrame(OLD, ROWS), tmp_path, buckets=2)
    report = apply_changes(spark.createDataFrame(NEW, ROWS), tmp_path)
    delete_old_versions(FolderStore(tmp_path), keep=1)
    assert filters_of(tmp_path) == {"a": "x = 2", "c": "x = 3", "d": "x = 4"}
    assert report.rejects.count() == 1


def test_a_damaged_file_is_told_and_nothing_is_matched(spark, tmp_path):
    build_index(spark.createDataFrame([("damaged", "y = 1")], ROWS), tmp_path)
    events = spark.sql("select 1 id, 1 y")
    (victim,) = tmp_path.glob("segments/*/index.npy")
    victim.chmod(0o600)
    victim.write_bytes(b"x" + victim.read_bytes()[1:])
    with pytest.raises(PythonException, match=r"index\.npy is damaged: its checksum is wrong"):
        match(events, tmp_path, event_id="id").collect()
    rmtree(tmp_path / "segments")
    with pytest.raises(StoreError, match=r"could not be written.*is damaged: it is missing"):
        apply_changes(spark.createDataFrame([("damaged", "y = 2")], ROWS), tmp_path)
