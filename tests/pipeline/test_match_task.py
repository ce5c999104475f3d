"""What a task does, without Spark around it."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

from boolcast import Matcher
from boolcast.matching.segment.live_segment import LiveSegment
from boolcast.matching.store.catalog import Index, IndexSegment, catalog_of, index_of, tombstones
from boolcast.matching.store.segment_codec import to_stored
from boolcast.matching.store.snapshots import (
    SegmentFiles,
    StoredSegment,
    current,
    open_segment,
    publish,
    put_segment,
    read_manifest,
)
from boolcast.matching.store.store import Store
from boolcast.pipeline.events.decoded_batches import Attributes, Source
from boolcast.pipeline.matching import match_task, workers
from boolcast.pipeline.matching.match_task import (
    MatchTask,
    count_positions,
    match_lists,
    match_rows,
    name_positions,
)
from boolcast.pipeline.matching.matches import groups_of
from boolcast.pipeline.matching.workers import open_parts
from tests.matching.faults import MemoryStore


def segment(*filters: str) -> LiveSegment:
    matcher = Matcher()
    for each in filters:
        matcher.add(each, each)
    matcher.merge()
    (live,) = matcher._state.segments
    return live


@pytest.fixture(scope="module")
def store():
    return MemoryStore()


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch):
    """As in a new worker."""
    monkeypatch.setattr(workers, "_kept", type(workers._kept)())


@pytest.fixture(scope="module")
def index(store) -> Index:
    """Three parts: one has a match for every event, one for every third, one for none."""
    segments = [segment("x >= 0"), segment("x > 5", "x in (0, 3, 6, 9)"), segment("y = 1")]
    publish(store, [to_stored(each) for each in segments], catalog_of(segments))
    return index_of(read_manifest(store, current(store)))


def batches(*sizes: int) -> list[pa.RecordBatch]:
    """Events whose `x` is their number, modulo 10."""
    found, first = [], 0
    for size in sizes:
        ids = np.arange(first, first + size)
        found.append(pa.record_batch([pa.array(ids), pa.array(ids % 10)], names=["id", "x"]))
        first += size
    return found


def task_of(store, index, memory=1 << 30) -> MatchTask:
    return MatchTask(store, groups_of(index, memory), Source(Attributes(("x",))))


def expected(events: int) -> list[tuple[int, str]]:
    tests = {"x >= 0": range(10), "x > 5": range(6, 10), "x in (0, 3, 6, 9)": (0, 3, 6, 9)}
    return sorted(
        (event, text) for event in range(events) for text, of in tests.items() if event % 10 in of
    )


def rows_of(result) -> list[tuple[int, str]]:
    tables = [batch.to_pydict() for batch in result]
    return sorted(
        pair for each in tables for pair in zip(each["id"], each["subscription"], strict=True)
    )


def lists_of(result) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for batch in result:
        columns = batch.to_pydict()
        found |= dict(zip(columns["id"], columns["subscriptions"], strict=True))
    return found


@pytest.mark.parametrize("memory", [1 << 30, 1])
@pytest.mark.parametrize("sizes", [(25,), (3, 1, 21), (0, 25), (1,) * 25])
@pytest.mark.parametrize("gathered", [1, 500, 1 << 28])
def test_groups_and_batches_do_not_matter(store, index, memory, sizes, gathered, monkeypatch):
    monkeypatch.setattr(match_task, "_GATHERED", gathered)
    monkeypatch.setattr(match_task, "_LISTED", 2)
    task = task_of(store, index, memory)
    assert len(task.groups) == (3 if memory == 1 else 1)
    assert rows_of(match_rows(batches(*sizes), task=task)) == expected(25)
    lists = lists_of(match_lists(batches(*sizes), task=task))
    assert sorted((event, name) for event, names in lists.items() for name in names) == expected(25)
    assert sorted(lists) == list(range(25))
    positions = count_positions(batches(*sizes), task=task)
    counts = [batch.to_pydict() for batch in name_positions(positions, task=task)]
    found = {n: m for each in counts for n, m in zip(*each.values(), strict=True)}
    assert found == Counter(name for _, name in expected(25))


def test_an_open_part_is_opened_for_many_events(store, index, monkeypatch):
    """Where there are several groups, each is opened for all that was gathered."""
    opened: list[str] = []

    def opening(store: Store, files: SegmentFiles) -> StoredSegment:
        opened.append(files.checksum)
        return open_segment(store, files)

    monkeypatch.setattr(workers, "open_segment", opening)
    list(match_rows(batches(*[10] * 50), task=task_of(store, index, memory=1)))
    assert len(opened) == 3


def test_long_lists_are_made_of_few_events_at_a_time(monkeypatch):
    store = MemoryStore()
    live = segment(*(f"x >= -{number}" for number in range(100)))
    publish(store, [to_stored(live)], catalog_of([live]))
    index = index_of(read_manifest(store, 1))
    monkeypatch.setattr(match_task, "_LISTED", 10)
    monkeypatch.setattr(match_task, "_MATCHES", 2_000)
    sizes = [len(b) for b in match_lists(batches(300), task=task_of(store, index))]
    assert sum(sizes) == 300
    assert sizes[0] == 10
    assert max(sizes) == 20


def test_groups_hold_as_much_as_memory_allows(index):
    sizes = [part.files.nbytes for part in index.parts]
    assert groups_of(index, sum(sizes)) == (index.parts,)
    assert groups_of(index, sizes[0] + sizes[1]) == (index.parts[:2], index.parts[2:])
    assert groups_of(index, 1) == tuple((part,) for part in index.parts)
    assert groups_of(Index(1, ()), 1) == ((),)


def buried(store, part: IndexSegment, *positions: int) -> IndexSegment:
    """The part with these positions dead."""
    files = put_segment(store, 9, tombstones(np.array(positions, np.int32)), {})
    return IndexSegment(
        part.bucket, part.subscriptions, part.attributes, part.files, len(positions), files
    )


def test_what_two_versions_share_is_opened_once(store, index):
    first = open_parts(store, index.parts, 3)
    assert open_parts(store, index.parts, 3) is first
    later = (index.parts[0], buried(store, index.parts[1], 1), index.parts[2])
    second = open_parts(store, later, 3)
    assert second[0] is first[0]
    assert second[2] is first[2]
    assert second[1].segment is first[1].segment
    assert (first[1].dead, second[1].dead) == (0, 1)
    assert not second[1].is_alive(1)
    assert first[1].is_alive(1)
    assert open_parts(store, index.parts, 3) is first


def test_what_was_used_longest_ago_is_closed(store, index):
    first, second, third = ((part,) for part in index.parts)
    opened = open_parts(store, first, 2)
    open_parts(store, second, 2)
    assert open_parts(store, first, 2) is opened
    open_parts(store, third, 2)
    assert open_parts(store, first, 2) is opened
    assert len(workers._kept) == 2
    open_parts(store, second, 1)
    assert len(workers._kept) == 1


def test_the_dead_are_not_found(store, index):
    parts = (index.parts[0], buried(store, index.parts[1], 0))
    task = task_of(store, Index(1, parts))
    names = {name for _, name in rows_of(match_rows(batches(10), task=task))}
    assert names == {"x >= 0", "x in (0, 3, 6, 9)"}
