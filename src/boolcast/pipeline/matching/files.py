"""Files of events and subscriptions as DataFrames: Parquet, and JSON lines."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile
from typing import Final, NamedTuple

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from boolcast.errors import FileError, OutputError, UsageError
from boolcast.pipeline.events.column_selection import Events
from boolcast.pipeline.events.parquet_reading import parquet_files
from boolcast.pipeline.index.subscription_lines import COLUMNS as LINE_COLUMNS
from boolcast.pipeline.index.subscription_lines import read_lines
from boolcast.pipeline.spark.exact_columns import by_place, named
from boolcast.pipeline.spark.paths import is_hidden, literal

LINE: Final = "value"
"""The column that holds a line of JSON."""

PROBLEM: Final = "_problem"
"""The column that says why a row of subscriptions cannot be read, for `build_index`."""

_MAGIC: Final = b"PAR1"


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


def read_subscriptions(session: SparkSession, path: str, *, order: str | None = None) -> DataFrame:
    """The columns `subscription` and `filter`, from a file or a folder of files.

    A line that cannot be read has the reason in the column `PROBLEM`, and the line itself as its
    filter. The column, or member of the lines, that `order` names is kept too: of lines as what
    ranks them, numbers by value and before strings. Raises FileError, and UsageError if Parquet
    lacks the column of the order.
    """
    return _rows(session, path, ("subscription", "filter"), order)


def read_changes(session: SparkSession, path: str, *, order: str | None = None) -> DataFrame:
    """As `read_subscriptions`, and `operation`, which Parquet may lack.

    A line without an operation asks for a deletion if its filter is null.
    """
    return _rows(session, path, ("subscription", "filter", "operation"), order)


def _rows(session: SparkSession, path: str, names: Sequence[str], order: str | None) -> DataFrame:
    if not is_parquet(path):
        task = partial(read_lines, order=order)
        rows = _lines(session, path).select(LINE).mapInArrow(task, LINE_COLUMNS)
        columns = {name: rows[name] for name in names} | {PROBLEM: rows["problem"]}
        ranks = rows["rank"]
    else:
        frame = _parquet(session, path)
        missing = [name for name in ("subscription", "filter") if name not in frame.columns]
        if missing:
            raise FileError(f"there is no column {' and '.join(missing)}", path=path)
        rows = by_place(frame)
        present = [name for name in names if name in frame.columns]
        columns = {name: named(frame, name).cast("string") for name in present}
        columns[PROBLEM] = F.lit(None).cast("string")
        ranks = F.lit(None) if order is None else named(frame, order)
    if order is not None:
        columns.setdefault(order, ranks)
    return rows.select(*(column.alias(name) for name, column in columns.items()))


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


def check_writable(place: str) -> None:
    """Make a local folder, and raise OutputError if nothing can be written there.

    Asked beforehand: Spark finds out late, and says so in hundreds of lines.
    """
    if "://" in place:
        return
    try:
        Path(place).mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=place):
            pass
    except OSError as error:
        raise OutputError(f"cannot write {place}: {error.strerror or error}") from None


def _data_files(folder: Path) -> Iterator[Path]:
    """Without what Spark passes over, in folders of such names too."""
    for path in folder.rglob("*"):
        if not any(map(is_hidden, path.relative_to(folder).parts)) and path.is_file():
            yield path


def _parquet(session: SparkSession, path: str) -> DataFrame:
    try:
        return session.read.parquet(literal(path))
    except (PySparkException, Py4JError):
        # What Spark says of it is a trace of many lines.
        raise FileError("Spark cannot read it as Parquet; is it damaged?", path=path) from None


def _lines(session: SparkSession, path: str) -> DataFrame:
    lines = session.read.text(literal(path))
    return lines.where(lines[LINE].rlike(r"\S"))
