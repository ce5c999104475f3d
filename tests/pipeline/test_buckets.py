"""What a task does to a bucket, without Spark around it."""

from collections.abc import Mapping, Sequence
from itertools import permutations

import msgspec
import numpy as np
import pyarrow as pa
import pytest

from boolcast.filters.limits import DEFAULT_LIMITS
from boolcast.matching.store.catalog import IndexSegment
from boolcast.matching.values.selectivity import Selectivity
from boolcast.pipeline.index.buckets import Job, Outcome, update_bucket
from boolcast.pipeline.index.changes import Change, resolve
from boolcast.pipeline.matching.workers import open_parts
from tests.matching.faults import MemoryStore


def updated(store, parts: Sequence[IndexSegment], changes: Mapping[str, str | None]) -> Outcome:
    """What becomes of a bucket with these parts."""
    columns = {
        "subscription": pa.array(changes, pa.string()),
        "filter": pa.array(changes.values(), pa.string()),
        "operation": ["delete" if text is None else "upsert" for text in changes.values()],
        "superseded": [False] * len(changes),
        "bucket": [0] * len(changes),
    }
    job = Job(store, 1, parts, {}, DEFAULT_LIMITS, Selectivity.unknown())
    (batch,) = update_bucket(pa.table(columns).to_batches(), job=job)
    outcome = msgspec.msgpack.decode(batch.column(0)[0].as_py(), type=Outcome)
    assert outcome.failure is None
    return outcome


def held(store, parts: Sequence[IndexSegment]) -> dict[str, str]:
    """The subscriptions that are alive, with their filters."""
    return {
        live.subscriptions[place]: live.texts[slot]
        for live in open_parts(store, parts, 1)
        for place, slot in enumerate(live.slots_of(np.arange(len(live))).tolist())
        if live.is_alive(place)
    }


@pytest.mark.parametrize("texts", list(permutations(["x=1", "x = 1", "(x = 1)"])))
def test_of_equal_filters_the_least_text_is_taken_whatever_the_order_of_rows(texts):
    """A segment that is built again from the same rows must be the same, bit by bit."""
    rows = {"subscription": ["a"] * 3, "filter": list(texts), "superseded": [False] * 3}
    resolved = resolve(pa.table(rows), DEFAULT_LIMITS)
    assert (resolved.changes, resolved.duplicates) == ([Change("a", "(x = 1)")], 2)


def test_a_problem_that_is_told_without_a_word_is_one():
    rows = {"subscription": ["a", "b"], "filter": ["x = 1"] * 2, "superseded": [False] * 2}
    resolved = resolve(pa.table({**rows, "problem": ["", None]}), DEFAULT_LIMITS)
    assert [each.subscription for each in resolved.rejects] == ["a"]
    assert resolved.changes == [Change("b", "x = 1")]


def test_many_changes_leave_few_segments_and_few_dead():
    store = MemoryStore()
    parts = updated(store, (), {"a": "x = 0", "b": "x = 1"}).parts
    for turn in range(20):
        parts = updated(store, parts, {"a": f"x = {turn + 5}", f"n{turn}": "x = 1"}).parts
        assert len(parts) <= 6
        assert sum(part.dead for part in parts) <= sum(part.subscriptions for part in parts) / 2
    assert held(store, parts) == {
        "a": "x = 24",
        "b": "x = 1",
        **{f"n{turn}": "x = 1" for turn in range(20)},
    }


def test_a_segment_without_anybody_alive_is_left_out():
    store = MemoryStore()
    parts = updated(store, (), {"a": "x = 0", "b": "x = 1"}).parts
    parts = updated(store, parts, {"c": "x = 2"}).parts
    outcome = updated(store, parts, {"a": None, "b": None, "d": None})
    assert held(store, outcome.parts) == {"c": "x = 2"}
    assert [part.files for part in outcome.parts] == [parts[1].files]
    assert (outcome.counts.deleted, outcome.counts.unknown) == (2, 1)
    assert updated(store, outcome.parts, {"c": None}).parts == ()


def test_what_does_not_change_is_named_again():
    store = MemoryStore()
    parts = updated(store, (), {f"s{number}": f"x = {number}" for number in range(50)}).parts
    before = set(store.contents)
    outcome = updated(store, parts, {"s7": "x = 7", "s8": "x <", "nobody": None})
    assert outcome.parts == parts
    assert (outcome.counts.unchanged, outcome.counts.rejected) == (1, 1)
    assert outcome.rejects is not None
    assert set(store.contents) - before == set(outcome.rejects.paths())


def test_a_change_writes_the_dead_and_the_new_only():
    store = MemoryStore()
    parts = updated(store, (), {f"s{number}": f"x = {number}" for number in range(50)}).parts
    before = set(store.contents)
    outcome = updated(store, parts, {"s7": None, "s8": "x = 0"})
    old, new = outcome.parts
    assert (old.files, old.dead, new.subscriptions) == (parts[0].files, 2, 1)
    assert old.tombstones is not None
    assert set(store.contents) - before == {*old.tombstones.paths(), *new.files.paths()}
