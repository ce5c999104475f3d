"""Many events in chunks of columns, from Arrow or JSON lines."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from boolcast.errors import EventError
from boolcast.matching.inputs.encoding import Columns, Encoded
from boolcast.matching.inputs.event_rows import numbered_events
from boolcast.matching.inputs.protocol import Events
from boolcast.model.arrow import events_from_arrow
from boolcast.model.events import Event

if TYPE_CHECKING:
    from boolcast.matching.values.rank_tables import Spaces
    from boolcast.matching.values.segments import Segment

CHUNK_ROWS: Final = 16_384
_CHUNK_LINES: Final = 1_024


class Chunk(NamedTuple):
    """Some events: numbers, columns, and their source, from which single ones can be read."""

    numbers: NDArray[np.int64]
    columns: Columns
    source: pa.RecordBatch | list[Event]

    @classmethod
    def of_events(cls, events: list[Event], numbers: Sequence[int] | None = None) -> "Chunk":
        """Events that are already converted, with their numbers, or numbered from 0."""
        numbers = range(len(events)) if numbers is None else numbers
        return cls(np.array(numbers, dtype=np.int64), Columns.of_events(events), events)

    def encode(self, spaces: "Spaces", segment: "Segment") -> Encoded:
        """The events in the ranks of one segment."""
        return self.columns.encode(spaces, segment.text_columns)

    def event(self, row: int) -> Event:
        """One of the events."""
        if isinstance(self.source, list):
            return self.source[row]
        (event,) = events_from_arrow(self.source.slice(row, 1))
        return event


def chunks(events: Events) -> Iterator[Chunk]:
    """The events in chunks; those before a malformed one come first, then EventError."""
    if isinstance(events, bytes):
        yield from _of_numbered(numbered_events(events))
        return
    first = 0
    for batch in _batches(events):
        numbers = np.arange(first, first + batch.num_rows)
        first += batch.num_rows
        try:
            columns = Columns.of_batch(batch)
        except EventError:
            yield from _of_numbered(numbered_events(batch, int(numbers[0])))
        else:
            yield Chunk(numbers, columns, batch)


def _batches(events: pa.Table | pa.RecordBatch | pa.RecordBatchReader) -> Iterator[pa.RecordBatch]:
    if isinstance(events, pa.Table):
        yield from events.to_batches(max_chunksize=CHUNK_ROWS)
        return
    batches: Iterable[pa.RecordBatch] = [events] if isinstance(events, pa.RecordBatch) else events
    for batch in batches:
        for start in range(0, batch.num_rows, CHUNK_ROWS):
            yield batch.slice(start, CHUNK_ROWS)


def _of_numbered(numbered: Iterator[tuple[int, Event]]) -> Iterator[Chunk]:
    problem: EventError | None = None
    while problem is None:
        numbers: list[int] = []
        events: list[Event] = []
        try:
            for number, event in islice(numbered, _CHUNK_LINES):
                numbers.append(number)
                events.append(event)
        except EventError as error:
            problem = error
        if events:
            yield Chunk.of_events(events, numbers)
        elif problem is None:
            return
    raise problem
