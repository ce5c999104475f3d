"""Columns of a DataFrame by their exact names.

Spark looks names up without regard to case and cannot tell two columns of one name apart.
Attributes are told by case, and so are the columns here: by place, under names of our own.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it
from pyspark.sql.types import DataType, StringType

from boolcast.errors import UsageError


def by_place(frame: DataFrame) -> DataFrame:
    """The same columns, named c0, c1 and so on."""
    return frame.toDF(*(f"c{place}" for place in range(len(frame.columns))))


def at(place: int) -> Column:
    """A column of `by_place`."""
    return F.col(f"c{place}")


def named(frame: DataFrame, name: str) -> Column:
    """A column of `by_place`, by the name it had. Raises UsageError as `place_of`."""
    return at(place_of(frame, name))


def place_of(frame: DataFrame, name: str) -> int:
    """The place of a column. Raises UsageError if there is none, or more than one."""
    places = [place for place, known in enumerate(frame.columns) if known == name]
    if not places:
        present = ", ".join(frame.columns) or "none"
        raise UsageError(f"the DataFrame lacks the column {name!r}; its columns are {present}")
    if len(places) > 1:
        raise UsageError(f"the DataFrame has {len(places)} columns {name!r}: rename all but one")
    return places[0]


def type_of(frame: DataFrame, name: str) -> DataType:
    """The type of a column. Raises UsageError as `place_of`."""
    return frame.schema.fields[place_of(frame, name)].dataType


def check_string(frame: DataFrame, name: str) -> None:
    """Raise UsageError unless the column is there and holds strings."""
    found = type_of(frame, name)
    if not isinstance(found, StringType):
        raise UsageError(
            f"the column {name!r} must hold strings, and it is of type {found.simpleString()}: "
            f"give frame.withColumn({name!r}, frame[{name!r}].cast('string')) if that is meant"
        )
