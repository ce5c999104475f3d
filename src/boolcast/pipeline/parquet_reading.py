"""Events in Parquet files that the workers read themselves, past Spark.

Spark reads a file, makes rows of its columns, and columns of the rows for Python. That takes
longer than to match the events. Where nothing is to be done with the events before they are
matched, Spark only hands out which part of which file a task reads.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import unquote

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import to_arrow_type
from pyspark.sql.types import StringType

from boolcast.errors import UsageError
from boolcast.pipeline.frames import type_of

_LARGEST: Final = 128 << 20
_SMALLEST: Final = 4 << 20
_PIECES: Final = 64
"""A table of at least so many of the smallest pieces has that many, or larger ones."""

_BATCH: Final = 16_384
"""How many events a task holds at a time; the reader itself holds a few pages of each column."""

_PARTITION: Final = re.compile(r"/([^/=]+)=[^/]*/")


class Piece(NamedTuple):
    """The row groups of a file that begin between two offsets; `options` are fsspec's."""

    path: str
    begin: int
    end: int
    options: Mapping[str, Any] | None = None

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """These columns, in whatever order the file has them, without those that it lacks."""
        if self.options is None:
            with pq.ParquetFile(self.path, memory_map=True, coerce_int96_timestamp_unit="us") as it:
                yield from self._batches(it, columns)
            return
        with (
            fsspec.open(self.path, "rb", **self.options) as file,
            pq.ParquetFile(file, pre_buffer=True, coerce_int96_timestamp_unit="us") as it,
        ):
            yield from self._batches(it, columns)

    def _batches(self, file: pq.ParquetFile, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        groups = [
            number
            for number in range(file.metadata.num_row_groups)
            if self.begin <= _offset(file.metadata.row_group(number)) < self.end
        ]
        present = [name for name in columns if name in file.schema_arrow.names]
        yield from file.iter_batches(
            batch_size=_BATCH, row_groups=groups, columns=present, use_threads=False
        )


def _offset(group: pq.RowGroupMetaData) -> int:
    first = group.column(0)
    return int(first.dictionary_page_offset or first.data_page_offset)


class Column(NamedTuple):
    """A column to read; Spark says of some whose type is binary in Arrow that they are text."""

    name: str
    is_text: bool


class FileColumns(NamedTuple):
    """What a task reads: the event's id, if there is one, and other columns of some pieces."""

    pieces: tuple[Piece, ...]
    event_id: str | None
    id_type: pa.DataType
    columns: tuple[Column, ...]

    def read(self, numbers: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The events of the pieces of these numbers: the id or null first, then the columns."""
        wanted = [each.name for each in self.columns]
        if self.event_id is not None and self.event_id not in wanted:
            wanted.append(self.event_id)
        for batch in numbers:
            for number in batch.column(0).to_pylist():
                for found in self.pieces[number].batches(wanted):
                    yield self._arranged(found)

    def _arranged(self, found: pa.RecordBatch) -> pa.RecordBatch:
        ids = pa.nulls(found.num_rows)
        if self.event_id is not None:
            ids = _column(found, self.event_id).cast(self.id_type)
        columns = [_column(found, each.name, is_text=each.is_text) for each in self.columns]
        names = [str(place) for place in range(len(columns) + 1)]
        return pa.RecordBatch.from_arrays([ids, *columns], names=names)


def _column(batch: pa.RecordBatch, name: str, *, is_text: bool = False) -> pa.Array:
    """A column; null where the file lacks it."""
    place = batch.schema.get_field_index(name)
    if place < 0:
        return pa.nulls(batch.num_rows)
    column = batch.column(place)
    if is_text and pa.types.is_binary(column.type):
        return column.cast(pa.string())
    return column


class ParquetFiles(NamedTuple):
    """Events for `match`, `count_matches` and the other jobs, as good as a DataFrame of them.

    Made by `parquet_files`. `frame` is what Spark makes of the same files.
    """

    frame: DataFrame
    pieces: tuple[Piece, ...]

    def travel(
        self, event_id: str | None, columns: Sequence[str]
    ) -> "tuple[DataFrame, FileColumns]":
        """A number for each piece, in a partition of its own, and how a task reads them."""
        id_type = pa.null()
        if event_id is not None:
            id_type = to_arrow_type(type_of(self.frame, event_id), timezone="UTC")
        kinds = {field.name: field.dataType for field in self.frame.schema.fields}
        chosen = tuple(Column(name, isinstance(kinds[name], StringType)) for name in columns)
        count = len(self.pieces)
        numbers = self.frame.sparkSession.range(0, count, 1, max(count, 1))
        return numbers, FileColumns(self.pieces, event_id, id_type, chosen)


def parquet_files(
    session: SparkSession, *paths: str, options: Mapping[str, Any] | None = None
) -> ParquetFiles:
    """The events of Parquet files, for the workers to read without Spark: several times faster.

    `paths` are what `session.read.parquet` takes, and tell the same events. Elsewhere than on a
    local disk workers read by fsspec, with its `options`. Every worker must reach the files.
    Raises UsageError if folders are partitions (`day=2026-11-15`), which are no part of the
    files: give `session.read.parquet(…)` then.
    """
    frame = session.read.parquet(*paths)
    files = [unquote(each) for each in frame.inputFiles()]
    for file in files:
        found = _PARTITION.search(file)
        if found and found[1] in frame.columns:
            raise UsageError(
                f"the column {found[1]!r} is in the names of folders and not in the files: give "
                f"session.read.parquet({', '.join(map(repr, paths))}) instead"
            )
    sizes = [_size(file, options) for file in files]
    most = min(_LARGEST, max(_SMALLEST, sum(sizes) // _PIECES))
    pieces = [
        piece
        for file, size in zip(files, sizes, strict=True)
        for piece in _split(file, size, most, options)
    ]
    return ParquetFiles(frame, tuple(pieces))


def _local(file: str) -> str | None:
    """The path of a local file; None of all others."""
    return re.sub("^file:/+", "/", file) if file.startswith("file:/") else None


def _size(file: str, options: Mapping[str, Any] | None) -> int:
    local = _local(file)
    if local is not None:
        return Path(local).stat().st_size
    system, path = fsspec.core.url_to_fs(file, **(options or {}))
    return int(system.info(path)["size"])


def _split(file: str, size: int, most: int, options: Mapping[str, Any] | None) -> Iterator[Piece]:
    local = _local(file)
    path, given = (file, dict(options or {})) if local is None else (local, None)
    for begin in range(0, size, most):
        yield Piece(path, begin, min(begin + most, size), given)
