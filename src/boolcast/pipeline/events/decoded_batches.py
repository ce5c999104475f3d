"""In a worker: events from Arrow batches, and why the malformed ones cannot be read."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final, NamedTuple, Protocol, TypeAlias, assert_never

import numpy as np
import pyarrow as pa

from boolcast.errors import EventError
from boolcast.matching.inputs.chunks import Chunk
from boolcast.matching.inputs.encoding import Columns
from boolcast.model.events import Event
from boolcast.model.schemas import Schema
from boolcast.model.values import EventValue

_OBJECTS: Final = 8
"""About how many times larger an event is as Python objects than as JSON."""

NULL_EVENT: Final = "the event is null"


class Attributes(NamedTuple):
    """After the event's id come columns of attributes; without `names`, under their own names."""

    names: tuple[str, ...] | None


class Json(NamedTuple):
    """After the event's id comes one column, its JSON; `names` are the needed attributes."""

    names: tuple[str, ...]
    schema: Schema | None = None


Content: TypeAlias = Attributes | Json


class Files(Protocol):
    """Files with events (`parquet_reading.FileColumns`)."""

    def read(self, numbers: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The events in the pieces of files with these numbers: the id, then the content."""
        ...


class Source(NamedTuple):
    """What follows the event's id, and where: in the batches from Spark, or in `files`.

    With `files`, Spark sends only numbers of pieces of files.
    """

    content: Content
    files: Files | None = None


class Reading(NamedTuple):
    """Some events: their ids, the readable ones, and by row why the others are malformed."""

    ids: pa.Array
    chunk: Chunk
    problems: dict[int, str]
    texts: pa.Array | None
    nbytes: int


def batches_of(batches: Iterable[pa.RecordBatch], source: Source) -> Iterable[pa.RecordBatch]:
    """The batches that hold events: those from Spark, or from the files that they name."""
    return batches if source.files is None else source.files.read(batches)


def readings_of(batches: Iterable[pa.RecordBatch], source: Source) -> Iterator[Reading]:
    """All events of a task, a batch at a time."""
    for batch in batches_of(batches, source):
        yield read(batch, source)


def read(batch: pa.RecordBatch, source: Source) -> Reading:
    """The events of a batch: an id, then what `source` says."""
    ids = batch.column(0)
    match source.content:
        case Json() as json:
            texts = batch.column(1)
            chunk, problems = _read_json(texts.cast(pa.binary()).to_pylist(), json)
            return Reading(ids, chunk, problems, texts, _OBJECTS * batch.nbytes)
        case Attributes(names):
            known = batch.schema.names[1:] if names is None else names
            chunk, problems = _read_columns(batch, known)
            return Reading(ids, chunk, problems, None, batch.nbytes)
        case never:
            assert_never(never)


def _read_columns(batch: pa.RecordBatch, names: Sequence[str]) -> tuple[Chunk, dict[int, str]]:
    rows = np.arange(batch.num_rows)
    if not names:
        return Chunk(rows, Columns(len(rows), {}), [Event()] * len(rows)), {}
    events = pa.RecordBatch.from_arrays(batch.columns[1:], names=list(names))
    problems: dict[int, str] = {}
    try:
        columns = Columns.of_batch(events)
    except EventError:
        problems = {row: str(error) for row, error in _bad_rows(events, 0)}
        rows = np.setdiff1d(rows, list(problems))
        events = events.take(pa.array(rows))
        columns = Columns.of_batch(events)
    return Chunk(rows, columns, events), problems


def _bad_rows(events: pa.RecordBatch, first: int) -> Iterator[tuple[int, EventError]]:
    """Halve until the error belongs to a single row: few rows are bad, and most halves are good."""
    try:
        Columns.of_batch(events)
    except EventError as error:
        count = events.num_rows
        if count == 1:
            yield first, error
            return
        yield from _bad_rows(events.slice(0, count // 2), first)
        yield from _bad_rows(events.slice(count // 2), first + count // 2)


def _read_json(texts: Sequence[bytes | None], json: Json) -> tuple[Chunk, dict[int, str]]:
    rows: list[int] = []
    events: list[Event] = []
    problems: dict[int, str] = {}
    for row, text in enumerate(texts):
        if text is None:
            problems[row] = NULL_EVENT
            continue
        try:
            events.append(Event.from_json(text, json.schema))
            rows.append(row)
        except EventError as error:
            problems[row] = str(error)
    return Chunk(np.array(rows, dtype=np.int64), _columns(events, json.names), events), problems


def _columns(events: Sequence[Event], attributes: Collection[str]) -> Columns:
    """The columns of the needed attributes only: an event may carry any number of others."""
    return Columns(
        len(events), {name: _typed([event.get(name) for event in events]) for name in attributes}
    )


_TYPES: Final = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}


def _typed(values: list[EventValue | None]) -> pa.Array | list[EventValue | None]:
    """An Arrow array if all values have one plain type: it is encoded much faster."""
    kinds = set(map(type, values)) - {type(None)}
    if len(kinds) != 1:
        return values
    kind = _TYPES.get(kinds.pop())
    return values if kind is None else pa.array(values, kind)


def readable(texts: pa.Array) -> pa.Array:
    """The texts of malformed events as valid strings, whatever their bytes."""
    decoded = (
        None if text is None else text.decode(errors="replace")
        for text in texts.cast(pa.binary()).to_pylist()
    )
    return pa.array(decoded, pa.string())
