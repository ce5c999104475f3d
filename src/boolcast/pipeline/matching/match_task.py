"""What a task does with events: it decodes them and shows them to the segments of an index.

If the index is larger than a worker may hold, its segments come in groups. A task then gathers
many events and opens one group after the other for all of them. So the events are sent to Python
once, not once per group, and a group that was opened before is mapped again in no time.
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
    DecodedBatch,
    Source,
    decode,
    decode_all,
    event_batches,
    readable,
)
from boolcast.pipeline.matching.workers import open_parts

Form = Literal["rows", "lists"]

_KEPT: Final = 3
"""How many versions of an index a worker keeps open."""

_GATHERED: Final = 1 << 28
"""How many bytes of events a task gathers if there are several groups."""

_MATCHES: Final = 1 << 22
"""About how many matches a task holds at a time to make lists."""

_LISTED: Final = 1 << 10
"""How many events a task takes first to make lists; then it knows how long lists are."""


_POSITION_BITS: Final = 32


class MatchTask(NamedTuple):
    """What all tasks of a match share."""

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
    """Matches of one batch with one segment: rows of its chunk, and positions."""

    batch: int
    segment: int
    live: LiveSegment
    rows: NDArray[np.int64]
    positions: NDArray[np.int32]


def match_rows(batches: Iterable[pa.RecordBatch], *, task: MatchTask) -> Iterator[pa.RecordBatch]:
    """A row for each match, and for each malformed event with `with_problems`."""
    for rows in match_rows_encoded(batches, task=task):
        position = rows.schema.get_field_index("subscription")
        column = rows.column(position)
        if pa.types.is_dictionary(column.type):
            plain = column.dictionary.take(column.indices)
            yield rows.set_column(position, "subscription", plain)
        else:
            yield rows


def match_rows_encoded(
    batches: Iterable[pa.RecordBatch], *, task: MatchTask
) -> Iterator[pa.RecordBatch]:
    """As `match_rows`, with the subscriptions encoded in a dictionary of the whole segment.

    For writers: such a column costs half as much to write to Parquet as strings.
    """
    for decoded in _gathered(decode_all(batches, task.source), task, _is_full):
        for found in _find(decoded, task):
            batch = decoded[found.batch]
            rows = pa.array(batch.chunk.numbers[found.rows])
            subscriptions = found.live.subscriptions.encoded(found.positions)
            yield _batch(task, batch.ids.take(rows), "subscription", subscriptions)
        yield from _problems(decoded, task, "subscription", pa.string())


def match_lists(batches: Iterable[pa.RecordBatch], *, task: MatchTask) -> Iterator[pa.RecordBatch]:
    """A row for each event, with a list of its matches."""
    paced = _Paced(batches, task.source)
    for decoded in _gathered(paced, task, paced.is_full):
        found: list[list[tuple[NDArray[np.int64], pa.Array]]] = [[] for _ in decoded]
        for each in _find(decoded, task):
            subscriptions = each.live.subscriptions.array.take(pa.array(each.positions))
            found[each.batch].append((each.rows, subscriptions))
            paced.matches += len(each.positions)
        for batch, matches in zip(decoded, found, strict=True):
            ids = batch.ids.take(pa.array(batch.chunk.numbers))
            yield _batch(task, ids, "subscriptions", _lists(len(ids), matches))
        yield from _problems(decoded, task, "subscriptions", _LIST)


def count_positions(
    batches: Iterable[pa.RecordBatch], *, task: MatchTask
) -> Iterator[pa.RecordBatch]:
    """For each position that matches, how many events of the partition it accepts.

    A position is one number with the segment's number in its upper half: Spark sums and moves
    integers much faster than ids.
    """
    counts: dict[int, NDArray[np.int64]] = {}
    for decoded in _gathered(decode_all(batches, task.source), task, _is_full):
        for found in _find(decoded, task):
            if found.segment not in counts:
                counts[found.segment] = np.zeros(len(found.live), dtype=np.int64)
            count_numbers(found.positions, counts[found.segment])
    for segment, matches in counts.items():
        positions = np.flatnonzero(matches)
        arrays = [pa.array(positions | segment << _POSITION_BITS), pa.array(matches[positions])]
        yield pa.record_batch(arrays, names=["position", "matches"])


def name_positions(
    batches: Iterable[pa.RecordBatch], *, task: MatchTask
) -> Iterator[pa.RecordBatch]:
    """The ids for the output of `count_positions`; holds all positions of the partition."""
    present = [batch for batch in batches if batch.num_rows]
    if not present:
        return
    counted = pa.Table.from_batches(present).sort_by("position")
    positions = counted.column("position").to_numpy()
    first = 0
    for parts in task.groups:
        limits = np.arange(first, first + len(parts) + 1) << _POSITION_BITS
        ends = np.searchsorted(positions, limits).tolist()
        first += len(parts)
        if ends[0] == ends[-1]:
            continue
        segments = open_parts(task.store, parts, task.keep)
        for live, limit, begin, end in zip(segments, limits, ends, ends[1:], strict=False):
            names = live.subscriptions.array.take(pa.array(positions[begin:end] - limit))
            matches = counted.column("matches").slice(begin, end - begin).combine_chunks()
            yield pa.record_batch([names, matches], names=["subscription", "matches"])


def find_problems(
    batches: Iterable[pa.RecordBatch], *, task: MatchTask
) -> Iterator[pa.RecordBatch]:
    """Only the malformed events; the index is not opened."""
    for batch in decode_all(batches, task.source):
        yield from _problems([batch], task, "", None)


class _Paced:
    """Batches small enough to hold their matches; the caller counts those in `matches`."""

    def __init__(self, batches: Iterable[pa.RecordBatch], source: Source) -> None:
        self.matches = 0
        self._events = 0
        self._batches = batches
        self._source = source

    def __iter__(self) -> Iterator[DecodedBatch]:
        for batch in event_batches(self._batches, self._source):
            start = 0
            while start < batch.num_rows:
                piece = batch.slice(start, self._room())
                start += piece.num_rows
                self._events += piece.num_rows
                yield decode(piece, self._source)

    def is_full(self, gathered: Sequence[DecodedBatch]) -> bool:
        """True if the matches of more events could not be held."""
        return sum(len(batch.ids) for batch in gathered) >= self._room()

    def _room(self) -> int:
        """How many events to take, by the matches of those before."""
        if not self._events:
            return _LISTED
        each = max(self.matches / self._events, 1)
        return max(1, min(int(_MATCHES / each), 4 * self._events))


def _is_full(gathered: Sequence[DecodedBatch]) -> bool:
    return sum(batch.nbytes for batch in gathered) >= _GATHERED


def _gathered(
    decoded: Iterable[DecodedBatch],
    task: MatchTask,
    is_full: Callable[[Sequence[DecodedBatch]], bool],
) -> Iterator[Sequence[DecodedBatch]]:
    """One batch at a time, or many if there are groups, which must be opened for each."""
    gathered: list[DecodedBatch] = []
    for batch in decoded:
        gathered.append(batch)
        if len(task.groups) == 1 or is_full(gathered):
            yield gathered
            gathered = []
    if gathered:
        yield gathered


def _find(decoded: Sequence[DecodedBatch], task: MatchTask) -> Iterator[_Found]:
    first = 0
    for parts in task.groups:
        for segment, live in enumerate(open_parts(task.store, parts, task.keep), first):
            for batch, (_, chunk, *_) in enumerate(decoded):
                for rows, positions, _ in find_matches(live, chunk, 0):
                    if len(positions):
                        yield _Found(batch, segment, live, rows, positions)
        first += len(parts)


_LIST: Final = pa.list_(pa.string())


def _lists(rows: int, matches: Sequence[tuple[NDArray[np.int64], pa.Array]]) -> pa.Array:
    """For each row the list of its matches, from pairs of row and subscription columns."""
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
    decoded: Sequence[DecodedBatch], task: MatchTask, name: str, kind: pa.DataType | None
) -> Iterator[pa.RecordBatch]:
    """The malformed events; `name` and `kind` are those of the column of matches, if any."""
    if not task.with_problems:
        return
    for ids, _, problems, texts, _ in decoded:
        if problems:
            rows = pa.array(problems)
            nothing = pa.nulls(len(rows), pa.string())
            columns = {task.id_name: ids.take(rows)}
            if kind is not None:
                columns[name] = pa.nulls(len(rows), kind)
            columns["event"] = nothing if texts is None else readable(texts.take(rows))
            columns["error"] = pa.array(problems.values(), pa.string())
            yield pa.RecordBatch.from_pydict(columns)


def _batch(task: MatchTask, ids: pa.Array, name: str, matches: pa.Array) -> pa.RecordBatch:
    columns = {task.id_name: ids, name: matches}
    if task.with_problems:
        columns |= dict.fromkeys(("event", "error"), pa.nulls(len(ids), pa.string()))
    return pa.RecordBatch.from_pydict(columns)
