"""What makes a stream the same stream when it is started again.

Batch ids mean something within one checkpoint only, and an output holds batches of one index,
one event id and one form. So the first start writes down what belongs together, and later ones
that differ are refused, before anything is mixed up.
"""

from collections.abc import Callable
from typing import Final, NamedTuple

import msgspec
from pyspark.sql import DataFrame
from pyspark.sql.types import LongType, StringType, StructField, StructType

from boolcast.errors import StreamError, UsageError
from boolcast.matching.store.store import Store
from boolcast.model.schemas import Schema
from boolcast.pipeline.events.column_selection import Planned
from boolcast.pipeline.events.parquet_streaming import ParquetStream
from boolcast.pipeline.matching.match_task import Form, Visit
from boolcast.pipeline.matching.matches import FORMS, form_of, id_of_type, planned
from boolcast.pipeline.spark.exact_columns import type_of
from boolcast.pipeline.streaming.ledger import Identity, Ledger, Reader, checkpoint_name

_TAKEN: Final = ("subscription", "subscriptions", "version", "batch", "event", "error")
BEGIN_ANEW: Final = "or begin with a new checkpoint and a new output"


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """What all batches of a stream have in common, as `match` takes it; `store` is the index's."""

    store: Store
    event_id: str
    json: str | None
    schema: Schema | None
    form: Form
    memory: int

    def plan(self, events: Planned, version: int) -> tuple[DataFrame, Visit]:
        """What travels to the tasks, and what they do with it, with this verified version."""
        return planned(
            events,
            self.store,
            event_id=self.event_id,
            version=version,
            json=self.json,
            schema=self.schema,
            memory=self.memory,
            is_verified=True,
        )


class StreamSource(NamedTuple):
    """Where a stream has its events from.

    `frame` is what Spark streams: the events, or files that the workers read. `events` says what
    is known of them beforehand, and `planned` makes of a batch what `planned` takes.
    """

    frame: DataFrame
    events: StructType
    reader: Reader
    planned: Callable[[DataFrame], Planned]


def source_of(events: DataFrame | ParquetStream, event_id: str, ledger: Ledger) -> StreamSource:
    """The source that events are. Raises UsageError if they are no stream or lack the id."""
    if isinstance(events, ParquetStream):
        known = ledger.identity()
        before = None if known is None else _schema(known.events)
        columns = events.columns(event_id, before)
        typed = events._replace(schema=columns)
        return StreamSource(
            events.frame, columns, "workers", lambda frame: typed._replace(frame=frame)
        )
    if not events.isStreaming:
        raise UsageError(
            "match_stream takes a stream (spark.readStream); match is for what is there at once"
        )
    # Also finds out if there are two columns of the name.
    type_of(events, event_id)
    return StreamSource(events, events.schema, "spark", lambda frame: frame)


def check_columns(source: StreamSource, settings: Settings, version: int) -> None:
    """Raise UsageError if the events lack what the settings name, or the id has a taken name."""
    form_of(settings.form)
    id_of_type(settings.event_id, source.events[settings.event_id].dataType, _TAKEN)
    settings.plan(source.planned(source.frame), version)


def claim(ledger: Ledger, source: StreamSource, settings: Settings, checkpoint: Store) -> bool:
    """Take the output for this stream; True if it was nobody's. StreamError if it is another's."""
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
    known, is_new = ledger.claim(wanted)
    if known.checkpoint != wanted.checkpoint:
        raise StreamError(
            f"the output {ledger.store} does not belong to the checkpoint {checkpoint}: its "
            "batches come from another, or the checkpoint was begun anew. Give its own, "
            f"{BEGIN_ANEW}"
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
    """New columns are attributes that were missing before; all else would change the meaning."""
    types = {field.name: field.dataType.simpleString() for field in after.fields}
    for field in before.fields:
        was, now = field.dataType.simpleString(), types.get(field.name, "gone")
        if was != now:
            raise _changed(f"the column {field.name} of the events", was, now)


def _changed(what: str, was: str, now: str) -> StreamError:
    return StreamError(f"{what} was {was}, and is now {now}: put it back, {BEGIN_ANEW}")


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
