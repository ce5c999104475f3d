"""Ids of events that come in another type than the results have: the same id, or none.

An id is taken over if it survives the way to the type of the results and back unchanged, so that
no two ids become one: 7 may be '7', and '7' may be 7, but '007' may not.
"""

from collections.abc import Mapping
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from boolcast.model.arrow import decoded


class Ids(NamedTuple):
    """Ids of the type that was asked for; null where there was none, or one of the problems."""

    array: pa.Array
    problems: Mapping[int, str]


def may_be(found: pa.DataType, wanted: pa.DataType) -> bool:
    """True if ids of a type may be ids of another at all."""
    families = {_family(found), _family(wanted)}
    return len(families) == 1 or families == {"number", "text"} or pa.types.is_null(found)


def ids_of(column: pa.Array, wanted: pa.DataType, name: str) -> Ids:
    """The ids of a column; `name` is what people call the type."""
    column = decoded(column)
    if column.type == wanted and _family(wanted) != "text":
        return Ids(column, {})
    return _ids(column, wanted, name, 0)


def _ids(column: pa.Array, wanted: pa.DataType, name: str, first: int) -> Ids:
    """Halve until all ids of a part can be taken, or it is a single one that cannot."""
    array = _cast(column, wanted)
    if array is not None:
        return Ids(array, {})
    if len(column) == 1:
        problem = f"the id {_text(column[0])} cannot be of type {name}"
        return Ids(pa.nulls(1, wanted), {first: problem})
    half = len(column) // 2
    left = _ids(column.slice(0, half), wanted, name, first)
    right = _ids(column.slice(half), wanted, name, first + half)
    return Ids(pa.concat_arrays([left.array, right.array]), {**left.problems, **right.problems})


def _cast(column: pa.Array, wanted: pa.DataType) -> pa.Array | None:
    """The ids in the other type; None if one of them is another id there."""
    try:
        array = column.cast(wanted)
        # Arrow itself does not look if strings are valid.
        array.validate(full=True)
        if pa.types.is_nested(wanted) or pa.types.is_null(column.type):
            # Arrow compares no such values.
            return array
        is_same = pc.all(pc.equal(array.cast(column.type), column)).as_py()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None
    # Of nulls alone nothing is said.
    return None if is_same is False else array


def _text(value: pa.Scalar) -> str:
    try:
        return repr(value.as_py())
    except ValueError:
        # Strings that are none, and years that Python does not know.
        return "of this event"


def _family(kind: pa.DataType) -> str:
    types = pa.types
    if types.is_dictionary(kind):
        return _family(kind.value_type)
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return "number"
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return "text"
    if types.is_timestamp(kind) or types.is_date(kind):
        return "timestamp"
    return str(kind)
