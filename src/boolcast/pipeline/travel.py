"""What of the events travels to Python: an id, then the attributes that are needed or the JSON."""

from collections.abc import Collection
from typing import NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql.types import BinaryType, StringType

from boolcast.errors import UsageError
from boolcast.model.schemas import Schema
from boolcast.pipeline.frames import by_place, named, type_of
from boolcast.pipeline.projection import attributes_of
from boolcast.pipeline.readings import Source


class Travel(NamedTuple):
    """The columns that travel, and how a worker reads events out of them (`readings.read`)."""

    frame: DataFrame
    source: Source


def travel(
    events: DataFrame,
    ids: Column,
    needed: Collection[str],
    json: str | None,
    schema: Schema | None,
) -> Travel:
    """The `ids`, then the columns of the needed attributes, or the one that `json` names.

    Raises UsageError.
    """
    if schema is not None and json is None:
        raise UsageError("a schema is for events in JSON: columns have their types")
    if json is None:
        attributes = attributes_of(events, needed)
        columns = [each.column for each in attributes]
        source = Source(tuple(each.name for each in attributes), False)
    else:
        kind = type_of(events, json)
        if not isinstance(kind, StringType | BinaryType):
            raise UsageError(
                f"the column {json!r} must hold JSON as strings, and it is of type "
                f"{kind.simpleString()}: leave `json` out if the columns are the event"
            )
        columns = [named(events, json)]
        source = Source(tuple(sorted(needed)), True, schema)
    named_columns = [each.alias(f"a{number}") for number, each in enumerate(columns)]
    return Travel(by_place(events).select(ids.alias("id"), *named_columns), source)
