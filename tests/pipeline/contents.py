"""What an index holds and what Spark finds in it, for comparison."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import DataFrame, SparkSession

from boolcast import Matcher
from boolcast.pipeline import IndexReport

ROWS = "subscription string, filter string"


def filters_of(store: str | os.PathLike[str]) -> dict[str, str]:
    """Every subscription that an index holds, with its filter."""
    return {
        str(each.subscriptions[slot]): str(each.texts[slot])
        for each in Matcher.load(store)._state.segments
        for slot in range(len(each.sequence))
        if each.is_alive(slot)
    }


def rejected(report: IndexReport) -> dict[str | None, tuple[str | None, str]]:
    """The rejects by id; where an id has several, the last."""
    return {row.subscription: (row.filter, row.error) for row in report.rejects.collect()}


def pairs(found: DataFrame) -> list[tuple[object, str]]:
    """The matches, sorted, whatever their form."""
    if found.columns[1] == "subscriptions":
        return sorted((row[0], name) for row in found.collect() for name in row.subscriptions)
    return sorted((row[0], row.subscription) for row in found.collect())


@contextmanager
def batches_of(spark: SparkSession, rows: int) -> Iterator[None]:
    """So many rows travel to Python at a time."""
    setting = "spark.sql.execution.arrow.maxRecordsPerBatch"
    before = str(spark.conf.get(setting))
    spark.conf.set(setting, str(rows))
    try:
        yield
    finally:
        spark.conf.set(setting, before)
