"""Event history in a Spark task: Arrow batches as chunks of events, the malformed ones left out."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame

from boolcast.errors import EventError, UsageError
from boolcast.matching.encoding import Columns
from boolcast.matching.inputs import CHUNK_ROWS, Chunk
from boolcast.model.arrow import events_from_arrow
from boolcast.model.events import Event


class Piece(NamedTuple):
    """Some rows of history: their events, and how many of the rows are none."""

    chunk: Chunk
    malformed: int


def history_columns(events: DataFrame, *, event_id: str | None, json: str | None) -> DataFrame:
    """Only the columns that are read: the one of JSON, or all but the id. Raises UsageError."""
    for name in (event_id, json):
        if name is not None and name not in events.columns:
            known = ", ".join(events.columns)
            raise UsageError(f"the events have no column {name}; they have {known}")
    if json is not None:
        return events.select(events[f"`{json}`"].cast("string"))
    return events if event_id is None else events.drop(event_id)


def pieces(batches: Iterable[pa.RecordBatch], *, is_json: bool) -> Iterator[Piece]:
    """The events of the batches: a column of JSON texts, or a column for each attribute."""
    for batch in batches:
        for start in range(0, batch.num_rows, CHUNK_ROWS):
            part = batch.slice(start, CHUNK_ROWS)
            yield _piece_of_texts(part.column(0)) if is_json else _piece_of_columns(part)


def _piece_of_columns(batch: pa.RecordBatch) -> Piece:
    try:
        columns = Columns.of_batch(batch)
    except EventError:
        # What is wrong with a column does not tell the row.
        return _piece([_event(batch.slice(row, 1)) for row in range(batch.num_rows)])
    return Piece(Chunk(np.arange(batch.num_rows), columns, batch), 0)


def _piece_of_texts(texts: pa.Array) -> Piece:
    return _piece([_event(text) for text in texts.to_pylist()])


def _event(source: pa.RecordBatch | str | None) -> Event | None:
    """The event of one row; None if it is malformed, and so is a text that is null."""
    try:
        if isinstance(source, pa.RecordBatch):
            (event,) = events_from_arrow(source)
            return event
        return None if source is None else Event.from_json(source)
    except EventError:
        return None


def _piece(read: list[Event | None]) -> Piece:
    events = [event for event in read if event is not None]
    chunk = Chunk(np.arange(len(events)), Columns.of_events(events), events)
    return Piece(chunk, len(read) - len(events))
