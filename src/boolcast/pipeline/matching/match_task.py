"""What a task does with events: it shows them to the segments of an index.

Where the index is larger than a worker may hold, its segments come in groups. A task then
gathers many events and opens one group after the other for all of them. The events travel to
Python once, in contrast to a plan that reads them for each group, and a group that was opened
before is mapped again in no time.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, Literal, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from boolcast.matching.segment.kernel_runner import find_matches
from boolcast.matching.segment.live_segment import LiveSegment
from boolcast.matching.store.catalog import Part
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

Form = Literal["rows", "lists"]

_KEPT: Final = 3
"""How many versions of an index a worker keeps open."""

_GATHERED: Final = 1 << 28
"""How many bytes of events a task gathers where there are several groups."""

_MATCHES: Final = 1 << 22
"""About how many matches are held at a time where they become lists."""

_LISTED: Final = 1 << 10
"""With how many events a task begins to make lists; then it knows how long they are."""


_PLACE_BITS: Final = 32


class Visit(NamedTuple):
    """What all tasks of a match share."""

    store: Store
    groups: tuple[tuple[Part, ...], ...]
    source: Source
    id_name: str = "id"
    with_problems: bool = False

    @property
    def keep(self) -> int:
        """How many groups a worker keeps open."""
        return _KEPT if len(self.groups) == 1 else 1


class _Found(NamedTuple):
    """Matches of one reading with one segment: rows of its chunk, and places."""

    reading: int
    segment: int
    live: LiveSegment
    rows: NDArray[np.int64]
    places: NDArray[np.int32]


def match_rows(batches: Iterable[pa.RecordBatch], *, visit: Visit) -> Iterator[pa.RecordBatch]:
    """A row for each match, and for each malformed event if they are asked for."""
    for rows in match_rows_encoded(batches, visit=visit):
        place = rows.schema.get_field_index("subscription")
        column = rows.column(place)
        if pa.types.is_dictionary(column.type):
            plain = column.dictionary.take(column.indices)
            yield rows.set_column(place, "subscription", plain)
        else:
            yield rows


def match_rows_encoded(
    batches: Iterable[pa.RecordBatch], *, visit: Visit
) -> Iterator[pa.RecordBatch]:
    """As `match_rows`, with the subscriptions of matches as a dictionary of all of a segment.

    For whoever writes them: Parquet takes such a column at half the cost of strings.
    """
    for readings in _gathered(readings_of(batches, visit.source), visit, _is_full):
        for found in _visited(readings, visit):
            reading = readings[found.reading]
            rows = pa.array(reading.chunk.numbers[found.rows])
            subscriptions = found.live.subscriptions.encoded(found.places)
            yield _batch(visit, reading.ids.take(rows), "subscription", subscriptions)
        yield from _problems(readings, visit, "subscription", pa.string())


def match_lists(batches: Iterable[pa.RecordBatch], *, visit: Visit) -> Iterator[pa.RecordBatch]:
    """A row for each event, with a list of its matches."""
    paced = _Paced(batches, visit.source)
    for readings in _gathered(paced, visit, paced.is_full):
        found: list[list[tuple[NDArray[np.int64], pa.Array]]] = [[] for _ in readings]
        for each in _visited(readings, visit):
            subscriptions = each.live.subscriptions.array.take(pa.array(each.places))
            found[each.reading].append((each.rows, subscriptions))
            paced.matches += len(each.places)
        for reading, matches in zip(readings, found, strict=True):
            ids = reading.ids.take(pa.array(reading.chunk.numbers))
            yield _batch(visit, ids, "subscriptions", _lists(len(ids), matches))
        yield from _problems(readings, visit, "subscriptions", _LIST)


def count_places(batches: Iterable[pa.RecordBatch], *, visit: Visit) -> Iterator[pa.RecordBatch]:
    """For each place that matches at all, how many events of the partition it accepts.

    A place is told by one number, its segment's number in the upper half: integers are
    summed and moved much faster than ids.
    """
    counts: dict[int, NDArray[np.int64]] = {}
    for readings in _gathered(readings_of(batches, visit.source), visit, _is_full):
        for found in _visited(readings, visit):
            if found.segment not in counts:
                counts[found.segment] = np.zeros(len(found.live), dtype=np.int64)
            count_numbers(found.places, counts[found.segment])
    for segment, matches in counts.items():
        places = np.flatnonzero(matches)
        arrays = [pa.array(places | segment << _PLACE_BITS), pa.array(matches[places])]
        yield pa.record_batch(arrays, names=["place", "matches"])


def name_places(batches: Iterable[pa.RecordBatch], *, visit: Visit) -> Iterator[pa.RecordBatch]:
    """The subscriptions of places that `count_places` told. Holds all places of the partition."""
    present = [batch for batch in batches if batch.num_rows]
    if not present:
        return
    told = pa.Table.from_batches(present).sort_by("place")
    places = told.column("place").to_numpy()
    first = 0
    for parts in visit.groups:
        limits = np.arange(first, first + len(parts) + 1) << _PLACE_BITS
        ends = np.searchsorted(places, limits).tolist()
        first += len(parts)
        if ends[0] == ends[-1]:
            continue
        segments = open_parts(visit.store, parts, visit.keep)
        for live, limit, begin, end in zip(segments, limits, ends, ends[1:], strict=False):
            names = live.subscriptions.array.take(pa.array(places[begin:end] - limit))
            matches = told.column("matches").slice(begin, end - begin).combine_chunks()
            yield pa.record_batch([names, matches], names=["subscription", "matches"])


def find_problems(batches: Iterable[pa.RecordBatch], *, visit: Visit) -> Iterator[pa.RecordBatch]:
    """The malformed events alone; the index is not opened."""
    for reading in readings_of(batches, visit.source):
        yield from _problems([reading], visit, "", None)


class _Paced:
    """Readings of so many events that their matches can be held; `matches` is told from outside."""

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
        """True if the matches of more events could not be held."""
        return sum(len(reading.ids) for reading in gathered) >= self._room()

    def _room(self) -> int:
        """For how many events there is room, by those before; it grows with what is known."""
        if not self._events:
            return _LISTED
        each = max(self.matches / self._events, 1)
        return max(1, min(int(_MATCHES / each), 4 * self._events))


def _is_full(gathered: Sequence[Reading]) -> bool:
    return sum(reading.nbytes for reading in gathered) >= _GATHERED


def _gathered(
    readings: Iterable[Reading], visit: Visit, is_full: Callable[[Sequence[Reading]], bool]
) -> Iterator[Sequence[Reading]]:
    """One reading at a time, or many where the groups would be opened for each."""
    gathered: list[Reading] = []
    for reading in readings:
        gathered.append(reading)
        if len(visit.groups) == 1 or is_full(gathered):
            yield gathered
            gathered = []
    if gathered:
        yield gathered


def _visited(readings: Sequence[Reading], visit: Visit) -> Iterator[_Found]:
    first = 0
    for parts in visit.groups:
        for segment, live in enumerate(open_parts(visit.store, parts, visit.keep), first):
            for place, (_, chunk, *_) in enumerate(readings):
                for rows, places, _ in find_matches(live, chunk, 0):
                    if len(places):
                        yield _Found(place, segment, live, rows, places)
        first += len(parts)


_LIST: Final = pa.list_(pa.string())


def _lists(rows: int, matches: Sequence[tuple[NDArray[np.int64], pa.Array]]) -> pa.Array:
    """For each row the list of its matches, from several columns of both."""
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
    readings: Sequence[Reading], visit: Visit, name: str, kind: pa.DataType | None
) -> Iterator[pa.RecordBatch]:
    """The malformed events; `name` is the column of matches, where there is one."""
    if not visit.with_problems:
        return
    for ids, _, problems, texts, _ in readings:
        if problems:
            rows = pa.array(problems)
            nothing = pa.nulls(len(rows), pa.string())
            columns = {visit.id_name: ids.take(rows)}
            if kind is not None:
                columns[name] = pa.nulls(len(rows), kind)
            columns["event"] = nothing if texts is None else readable(texts.take(rows))
            columns["error"] = pa.array(problems.values(), pa.string())
            yield pa.RecordBatch.from_pydict(columns)


def _batch(visit: Visit, ids: pa.Array, name: str, matches: pa.Array) -> pa.RecordBatch:
    columns = {visit.id_name: ids, name: matches}
    if visit.with_problems:
        columns |= dict.fromkeys(("event", "error"), pa.nulls(len(ids), pa.string()))
    return pa.RecordBatch.from_pydict(columns)
