"""A stream of Parquet files that the workers read themselves, past Spark and its fixed schema.

Spark's reader fixes a schema when the stream starts; a file that is damaged or does not fit ends
the stream. Here Spark only says which files are new, remembers them in its checkpoint, and packs
them into tasks by size. One task reads a file (`file_events`).
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final, NamedTuple

import pyarrow as pa
from pyspark.errors import PySparkException, PySparkTypeError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_type
from pyspark.sql.types import (
    BinaryType,
    BooleanType,
    DataType,
    DateType,
    NumericType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from boolcast.errors import FileError, UsageError
from boolcast.model.arrow import is_binary, is_string
from boolcast.pipeline.events.event_ids import may_convert
from boolcast.pipeline.events.file_events import FileEvents, IdColumn, schema_of
from boolcast.pipeline.events.parquet_reading import arrow_type
from boolcast.pipeline.spark.error_causes import SPARK_ERRORS, first_line
from boolcast.pipeline.spark.files import root_of

_FILES: Final = "path string, modificationTime timestamp, length long, content binary"
"""The columns of Spark's `binaryFile`; contents are read only if they are selected."""

_SIGNED: Final = {
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.decimal128(20, 0),
}
"""What Spark uses in place of types that it lacks."""

_PLAIN: Final = (BooleanType, NumericType, DateType, TimestampType, TimestampNTZType)
"""The types that a folder name can be read as; otherwise it is a string."""

_OLDEST: Final = 100
"""In how many files to look for the type of the id."""

ALL_BELOW: Final = {"recursiveFileLookup": "true"}
"""Otherwise Spark infers columns from folder names, drops files beside such folders, and fails if
the names change. Boolcast reads the names itself."""


class ParquetStream(NamedTuple):
    """Events for `match_stream`, made by `parquet_stream`; `frame` has the paths of the files."""

    frame: DataFrame
    path: str
    schema: StructType
    options: Mapping[str, Any] | None

    def columns(self, event_id: str, known: StructType | None) -> StructType:
        """The declared columns, and the event's id: from the schema, an earlier start, or a file.

        Raises UsageError if none of them has its type.
        """
        if event_id in self.schema.names:
            return self.schema
        if known is not None and event_id in known.names:
            kind = known[event_id].dataType
        else:
            kind = self._type_in_files(event_id)
        return StructType([*self.schema.fields, StructField(event_id, kind)])

    def file_events(self, event_id: str, needed: Collection[str], json: str | None) -> FileEvents:
        """How a task reads the files; `schema` must have the columns that `columns` gives."""
        kind = self.schema[event_id].dataType
        return FileEvents(
            IdColumn(event_id, arrow_type(kind), kind.simpleString()),
            frozenset(needed),
            json,
            root_of(self.path),
            {
                field.name: arrow_type(field.dataType)
                for field in self.schema.fields
                if isinstance(field.dataType, _PLAIN)
            },
            self.options,
        )

    def _type_in_files(self, event_id: str) -> DataType:
        for found in self._types_in_files(event_id):
            kind = _id_type(found)
            if kind is not None:
                return kind
            remedy = (
                f"declare another, as schema='{event_id} string'"
                if may_convert(found, pa.string())
                else "write the files with strings or numbers instead"
            )
            raise UsageError(
                f"the event's id {event_id!r} has type {found} in {self.path}, which results "
                f"cannot have: {remedy}"
            )
        raise UsageError(
            f"no file in {self.path} has the event's id {event_id!r} yet: declare its type, as "
            f"schema='{event_id} string'"
        )

    def _types_in_files(self, name: str) -> Iterator[pa.DataType]:
        """The types of a column in the oldest files, where it is not all null."""
        files = self.frame.sparkSession.read.format("binaryFile")
        try:
            oldest = (
                files.options(**ALL_BELOW)
                .load(self.path)
                .orderBy("modificationTime", "path")
                .limit(_OLDEST)
            )
        except PySparkException:
            # Nothing matches the pattern yet.
            return
        for (path,) in oldest.select("path").collect():
            schema = schema_of(path, self.options)
            if schema is not None and name in schema.names:
                found = schema.field(schema.names.index(name)).type
                if not pa.types.is_null(found):
                    yield found


def parquet_stream(
    session: SparkSession,
    path: str,
    *,
    schema: str | StructType | None = None,
    options: Mapping[str, Any] | None = None,
    spark_options: Mapping[str, str | float | bool] | None = None,
) -> ParquetStream:
    """The Parquet files that arrive in a folder, for `match_stream`: each with its own columns.

    `path` is as for Spark's readers; files in folders below it are included. The attributes are
    what each file has, in its own types, and folders below `path` named `name=value`. A file that
    is damaged or has no usable id is a dead letter. `spark_options` are those of Spark's file
    streams, such as `maxFilesPerTrigger`. Files that are not local are read with fsspec and its
    `options`; every worker must reach them.

    `schema` need not list all columns, and hides none. It declares the type of the event's id,
    which is otherwise that of the oldest file, and the types of attributes in folder names, which
    are otherwise strings. Raises UsageError, and FileError if Spark cannot read the path.
    """
    declared = schema if isinstance(schema, StructType) else _declared(schema)
    reader = session.readStream.format("binaryFile").schema(_FILES)
    try:
        files = reader.options(**{**ALL_BELOW, **(spark_options or {})}).load(path)
    except SPARK_ERRORS as error:
        raise FileError(f"Spark cannot stream it: {first_line(error)}", path=path) from None
    return ParquetStream(files.select("path"), path, declared, options)


def _id_type(found: pa.DataType) -> DataType | None:
    """The type that such ids have in results; None if Spark has none."""
    if is_string(found) or isinstance(found, pa.UuidType):
        return StringType()
    if is_binary(found):
        return BinaryType()
    if pa.types.is_time(found):
        # Spark has such a type, but does not let anybody use it.
        return None
    try:
        kind = from_arrow_type(_SIGNED.get(found, found))
        return kind if may_convert(found, arrow_type(kind)) else None
    except (PySparkTypeError, ValueError):
        # Also for decimals that are too long.
        return None


def _declared(schema: str | None) -> StructType:
    try:
        found = StructType() if schema is None else StructType.fromDDL(schema)
    except PySparkException as error:
        raise UsageError(f"the schema {schema!r} cannot be read: {error}") from None
    if not isinstance(found, StructType):
        raise UsageError(f"the schema {schema!r} has no column names: give columns, as 'id string'")
    return found
