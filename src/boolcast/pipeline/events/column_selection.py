"""Which columns of the events are sent to Python: an id, then the needed attributes or the JSON.

The fields of a struct are attributes under dotted names. Each field that the filters name becomes
a column of its own. Spark selects them, and reads no other field from Parquet.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import Final, NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it
from pyspark.sql.types import (
    AtomicType,
    BinaryType,
    BooleanType,
    CharType,
    DataType,
    DateType,
    NullType,
    NumericType,
    StringType,
    StructType,
    TimestampNTZType,
    TimestampType,
    VarcharType,
)

from boolcast.errors import UsageError
from boolcast.model.events import DEPTH_LIMIT
from boolcast.model.schemas import Schema
from boolcast.pipeline.events.attribute_columns import holding
from boolcast.pipeline.events.decoded_batches import Attributes, Content, Json, Source
from boolcast.pipeline.events.parquet_reading import (
    Events,
    FileColumn,
    FileColumns,
    ParquetFiles,
    arrow_type,
    frame_of,
)
from boolcast.pipeline.spark.exact_columns import at, by_position, named, type_of

_KNOWN: Final = (
    BooleanType,
    NumericType,
    StringType,
    CharType,
    VarcharType,
    DateType,
    TimestampType,
    TimestampNTZType,
)


class SelectedColumns(NamedTuple):
    """The columns that are sent to Python, and how a worker reads events from them."""

    frame: DataFrame
    source: Source


def select_columns(
    events: Events,
    event_id: str | None,
    needed: Collection[str],
    json: str | None,
    schema: Schema | None,
) -> SelectedColumns:
    """The event's id or null, then the columns of the needed attributes, or the JSON column.

    Of `ParquetFiles` only the numbers of the pieces are sent. Raises UsageError.
    """
    if json is not None:
        _check_json(frame_of(events), json)
    if isinstance(events, ParquetFiles):
        names = _top_columns(events.frame, needed) if json is None else [json]
        numbers, files = _pieces(events, event_id, names)
        return SelectedColumns(numbers, Source(content_of(names, needed, json, schema), files))
    if json is None:
        leaves = _needed_leaves(events, needed)
        columns = [leaf.column for leaf in leaves]
        names = [leaf.name for leaf in leaves]
    else:
        columns = [named(events, json)]
        names = [json]
    ids = F.lit(None) if event_id is None else named(events, event_id)
    named_columns = [each.alias(f"a{number}") for number, each in enumerate(columns)]
    frame = by_position(events).select(ids.alias("id"), *named_columns)
    return SelectedColumns(frame, Source(content_of(names, needed, json, schema)))


def content_of(
    names: Sequence[str] | None, needed: Collection[str], json: str | None, schema: Schema | None
) -> Content:
    """What a worker finds after the event's id; without `names`, columns under their own names."""
    if json is not None:
        return Json(tuple(sorted(needed)), schema)
    if schema is not None:
        raise UsageError("a schema is for events in JSON: columns have their own types")
    return Attributes(None if names is None else tuple(names))


def _check_json(frame: DataFrame, json: str) -> None:
    kind = type_of(frame, json)
    if not isinstance(kind, StringType | BinaryType):
        raise UsageError(
            f"the column {json!r} must hold JSON as strings, but its type is "
            f"{kind.simpleString()}: leave `json` out if the columns are the attributes"
        )


def _pieces(
    events: ParquetFiles, event_id: str | None, names: Sequence[str]
) -> tuple[DataFrame, FileColumns]:
    """A number for each piece, in a partition of its own, and how a task reads the pieces."""
    id_column = None
    if event_id is not None:
        kind = arrow_type(type_of(events.frame, event_id))
        id_column = FileColumn(event_id, kind)
    kinds = {field.name: field.dataType for field in events.frame.schema.fields}
    columns = tuple(
        FileColumn(name, arrow_type(kinds[name]) if isinstance(kinds[name], AtomicType) else None)
        for name in names
    )
    count = len(events.pieces)
    numbers = events.frame.sparkSession.range(0, count, 1, max(count, 1))
    return numbers, FileColumns(events.pieces, id_column, columns)


def _top_columns(events: DataFrame, needed: Collection[str]) -> list[str]:
    """The top-level columns that hold the needed attributes."""
    return list(dict.fromkeys(leaf.top for leaf in _needed_leaves(events, needed)))


class _Leaf(NamedTuple):
    """A field that is sent to Python: under `name`, in terms of `by_position`.

    `attributes` are those it holds: several if it is a struct whose fields differ only in case.
    `top` is the top-level column that it lies in.
    """

    name: str
    column: Column
    attributes: frozenset[str]
    top: str = ""


def attribute_names(events: DataFrame) -> frozenset[str]:
    """All attributes in the columns."""
    return frozenset(name for leaf in _all_leaves(events) for name in leaf.attributes)


def _needed_leaves(events: DataFrame, needed: Collection[str]) -> list[_Leaf]:
    return holding(((leaf, leaf.attributes) for leaf in _all_leaves(events)), needed)


def _all_leaves(events: DataFrame) -> Iterator[_Leaf]:
    for position, field in enumerate(events.schema.fields):
        for leaf in _leaves(field.name, field.dataType, at(position), DEPTH_LIMIT):
            yield leaf._replace(top=field.name)


def _leaves(name: str, kind: DataType, column: Column, depth: int) -> Iterator[_Leaf]:
    if not depth:
        raise UsageError(f"the column {name[:40]!r}… nests deeper than {DEPTH_LIMIT} levels")
    if isinstance(kind, StructType):
        fields = {field.name.casefold(): field for field in kind.fields}
        leaves = [
            leaf
            for field in kind.fields
            for leaf in _leaves(
                f"{name}.{field.name}", field.dataType, column.getField(field.name), depth - 1
            )
        ]
        if len(fields) == len(kind.fields):
            yield from leaves
        else:
            # Spark cannot tell fields apart that differ only in case: the worker can.
            yield _Leaf(name, column, frozenset().union(*(each.attributes for each in leaves)))
    elif isinstance(kind, _KNOWN):
        yield _Leaf(name, column, frozenset((name,)))
    elif not isinstance(kind, NullType):
        # Filters can only ask whether a value of another type is present.
        present = F.when(column.isNotNull(), F.lit(bytearray()))
        yield _Leaf(name, present, frozenset((name,)))
