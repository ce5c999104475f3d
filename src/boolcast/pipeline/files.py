"""Files of events and subscriptions as DataFrames: Parquet, and JSON lines."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from boolcast.errors import FileError, FilterError, UsageError
from boolcast.filters.encoding import decode
from boolcast.pipeline.parquet_reading import parquet_files
from boolcast.pipeline.travel import Events

LINE: Final = "value"
"""The column that holds a line of JSON."""

_PATTERN: Final = re.compile(r"[\\\[\]{}*?]")
_SUBSCRIPTIONS: Final = "subscription string, filter string"
_SCHEMA: Final = pa.schema([("subscription", pa.string()), ("filter", pa.string())])
_MAGIC: Final = b"PAR1"


class _Line(msgspec.Struct):
    subscription: str | int
    filter: msgspec.Raw


class History(NamedTuple):
    """Events, and the column that holds them as JSON; None if they are columns."""

    events: Events
    json: str | None


def read_events(session: SparkSession, path: str) -> History:
    """Events of a file or a folder of files. Raises FileError.

    Workers read local Parquet files themselves, unless folders are partitions.
    """
    if not is_parquet(path):
        return History(_lines(session, path), LINE)
    frame = _parquet(session, path)
    if "://" in path:
        return History(frame, None)
    try:
        return History(parquet_files(session, literal(path)), None)
    except UsageError:
        return History(frame, None)


def read_subscriptions(session: SparkSession, path: str) -> DataFrame:
    """The columns `subscription` and `filter`, from a file or a folder of files.

    A line that cannot be read has no id, and the line itself as its filter, so that it is
    rejected wherever subscriptions are. Raises FileError.
    """
    if not is_parquet(path):
        return _lines(session, path).mapInArrow(_subscriptions, _SUBSCRIPTIONS)
    frame = _parquet(session, path)
    missing = [name for name in ("subscription", "filter") if name not in frame.columns]
    if missing:
        raise FileError(f"there is no column {' and '.join(missing)}", path=path)
    return frame.select(*(frame[name].cast("string").alias(name) for name in _SCHEMA.names))


def is_parquet(path: str) -> bool:
    """True of Parquet, False of lines, by the first file there is. Raises FileError.

    What is elsewhere than in local files is told by its name, and else taken as Parquet.
    """
    if "://" in path:
        return not path.rstrip("/").endswith((".jsonl", ".json", ".ndjson", ".gz"))
    place = Path(path)
    if not place.exists():
        raise FileError("there is no such file", path=path)
    files = [place] if place.is_file() else sorted(_data_files(place))
    if not files:
        raise FileError("there are no files in this folder", path=path)
    try:
        with files[0].open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError as error:
        raise FileError(error.strerror or str(error), path=str(files[0])) from None


def literal(path: str) -> str:
    """A local path as Spark's readers take it, which find patterns in it: [1], {a,b}, *."""
    return path if "://" in path else _PATTERN.sub(r"\\\g<0>", path)


def _data_files(folder: Path) -> Iterator[Path]:
    """Without what Spark passes over: marks, checksums and logs, in folders of such names too."""
    for path in folder.rglob("*"):
        if not any(map(_is_hidden, path.relative_to(folder).parts)) and path.is_file():
            yield path


def _is_hidden(part: str) -> bool:
    # A folder _day=1 is a partition.
    return part.startswith(".") or (part.startswith("_") and "=" not in part)


def _parquet(session: SparkSession, path: str) -> DataFrame:
    try:
        return session.read.parquet(literal(path))
    except (PySparkException, Py4JError):
        # What Spark says of it is a trace of many lines.
        raise FileError("Spark cannot read it as Parquet; is it damaged?", path=path) from None


def _lines(session: SparkSession, path: str) -> DataFrame:
    lines = session.read.text(literal(path))
    return lines.where(lines[LINE].rlike(r"\S"))


def _subscriptions(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        rows = [_subscription(line) for line in batch.column(0).to_pylist()]
        columns = zip(*rows, strict=True) if rows else ([], [])
        yield pa.record_batch([pa.array(each, pa.string()) for each in columns], schema=_SCHEMA)


def _subscription(line: str) -> tuple[str | None, str]:
    """Id and text; the filter of a line may be text, or the JSON form of a filter."""
    try:
        read = msgspec.json.decode(line, type=_Line)
        data = bytes(read.filter)
        text = msgspec.json.decode(data, type=str) if data.startswith(b'"') else str(decode(data))
    except (msgspec.DecodeError, UnicodeError, RecursionError, FilterError):
        return None, line
    return str(read.subscription), text
