"""What makes a stream the same stream when it is started again.

Batch ids mean something within one checkpoint only, and an output holds batches of one index,
one event id and one form. So the first start writes down what belongs together, and later ones
that differ are refused, before anything is mixed up.
"""

from typing import Final, Literal

import msgspec
from pyspark.sql import DataFrame
from pyspark.sql.types import ArrayType, LongType, StringType, StructField, StructType

from boolcast.errors import StreamError, UsageError
from boolcast.matching.store import Store
from boolcast.pipeline.ledger import Identity, Ledger, checkpoint_name
from boolcast.pipeline.stores import open_store

Form = Literal["rows", "lists"]

_TAKEN: Final = ("subscription", "subscriptions", "version", "batch", "event", "error")
_FOUND: Final = {
    "rows": StructField("subscription", StringType()),
    "lists": StructField("subscriptions", ArrayType(StringType())),
}
_BEGIN_ANEW: Final = "or begin with a new checkpoint and a new output"


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """What all batches of a stream have in common; `store` is the index's."""

    store: Store
    event_id: str
    json: str | None
    form: Form


def check_columns(events: DataFrame, settings: Settings) -> None:
    """Raise UsageError if the events are no stream, or lack what the settings name."""
    if not events.isStreaming:
        raise UsageError(
            "match_stream takes a stream (spark.readStream); match is for what is there at once"
        )
    event_id, json = settings.event_id, settings.json
    for column in (event_id, json):
        if column is not None and column not in events.columns:
            raise UsageError(f"there is no column {column!r} in {', '.join(events.columns)}")
    if event_id in _TAKEN:
        raise UsageError(f"the results have a column {event_id!r} of their own: rename the event's")
    if json is not None and not isinstance(events.schema[json].dataType, StringType):
        raise UsageError(f"the column {json!r} is no string: cast it before (cast as string)")
    if settings.form not in _FOUND:
        raise UsageError(f"the form of the matches is rows or lists, not {settings.form!r}")


def claim(ledger: Ledger, events: StructType, settings: Settings, checkpoint: str) -> None:
    """Take the output for this stream. Raises StreamError if it is another's."""
    matches, dead_letters = _tables(events[settings.event_id], settings.form)
    wanted = Identity(
        checkpoint=checkpoint_name(open_store(checkpoint)),
        index=str(settings.store),
        event_id=settings.event_id,
        json=settings.json,
        form=settings.form,
        events=events.json(),
        matches=matches.json(),
        dead_letters=dead_letters.json(),
    )
    known = ledger.claim(wanted)
    if known.checkpoint != wanted.checkpoint:
        raise StreamError(
            f"the output {ledger.store} does not belong to the checkpoint {checkpoint}: its "
            "batches come from another, or the checkpoint was begun anew. Give its own, "
            f"{_BEGIN_ANEW}"
        )
    for was, now, noun in (
        (known.index, wanted.index, "index"),
        (known.event_id, wanted.event_id, "event id"),
        (known.json, wanted.json, "JSON column"),
        (known.form, wanted.form, "form"),
    ):
        if was != now:
            raise _changed(f"the {noun} of the stream", was or "none", now or "none")
    _compare(_schema(known.events), _schema(wanted.events))


def _compare(before: StructType, after: StructType) -> None:
    """New columns are attributes that were missing before; all else would change the meaning."""
    types = {field.name: field.dataType.simpleString() for field in after.fields}
    for field in before.fields:
        was, now = field.dataType.simpleString(), types.get(field.name, "gone")
        if was != now:
            raise _changed(f"the column {field.name} of the events", was, now)


def _changed(what: str, was: str, now: str) -> StreamError:
    return StreamError(f"{what} was {was}, and is now {now}: put it back, {_BEGIN_ANEW}")


def _schema(text: str) -> StructType:
    return StructType.fromJson(msgspec.json.decode(text))


def _tables(event_id: StructField, form: Form) -> tuple[StructType, StructType]:
    """The columns of the matches and of the dead letters."""
    name = StructField(event_id.name, event_id.dataType)
    last = [StructField("version", LongType()), StructField("batch", LongType())]
    letter = [StructField("event", StringType()), StructField("error", StringType())]
    return StructType([name, _FOUND[form], *last]), StructType([name, *letter, *last])
