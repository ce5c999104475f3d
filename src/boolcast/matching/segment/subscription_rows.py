"""Subscriptions as given, in columns: ids, texts, and rows that cannot be read."""

from typing import Final, NamedTuple, TypeAlias

import msgspec
import pyarrow as pa

from boolcast.errors import ArgumentError, UsageError
from boolcast.model.arrow import decoded

_MOST_BYTES: Final = 2**31 - 1


Subscriptions: TypeAlias = "pa.Table | pa.RecordBatch | pa.RecordBatchReader | bytes"
"""Many subscriptions: Arrow, or JSON lines as bytes."""


class Rows(NamedTuple):
    """Columns of one length; a row that cannot be read is null and has a problem.

    A blank line is a row in `blank`, so that the others are numbered as the lines are.
    """

    subscriptions: pa.StringArray
    texts: pa.LargeStringArray
    problems: dict[int, str]
    blank: frozenset[int] = frozenset()


class _Line(msgspec.Struct):
    subscription: str | int
    filter: str


def rows_of(subscriptions: Subscriptions) -> Rows:
    """The columns `subscription` and `filter` of a table or of JSON lines.

    A number as an id is taken as its text. Raises ArgumentError for other types, and UsageError
    for a table that has no such columns.
    """
    if isinstance(subscriptions, bytes):
        return _rows_of_lines(subscriptions)
    if isinstance(subscriptions, pa.RecordBatchReader):
        subscriptions = subscriptions.read_all()
    if not isinstance(subscriptions, pa.Table | pa.RecordBatch):
        raise ArgumentError(
            "subscriptions are an Arrow Table, RecordBatch or RecordBatchReader, or JSON lines as"
            " bytes",
            subscriptions,
        )
    missing = sorted({"subscription", "filter"}.difference(subscriptions.schema.names))
    if missing:
        names = " and ".join(f"`{name}`" for name in missing)
        noun, verb = ("columns", "are") if len(missing) > 1 else ("column", "is")
        raise UsageError(f"the {noun} {names} {verb} missing from the table")
    for name in ("subscription", "filter"):
        if subscriptions.schema.names.count(name) > 1:
            raise UsageError(f"the table has several columns {name}")
    problems: dict[int, str] = {}
    ids = _column(subscriptions, "subscription", pa.string(), problems)
    texts = _column(subscriptions, "filter", pa.large_string(), problems)
    return Rows(ids, texts, problems)


def _rows_of_lines(lines: bytes) -> Rows:
    decoder = msgspec.json.Decoder(_Line)
    ids: list[str | None] = []
    texts: list[str | None] = []
    problems: dict[int, str] = {}
    blank: set[int] = set()
    for number, line in enumerate(lines.splitlines()):
        name = text = None
        if not line.strip():
            blank.add(number)
        else:
            try:
                row = decoder.decode(line)
                name, text = str(row.subscription), row.filter
            except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
                problems[number] = f"the line cannot be read: {error}"
        ids.append(name)
        texts.append(text)
    return Rows(
        pa.array(ids, pa.string()),
        pa.array(texts, pa.large_string()),
        problems,
        frozenset(blank),
    )


def _column(
    table: pa.Table | pa.RecordBatch, name: str, type_: pa.DataType, problems: dict[int, str]
) -> pa.Array:
    """A column as one string array; bytes that are not UTF-8 become null and a problem."""
    given = table.column(name)
    chunks = given.chunks if isinstance(given, pa.ChunkedArray) else [given]
    try:
        # Not safe: bytes that are no UTF-8 are found below, with their row.
        chunks = [decoded(chunk).cast(type_, safe=False) for chunk in chunks]
    except pa.ArrowException as error:
        raise UsageError(f"the column {name} cannot be read as text: {error}") from None
    if type_ == pa.string() and sum(chunk.nbytes for chunk in chunks) > _MOST_BYTES:
        raise UsageError("the ids take more than 2 GiB: add the table in several parts")
    column = pa.concat_arrays([*chunks, pa.array([], type_)])
    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        values: list[str | None] = []
        for number, each in enumerate(column):
            try:
                values.append(each.as_py())
            except UnicodeDecodeError:
                values.append(None)
                problems[number] = f"the {name} is not UTF-8"
        column = pa.array(values, type_)
    return column
