"""A save that fails anywhere leaves what was saved before; a merge that fails loses nothing."""

import inspect
import os
import shutil
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType

import pytest

from boolcast.errors import StoreError, UsageError
from boolcast.matching import matcher as matcher_module
from boolcast.matching.matcher import Matcher
from boolcast.matching.segment.live_segment import LiveSegment
from boolcast.matching.store.segment_codec import to_stored
from boolcast.matching.store.snapshots import StoredSegment, versions
from boolcast.matching.store.store import FolderStore
from tests.matching.faults import POINTS, FaultyStore, MemoryStore, no_space
from tests.matching.saving import NEW, OLD, STARTS, answers, changed, expected, filled
from tests.matching.versions import rest_is_collected
from tests.matching.victims import run

ENGINE = str(Path(matcher_module.__file__).parent)


def test_old_and_new_can_be_told_apart():
    assert answers(filled(OLD)) == expected(OLD) != expected(NEW)
    assert all(answers(make()) == expected(NEW) for _, make in STARTS.values())


def test_what_is_removed_during_a_save_is_saved(store, monkeypatch):
    matcher = Matcher()
    matcher.add("a", "x = 1")
    matcher.add("b", "x = 1")
    make = to_stored

    def remove_and_make(live: LiveSegment) -> StoredSegment:
        matcher.remove("a")
        return make(live)

    monkeypatch.setattr(matcher_module, "to_stored", remove_and_make)
    matcher.save(store)
    assert matcher.match({"x": 1}) == ["b"]
    assert sorted(Matcher.load(store).match({"x": 1})) == ["a", "b"]


def test_a_store_is_as_good_as_a_folder(store):
    assert filled(OLD).save(store) == 1
    assert filled(NEW).save(store) == 2
    assert answers(Matcher.load(store)) == expected(NEW)
    assert answers(Matcher.load(store, version=1)) == expected(OLD)


@pytest.mark.parametrize("place", [None, b"index", 5, {"get": 1}])
def test_any_other_place_is_refused(place):
    with pytest.raises(
        UsageError, match=f"in a folder or in a Store; given: {type(place).__name__}"
    ):
        filled(NEW).save(place)
    with pytest.raises(UsageError, match="a folder or in a Store"):
        Matcher.load(place)


def assert_only_old_is_there(folder: Path, start: str) -> None:
    """Version 1 if there was one, and no other; it answers as before."""
    earlier, _ = STARTS[start]
    if earlier is None:
        with pytest.raises(StoreError, match="there is no index"):
            Matcher.load(folder)
    else:
        assert answers(Matcher.load(folder)) == expected(earlier)
        assert versions(FolderStore(folder)) == [1]


def assert_can_be_saved(matcher: Matcher, folder: Path) -> None:
    """The next save is as good as if nothing had happened, and leaves nothing behind."""
    matcher.save(folder)
    assert answers(Matcher.load(folder)) == expected(NEW)
    assert rest_is_collected(FolderStore(folder))


@pytest.mark.slow
@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("point", POINTS[:-1])
def test_a_full_disk_at_any_write_of_a_save(tmp_path, start, point):
    earlier, make = STARTS[start]
    matcher = make()
    folder = tmp_path / "index"
    for at in range(1, sys.maxsize):
        if earlier is not None:
            filled(earlier).save(folder)
        faulty = FaultyStore(FolderStore(folder), at, no_space, point=point)
        if at > writes_of_a_save(make()):
            assert matcher.save(faulty) == 1 + (earlier is not None)
            assert not faulty.reached
            return
        with pytest.raises(OSError, match="No space left"):
            matcher.save(faulty)
        assert_only_old_is_there(folder, start)
        assert not list(folder.rglob("*.partial"))
        assert answers(matcher) == expected(NEW)
        assert_can_be_saved(matcher, folder)
        shutil.rmtree(folder)


def writes_of_a_save(matcher: Matcher) -> int:
    """How often a save puts something: the metadata, each array, and the manifest."""
    store = FaultyStore(MemoryStore(), 0, no_space)
    matcher.save(store)
    return store.calls


@pytest.fixture
def memory_path(tmp_path):
    """A folder in memory where there is such a thing: thousands of syncs take minutes on a disk."""
    shared = Path("/dev/shm")
    if not os.access(shared, os.W_OK):
        yield tmp_path
        return
    with TemporaryDirectory(dir=shared, prefix="boolcast-") as folder:
        yield Path(folder)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_process_killed_at_any_write_of_a_save(memory_path):
    run("save-everywhere", memory_path)
    victims = sorted(memory_path.iterdir())
    writes = {start: writes_of_a_save(make()) for start, (_, make) in STARTS.items()}
    assert len(victims) == len(POINTS) * sum(writes.values())
    published = set()
    matchers = {start: make() for start, (_, make) in STARTS.items()}
    for victim in victims:
        start, point, at = victim.name.split("-")
        present = versions(FolderStore(victim))
        if present == [1] * (start != "first"):
            assert_only_old_is_there(victim, start)
        else:
            published.add((start, point, int(at)))
            assert answers(Matcher.load(victim)) == expected(NEW)
        assert_can_be_saved(matchers[start], victim)
    # Only who dies after the last write has published.
    assert published == {(start, "after", last) for start, last in writes.items()}


def test_a_save_beside_a_merge_holds_what_came_meanwhile(tmp_path, monkeypatch):
    matcher = filled(OLD)
    matcher.match_batch(b"")
    begun, go_on = threading.Event(), threading.Event()
    merged = LiveSegment.merged

    def slowly(*arguments):
        result = merged(*arguments)
        begun.set()
        assert go_on.wait(10)
        return result

    monkeypatch.setattr(LiveSegment, "merged", slowly)
    with ThreadPoolExecutor(2) as pool:
        merge = pool.submit(matcher.merge)
        assert begun.wait(10)
        save = pool.submit(matcher.save, tmp_path)
        matcher.remove("s8")
        matcher.add("s7", NEW["s7"])
        matcher.add("new", NEW["new"])
        go_on.set()
        merge.result()
        assert save.result() == 1
    assert answers(matcher) == expected(NEW)
    assert answers(Matcher.load(tmp_path)) == expected(NEW)


def test_what_is_replaced_while_it_is_saved_is_saved(monkeypatch):
    """After the merge of a save and before it looks, as another thread may."""
    matcher = filled(OLD)
    merge = matcher.merge

    def merge_and_replace() -> None:
        merge()
        matcher.add("s7", OLD["s7"])

    monkeypatch.setattr(matcher, "merge", merge_and_replace)
    store = MemoryStore()
    matcher.save(store)
    assert answers(Matcher.load(store)) == expected(OLD)


@contextmanager
def no_memory_at(call: int) -> Iterator[None]:
    """A MemoryError at the call of that number, from 1, of a function of the engine.

    Generators aside: the end of one is a call too, and what it raises is ignored.
    """
    calls = 0

    def strike(frame: FrameType, kind: str, _: object) -> None:
        nonlocal calls
        code = frame.f_code
        is_ours = code.co_filename.startswith(ENGINE) and not code.co_flags & inspect.CO_GENERATOR
        calls += kind == "call" and is_ours
        if calls == call:
            raise MemoryError

    sys.setprofile(strike)
    try:
        yield
    finally:
        sys.setprofile(None)


@pytest.mark.slow
def test_a_merge_that_fails_anywhere_loses_nothing():
    matcher = changed()
    right = expected(NEW)
    # There are about 2,000 calls, and what holds at one holds at the next.
    for call in range(1, sys.maxsize, 7):
        try:
            with no_memory_at(call):
                matcher.merge()
        except MemoryError:
            assert answers(matcher) == right
        else:
            break
    assert call > 100
    assert matcher.stats().segments == (len(NEW),)
    assert answers(matcher) == right


def test_a_save_whose_merge_fails_saves_nothing(tmp_path, monkeypatch):
    filled(OLD).save(tmp_path)
    matcher = changed()

    def fail(*_):
        raise MemoryError

    with monkeypatch.context() as failing:
        failing.setattr(LiveSegment, "merged", fail)
        with pytest.raises(MemoryError):
            matcher.save(tmp_path)
    assert_only_old_is_there(tmp_path, "second")
    assert_can_be_saved(matcher, tmp_path)


def test_a_background_merge_that_fails_is_told_and_tried_again(monkeypatch):
    monkeypatch.setattr(matcher_module, "PENDING_LIMIT", 1)
    told: list[threading.ExceptHookArgs] = []
    monkeypatch.setattr(threading, "excepthook", told.append)
    merged = LiveSegment.merged
    attempts: list[int] = []

    def fail_at_first(segments, *arguments):
        attempts.append(len(segments))
        if len(attempts) <= 2:
            raise MemoryError("no room for a merge")
        return merged(segments, *arguments)

    monkeypatch.setattr(LiveSegment, "merged", fail_at_first)
    matcher = Matcher()
    for number, (name, text) in enumerate(OLD.items(), 1):
        matcher.add(name, text)
        while matcher._merging.locked():
            pass
        assert answers(matcher) == expected(dict(list(OLD.items())[:number]))
    assert [str(each.exc_value) for each in told] == ["no room for a merge"] * 2
    assert attempts[:3] == [4, 5, 6]
    assert len(matcher.stats().segments) < len(OLD)


def test_where_no_thread_is_to_be_had_nothing_is_merged_until_asked(monkeypatch):
    monkeypatch.setattr(matcher_module, "PENDING_LIMIT", 1)

    def fail(self):
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as failing:
        failing.setattr(threading.Thread, "start", fail)
        matcher = filled(OLD)
    assert len(matcher.stats().segments) == len(OLD)
    matcher.merge()
    assert len(matcher.stats().segments) == 1
    assert answers(matcher) == expected(OLD)
