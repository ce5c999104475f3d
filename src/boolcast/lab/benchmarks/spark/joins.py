"""What a Spark user would write instead of an index: filters of one shape as a join.

Filters that differ only in their constants become a table, with a row for each filter and a column
for each constant. Their common tree is the condition of a join with the events. If the tree
requires an equality, Spark uses a hash join; if not, it compares all with all.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import reduce
from operator import and_, or_
from pathlib import Path
from typing import Final, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's users know

from boolcast.filters.expressions import (
    And,
    Between,
    Comparison,
    Filter,
    In,
    IsNull,
    Leaf,
    Like,
    Or,
    StringTest,
)
from boolcast.model.values import Timestamp, Value
from boolcast.workloads import CLASSES

SUBSCRIPTION: Final = "subscription"

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

Operand = Callable[[int, int], Column]
"""The column of a constant, by the position of its predicate and its position in that."""

_OPERATORS: Final[dict[str, Callable[[Column, Column], Column]]] = {
    "=": lambda left, right: left == right,
    "!=": lambda left, right: left != right,
    "<": lambda left, right: left < right,
    "<=": lambda left, right: left <= right,
    ">": lambda left, right: left > right,
    ">=": lambda left, right: left >= right,
}


class ShapeTable(NamedTuple):
    """Filters of one shape: one of them for the tree, a table of constants, and the others.

    Predicates whose positions are in `literals` have the same constants in all filters, and the
    condition spells them out.
    """

    tree: Filter
    constants: DataFrame
    literals: frozenset[int]


class Tables:
    """Makes tables in a folder, as Parquet, and holds them in memory."""

    def __init__(self, session: SparkSession, folder: Path) -> None:
        self._session = session
        self._folder = folder
        self._made = 0

    def of_columns(self, columns: Mapping[str, Sequence[object]]) -> DataFrame:
        """A table with these columns."""
        self._made += 1
        path = self._folder / f"table-{self._made}.parquet"
        pq.write_table(pa.table({name: pa.array(each) for name, each in columns.items()}), path)
        held = self._session.read.parquet(str(path)).persist()
        held.count()
        return held

    def of_shape(
        self, filters: Sequence[tuple[int, Filter]], literals: frozenset[int] = frozenset()
    ) -> ShapeTable:
        """Numbered filters of one shape; the number is what matches are counted by."""
        _, tree = filters[0]
        names = [SUBSCRIPTION, *(name for name, _ in _constants(tree, literals))]
        rows = (
            (number, *(constant for _, constant in _constants(filter, literals)))
            for number, filter in filters
        )
        columns = dict(zip(names, zip(*rows, strict=True), strict=True))
        return ShapeTable(tree, self.of_columns(columns), literals)


def matched(events: DataFrame, table: ShapeTable) -> DataFrame:
    """The column `subscription`, a row for each match, by one join with the broadcast constants."""
    constants = F.broadcast(table.constants)
    leaves = list(table.tree.predicates())

    def operand(leaf: int, position: int) -> Column:
        if leaf in table.literals:
            return F.lit(operands_of(leaves[leaf])[position])
        return constants[f"c{leaf}_{position}"]

    condition = _condition(table.tree, operand)
    return events.join(constants, condition).select(constants[SUBSCRIPTION])


def _condition(tree: Filter, operand: Operand) -> Column:
    """The tree as a condition; predicates count from 0, from left to right."""
    positions = iter(range(10**6))

    def walk(node: Filter) -> Column:
        match node:
            case And(children):
                return reduce(and_, [walk(child) for child in children])
            case Or(children):
                return reduce(or_, [walk(child) for child in children])
            case _:
                (leaf,) = node.predicates()
                return _predicate(leaf, next(positions), operand)

    return walk(tree)


def _predicate(leaf: Leaf, position: int, operand: Operand) -> Column:
    """One predicate; the kinds that the workloads have."""
    attribute = F.col(leaf.attribute)
    match leaf:
        case Comparison(_, operator, _):
            return _OPERATORS[operator](attribute, operand(position, 0))
        case Between(_, _, _, False):
            return attribute.between(operand(position, 0), operand(position, 1))
        case In(_, _, False):
            return F.array_contains(operand(position, 0), attribute)
        case IsNull(_, negated):
            return attribute.isNotNull() if negated else attribute.isNull()
        case StringTest(_, "starts_with", _, False):
            return F.startswith(attribute, operand(position, 0))
        case Like(_, _, "", False):
            return F.like(attribute, operand(position, 0))
    raise AssertionError(f"no predicate of the workloads: {leaf}")


def _constants(filter: Filter, literals: frozenset[int]) -> Iterator[tuple[str, object]]:
    """The constants that are columns, and their names."""
    for position, leaf in enumerate(filter.predicates()):
        if position not in literals:
            for number, constant in enumerate(operands_of(leaf)):
                yield f"c{position}_{number}", constant


def operands_of(leaf: Leaf) -> Sequence[object]:
    """The constants of a predicate as Spark takes them; those of `in` are one list."""
    match leaf:
        case Comparison(_, _, value):
            return [python_of(value)]
        case Between(_, low, high, _):
            return [python_of(low), python_of(high)]
        case In(_, values, _):
            return [[python_of(value) for value in values]]
        case StringTest(_, _, operand, _):
            return [operand]
        case Like(_, pattern, _, _):
            return [pattern]
        case _:
            return []


def python_of(value: Value) -> object:
    """A value as Spark takes it."""
    if isinstance(value, Timestamp):
        return _EPOCH + timedelta(microseconds=value.microseconds)
    return value


def hand_split(
    events: DataFrame, tables: Mapping[str, ShapeTable], *, bound: int | None = None
) -> DataFrame:
    """The three classes of the auction as a union of four joins, each by an equality.

    Class 3 begins with `author = … or category = …`, which no hash can serve. So it is split by
    hand: one join by author, and one by category for those that the first has not found. What
    the events alone decide is decided before the join, and the rest in the order of its cost.

    With a `bound` that no filter's `ending < …` exceeds, events past it are dropped first.
    """
    if bound is not None:
        is_instant = (F.col("special") == "signed") & (F.col("buyItNow") == 1)
        events = events.where((F.col("ending") < bound) | is_instant)
    return reduce(
        DataFrame.unionAll,
        [
            matched(events, tables["S1"]),
            matched(events, tables["S2"]),
            *_third_class(events, tables["S3"]),
        ],
    )


def _third_class(events: DataFrame, table: ShapeTable) -> list[DataFrame]:
    """`(author = … or category = …) and (special = 'signed' and buyItNow = 1
    or ending < … and (special = 'signed' or bids = 0))`, by author and by category.
    """
    is_signed = F.col("special") == "signed"
    prepared = events.select(
        "author",
        "category",
        "ending",
        (is_signed & (F.col("buyItNow") == 1)).alias("is_instant"),
        (is_signed | (F.col("bids") == 0)).alias("is_calm"),
    ).where("is_instant or is_calm")
    third = F.broadcast(
        table.constants.toDF(SUBSCRIPTION, "wanted_author", "wanted_category", "latest")
    )
    rest = F.expr("is_instant or ending < latest and is_calm")
    by_author = F.expr("author = wanted_author") & rest
    by_category = F.expr("category = wanted_category") & rest & F.expr("author != wanted_author")
    return [
        prepared.join(third, condition).select(SUBSCRIPTION)
        for condition in (by_author, by_category)
    ]


def greatest_bound(tables: Mapping[str, ShapeTable]) -> int:
    """The greatest constant of `ending < …` in any filter of the auction."""
    columns = {"S1": "c1_0", "S2": "c1_0", "S3": "c4_0"}
    rows = [tables[name].constants.agg(F.max(column)).collect() for name, column in columns.items()]
    return max(int(greatest) for ((greatest,),) in rows)


def fixed_positions(name: str) -> frozenset[int]:
    """The predicates of a class whose constants are part of the class."""
    return frozenset(
        position
        for position, leaf in enumerate(CLASSES[name].shape.predicates())
        if isinstance(leaf, Comparison) and not str(leaf.value).startswith("$")
    )
