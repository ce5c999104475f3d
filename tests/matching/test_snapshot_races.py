"""Publishers, collectors and readers beside each other, in any order of steps."""

import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import cycle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boolcast.matching.store.snapshots import (
    Snapshot,
    StoredSegment,
    delete_old_versions,
    load,
    publish,
    versions,
)
from boolcast.matching.store.store import FolderStore, Store
from tests.matching.faults import (
    CALLS,
    LINKING,
    NEW,
    OLD,
    FaultyStore,
    MemoryStore,
    segment,
    take_turns,
)
from tests.matching.versions import assert_holds, rest_is_collected
from tests.matching.victims import RACES, run


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
        delete_old_versions(store, keep=1)
        for segments in contents:
            publish(store, segments, b"rival")
            delete_old_versions(store, keep=1)

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
        store_with_garbage,
        lambda s: delete_old_versions(s, keep=1),
        lambda s: publish(s, segments, b"newer"),
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
    for store in interleave(store_with_garbage, lambda s: delete_old_versions(s, keep), rival):
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
            delete_old_versions(stepped, keep=1)

    actors: list[Callable[[Store], object]] = [publisher("a"), publisher("b"), load]
    actors += [collector, collector]
    schedule = data.draw(st.lists(st.integers(0, 59), min_size=1, max_size=60))
    turns = cycle(schedule)
    take_turns(store, actors, lambda n: next(turns) % n, lambda: load(store))
    assert len(set(published.values())) == 4
    assert load(store).version == max(published.values())
    assert rest_is_collected(store)
