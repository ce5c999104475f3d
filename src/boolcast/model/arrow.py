"""Events from Arrow tables and record batches, by the table in `model.conversions`."""

from collections.abc import Iterator
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from boolcast.errors import EventError
from boolcast.model.conversions import value_from_python
from boolcast.model.events import Event
from boolcast.model.values import INTEGER_MAX, INTEGER_MIN, EventValue, Opaque, Timestamp

_MICROSECONDS_PER_DAY: Final = 86_400_000_000
_MICROSECONDS_PER_UNIT: Final = {"s": 1_000_000, "ms": 1_000, "us": 1}


def events_from_arrow(rows: pa.Table | pa.RecordBatch) -> Iterator[Event]:
    """One event a row; nulls are missing. Raises EventError where two columns of a row clash."""
    batches = rows.to_batches() if isinstance(rows, pa.Table) else [rows]
    for batch in batches:
        columns = [
            column
            for name, array in zip(batch.schema.names, batch.columns, strict=True)
            for column in _columns(name, array)
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


def _columns(name: str, array: pa.Array) -> Iterator[tuple[str, list[EventValue | None]]]:
    """The attributes that one column holds, with their values: several for a struct."""
    if pa.types.is_struct(array.type):
        for field, child in zip(array.type, array.flatten(), strict=True):
            yield from _columns(f"{name}.{field.name}", child)
    else:
        yield name, _values(array)


def _values(array: pa.Array) -> list[EventValue | None]:
    kind = array.type
    if pa.types.is_dictionary(kind):
        return _values(array.dictionary_decode())
    if pa.types.is_run_end_encoded(kind):
        return _values(pc.run_end_decode(array))
    if pa.types.is_timestamp(kind):
        return [_timestamp(value, kind.unit) for value in array.cast(pa.int64()).to_pylist()]
    if pa.types.is_date32(kind):
        days = array.cast(pa.int32()).to_pylist()
        return [None if day is None else Timestamp(day * _MICROSECONDS_PER_DAY) for day in days]
    if pa.types.is_date64(kind):
        return [_timestamp(value, "ms") for value in array.cast(pa.int64()).to_pylist()]
    if _is_scalar(kind):
        return [value_from_python(value) for value in array.to_pylist()]
    opaque = Opaque(str(kind))
    return [opaque if valid else None for valid in array.is_valid().to_pylist()]


def _is_scalar(kind: Any) -> bool:
    return bool(
        pa.types.is_boolean(kind)
        or pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_decimal(kind)
        or pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_string_view(kind)
        or pa.types.is_null(kind)
    )


def _timestamp(value: int | None, unit: str) -> EventValue | None:
    if value is None:
        return None
    microseconds = value // 1_000 if unit == "ns" else value * _MICROSECONDS_PER_UNIT[unit]
    if not INTEGER_MIN <= microseconds <= INTEGER_MAX:
        return Opaque(f"timestamp[{unit}]")
    return Timestamp(microseconds)
