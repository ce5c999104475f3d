"""Runs of an experiment spread by Spark: a row for each, and a task for each row.

A run takes minutes and needs nothing but its order, so Spark has only to hand out orders. They
and what comes back are JSON in one column, whatever the experiment.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession, functions

_RESULT: Final = "result string"


def orders_of(spark: SparkSession, orders: Sequence[str]) -> DataFrame:
    """A row `order` for each, in a partition of its own, which are started in this order."""
    rows = spark.range(0, len(orders), 1, numPartitions=len(orders))
    texts = functions.array(*(functions.lit(order) for order in orders))
    return rows.select(functions.get(texts, functions.col("id").cast("int")).alias("order"))


def carried_out(orders: DataFrame, carry_out: Callable[[str], str]) -> DataFrame:
    """A row `result` for each order; `carry_out` must be one that workers can import."""

    def results(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for order in batch.column("order").to_pylist():
                yield pa.RecordBatch.from_pydict({"result": [carry_out(order)]})

    return orders.mapInArrow(results, _RESULT)


def spread(
    spark: SparkSession, carry_out: Callable[[str], str], orders: Sequence[str]
) -> list[str]:
    """The results of all orders, each in the place of its order."""
    if not orders:
        return []
    return [row["result"] for row in carried_out(orders_of(spark, orders), carry_out).collect()]
