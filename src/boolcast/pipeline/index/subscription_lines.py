"""Subscriptions, and changes to them, out of lines of JSON, in a worker."""

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

import msgspec
import pyarrow as pa

from boolcast.errors import FilterError
from boolcast.filters.encoding import decode
from boolcast.model.json_faults import fault
from boolcast.pipeline.index.changes import DELETE, UPSERT

COLUMNS: Final = (
    "subscription string, filter string, operation string, problem string, "
    "rank struct<number: double, whole: long, text: string>"
)
"""What `read_lines` gives; numbers rank by `number`, and by `whole` where that is rounded."""

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
    """A row of `COLUMNS`."""

    subscription: str | None
    filter: str | None
    operation: str | None = None
    problem: str | None = None
    rank: dict[str, object] | None = None


class _Unfit(Exception):  # noqa: N818 - no error: it becomes the reason of a reject
    pass


def read_lines(batches: Iterable[pa.RecordBatch], *, order: str | None) -> Iterator[pa.RecordBatch]:
    """A row of `COLUMNS` for each line; `rank` is the member that `order` names.

    A line that cannot be read has a `problem`, and itself, or what is wrong of it, as its filter.
    Without an operation a filter that is null deletes; one that is not there is a problem.
    """
    for batch in batches:
        # Spark does not look whether it is UTF-8.
        lines = batch.column(0).cast(pa.binary()).to_pylist()
        columns = zip(*(_read(line, order) for line in lines), strict=True) if lines else [[]] * 5
        arrays = (pa.array(each, kind) for each, kind in zip(columns, _SCHEMA.types, strict=True))
        yield pa.record_batch(list(arrays), schema=_SCHEMA)


def _read(line: bytes, order: str | None) -> _Row:
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
    """The text of a filter, which may be in its JSON form."""
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
            # Of the text: a number may be larger than Python makes a float of.
            number = float(value) if isinstance(value, bool) else float(data)
            return {"number": number, "whole": int(value) if is_whole else None}
        case str():
            return {"text": value}
        case _:
            raise _Unfit(f"{order} is neither a number nor a string, and so has no order")


def _reason(error: Exception, data: bytes) -> str:
    match error:
        case FilterError():
            return error.problem
        case UnicodeError():
            return f"the text is not valid UTF-8: {error}"
        case RecursionError():
            return "the JSON nests too deep"
        case msgspec.DecodeError():
            return f"the JSON cannot be read: {fault(error, data)}"
        case _:
            return str(error)
