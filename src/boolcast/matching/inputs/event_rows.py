"""Events one by one, with their numbers, from Arrow or JSON lines."""

from collections.abc import Iterable, Iterator
from io import BytesIO
from typing import Final

import pyarrow as pa

from boolcast.errors import ArgumentError, EventError
from boolcast.matching.inputs.protocol import Events
from boolcast.model.arrow import events_from_arrow
from boolcast.model.events import Event

_CHUNK_EVENTS: Final = 1_024
"""How many rows of Arrow become events at a time."""


def numbered_events(events: Events, first: int = 0) -> Iterator[tuple[int, Event]]:
    """Events with their numbers, read lazily; rows are numbered from `first`.

    Lines of JSON are numbered from 0; a blank line has a number but no event. Raises EventError
    at a malformed event, which is called `event 0` in rows and `line 1` in lines.
    """
    check_events(events)
    match events:
        case bytes():
            return _events_from_lines(events)
        case pa.Table():
            return _events_from_batches(events.to_batches(max_chunksize=_CHUNK_EVENTS), first)
        case pa.RecordBatch():
            return _events_from_batches([events], first)
        case _:
            return _events_from_batches(events, first)


def check_events(events: object) -> None:
    """Raise ArgumentError for anything but Arrow or bytes."""
    if not isinstance(events, bytes | pa.Table | pa.RecordBatch | pa.RecordBatchReader):
        raise ArgumentError(
            "events are an Arrow Table, RecordBatch or RecordBatchReader, or JSON lines as bytes",
            events,
        )


def _events_from_lines(lines: bytes) -> Iterator[tuple[int, Event]]:
    for number, line in enumerate(BytesIO(lines)):
        if line.isspace():
            continue
        try:
            event = Event.from_json(line)
        except EventError as error:
            raise _located(error, f"line {number + 1}") from None
        yield number, event


def _events_from_batches(
    batches: Iterable[pa.RecordBatch], first: int
) -> Iterator[tuple[int, Event]]:
    for batch in batches:
        for start in range(0, batch.num_rows, _CHUNK_EVENTS):
            chunk = batch.slice(start, _CHUNK_EVENTS)
            for row, event in enumerate(_events_from_chunk(chunk, first)):
                yield first + row, event
            first += chunk.num_rows


def _events_from_chunk(chunk: pa.RecordBatch, first: int) -> Iterable[Event]:
    try:
        return list(events_from_arrow(chunk))
    except EventError:
        return _events_before_the_bad_one(chunk, first)


def _events_before_the_bad_one(chunk: pa.RecordBatch, first: int) -> Iterator[Event]:
    """The events of a chunk row by row: an error in a column does not say which row."""
    for row in range(chunk.num_rows):
        try:
            yield from events_from_arrow(chunk.slice(row, 1))
        except EventError as error:
            raise _located(error, f"event {first + row}") from None


def _located(error: EventError, position: str) -> EventError:
    return EventError(f"{position}: {error.problem}", attribute=error.attribute)
