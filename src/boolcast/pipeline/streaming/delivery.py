"""What a task of a stream does: match its events, and write the results as Parquet files.

The task writes the files to the output's store itself, not through Spark's writer. So one pass
gives matches and dead letters, and the matches, often many per event, are not sent back to the
JVM. A file counts only if the driver learns of it, so files of failed or repeated tasks are never
listed.
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
from boolcast.pipeline.matching.match_task import (
    MatchFormat,
    MatchJob,
    match_lists,
    match_rows_encoded,
)
from boolcast.pipeline.matching.matches import FORMS
from boolcast.pipeline.streaming.ledger import DEAD_LETTERS, MATCHES, file_names, unwritable

REPORT: Final = "table string, name string, rows long, bytes long"
EVENTS: Final = "events"
"""The row in a task's report with the number of its events; the others are files."""

NO_ID: Final = "the event has no id"

_TASKS: Final = {"rows": match_rows_encoded, "lists": match_lists}

FILE_BYTES: Final = 64 << 20
"""A task writes a file when it holds this many bytes of results, before compression."""

_REPORT: Final = pa.schema(
    [("table", pa.string()), ("name", pa.string()), ("rows", pa.int64()), ("bytes", pa.int64())]
)


class Delivery(msgspec.Struct, frozen=True, kw_only=True):
    """The work of all tasks of one batch, for `mapInArrow`; gives rows as in `REPORT`.

    Takes the event's id, then its attributes or its JSON. With `files`, takes paths of files.
    """

    job: MatchJob
    files: FileEvents | None = None
    form: MatchFormat
    output: Store
    batch: int
    version: int

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        matches, dead_letters = (self._table(table) for table in (MATCHES, DEAD_LETTERS))
        named = _EventsWithId(batches, self.job, self.files, dead_letters)
        column = FORMS[self.form][1].name
        job = self.job._replace(with_problems=True)
        for rows in _TASKS[self.form](named, job=job):
            # A batch of the task holds either matches or malformed events.
            if rows.column("error").null_count:
                matches.add(rows.select([job.id_name, column]))
            else:
                dead_letters.add(rows.select([job.id_name, "event", "error"]))
        matches.close()
        dead_letters.close()
        reports = [*matches.reports, *dead_letters.reports]
        reports.append({"table": EVENTS, "name": "", "rows": named.events, "bytes": 0})
        yield pa.RecordBatch.from_pylist(reports, _REPORT)

    def _table(self, table: str) -> "_Table":
        return _Table(self.output, table, self.batch, self.version)


class _EventsWithId:
    """The events that have an id; the others become dead letters. `events` counts all.

    An unreadable file, or range of rows, counts as one event.
    """

    def __init__(
        self,
        batches: Iterable[pa.RecordBatch],
        job: MatchJob,
        files: FileEvents | None,
        dead_letters: "_Table",
    ) -> None:
        self.events = 0
        self._batches = batches
        self._job = job
        self._files = files
        self._dead_letters = dead_letters

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        for portion in self._portions():
            if isinstance(portion, Unreadable):
                self.events += 1
                self._dead_letters.add(self._letter(portion.reason))
                continue
            events, problems = portion
            self.events += events.num_rows
            without_id = np.flatnonzero(events.column(0).is_null())
            if len(without_id):
                self._dead_letters.add(self._letters(events, without_id, problems))
                yield events.filter(events.column(0).is_valid())
            else:
                yield events

    def _portions(self) -> Iterator[Portion | Unreadable]:
        if self._files is not None:
            return self._files.read(self._batches)
        return (Portion(batch, {}) for batch in self._batches)

    def _letter(self, reason: str) -> pa.RecordBatch:
        assert self._files is not None, "rows from Spark are always readable"
        return pa.RecordBatch.from_pydict(
            {
                self._job.id_name: pa.nulls(1, self._files.event_id.type_),
                "event": pa.nulls(1, pa.string()),
                "error": [reason],
            }
        )

    def _letters(
        self, events: pa.RecordBatch, rows: NDArray[np.int64], problems: Mapping[int, str]
    ) -> pa.RecordBatch:
        # The id often comes from the event itself. If that is malformed, that is the reason.
        without_id = events.take(pa.array(rows))
        found = read(without_id, self._job.source)
        reasons = (problems.get(row, NO_ID) for row in rows.tolist())
        return pa.RecordBatch.from_pydict(
            {
                self._job.id_name: without_id.column(0),
                "event": pa.nulls(len(rows), pa.string())
                if found.texts is None
                else readable(found.texts),
                "error": [found.problems.get(row, each) for row, each in enumerate(reasons)],
            }
        )


class _Table:
    """Rows of one table of a batch; written as a file when there are many, and at the end."""

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
            # With Arrow's own schema, readers would get dictionaries back, which Spark refuses.
            store_schema=False,
            # Statistics of the subscriptions are of no use, and take half the time of a write.
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
    """Drop unused values from dictionaries: the engine's hold all subscriptions."""
    for position, field in enumerate(rows.schema):
        if pa.types.is_dictionary(field.type):
            column = rows.column(position)
            codes = column.indices.to_numpy(zero_copy_only=False)
            used = np.zeros(len(column.dictionary), dtype=np.bool_)
            used[codes] = True
            codes = (np.cumsum(used, dtype=np.int32) - 1)[codes]
            values = column.dictionary.filter(pa.array(used))
            rows = rows.set_column(
                position, field.name, pa.DictionaryArray.from_arrays(pa.array(codes), values)
            )
    return rows
