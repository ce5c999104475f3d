"""Which columns of an event travel to Python: those that the index looks at, flat.

A struct's fields are attributes under dotted names, so each that is needed becomes a column of
its own. Spark does that, and reads no other field from Parquet.
"""

from collections.abc import Collection, Iterator
from typing import Final, NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it
from pyspark.sql.types import (
    BooleanType,
    CharType,
    DataType,
    DateType,
    NullType,
    NumericType,
    StringType,
    StructType,
    TimestampNTZType,
    TimestampType,
    VarcharType,
)

from boolcast.errors import UsageError
from boolcast.model.events import DEPTH_LIMIT
from boolcast.pipeline.events.attribute_columns import telling
from boolcast.pipeline.spark.exact_columns import at

_KNOWN: Final = (
    BooleanType,
    NumericType,
    StringType,
    CharType,
    VarcharType,
    DateType,
    TimestampType,
    TimestampNTZType,
)


class Attribute(NamedTuple):
    """A column of events; `name` is the attribute, or what the names of a struct's begin with."""

    name: str
    column: Column


def attributes_of(events: DataFrame, needed: Collection[str]) -> list[Attribute]:
    """The columns that tell the needed attributes, in terms of `by_place`.

    Where two columns give the same attribute both are among them, needed or not: an event with
    both is malformed.
    """
    return [leaf.attribute for leaf in _needed_leaves(events, needed)]


def columns_of(events: DataFrame, needed: Collection[str]) -> list[str]:
    """The columns in which the needed attributes are, as `attributes_of`, each as a whole."""
    return list(dict.fromkeys(leaf.column for leaf in _needed_leaves(events, needed)))


def _needed_leaves(events: DataFrame, needed: Collection[str]) -> list["_Leaf"]:
    return telling(((leaf, leaf.names) for leaf in _all_leaves(events)), needed)


def names_of(events: DataFrame) -> frozenset[str]:
    """All attributes that the columns tell."""
    return frozenset(name for leaf in _all_leaves(events) for name in leaf.names)


class _Leaf(NamedTuple):
    """What travels, the attributes that it tells, and the column of the events that it is from."""

    attribute: Attribute
    names: frozenset[str]
    column: str = ""


def _all_leaves(events: DataFrame) -> Iterator[_Leaf]:
    for place, field in enumerate(events.schema.fields):
        for leaf in _leaves(field.name, field.dataType, at(place), DEPTH_LIMIT):
            yield leaf._replace(column=field.name)


def _leaves(name: str, kind: DataType, column: Column, depth: int) -> Iterator[_Leaf]:
    if not depth:
        raise UsageError(f"the column {name[:40]!r}… nests deeper than {DEPTH_LIMIT} levels")
    if isinstance(kind, StructType):
        fields = {field.name.casefold(): field for field in kind.fields}
        leaves = [
            leaf
            for field in kind.fields
            for leaf in _leaves(
                f"{name}.{field.name}", field.dataType, column.getField(field.name), depth - 1
            )
        ]
        if len(fields) == len(kind.fields):
            yield from leaves
        else:
            # Spark cannot tell fields apart that differ in case only: the worker can.
            yield _Leaf(
                Attribute(name, column), frozenset().union(*(each.names for each in leaves))
            )
    elif isinstance(kind, _KNOWN):
        yield _Leaf(Attribute(name, column), frozenset((name,)))
    elif not isinstance(kind, NullType):
        # Of a value of no known kind it matters only that it is there.
        present = F.when(column.isNotNull(), F.lit(bytearray()))
        yield _Leaf(Attribute(name, present), frozenset((name,)))
