"""What makes a stream the same stream when it starts again.

Batch ids only have a meaning within one checkpoint, and an output holds batches of one index, one
event id and one form. So the first start records what belongs together, and later starts that
differ are refused before anything is mixed up.
"""

from collections.abc import Callable
from typing import Final, NamedTuple, TypeAlias

import msgspec
from pyspark.sql import DataFrame
from pyspark.sql.types import LongType, StringType, StructField, StructType

from boolcast.errors import StreamError, UsageError
from boolcast.matching.store.store import Store
from boolcast.model.schemas import Schema
from boolcast.pipeline.events.column_selection import SelectedColumns, content_of, select_columns
from boolcast.pipeline.events.decoded_batches import Source
from boolcast.pipeline.events.file_events import FileEvents
from boolcast.pipeline.events.parquet_streaming import ParquetStream
from boolcast.pipeline.matching.match_task import Form, MatchTask
from boolcast.pipeline.matching.matches import FORMS, form_of, id_of_type, pin_index
from boolcast.pipeline.spark.exact_columns import type_of
from boolcast.pipeline.streaming.ledger import Identity, Ledger, Reader, checkpoint_name

_TAKEN: Final = ("subscription", "subscriptions", "version", "batch", "event", "error")
START_OVER: Final = "or start with a new checkpoint and a new output"

StreamEvents: TypeAlias = DataFrame | ParquetStream
"""Events for a stream: those of a streaming DataFrame, or files that the workers read."""


class BatchPlan(NamedTuple):
    """What Spark sends to the tasks of a batch, and what they do with it.

    With `files`, Spark sends paths, and the tasks read the files.
    """

    frame: DataFrame
    task: MatchTask
    files: FileEvents | None


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """What all batches of a stream share, as for `match`; `store` is the index's."""

    store: Store
    event_id: str
    json: str | None
    schema: Schema | None
    form: Form
    memory: int

    def plan(self, events: StreamEvents, version: int) -> BatchPlan:
        """How to match events with a version that is verified. Raises UsageError."""
        index = pin_index(self.store, version, self.memory, is_verified=True)
        files = None
        if isinstance(events, ParquetStream):
            files = events.file_events(self.event_id, index.attributes, self.json)
            content = content_of(None, index.attributes, self.json, self.schema)
            selected = SelectedColumns(events.frame, Source(content))
        else:
            selected = select_columns(
                events, self.event_id, index.attributes, self.json, self.schema
            )
        task = MatchTask(index.store, index.groups, selected.source, self.event_id)
        return BatchPlan(selected.frame, task, files)


class StreamSource(NamedTuple):
    """Where a stream gets its events from.

    `frame` is what Spark streams: events, or files that the workers read. `events` are the columns
    that are known in advance. `of_batch` turns a batch of `frame` into events.
    """

    frame: DataFrame
    events: StructType
    reader: Reader
    of_batch: Callable[[DataFrame], StreamEvents]


def source_of(events: StreamEvents, event_id: str, ledger: Ledger) -> StreamSource:
    """The source of a stream. Raises UsageError if it is no stream or lacks the id."""
    if isinstance(events, ParquetStream):
        known = ledger.identity()
        before = None if known is None else _schema(known.events)
        columns = events.columns(event_id, before)
        typed = events._replace(schema=columns)
        return StreamSource(
            events.frame, columns, "workers", lambda frame: typed._replace(frame=frame)
        )
    if not events.isStreaming:
        raise UsageError("match_stream takes a stream (spark.readStream); for a table use match")
    # Also refuses two columns of the same name.
    type_of(events, event_id)
    return StreamSource(events, events.schema, "spark", lambda frame: frame)


def check_columns(source: StreamSource, settings: Settings, version: int) -> None:
    """Raise UsageError if the events lack a column, or the id has the name of a result column."""
    form_of(settings.form)
    id_of_type(settings.event_id, source.events[settings.event_id].dataType, _TAKEN)
    settings.plan(source.of_batch(source.frame), version)


def take_ownership(
    ledger: Ledger, source: StreamSource, settings: Settings, checkpoint: Store
) -> bool:
    """Make this stream the owner of the output; True if it had none.

    Raises StreamError if another stream owns it.
    """
    matches, dead_letters = _tables(source.events[settings.event_id], settings.form)
    wanted = Identity(
        checkpoint=checkpoint_name(checkpoint),
        index=str(settings.store),
        event_id=settings.event_id,
        json=settings.json,
        form=settings.form,
        events=source.events.json(),
        matches=matches.json(),
        dead_letters=dead_letters.json(),
        schema=settings.schema,
        reader=source.reader,
    )
    known, is_new = ledger.take_ownership(wanted)
    if known.checkpoint != wanted.checkpoint:
        raise StreamError(
            f"the output {ledger.store} does not belong to the checkpoint {checkpoint}: it has "
            "batches of another checkpoint, or this one was deleted and started again. Use the "
            f"output's own checkpoint, {START_OVER}"
        )
    for was, now, noun in (
        (known.index, wanted.index, "index"),
        (known.event_id, wanted.event_id, "event id"),
        (known.json, wanted.json, "JSON column"),
        (known.form, wanted.form, "form"),
        (known.reader, wanted.reader, "reader"),
    ):
        if was != now:
            raise _changed(f"the {noun} of the stream", was or "none", now or "none")
    if known.schema is not msgspec.UNSET and known.schema != settings.schema:
        raise _changed("the schema of the stream", _text(known.schema), _text(settings.schema))
    _compare(_schema(known.events), _schema(wanted.events))
    return is_new


def _compare(before: StructType, after: StructType) -> None:
    """New columns are fine: they were missing attributes. Other changes would alter the meaning."""
    types = {field.name: field.dataType.simpleString() for field in after.fields}
    for field in before.fields:
        was, now = field.dataType.simpleString(), types.get(field.name, "gone")
        if was != now:
            raise _changed(f"the column {field.name} of the events", was, now)


def _changed(what: str, was: str, now: str) -> StreamError:
    return StreamError(f"{what} was {was} and is now {now}: change it back, {START_OVER}")


def _text(schema: Schema | None) -> str:
    return "none" if schema is None else msgspec.json.encode(schema).decode()


def _schema(text: str) -> StructType:
    return StructType.fromJson(msgspec.json.decode(text))


def _tables(event_id: StructField, form: Form) -> tuple[StructType, StructType]:
    """The columns of the matches and of the dead letters."""
    name = StructField(event_id.name, event_id.dataType)
    last = [StructField("version", LongType()), StructField("batch", LongType())]
    letter = [StructField("event", StringType()), StructField("error", StringType())]
    return StructType([name, FORMS[form][1], *last]), StructType([name, *letter, *last])
