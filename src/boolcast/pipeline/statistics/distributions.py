"""How the values of each attribute are distributed in event history, as Spark aggregations.

First the events of each distinct value are counted. A value is represented by its sort key, so
that Spark groups and sorts exactly as filters compare. Then the values are put into bins: one for
each frequent value, and between them bins with about the same number of events.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's users know

from boolcast.model.arrow import columns_of
from boolcast.model.schemas import Schema
from boolcast.model.sort_keys import sort_key, value_of_key
from boolcast.model.values import EventValue, Kind, Opaque, kind_of
from boolcast.pipeline.events.column_selection import attribute_names, select_columns
from boolcast.pipeline.events.decoded_batches import Reading, readings_of
from boolcast.pipeline.events.parquet_reading import Events, frame_of

COUNTS: Final = "attribute string, kind string, key binary, events long"
"""The columns of `count_values`."""

VALUES: Final = "attribute string, kind string, low string, high string, events long, distinct long"
"""The columns of `to_bins`."""

EVENTS: Final = "event"
MALFORMED: Final = "malformed"
"""The kinds of the two rows without an attribute, which count readable and malformed events."""

_HELD: Final = 1 << 18
"""How many distinct values a task holds at a time."""

_SCHEMA: Final = pa.schema(
    [
        ("attribute", pa.string()),
        ("kind", pa.string()),
        ("key", pa.binary()),
        ("events", pa.int64()),
    ]
)

Counts = Counter[tuple[str | None, str, bytes | None]]


def count_values(
    events: Events, *, json: str | None = None, schema: Schema | None = None
) -> DataFrame:
    """How many events carry each value of each attribute; columns as in `COUNTS`.

    `key` is the value's sort key; null for opaque values and infinities. Two rows without an
    attribute count all events, of the kinds `event` and `malformed`. Events are as for `match`.
    """
    needed = attribute_names(frame_of(events))
    frame, source = select_columns(events, None, needed, json, schema)

    def count(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        counts: Counts = Counter()
        for reading in readings_of(batches, source):
            yield from _add(counts, reading)
            if len(counts) > _HELD:
                yield _batch(counts)
                counts.clear()
        yield _batch(counts)

    counted = frame.mapInArrow(count, COUNTS)
    return counted.groupBy("attribute", "kind", "key").agg(F.sum("events").alias("events"))


def _add(counts: Counts, reading: Reading) -> Iterator[pa.RecordBatch]:
    """Count some events; the counts of string columns are given, not added."""
    chunk = reading.chunk
    counts[None, EVENTS, None] += len(chunk.numbers)
    counts[None, MALFORMED, None] += len(reading.problems)
    if isinstance(chunk.source, list):
        for event in chunk.source:
            for attribute, value in event.items():
                counts[attribute, *_kind_and_key(value)] += 1
        return
    for attribute, column in chunk.columns.columns.items():
        if isinstance(column, pa.Array) and pa.types.is_string(column.type):
            yield _strings(attribute, column)
            continue
        for value, events in _distinct(column):
            if value is not None:
                counts[attribute, *_kind_and_key(value)] += events


def _strings(attribute: str, column: pa.StringArray) -> pa.RecordBatch:
    """The counts of strings: their sort key is their UTF-8, so Arrow can count them."""
    counted = pc.value_counts(column.drop_null())
    columns = [
        pa.repeat(attribute, len(counted)),
        pa.repeat(Kind.STRING.value, len(counted)),
        counted.field("values").cast(pa.binary()),
        counted.field("counts"),
    ]
    return pa.record_batch(columns, schema=_SCHEMA)


def _kind_and_key(value: EventValue) -> tuple[str, bytes | None]:
    """The kind of a value, and its sort key; None if it has none."""
    if isinstance(value, Opaque):
        return Kind.OPAQUE, None
    is_infinite = isinstance(value, float) and math.isinf(value)
    return kind_of(value), None if is_infinite else sort_key(value)


def _distinct(
    column: pa.Array | Sequence[EventValue | None],
) -> Iterable[tuple[EventValue | None, int]]:
    """The values of a column and how often each occurs; a value may come more than once."""
    if not isinstance(column, pa.Array):
        return ((value, 1) for value in column)
    try:
        counted = pc.value_counts(column)
    except pa.ArrowNotImplementedError:
        # Lists and the like, which are opaque values.
        return ((value, 1) for value in _converted(column))
    values, events = counted.field("values"), counted.field("counts")
    return zip(_converted(values), events.to_pylist(), strict=True)


def _converted(column: pa.Array) -> list[EventValue | None]:
    return columns_of(pa.record_batch([column], names=["value"]))["value"]


def _batch(counts: Mapping[tuple[str | None, str, bytes | None], int]) -> pa.RecordBatch:
    rows = [(*key, events) for key, events in counts.items() if events]
    columns = list(zip(*rows, strict=True)) or [()] * len(_SCHEMA)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, _SCHEMA, strict=True)]
    return pa.record_batch(arrays, schema=_SCHEMA)


def to_bins(counts: DataFrame, limit: int) -> DataFrame:
    """Bins of the counted values, columns as in `VALUES`; `low` and `high` are JSON.

    A value with at least 1/`limit` of the events of its attribute and kind has a bin of its own.
    The other values, in order, start a new bin after each 1/`limit` of their own events, and at
    each frequent value. One task sorts the values of one attribute and kind, on disk if they are
    many.
    """
    key = ["attribute", "kind"]
    known = counts.where(F.col("attribute").isNotNull() & F.col("key").isNotNull())
    total = known.groupBy(key).agg(F.sum("events").alias("total"))
    is_frequent = (F.col("events") * limit >= F.col("total")).alias("is_frequent")
    marked = known.join(F.broadcast(total), key).select(*key, "key", "events", is_frequent)
    rare_events = F.when(F.col("is_frequent"), 0).otherwise(F.col("events"))
    rest = marked.groupBy(key).agg(F.sum(rare_events).alias("rest"))
    before = Window.partitionBy(key).orderBy("key").rowsBetween(Window.unboundedPreceding, -1)
    rare_before = _or_zero(F.sum(rare_events).over(before))
    frequent_before = _or_zero(F.sum(F.col("is_frequent").cast("long")).over(before))
    numbered = marked.join(F.broadcast(rest), key).select(
        *key,
        "key",
        "events",
        "is_frequent",
        frequent_before.alias("stretch"),
        F.when(F.col("is_frequent"), 0)
        .otherwise(F.floor(rare_before * limit / F.col("rest")))
        .alias("share"),
    )
    bins = numbered.groupBy(*key, "is_frequent", "stretch", "share").agg(
        F.min("key").alias("low"),
        F.max("key").alias("high"),
        F.sum("events").alias("events"),
        F.count("key").alias("distinct"),
    )
    return bins.select(*key, "low", "high", "events", "distinct").mapInArrow(_readable, VALUES)


def _or_zero(column: Column) -> Column:
    return F.coalesce(column, F.lit(0))


def _readable(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The bins with JSON bounds instead of sort keys."""
    for batch in batches:
        table = pa.Table.from_batches([batch])
        kinds = table["kind"].to_pylist()
        for name in ("low", "high"):
            texts = [
                msgspec.json.encode(value_of_key(Kind(kind), key)).decode()
                for kind, key in zip(kinds, table[name].to_pylist(), strict=True)
            ]
            table = table.set_column(
                table.column_names.index(name), name, pa.array(texts, pa.string())
            )
        yield from table.combine_chunks().to_batches()
