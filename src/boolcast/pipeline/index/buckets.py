"""What a task does to one bucket of an index: apply the changes, and write the new segments.

A bucket holds all subscriptions whose ids have the same hash. So a task sees everything about an
id: the rows that change it, and the subscription that is indexed. It writes its segments to the
store itself, and returns only what the manifest will say. No version refers to the segments until
the driver commits, so a task may fail, or run twice.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from boolcast.errors import StoreError
from boolcast.filters.limits import Limits
from boolcast.matching.segment import merging
from boolcast.matching.segment.bulk_load import Loader
from boolcast.matching.segment.deduplication import are_equal
from boolcast.matching.segment.live_segment import LiveSegment
from boolcast.matching.segment.subscription_rows import Rows
from boolcast.matching.store.catalog import IndexSegment, dead_positions, tombstones
from boolcast.matching.store.segment_codec import from_stored, to_stored
from boolcast.matching.store.snapshots import SegmentFiles, StoredSegment, open_segment, put_segment
from boolcast.matching.store.store import Store
from boolcast.matching.values.selectivity import Selectivity
from boolcast.pipeline.index.changes import Reject, Resolved, resolve

SEGMENT_ROWS: Final = 250_000
"""About how many subscriptions a new bucket has; larger segments are not merged."""

OUTCOMES: Final = pa.schema([("outcome", pa.binary())])

REJECTS: Final = pa.schema(
    [
        ("subscription", pa.string()),
        ("filter", pa.string()),
        ("error", pa.string()),
        ("position", pa.int64()),
    ]
)


class Counts(msgspec.Struct, frozen=True):
    """What happened to rows and subscriptions (`IndexReport`)."""

    rejected: int = 0
    duplicates: int = 0
    superseded: int = 0
    upserted: int = 0
    unchanged: int = 0
    deleted: int = 0
    unknown: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        mine, others = msgspec.structs.astuple(self), msgspec.structs.astuple(other)
        return Counts(*map(sum, zip(mine, others, strict=True)))


class Outcome(msgspec.Struct, frozen=True):
    """What the driver learns from a task: the bucket's new parts, or why it failed."""

    bucket: int
    parts: tuple[IndexSegment, ...] = ()
    rejects: SegmentFiles | None = None
    counts: Counts = Counts()
    failure: str | None = None


class Job(NamedTuple):
    """What all tasks of one publication share; `parts` are those of the version before it."""

    store: Store
    number: int
    parts: Sequence[IndexSegment]
    known: Mapping[str, SegmentFiles]
    limits: Limits
    selectivity: Selectivity


def update_bucket(batches: Iterable[pa.RecordBatch], *, job: Job) -> Iterator[pa.RecordBatch]:
    """Apply the rows of one bucket; columns as for `resolve`, and `bucket`.

    An error of the store is returned, not raised: the user would see it inside the stack traces
    of two languages. Memory grows with the bucket.
    """
    present = [batch for batch in batches if batch.num_rows]
    if present:
        rows = pa.Table.from_batches(present)
        bucket = rows.column("bucket")[0].as_py()
        try:
            outcome = _update(resolve(rows, job.limits), bucket, job)
        except (StoreError, OSError) as error:
            outcome = Outcome(bucket, failure=str(error))
        encoded = msgspec.msgpack.encode(outcome)
        yield pa.record_batch([pa.array([encoded], pa.binary())], schema=OUTCOMES)


def read_rejects(files: Iterable[pa.RecordBatch], *, store: Store) -> Iterator[pa.RecordBatch]:
    """The rejected rows, read from the store by a column of encoded `SegmentFiles`."""
    for batch in files:
        for encoded in batch.column(0).to_pylist():
            stored = open_segment(store, msgspec.msgpack.decode(encoded, type=SegmentFiles))
            with pa.ipc.open_stream(pa.py_buffer(stored.arrays["rejects"])) as reader:
                yield from reader


class _Held(NamedTuple):
    """A segment of the bucket; `part` is None until it is stored."""

    live: LiveSegment
    part: IndexSegment | None


def _update(resolved: Resolved, bucket: int, job: Job) -> Outcome:
    held = _open(job, bucket)
    changed = {change.subscription: change.filter for change in resolved.changes}
    rows = _rows_of(held, list(changed))
    same = {
        subscription
        for subscription, (number, row) in rows.items()
        if (text := changed[subscription]) is not None
        and are_equal(text, _text(held[number].live, row), job.limits)
    }
    upserts = {
        subscription: text
        for subscription, text in changed.items()
        if text is not None and subscription not in same
    }
    loader = Loader(job.limits)
    loader.take(
        Rows(pa.array(upserts, pa.string()), pa.array(upserts.values(), pa.large_string()), {})
    )
    fresh = loader.segment(sum(len(each.live) for each in held), job.selectivity)
    taken = fresh.subscriptions.array.to_pylist()
    deletions = [subscription for subscription, text in changed.items() if text is None]
    gone = [rows[each] for each in (*taken, *deletions) if each in rows]
    held = _bury(held, gone)
    if taken:
        held.append(_Held(fresh, None))
    held = _merged(held, job.selectivity)
    rejects = [*resolved.rejects, *(Reject(*each[1:]) for each in loader.rejects)]
    unknown = sum(each not in rows for each in deletions)
    return Outcome(
        bucket,
        tuple(_stored(each, bucket, job) for each in held),
        _put_rejects(rejects, job) if rejects else None,
        Counts(
            rejected=len(rejects),
            duplicates=resolved.duplicates,
            superseded=resolved.superseded,
            upserted=len(taken),
            unchanged=len(same),
            deleted=len(deletions) - unknown,
            unknown=unknown,
        ),
    )


def _open(job: Job, bucket: int) -> list[_Held]:
    """The bucket's segments as they are; their sequence numbers follow each other."""
    held: list[_Held] = []
    first = 0
    for part in job.parts:
        if part.bucket != bucket:
            continue
        live = from_stored(open_segment(job.store, part.files), first)
        first += len(live)
        if part.tombstones is not None:
            live = live.without(dead_positions(open_segment(job.store, part.tombstones)))
        held.append(_Held(live, part))
    return held


def _rows_of(held: Sequence[_Held], subscriptions: list[str]) -> dict[str, tuple[int, int]]:
    """For each live subscription, the number of its segment and its row there."""
    wanted = pa.array(subscriptions, pa.string())
    rows: dict[str, tuple[int, int]] = {}
    for number, (live, _) in enumerate(held):
        found = pc.index_in(live.subscriptions.array, value_set=wanted)
        for row in np.flatnonzero(found.is_valid().to_numpy(zero_copy_only=False)).tolist():
            if live.is_alive(row):
                rows[subscriptions[found[row].as_py()]] = (number, row)
    return rows


def _text(live: LiveSegment, row: int) -> str:
    (slot,) = live.slots_of(np.array([row])).tolist()
    return live.texts[slot]


def _bury(held: Sequence[_Held], gone: Sequence[tuple[int, int]]) -> list[_Held]:
    """The segments without these subscriptions; one without any live ones is dropped."""
    by_segment: dict[int, list[int]] = {}
    for number, row in gone:
        by_segment.setdefault(number, []).append(row)
    remaining: list[_Held] = []
    for number, (live, part) in enumerate(held):
        if number in by_segment:
            for row in by_segment[number]:
                live.kill(row, 0)
        if live.dead < len(live):
            remaining.append(_Held(live, part))
    return remaining


def _merged(held: list[_Held], selectivity: Selectivity) -> list[_Held]:
    """Merge small segments and those that are mostly dead; leave large ones alone."""
    while True:
        small = [
            each.live
            for each in held
            if len(each.live) < SEGMENT_ROWS or each.live.dead * 2 > len(each.live)
        ]
        chosen = merging.choose(tuple(small))
        if not chosen:
            return held
        merged = _Held(LiveSegment.merged(chosen, 0, selectivity), None)
        held = [*(each for each in held if each.live not in chosen), merged]


def _stored(held: _Held, bucket: int, job: Job) -> IndexSegment:
    live, part = held
    if part is None:
        files = put_segment(job.store, job.number, to_stored(live), job.known)
        return IndexSegment(bucket, len(live), live.attributes, files)
    if live.dead == part.dead:
        return part
    dead: NDArray[np.int32] = np.flatnonzero(live.dead_since == 0).astype(np.int32)
    files = put_segment(job.store, job.number, tombstones(dead), job.known)
    return msgspec.structs.replace(part, dead=live.dead, tombstones=files)


def _put_rejects(rejects: list[Reject], job: Job) -> SegmentFiles:
    columns = zip(*rejects, strict=True)
    arrays = [pa.array(column, kind) for column, kind in zip(columns, REJECTS.types, strict=True)]
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, REJECTS) as writer:
        writer.write_table(pa.Table.from_arrays(arrays, schema=REJECTS), max_chunksize=16_384)
    data = np.frombuffer(sink.getvalue(), np.uint8)
    return put_segment(job.store, job.number, StoredSegment({"rejects": data}), job.known)
