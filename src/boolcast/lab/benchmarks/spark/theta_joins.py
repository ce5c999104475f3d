"""Filters of any shape as one theta join: what Spark alone can do with many shapes.

Each filter is converted to disjunctive normal form, and each conjunction becomes a row. For every
attribute, the row has a list of values, bounds, a prefix, values to avoid and a null test; those
that the conjunction does not use are null. One condition serves all rows, whatever the shape of
their filter. They share no equality, so every event is compared with every row.
"""

from collections.abc import Callable, Iterable
from functools import reduce
from operator import and_
from typing import Any, Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's users know

from boolcast.algebra.normal_forms import to_dnf
from boolcast.filters.expressions import (
    Between,
    Comparison,
    Filter,
    In,
    IsNull,
    Leaf,
    Like,
    StringTest,
)
from boolcast.lab.benchmarks.spark.joins import SUBSCRIPTION, Tables, python_of

_TESTS: Final[dict[str, Callable[[Column, Column], Column]]] = {
    "in": lambda value, constant: F.array_contains(constant, value),
    "prefix": F.startswith,
    "ge": lambda value, constant: value >= constant,
    "gt": lambda value, constant: value > constant,
    "le": lambda value, constant: value <= constant,
    "lt": lambda value, constant: value < constant,
    "avoid": lambda value, constant: ~F.array_contains(constant, value),
    "null": lambda value, constant: value.isNull() == constant,
}
"""The tests of an attribute, the most selective first."""

_COMPARISONS: Final = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge"}

Row = dict[tuple[str, str], Any]


def theta_table(tables: Tables, filters: Iterable[tuple[int, Filter]]) -> DataFrame:
    """A row for each conjunction of numbered filters, and a column for each test."""
    rows: list[tuple[int, Row]] = []
    for number, filter in filters:
        normal = to_dnf(filter)
        assert not normal.exhausted
        rows += [(number, row) for row in map(_row, normal.clauses) if row is not None]
    asked = {key for _, row in rows for key in row}
    columns: dict[str, list[object]] = {SUBSCRIPTION: [number for number, _ in rows]}
    for test in _TESTS:
        for attribute in sorted(name for name, kind in asked if kind == test):
            columns[f"{test}_{attribute}"] = [row.get((attribute, test)) for _, row in rows]
    return tables.of_columns(columns)


def theta_matched(events: DataFrame, table: DataFrame, event_id: str) -> DataFrame:
    """The column `subscription` with a row for each match; a match of two rows counts once."""
    constants = F.broadcast(table)
    conditions: list[Column] = []
    for name in table.columns:
        if name != SUBSCRIPTION:
            test, attribute = name.split("_", 1)
            asked = constants[name]
            conditions.append(asked.isNull() | _TESTS[test](events[attribute], asked))
    pairs = events.join(constants, reduce(and_, conditions)).select(event_id, SUBSCRIPTION)
    return pairs.distinct().select(SUBSCRIPTION)


def _row(clause: tuple[Leaf, ...]) -> Row | None:
    """The conjunction as a row; None if it contradicts itself."""
    row: Row = {}
    for leaf in clause:
        for test, constant in _asked(leaf):
            key = (leaf.attribute, test)
            both = _both(test, row[key], constant) if key in row else constant
            if both is None:
                return None
            row[key] = both
    return row


def _asked(leaf: Leaf) -> list[tuple[str, Any]]:
    match leaf:
        case Comparison(_, "=", value):
            return [("in", [python_of(value)])]
        case Comparison(_, "!=", value):
            return [("avoid", [python_of(value)])]
        case Comparison(_, operator, value):
            return [(_COMPARISONS[operator], python_of(value))]
        case Between(_, low, high, False):
            return [("ge", python_of(low)), ("le", python_of(high))]
        case In(_, values, False):
            return [("in", [python_of(value) for value in values])]
        case IsNull(_, negated):
            return [("null", not negated)]
        case StringTest(_, "starts_with", operand, False):
            return [("prefix", operand)]
        case Like(_, pattern, "", False) if pattern.endswith("%") and "_" not in pattern:
            return [("prefix", pattern.removesuffix("%"))]
    raise AssertionError(f"no predicate of the workloads: {leaf}")


def _both(test: str, one: Any, other: Any) -> Any:
    """The test that combines both; None if no value passes both."""
    match test:
        case "in":
            return [value for value in one if value in other] or None
        case "avoid":
            return [*one, *other]
        case "ge" | "gt":
            return max(one, other)
        case "le" | "lt":
            return min(one, other)
        case "prefix":
            longer, shorter = sorted((one, other), key=len, reverse=True)
            return longer if longer.startswith(shorter) else None
        case "null":
            return one if one == other else None
    raise AssertionError(test)
