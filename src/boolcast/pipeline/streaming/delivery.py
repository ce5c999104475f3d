"""What a task of a stream does with its events: match them, put the results as Parquet files.

The files go from the task to the output's store, not through Spark's writer. So one pass gives
matches and dead letters alike, the matches, often many for one event, never travel back to the
JVM, and a file counts only if the driver hears of it: what a failed or doubled task has put is
nowhere listed.
"""

from collections.abc import Iterable, Iterator, Mapping
from io import BytesIO
from typing import Final

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from boolcast.matching.store.store import Store
from boolcast.pipeline.events.decoded_batches import read, readable
from boolcast.pipeline.events.file_events import FileEvents, Portion, Unreadable
from boolcast.pipeline.matching.match_task import Form, Visit, match_lists, match_rows_encoded
from boolcast.pipeline.matching.matches import FORMS
from boolcast.pipeline.streaming.ledger import DEAD_LETTERS, MATCHES, file_names, unwritable

REPORT: Final = "table string, name string, rows long, bytes long"
EVENTS: Final = "events"
"""In the reports of a task: how many events it has seen, beside the files of the two tables."""

NO_ID: Final = "the event has no id"

_TASKS: Final = {"rows": match_rows_encoded, "lists": match_lists}

FILE_BYTES: Final = 64 << 20
"""When a task holds so many bytes of results, before compression, it makes a file of them."""

_REPORT: Final = pa.schema(
    [("table", pa.string()), ("name", pa.string()), ("rows", pa.int64()), ("bytes", pa.int64())]
)


class Delivery(msgspec.Struct, frozen=True, kw_only=True):
    """The work of all tasks of one batch, for `mapInArrow`; gives rows as in `REPORT`.

    Takes what `matches.planned` selects: the event's id, then its attributes or its JSON; or
    the paths of files.
    """

    visit: Visit
    form: Form
    output: Store
    batch: int
    version: int

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        matches, dead_letters = (self._table(table) for table in (MATCHES, DEAD_LETTERS))
        named = _Named(batches, self.visit, dead_letters)
        column = FORMS[self.form][1].name
        visit = self.visit._replace(with_problems=True)
        for rows in _TASKS[self.form](named, visit=visit):
            # A batch of the task holds either matches or malformed events.
            if rows.column("error").null_count:
                matches.add(rows.select([visit.id_name, column]))
            else:
                dead_letters.add(rows.select([visit.id_name, "event", "error"]))
        matches.close()
        dead_letters.close()
        reports = [*matches.reports, *dead_letters.reports]
        reports.append({"table": EVENTS, "name": "", "rows": named.events, "bytes": 0})
        yield pa.RecordBatch.from_pylist(reports, _REPORT)

    def _table(self, table: str) -> "_Table":
        return _Table(self.output, table, self.batch, self.version)


class _Named:
    """The events that have an id; those without are dead letters. `events` counts all.

    What cannot be read of a file counts as one.
    """

    def __init__(
        self, batches: Iterable[pa.RecordBatch], visit: Visit, dead_letters: "_Table"
    ) -> None:
        self.events = 0
        self._batches = batches
        self._visit = visit
        self._dead_letters = dead_letters

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        for portion in self._portions():
            if isinstance(portion, Unreadable):
                self.events += 1
                self._dead_letters.add(self._letter(portion.reason))
                continue
            events, problems = portion
            self.events += events.num_rows
            nameless = np.flatnonzero(events.column(0).is_null())
            if len(nameless):
                self._dead_letters.add(self._letters(events, nameless, problems))
                yield events.filter(events.column(0).is_valid())
            else:
                yield events

    def _portions(self) -> Iterator[Portion | Unreadable]:
        files = self._visit.source.files
        if isinstance(files, FileEvents):
            return files.read(self._batches)
        return (Portion(batch, {}) for batch in self._batches)

    def _letter(self, reason: str) -> pa.RecordBatch:
        files = self._visit.source.files
        assert isinstance(files, FileEvents), "rows are always readable"
        return pa.RecordBatch.from_pydict(
            {
                self._visit.id_name: pa.nulls(1, files.event_id.type_),
                "event": pa.nulls(1, pa.string()),
                "error": [reason],
            }
        )

    def _letters(
        self, events: pa.RecordBatch, rows: NDArray[np.int64], problems: Mapping[int, str]
    ) -> pa.RecordBatch:
        # An id is often taken from the event itself: if that is malformed, it is the reason.
        nameless = events.take(pa.array(rows))
        found = read(nameless, self._visit.source)
        reasons = (problems.get(row, NO_ID) for row in rows.tolist())
        return pa.RecordBatch.from_pydict(
            {
                self._visit.id_name: nameless.column(0),
                "event": pa.nulls(len(rows), pa.string())
                if found.texts is None
                else readable(found.texts),
                "error": [found.problems.get(row, each) for row, each in enumerate(reasons)],
            }
        )


class _Table:
    """Rows of one table of a batch, put as a file when they are many, or all."""

    def __init__(self, store: Store, table: str, batch: int, version: int) -> None:
        self.reports: list[dict[str, object]] = []
        self._store = store
        self._table = table
        self._names = file_names(table, batch)
        self._constants = {"version": version, "batch": batch}
        self._bytes = 0
        self._waiting: list[pa.RecordBatch] = []

    def add(self, rows: pa.RecordBatch) -> None:
        if not rows.num_rows:
            return
        self._waiting.append(_compact(rows))
        self._bytes += self._waiting[-1].nbytes
        if self._bytes >= FILE_BYTES:
            self.close()

    def close(self) -> None:
        if not self._waiting:
            return
        buffer = BytesIO()
        schema = self._waiting[0].schema
        for name in self._constants:
            schema = schema.append(pa.field(name, pa.int64()))
        with pq.ParquetWriter(
            buffer,
            schema,
            # Without Arrow's own schema, or readers get dictionaries back, which Spark refuses.
            store_schema=False,
            # Of the first and last subscription nobody makes use, and they cost half the write.
            write_statistics=[name for name in schema.names if not name.startswith("subscr")],
        ) as writer:
            for rows in self._waiting:
                constants = (pa.repeat(each, len(rows)) for each in self._constants.values())
                writer.write_batch(pa.record_batch([*rows.columns, *constants], schema=schema))
        data = buffer.getvalue()
        name = next(self._names)
        try:
            is_put = self._store.put_if_absent(name, data)
        except OSError as error:
            raise unwritable(self._store, "write", error) from error
        assert is_put, "file names are random"
        self.reports.append(
            {
                "table": self._table,
                "name": name,
                "rows": sum(rows.num_rows for rows in self._waiting),
                "bytes": len(data),
            }
        )
        self._bytes = 0
        self._waiting = []


def _compact(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Without what no row uses of the dictionaries: the engine's hold all subscriptions."""
    for place, field in enumerate(rows.schema):
        if pa.types.is_dictionary(field.type):
            column = rows.column(place)
            codes = column.indices.to_numpy(zero_copy_only=False)
            used = np.zeros(len(column.dictionary), dtype=np.bool_)
            used[codes] = True
            codes = (np.cumsum(used, dtype=np.int32) - 1)[codes]
            values = column.dictionary.filter(pa.array(used))
            rows = rows.set_column(
                place, field.name, pa.DictionaryArray.from_arrays(pa.array(codes), values)
            )
    return rows
