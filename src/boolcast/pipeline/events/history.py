"""Event history from files: Parquet, or lines of JSON."""

from typing import NamedTuple

from pyspark.sql import SparkSession

from boolcast.errors import UsageError
from boolcast.pipeline.events.parquet_reading import Events, parquet_files
from boolcast.pipeline.spark.files import LINE, is_parquet, literal, read_lines, read_parquet


class History(NamedTuple):
    """Events, and the column that holds them as JSON; None if the columns are the attributes."""

    events: Events
    json: str | None


def read_events(session: SparkSession, path: str) -> History:
    """The events of a file or a folder of files. Raises FileError.

    Workers read local Parquet files themselves, unless they lie in partition folders.
    """
    if not is_parquet(path):
        return History(read_lines(session, path), LINE)
    frame = read_parquet(session, path)
    if "://" in path:
        return History(frame, None)
    try:
        return History(parquet_files(session, literal(path)), None)
    except UsageError:
        return History(frame, None)
