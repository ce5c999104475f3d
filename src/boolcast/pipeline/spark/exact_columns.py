"""Columns of a DataFrame by their exact names.

Spark ignores case when it looks a name up, and cannot tell two columns with the same name apart.
Attribute names are case-sensitive. So the functions here address columns by position, under
names of our own.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it
from pyspark.sql.types import DataType, StringType

from boolcast.errors import UsageError


def by_position(frame: DataFrame) -> DataFrame:
    """The same columns, named c0, c1 and so on."""
    return frame.toDF(*(f"c{position}" for position in range(len(frame.columns))))


def at(position: int) -> Column:
    """A column of `by_position`."""
    return F.col(f"c{position}")


def named(frame: DataFrame, name: str) -> Column:
    """A column of `by_position`, by its original name. Raises UsageError as `position_of`."""
    return at(position_of(frame, name))


def position_of(frame: DataFrame, name: str) -> int:
    """The position of a column. Raises UsageError if there is none, or more than one."""
    positions = [position for position, known in enumerate(frame.columns) if known == name]
    if not positions:
        present = ", ".join(frame.columns) or "none"
        raise UsageError(f"the DataFrame lacks the column {name!r}; its columns are {present}")
    if len(positions) > 1:
        raise UsageError(f"the DataFrame has {len(positions)} columns {name!r}: rename all but one")
    return positions[0]


def type_of(frame: DataFrame, name: str) -> DataType:
    """The type of a column. Raises UsageError as `position_of`."""
    return frame.schema.fields[position_of(frame, name)].dataType


def check_string(frame: DataFrame, name: str) -> None:
    """Raise UsageError unless the column exists and holds strings."""
    found = type_of(frame, name)
    if not isinstance(found, StringType):
        raise UsageError(
            f"the column {name!r} must hold strings, but its type is {found.simpleString()}: "
            f"to convert it, use frame.withColumn({name!r}, frame[{name!r}].cast('string'))"
        )
