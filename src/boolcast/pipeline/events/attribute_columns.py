"""Which columns tell the attributes that are needed, for columns of any kind of table."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from typing import TypeVar

import pyarrow as pa

from boolcast.model.events import DEPTH_LIMIT

Item = TypeVar("Item")


def telling(
    columns: Iterable[tuple[Item, Collection[str | None]]], needed: Collection[str]
) -> list[Item]:
    """Those of some columns, given with the attributes they tell, that tell needed ones.

    Where two columns give the same attribute both are among them, needed or not: an event with
    both is malformed. So is one of a column that tells None, an attribute no event can have.
    """
    listed = list(columns)
    times = Counter(name for _, names in listed for name in names)
    return [
        column
        for column, names in listed
        if any(name is None or name in needed or times[name] > 1 for name in names)
    ]


def needed_columns(schema: pa.Schema, needed: Collection[str]) -> list[str]:
    """The columns of an Arrow table in which needed attributes are, each as a whole."""
    columns = ((field.name, tuple(_leaves(field, field.name, DEPTH_LIMIT))) for field in schema)
    return list(dict.fromkeys(telling(columns, needed)))


def attributes_of(schema: pa.Schema) -> frozenset[str | None]:
    """All attributes that the columns of an Arrow table tell."""
    return frozenset(name for field in schema for name in _leaves(field, field.name, DEPTH_LIMIT))


def _leaves(field: pa.Field, name: str, depth: int) -> Iterator[str | None]:
    """The attributes that a column tells; None for what nests too deep."""
    if not depth:
        yield None
    elif pa.types.is_struct(field.type):
        for each in field.type:
            yield from _leaves(each, f"{name}.{each.name}", depth - 1)
    else:
        yield name
