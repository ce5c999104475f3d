"""Which columns hold the needed attributes, for any kind of table."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from typing import TypeVar

import pyarrow as pa

from boolcast.model.events import DEPTH_LIMIT

Item = TypeVar("Item")


def holding(
    columns: Iterable[tuple[Item, Collection[str | None]]], needed: Collection[str]
) -> list[Item]:
    """The columns, given with their attributes, that hold a needed attribute.

    Two columns with the same attribute are both included, needed or not: an event with both is
    malformed. So is an event with a column of None, which stands for too deep nesting.
    """
    listed = list(columns)
    times = Counter(name for _, names in listed for name in names)
    return [
        column
        for column, names in listed
        if any(name is None or name in needed or times[name] > 1 for name in names)
    ]


def needed_columns(schema: pa.Schema, needed: Collection[str]) -> list[str]:
    """The top-level columns of an Arrow table that hold needed attributes."""
    columns = ((field.name, tuple(_leaves(field, field.name, DEPTH_LIMIT))) for field in schema)
    return list(dict.fromkeys(holding(columns, needed)))


def attributes_of(schema: pa.Schema) -> frozenset[str | None]:
    """All attributes in the columns of an Arrow table."""
    return frozenset(name for field in schema for name in _leaves(field, field.name, DEPTH_LIMIT))


def _leaves(field: pa.Field, name: str, depth: int) -> Iterator[str | None]:
    """The attributes of a column; None for fields that nest too deep."""
    if not depth:
        yield None
    elif pa.types.is_struct(field.type):
        for each in field.type:
            yield from _leaves(each, f"{name}.{each.name}", depth - 1)
    else:
        yield name
