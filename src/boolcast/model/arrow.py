"""Events from Arrow tables and record batches, by the table of conversions in `model.values`."""

from collections.abc import Callable, Iterator
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from boolcast.errors import EventError
from boolcast.model.events import DEPTH_LIMIT, Event
from boolcast.model.values import (
    INTEGER_MAX,
    INTEGER_MIN,
    EventValue,
    Opaque,
    Timestamp,
    value_from_python,
)

_DAY: Final = 86_400_000_000
_MICROSECONDS: Final[dict[str, Callable[[int], int]]] = {
    "s": lambda seconds: seconds * 1_000_000,
    "ms": lambda milliseconds: milliseconds * 1_000,
    "us": lambda microseconds: microseconds,
    "ns": lambda nanoseconds: nanoseconds // 1_000,
    "date32": lambda days: days * _DAY,
    "date64": lambda milliseconds: milliseconds * 1_000 // _DAY * _DAY,
}


def events_from_arrow(rows: pa.Table | pa.RecordBatch) -> Iterator[Event]:
    """One event a row; nulls are missing. Raises EventError where two columns of a row clash."""
    batches = rows.to_batches() if isinstance(rows, pa.Table) else [rows]
    for batch in batches:
        columns = [
            column
            for name, array in zip(batch.schema.names, batch.columns, strict=True)
            for column in _columns(name, array, DEPTH_LIMIT)
        ]
        for row in range(batch.num_rows):
            event = Event()
            for name, values in columns:
                value = values[row]
                if value is None:
                    continue
                if name in event:
                    raise EventError("two columns give the attribute a value", attribute=name)
                event[name] = value
            yield event


def columns_of(batch: pa.RecordBatch) -> dict[str, list[EventValue | None]]:
    """The values of each attribute, row by row; where two columns give one, they are united.

    Raises EventError where both have a value in the same row.
    """
    columns: dict[str, list[EventValue | None]] = {}
    for name, array in zip(batch.schema.names, batch.columns, strict=True):
        for attribute, values in _columns(name, array, DEPTH_LIMIT):
            known = columns.get(attribute)
            columns[attribute] = values if known is None else _united(attribute, known, values)
    return columns


def _united(
    attribute: str, left: list[EventValue | None], right: list[EventValue | None]
) -> list[EventValue | None]:
    united: list[EventValue | None] = []
    for row, (one, other) in enumerate(zip(left, right, strict=True)):
        if one is not None and other is not None:
            raise EventError(f"two columns give row {row} a value", attribute=attribute)
        united.append(other if one is None else one)
    return united


def _columns(
    name: str, array: pa.Array, depth: int
) -> Iterator[tuple[str, list[EventValue | None]]]:
    """The attributes that one column holds, with their values: several for a struct."""
    if not depth:
        raise EventError(f"the event nests deeper than {DEPTH_LIMIT} levels")
    array = decoded(array)
    if pa.types.is_struct(array.type):
        for field, child in zip(array.type, array.flatten(), strict=True):
            yield from _columns(f"{name}.{field.name}", child, depth - 1)
        return
    try:
        values = _values(array)
    except UnicodeDecodeError:
        raise EventError("a string is not valid UTF-8", attribute=name) from None
    yield name, values


def decoded(array: pa.Array) -> pa.Array:
    """The values that a dictionary or run-end encoded array stands for."""
    if pa.types.is_dictionary(array.type):
        values = without_views(array.dictionary)
        return decoded(pa.DictionaryArray.from_arrays(array.indices, values).dictionary_decode())
    if pa.types.is_run_end_encoded(array.type):
        runs = pa.RunEndEncodedArray.from_arrays(array.run_ends, without_views(array.values))
        return decoded(pc.run_end_decode(runs.slice(array.offset, len(array))))
    return array


def without_views(array: pa.Array) -> pa.Array:
    """The same values without views, which Arrow can neither decode nor take single rows of.

    JSON is what it is stored as.
    """
    kind = _type_without_views(array.type)
    return array if kind == array.type else array.cast(kind)


def _type_without_views(kind: pa.DataType) -> pa.DataType:
    types = pa.types
    if types.is_string_view(kind):
        return pa.large_string()
    if types.is_binary_view(kind):
        return pa.large_binary()
    if isinstance(kind, pa.JsonType):
        return _type_without_views(kind.storage_type)
    if types.is_struct(kind):
        return pa.struct([each.with_type(_type_without_views(each.type)) for each in kind])
    if types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_type_without_views(kind.value_type)))
    return kind


def _type_of_values(kind: pa.DataType) -> pa.DataType:
    """The type of the values within a dictionary or run-end encoding."""
    while pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        kind = kind.value_type
    return kind


def is_string(kind: pa.DataType) -> bool:
    """True for types of strings, encoded ones included."""
    types, kind = pa.types, _type_of_values(kind)
    return bool(
        types.is_string(kind)
        or types.is_large_string(kind)
        or types.is_string_view(kind)
        or isinstance(kind, pa.JsonType)
    )


def is_binary(kind: pa.DataType) -> bool:
    """True for types of bytes, encoded ones included."""
    types, kind = pa.types, _type_of_values(kind)
    return bool(
        types.is_binary(kind)
        or types.is_large_binary(kind)
        or types.is_binary_view(kind)
        or types.is_fixed_size_binary(kind)
    )


def _values(array: pa.Array) -> list[EventValue | None]:
    kind = array.type
    if pa.types.is_timestamp(kind):
        return _timestamps(array.cast(pa.int64()), kind.unit)
    if pa.types.is_date32(kind):
        return _timestamps(array.cast(pa.int32()), "date32")
    if pa.types.is_date64(kind):
        return _timestamps(array.cast(pa.int64()), "date64")
    if _is_scalar(kind):
        return [value_from_python(value) for value in array.to_pylist()]
    opaque = Opaque(str(kind))
    return [opaque if valid else None for valid in array.is_valid().to_pylist()]


def _timestamps(array: pa.Array, unit: str) -> list[EventValue | None]:
    convert = _MICROSECONDS[unit]
    out_of_range = Opaque(unit)

    def timestamp(ticks: int) -> EventValue:
        microseconds = convert(ticks)
        is_within = INTEGER_MIN <= microseconds <= INTEGER_MAX
        return Timestamp(microseconds) if is_within else out_of_range

    return [None if ticks is None else timestamp(ticks) for ticks in array.to_pylist()]


def _is_scalar(kind: Any) -> bool:
    return bool(
        pa.types.is_boolean(kind)
        or pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_decimal(kind)
        or pa.types.is_null(kind)
        or is_string(kind)
    )
