"""Subscriptions as they come in, by column: ids, texts, and what cannot be read."""

from typing import Final, NamedTuple

import msgspec
import pyarrow as pa

from boolcast.errors import UsageError

_MOST_BYTES: Final = 2**31 - 1


class Rows(NamedTuple):
    """Columns of one length; a row that cannot be read is null and has a problem."""

    subscriptions: pa.StringArray
    texts: pa.LargeStringArray
    problems: dict[int, str]


class _Line(msgspec.Struct):
    subscription: str
    filter: str


def rows_of(subscriptions: pa.Table | pa.RecordBatch | bytes) -> Rows:
    """The columns `subscription` and `filter` of a table or of JSON lines."""
    if isinstance(subscriptions, bytes):
        return _rows_of_lines(subscriptions)
    missing = {"subscription", "filter"} - set(subscriptions.schema.names)
    if missing:
        raise UsageError(f"the table lacks the column {' and '.join(sorted(missing))}")
    problems: dict[int, str] = {}
    ids = _column(subscriptions, "subscription", pa.string(), problems)
    texts = _column(subscriptions, "filter", pa.large_string(), problems)
    return Rows(ids, texts, problems)


def _rows_of_lines(lines: bytes) -> Rows:
    decoder = msgspec.json.Decoder(_Line)
    ids: list[str | None] = []
    texts: list[str | None] = []
    problems: dict[int, str] = {}
    for number, line in enumerate(lines.splitlines()):
        try:
            row = decoder.decode(line)
        except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
            problems[number] = f"the line cannot be read: {error}"
            ids.append(None)
            texts.append(None)
        else:
            ids.append(row.subscription)
            texts.append(row.filter)
    return Rows(pa.array(ids, pa.string()), pa.array(texts, pa.large_string()), problems)


def _column(
    table: pa.Table | pa.RecordBatch, name: str, type_: pa.DataType, problems: dict[int, str]
) -> pa.Array:
    """A column as one array of characters: where there are none, null and a problem."""
    column = table.column(name).cast(type_)
    if type_ == pa.string() and column.nbytes > _MOST_BYTES:
        raise UsageError("the ids take more than 2 GiB: add the table in several parts")
    if isinstance(column, pa.ChunkedArray):
        column = pa.concat_arrays([*column.chunks, pa.array([], type_)])
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
