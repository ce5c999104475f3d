"""What of the events travels to Python: an id, then the attributes that are needed or the JSON."""

from collections.abc import Collection, Sequence
from typing import NamedTuple, TypeAlias

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it
from pyspark.sql.types import BinaryType, StringType

from boolcast.errors import UsageError
from boolcast.model.schemas import Schema
from boolcast.pipeline.events.decoded_batches import Attributes, Content, Json, Source
from boolcast.pipeline.events.parquet_reading import ParquetFiles
from boolcast.pipeline.events.parquet_streaming import ParquetStream
from boolcast.pipeline.events.projection import attributes_of, columns_of
from boolcast.pipeline.spark.exact_columns import by_place, named, type_of

Events: TypeAlias = DataFrame | ParquetFiles
"""Where a job takes its events from."""


def frame_of(events: Events) -> DataFrame:
    """The events as Spark sees them."""
    return events.frame if isinstance(events, ParquetFiles) else events


Planned: TypeAlias = Events | ParquetStream
"""What `travel` knows to take events from; a stream of files stands for those of a batch."""


class Travel(NamedTuple):
    """The columns that travel, and how a worker reads events out of them (`readings.read`)."""

    frame: DataFrame
    source: Source


def travel(
    events: Planned,
    event_id: str | None,
    needed: Collection[str],
    json: str | None,
    schema: Schema | None,
) -> Travel:
    """The event's id or null, then the columns of the needed attributes, or the one of JSON.

    Of Parquet files nothing travels but their names. Raises UsageError.
    """
    if schema is not None and json is None:
        raise UsageError("a schema is for events in JSON: columns have their types")
    if isinstance(events, ParquetStream):
        assert event_id is not None, "streams have one"
        frame, new = events.travel(event_id, needed, json)
        return Travel(frame, Source(_content(None, needed, json, schema), new))
    if json is not None:
        _check_json(frame_of(events), json)
    if isinstance(events, ParquetFiles):
        names = columns_of(events.frame, needed) if json is None else [json]
        numbers, files = events.travel(event_id, names)
        return Travel(numbers, Source(_content(names, needed, json, schema), files))
    if json is None:
        chosen = attributes_of(events, needed)
        columns = [each.column for each in chosen]
        names = [each.name for each in chosen]
    else:
        columns = [named(events, json)]
        names = [json]
    ids = F.lit(None) if event_id is None else named(events, event_id)
    named_columns = [each.alias(f"a{number}") for number, each in enumerate(columns)]
    frame = by_place(events).select(ids.alias("id"), *named_columns)
    return Travel(frame, Source(_content(names, needed, json, schema)))


def _content(
    names: Sequence[str] | None, needed: Collection[str], json: str | None, schema: Schema | None
) -> Content:
    if json is not None:
        return Json(tuple(sorted(needed)), schema)
    return Attributes(None if names is None else tuple(names))


def _check_json(frame: DataFrame, json: str) -> None:
    kind = type_of(frame, json)
    if not isinstance(kind, StringType | BinaryType):
        raise UsageError(
            f"the column {json!r} must hold JSON as strings, and it is of type "
            f"{kind.simpleString()}: leave `json` out if the columns are the event"
        )
