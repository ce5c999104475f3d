"""The generators of `boolcast.workloads` as Spark jobs, for more rows than one machine holds.

A row depends only on the workload and its own number, so the data are the same for any number of
partitions, cores and machines. A task draws one slice at a time, so its memory does not grow with
the number of rows.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Final

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import LongType, StructField, StructType

from boolcast.workloads import Workload

EVENT_ID: Final = "event"
"""The column of `events` that holds the number of the row."""


def events(
    session: SparkSession,
    workload: Workload,
    rows: int,
    *,
    start: int = 0,
    partitions: int | None = None,
    event_id: str = EVENT_ID,
) -> DataFrame:
    """The events from row `start` on: their number, and a column for each attribute.

    `event_id` names the column of the number; no attribute may have that name.
    """
    attributes = from_arrow_schema(workload.events(0, 0).schema)
    assert event_id not in attributes.names
    schema = StructType([StructField(event_id, LongType(), nullable=False), *attributes.fields])
    return _drawn(session, workload.events, schema, range(start, start + rows), partitions)


def subscriptions(
    session: SparkSession,
    workload: Workload,
    rows: int,
    *,
    start: int = 0,
    partitions: int | None = None,
) -> DataFrame:
    """The subscriptions from row `start` on: `subscription` (its id), `class` and `filter`."""
    schema = from_arrow_schema(workload.subscriptions(0, 0).schema)
    return _drawn(session, workload.subscriptions, schema, range(start, start + rows), partitions)


def _drawn(
    session: SparkSession,
    draw: Callable[[int, int], pa.Table],
    schema: StructType,
    rows: range,
    partitions: int | None,
) -> DataFrame:
    """The rows that `draw` makes; if the schema has one column more, the row numbers come first."""
    columns = len(schema.names)

    def tables(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            numbers = batch.column(0)
            if not len(numbers):
                continue
            first = numbers[0].as_py()
            # Spark's range counts up within a partition.
            assert numbers[-1].as_py() - first == len(numbers) - 1
            table = draw(first, len(numbers))
            if len(table.schema) < columns:
                table = table.add_column(0, schema.names[0], numbers)
            yield from table.combine_chunks().to_batches()

    numbers = session.range(rows.start, rows.stop, numPartitions=partitions)
    return numbers.mapInArrow(tables, schema)
