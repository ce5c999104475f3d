"""Subscriptions, and changes to them, from files: Parquet, or lines of JSON."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Final, NamedTuple

import msgspec
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from boolcast.errors import FileError, FilterError
from boolcast.filters.encoding import decode
from boolcast.model.json_faults import subscription_fault
from boolcast.pipeline.index.changes import DELETE, UPSERT
from boolcast.pipeline.spark.exact_columns import by_position, named
from boolcast.pipeline.spark.files import LINE, is_parquet, read_lines, read_parquet

PROBLEM: Final = "_problem"
"""The column that says why a row cannot be read, for `build_index`."""

_COLUMNS: Final = (
    "subscription string, filter string, operation string, problem string, "
    "rank struct<number: double, whole: long, text: string>"
)
"""The columns of `decode_lines`; numbers rank by `number`, then by `whole` if that is rounded."""

_RANK: Final = pa.struct([("number", pa.float64()), ("whole", pa.int64()), ("text", pa.string())])
_SCHEMA: Final = pa.schema(
    [
        ("subscription", pa.string()),
        ("filter", pa.string()),
        ("operation", pa.string()),
        ("problem", pa.string()),
        ("rank", _RANK),
    ]
)


class _Line(msgspec.Struct):
    subscription: str | int
    filter: msgspec.Raw = msgspec.Raw()
    operation: str | None = None


_LINE: Final = msgspec.json.Decoder(_Line)
_MEMBERS: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ABSENT: Final = b""
_NULL: Final = b"null"


class _Row(NamedTuple):
    """A row of `_COLUMNS`."""

    subscription: str | None
    filter: str | None
    operation: str | None = None
    problem: str | None = None
    rank: dict[str, object] | None = None


class _Unfit(Exception):  # noqa: N818 - no error: it becomes the reason of a reject
    """The line is valid JSON, but not a subscription or a change."""


def read_subscriptions(session: SparkSession, path: str, *, order: str | None = None) -> DataFrame:
    """The columns `subscription` and `filter`, from a file or a folder of files.

    A line that cannot be read has the reason in the column `PROBLEM`, and the line itself as its
    filter. `order` names a column, or a member of the lines, that is kept too. In lines, numbers
    rank by value and before strings. Raises FileError, and UsageError if a Parquet file lacks the
    order column.
    """
    return _rows(session, path, ("subscription", "filter"), order)


def read_changes(session: SparkSession, path: str, *, order: str | None = None) -> DataFrame:
    """As `read_subscriptions`, and `operation`, which Parquet may lack.

    A line without an operation is a deletion if its filter is null.
    """
    return _rows(session, path, ("subscription", "filter", "operation"), order)


def _rows(session: SparkSession, path: str, names: Sequence[str], order: str | None) -> DataFrame:
    if not is_parquet(path):
        task = partial(decode_lines, order=order)
        rows = read_lines(session, path).select(LINE).mapInArrow(task, _COLUMNS)
        columns = {name: rows[name] for name in names} | {PROBLEM: rows["problem"]}
        ranks = rows["rank"]
    else:
        frame = read_parquet(session, path)
        missing = [name for name in ("subscription", "filter") if name not in frame.columns]
        if missing:
            raise FileError(f"there is no column {' and '.join(missing)}", path=path)
        rows = by_position(frame)
        present = [name for name in names if name in frame.columns]
        columns = {name: named(frame, name).cast("string") for name in present}
        columns[PROBLEM] = F.lit(None).cast("string")
        ranks = F.lit(None) if order is None else named(frame, order)
    if order is not None:
        columns.setdefault(order, ranks)
    return rows.select(*(column.alias(name) for name, column in columns.items()))


def decode_lines(
    batches: Iterable[pa.RecordBatch], *, order: str | None
) -> Iterator[pa.RecordBatch]:
    """In a worker, a row of `_COLUMNS` for each line; `rank` is the member that `order` names.

    A line that cannot be read has a `problem`, and the faulty text as its filter. Without an
    operation, a null filter deletes and a missing filter is a problem.
    """
    for batch in batches:
        # Spark does not check that text is UTF-8.
        lines = batch.column(0).cast(pa.binary()).to_pylist()
        columns = zip(*(_decode(line, order) for line in lines), strict=True) if lines else [[]] * 5
        arrays = (pa.array(each, kind) for each, kind in zip(columns, _SCHEMA.types, strict=True))
        yield pa.record_batch(list(arrays), schema=_SCHEMA)


def _decode(line: bytes, order: str | None) -> _Row:
    try:
        line.decode()
        read = _LINE.decode(line)
        rank = None if order is None else _rank(order, bytes(_MEMBERS.decode(line).get(order, b"")))
    except (msgspec.DecodeError, UnicodeError, RecursionError, _Unfit) as error:
        return _Row(None, line.decode(errors="replace"), problem=_reason(error, line))
    subscription, data = str(read.subscription), bytes(read.filter)
    operation = read.operation or (DELETE if data == _NULL else UPSERT)
    if operation == DELETE:
        return _Row(subscription, None, operation, rank=rank)
    try:
        return _Row(subscription, _filter(data), operation, rank=rank)
    except (msgspec.DecodeError, FilterError, _Unfit) as error:
        return _Row(subscription, data.decode() or None, operation, _reason(error, data), rank)


def _filter(data: bytes) -> str | None:
    """The text of a filter, which may be written as JSON."""
    if data == _ABSENT:
        raise _Unfit("the line has no filter")
    if data == _NULL:
        return None
    return msgspec.json.decode(data, type=str) if data.startswith(b'"') else str(decode(data))


def _rank(order: str, data: bytes) -> dict[str, object] | None:
    value = None if data in (_ABSENT, _NULL) else msgspec.json.decode(data)
    match value:
        case None:
            return None
        case bool() | int() | float():
            is_whole = isinstance(value, int) and -(2**63) <= value < 2**63
            # From the text: Python refuses to convert integers that are too large for a float.
            number = float(value) if isinstance(value, bool) else float(data)
            return {"number": number, "whole": int(value) if is_whole else None}
        case str():
            return {"text": value}
        case _:
            raise _Unfit(f"{order} is neither a number nor a string, so it has no order")


def _reason(error: Exception, data: bytes) -> str:
    match error:
        case FilterError():
            return error.problem
        case UnicodeError():
            return f"the text is not valid UTF-8: {error}"
        case RecursionError():
            return "the JSON nests too deep"
        case msgspec.DecodeError():
            return subscription_fault(error, data)
        case _:
            return str(error)
