"""Event ids that have another type than the ids of the results: the same id, or none.

An id is converted if it survives the way to the other type and back, so that no two ids become
one: 7 may become '7', and '7' may become 7, but '007' may not. Text and bytes convert into each
other if they are valid UTF-8, and a UUID converts into its text. Times, dates, booleans and nested
values have no agreed text, so they are only ids of their own type.
"""

from collections.abc import Mapping
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from boolcast.model.arrow import decoded, is_binary, is_string, without_views

_KIN = ({"number", "text"}, {"bytes", "text"}, {"UUID", "text"}, {"UUID", "bytes"})
"""Families of types whose ids may convert into each other."""


class Ids(NamedTuple):
    """Ids of the wanted type; null if the id was null or is among the `problems`, by row."""

    array: pa.Array
    problems: Mapping[int, str]


def may_convert(found: pa.DataType, wanted: pa.DataType) -> bool:
    """True if some ids of one type may convert to the other."""
    families = _family(found), _family(wanted)
    return families[0] == families[1] or set(families) in _KIN or pa.types.is_null(found)


def ids_of(column: pa.Array, wanted: pa.DataType, name: str) -> Ids:
    """The ids of a column; `name` is the wanted type's name for messages."""
    column = _plain(column, wanted)
    if column.type == wanted and not is_string(wanted):
        return Ids(column, {})
    return _ids(column, wanted, name, 0)


def _plain(column: pa.Array, wanted: pa.DataType) -> pa.Array:
    """The same ids in types that Arrow can cast: variable-length bytes, the text of UUIDs."""
    column = without_views(decoded(column))
    if isinstance(column.type, pa.UuidType) and not is_binary(wanted):
        texts = (None if value is None else str(value) for value in column.to_pylist())
        return pa.array(texts, pa.string())
    if isinstance(column.type, pa.BaseExtensionType):
        return _plain(column.storage, wanted)
    return column.cast(pa.binary()) if pa.types.is_fixed_size_binary(column.type) else column


def _ids(column: pa.Array, wanted: pa.DataType, name: str, first: int) -> Ids:
    """Halve until all ids of a slice convert, or a single one does not."""
    array = _cast(column, wanted)
    if array is not None:
        return Ids(array, {})
    if len(column) == 1:
        problem = f"the id {_text(column)} cannot become type {name}"
        return Ids(pa.nulls(1, wanted), {first: problem})
    half = len(column) // 2
    left = _ids(column.slice(0, half), wanted, name, first)
    right = _ids(column.slice(half), wanted, name, first + half)
    return Ids(pa.concat_arrays([left.array, right.array]), {**left.problems, **right.problems})


def _cast(column: pa.Array, wanted: pa.DataType) -> pa.Array | None:
    """The ids in the other type; None if one of them changes."""
    try:
        array = column.cast(wanted)
        # Arrow's cast does not check that strings are valid.
        array.validate(full=True)
        if pa.types.is_nested(wanted) or pa.types.is_null(column.type):
            # Arrow cannot compare such values.
            return array
        is_same = pc.all(pc.equal(array.cast(column.type), column)).as_py()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None
    # It is None if all ids are null.
    return None if is_same is False else array


def _text(column: pa.Array) -> str:
    """The only id of a column, for messages."""
    try:
        return repr(column[0].as_py())
    except UnicodeDecodeError:
        return repr(column.cast(pa.large_binary())[0].as_py())
    except (ValueError, OverflowError):
        # Years that Python cannot represent.
        return str(column.cast(pa.int64())[0].as_py())


def _family(kind: pa.DataType) -> str:
    """The family of a type; types of one family convert into each other."""
    types = pa.types
    if types.is_dictionary(kind) or types.is_run_end_encoded(kind):
        return _family(kind.value_type)
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return "number"
    if is_string(kind):
        return "text"
    if isinstance(kind, pa.UuidType):
        return "UUID"
    if isinstance(kind, pa.BaseExtensionType):
        return _family(kind.storage_type)
    if is_binary(kind):
        return "bytes"
    if types.is_timestamp(kind) or types.is_date(kind):
        return "timestamp"
    if types.is_duration(kind):
        return "duration"
    if types.is_struct(kind):
        return f"struct of {', '.join(f'{each.name} {_family(each.type)}' for each in kind)}"
    if types.is_map(kind):
        return f"map of {_family(kind.key_type)} to {_family(kind.item_type)}"
    if types.is_list(kind) or types.is_large_list(kind):
        return f"list of {_family(kind.value_type)}"
    return str(kind)
