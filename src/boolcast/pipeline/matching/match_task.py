"""A match task: it matches the events of a partition against the segments of an index.

If the index is larger than a worker may hold, its segments come in groups. A task then gathers
many events and opens one group after the other for all of them. So events travel to Python only
once, and a group that was opened before is mapped again almost for free.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, Literal, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from boolcast.matching.segment.kernel_runner import find_matches
from boolcast.matching.segment.live_segment import LiveSegment
from boolcast.matching.store.catalog import IndexSegment
from boolcast.matching.store.store import Store
from boolcast.matching.values.array_operations import count_numbers
from boolcast.pipeline.events.decoded_batches import (
    Reading,
    Source,
    batches_of,
    read,
    readable,
    readings_of,
)
from boolcast.pipeline.matching.workers import open_parts

MatchFormat = Literal["rows", "lists"]

_KEPT: Final = 3
"""How many versions of an index a worker keeps open."""

_GATHERED: Final = 1 << 28
"""How many bytes of events a task gathers if there are several groups."""

_MATCHES: Final = 1 << 22
"""About how many matches are held at a time when they become lists."""

_LISTED: Final = 1 << 10
"""How many events a task takes first when it makes lists; then it knows how long lists are."""


_POSITION_BITS: Final = 32


class MatchJob(NamedTuple):
    """What all tasks of one match share."""

    store: Store
    groups: tuple[tuple[IndexSegment, ...], ...]
    source: Source
    id_name: str = "id"
    with_problems: bool = False

    @property
    def keep(self) -> int:
        """How many groups a worker keeps open."""
        return _KEPT if len(self.groups) == 1 else 1


class _Found(NamedTuple):
    """Matches of one reading in one segment: rows of its chunk, and positions of subscriptions."""

    reading: int
    segment: int
    live: LiveSegment
    rows: NDArray[np.int64]
    positions: NDArray[np.int32]


def match_rows(batches: Iterable[pa.RecordBatch], *, job: MatchJob) -> Iterator[pa.RecordBatch]:
    """A row for each match, and for each malformed event if requested."""
    for rows in match_rows_encoded(batches, job=job):
        number = rows.schema.get_field_index("subscription")
        column = rows.column(number)
        if pa.types.is_dictionary(column.type):
            plain = column.dictionary.take(column.indices)
            yield rows.set_column(number, "subscription", plain)
        else:
            yield rows


def match_rows_encoded(
    batches: Iterable[pa.RecordBatch], *, job: MatchJob
) -> Iterator[pa.RecordBatch]:
    """As `match_rows`, with subscriptions as codes into all ids of a segment.

    Writing such a column to Parquet costs half as much as strings.
    """
    for readings in _gathered(readings_of(batches, job.source), job, _is_full):
        for found in _matched(readings, job):
            reading = readings[found.reading]
            rows = pa.array(reading.chunk.numbers[found.rows])
            subscriptions = found.live.subscriptions.encoded(found.positions)
            yield _batch(job, reading.ids.take(rows), "subscription", subscriptions)
        yield from _problems(readings, job, "subscription", pa.string())


def match_lists(batches: Iterable[pa.RecordBatch], *, job: MatchJob) -> Iterator[pa.RecordBatch]:
    """A row for each event, with a list of its matches."""
    paced = _Paced(batches, job.source)
    for readings in _gathered(paced, job, paced.is_full):
        found: list[list[tuple[NDArray[np.int64], pa.Array]]] = [[] for _ in readings]
        for each in _matched(readings, job):
            subscriptions = each.live.subscriptions.array.take(pa.array(each.positions))
            found[each.reading].append((each.rows, subscriptions))
            paced.matches += len(each.positions)
        for reading, matches in zip(readings, found, strict=True):
            ids = reading.ids.take(pa.array(reading.chunk.numbers))
            yield _batch(job, ids, "subscriptions", _lists(len(ids), matches))
        yield from _problems(readings, job, "subscriptions", _LIST)


def count_positions(
    batches: Iterable[pa.RecordBatch], *, job: MatchJob
) -> Iterator[pa.RecordBatch]:
    """How many events of the partition each subscription accepts, if any.

    A subscription is one number, its segment in the upper half and its position in the lower:
    integers are summed and moved much faster than ids.
    """
    counts: dict[int, NDArray[np.int64]] = {}
    for readings in _gathered(readings_of(batches, job.source), job, _is_full):
        for found in _matched(readings, job):
            if found.segment not in counts:
                counts[found.segment] = np.zeros(len(found.live), dtype=np.int64)
            count_numbers(found.positions, counts[found.segment])
    for segment, matches in counts.items():
        positions = np.flatnonzero(matches)
        arrays = [pa.array(positions | segment << _POSITION_BITS), pa.array(matches[positions])]
        yield pa.record_batch(arrays, names=["position", "matches"])


def name_positions(batches: Iterable[pa.RecordBatch], *, job: MatchJob) -> Iterator[pa.RecordBatch]:
    """The ids for the output of `count_positions`. Holds all positions of the partition."""
    present = [batch for batch in batches if batch.num_rows]
    if not present:
        return
    told = pa.Table.from_batches(present).sort_by("position")
    positions = told.column("position").to_numpy()
    first = 0
    for parts in job.groups:
        limits = np.arange(first, first + len(parts) + 1) << _POSITION_BITS
        ends = np.searchsorted(positions, limits).tolist()
        first += len(parts)
        if ends[0] == ends[-1]:
            continue
        segments = open_parts(job.store, parts, job.keep)
        for live, limit, begin, end in zip(segments, limits, ends, ends[1:], strict=False):
            names = live.subscriptions.array.take(pa.array(positions[begin:end] - limit))
            matches = told.column("matches").slice(begin, end - begin).combine_chunks()
            yield pa.record_batch([names, matches], names=["subscription", "matches"])


def find_problems(batches: Iterable[pa.RecordBatch], *, job: MatchJob) -> Iterator[pa.RecordBatch]:
    """Only the malformed events; the index is not opened."""
    for reading in readings_of(batches, job.source):
        yield from _problems([reading], job, "", None)


class _Paced:
    """Readings of as many events as their matches fit in memory; the caller counts `matches`."""

    def __init__(self, batches: Iterable[pa.RecordBatch], source: Source) -> None:
        self.matches = 0
        self._events = 0
        self._batches = batches
        self._source = source

    def __iter__(self) -> Iterator[Reading]:
        for batch in batches_of(self._batches, self._source):
            start = 0
            while start < batch.num_rows:
                piece = batch.slice(start, self._room())
                start += piece.num_rows
                self._events += piece.num_rows
                yield read(piece, self._source)

    def is_full(self, gathered: Sequence[Reading]) -> bool:
        """True if the matches of more events would not fit."""
        return sum(len(reading.ids) for reading in gathered) >= self._room()

    def _room(self) -> int:
        """How many events fit, judging by the matches so far; grows slowly."""
        if not self._events:
            return _LISTED
        each = max(self.matches / self._events, 1)
        return max(1, min(int(_MATCHES / each), 4 * self._events))


def _is_full(gathered: Sequence[Reading]) -> bool:
    return sum(reading.nbytes for reading in gathered) >= _GATHERED


def _gathered(
    readings: Iterable[Reading], job: MatchJob, is_full: Callable[[Sequence[Reading]], bool]
) -> Iterator[Sequence[Reading]]:
    """One reading at a time, or many if groups have to be opened for each."""
    gathered: list[Reading] = []
    for reading in readings:
        gathered.append(reading)
        if len(job.groups) == 1 or is_full(gathered):
            yield gathered
            gathered = []
    if gathered:
        yield gathered


def _matched(readings: Sequence[Reading], job: MatchJob) -> Iterator[_Found]:
    first = 0
    for parts in job.groups:
        for segment, live in enumerate(open_parts(job.store, parts, job.keep), first):
            for number, (_, chunk, *_) in enumerate(readings):
                for rows, positions, _ in find_matches(live, chunk, 0):
                    if len(positions):
                        yield _Found(number, segment, live, rows, positions)
        first += len(parts)


_LIST: Final = pa.list_(pa.string())


def _lists(rows: int, matches: Sequence[tuple[NDArray[np.int64], pa.Array]]) -> pa.Array:
    """For each row the list of its matches, from several pairs of columns."""
    if not matches:
        return pa.array([[]] * rows, _LIST)
    events = np.concatenate([each for each, _ in matches])
    subscriptions = pa.concat_arrays([each for _, each in matches])
    if len(matches) > 1:
        order = np.argsort(events, kind="stable")
        subscriptions = subscriptions.take(pa.array(order))
    offsets = np.zeros(rows + 1, dtype=np.int32)
    np.cumsum(np.bincount(events, minlength=rows), out=offsets[1:])
    return pa.ListArray.from_arrays(pa.array(offsets), subscriptions)


def _problems(
    readings: Sequence[Reading], job: MatchJob, name: str, kind: pa.DataType | None
) -> Iterator[pa.RecordBatch]:
    """The malformed events; `name` is the column of matches, if there is one."""
    if not job.with_problems:
        return
    for ids, _, problems, texts, _ in readings:
        if problems:
            rows = pa.array(problems)
            nothing = pa.nulls(len(rows), pa.string())
            columns = {job.id_name: ids.take(rows)}
            if kind is not None:
                columns[name] = pa.nulls(len(rows), kind)
            columns["event"] = nothing if texts is None else readable(texts.take(rows))
            columns["error"] = pa.array(problems.values(), pa.string())
            yield pa.RecordBatch.from_pydict(columns)


def _batch(job: MatchJob, ids: pa.Array, name: str, matches: pa.Array) -> pa.RecordBatch:
    columns = {job.id_name: ids, name: matches}
    if job.with_problems:
        columns |= dict.fromkeys(("event", "error"), pa.nulls(len(ids), pa.string()))
    return pa.RecordBatch.from_pydict(columns)
