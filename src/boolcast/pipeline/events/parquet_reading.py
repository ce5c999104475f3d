"""Events in Parquet files that the workers read themselves, past Spark.

Spark reads a file, makes rows of its columns, and columns of the rows for Python. That takes
longer than to match the events. Where nothing is to be done with the events before they are
matched, Spark only hands out which part of which file a task reads.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import unquote

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import to_arrow_type
from pyspark.sql.types import AtomicType, DataType

from boolcast.errors import UsageError
from boolcast.pipeline.spark.exact_columns import type_of

_LARGEST: Final = 128 << 20
_SMALLEST: Final = 4 << 20
_PIECES: Final = 64
"""A table of at least so many of the smallest pieces has that many, or larger ones."""

_BYTES: Final = 4 << 20
_MOST_ROWS: Final = 1 << 16
_FEWEST_ROWS: Final = 1 << 10
"""A task holds so many bytes of events at a time, within so many events.

The reader itself holds a few pages of each column.
"""

_DICTIONARY: Final = 1 << 17
"""The most bytes, compressed, of a dictionary that is taken from a file as it is."""

_PARTITION: Final = re.compile(r"/([^/=]+)=[^/]*(?=/)")


class Piece(NamedTuple):
    """The row groups of a file that begin between two offsets; `options` are fsspec's."""

    path: str
    begin: int
    end: int
    options: Mapping[str, Any] | None = None

    @contextmanager
    def opened(self, *, keeps_dictionaries: bool = False) -> Iterator[pq.ParquetFile]:
        """The file. Reading pages that bear a checksum finds out if they are damaged.

        Columns of strings that are stored as numbers of few strings may come as they are.
        """
        with ExitStack() as stack:
            if self.options is None:
                source = stack.enter_context(pa.memory_map(self.path))
            else:
                source = stack.enter_context(fsspec.open(self.path, "rb", **self.options))
            metadata = pq.read_metadata(source)
            yield stack.enter_context(
                pq.ParquetFile(
                    source,
                    metadata=metadata,
                    read_dictionary=_of_few_strings(metadata) if keeps_dictionaries else None,
                    pre_buffer=self.options is not None,
                    coerce_int96_timestamp_unit="us",
                    page_checksum_verification=True,
                )
            )

    def groups(self, file: pq.ParquetFile) -> list[int]:
        """The numbers of the row groups."""
        return [
            number
            for number in range(file.metadata.num_row_groups)
            if self.begin <= _offset(file.metadata.row_group(number)) < self.end
        ]

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """These columns, in whatever order the file has them, without those that it lacks.

        As for Spark, the case of letters does not matter.
        """
        ours = {name.casefold(): name for name in columns}
        with self.opened(keeps_dictionaries=True) as file:
            names = {
                name: ours[name.casefold()]
                for name in file.schema_arrow.names
                if name.casefold() in ours
            }
            for batch in read_groups(file, self.groups(file), list(names)):
                yield batch.rename_columns([names[name] for name in batch.schema.names])


def read_groups(
    file: pq.ParquetFile, groups: Sequence[int], columns: Sequence[str]
) -> Iterator[pa.RecordBatch]:
    """Some columns of some row groups; of columns of the same name all."""
    rows = _rows_at_a_time(file.metadata, groups, set(columns))
    yield from file.iter_batches(
        batch_size=rows, row_groups=groups, columns=columns, use_threads=False
    )


def _rows_at_a_time(
    metadata: pq.FileMetaData, groups: Sequence[int], columns: Collection[str]
) -> int:
    chosen = [
        place
        for place in range(metadata.num_columns)
        if metadata.schema.column(place).path.partition(".")[0] in columns
    ]
    rows = nbytes = 0
    for group in map(metadata.row_group, groups):
        rows += group.num_rows
        nbytes += sum(group.column(place).total_uncompressed_size for place in chosen)
    return max(_FEWEST_ROWS, min(_MOST_ROWS, _BYTES * rows // max(nbytes, 1)))


def _of_few_strings(metadata: pq.FileMetaData) -> list[str]:
    """The columns of strings with a short dictionary in each row group, as its place tells.

    Where it is long, a writer may have given it up midway, which takes long to read as one.
    """
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    return [
        column.name
        for place in range(metadata.num_columns)
        for column in [metadata.schema.column(place)]
        if column.path == column.name
        and column.logical_type.type == "STRING"
        and all(_has_few_strings(group.column(place)) for group in groups)
    ]


def _has_few_strings(column: pq.ColumnChunkMetaData) -> bool:
    begin = column.dictionary_page_offset
    return begin is not None and column.data_page_offset - begin <= _DICTIONARY


def _offset(group: pq.RowGroupMetaData) -> int:
    first = group.column(0)
    return int(first.dictionary_page_offset or first.data_page_offset)


class Column(NamedTuple):
    """A column to read, and its type as Spark sees it; None where only the file knows."""

    name: str
    type_: pa.DataType | None

    def of(self, batch: pa.RecordBatch) -> pa.Array:
        """The column of a batch, whose names are in the case of ours; null where it lacks it."""
        place = batch.schema.get_field_index(self.name)
        if place < 0:
            return (
                pa.nulls(batch.num_rows)
                if self.type_ is None
                else pa.nulls(batch.num_rows, self.type_)
            )
        column = batch.column(place)
        if self.type_ is None or _is_same(column.type, self.type_):
            return column
        return column.cast(self.type_)


def _is_same(found: pa.DataType, wanted: pa.DataType) -> bool:
    """True where values of both types are the same events' values, and nothing is to be cast."""
    if pa.types.is_dictionary(found):
        found = found.value_type
    if pa.types.is_timestamp(found) and pa.types.is_timestamp(wanted):
        return bool(found.tz) == bool(wanted.tz)
    return bool(found == wanted or (pa.types.is_large_string(found) and wanted == pa.string()))


class FileColumns(NamedTuple):
    """What a task reads: the event's id, if there is one, and other columns of some pieces."""

    pieces: tuple[Piece, ...]
    event_id: Column | None
    columns: tuple[Column, ...]

    def read(self, numbers: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The events of the pieces of these numbers: the id or null first, then the columns."""
        wanted = dict.fromkeys(each.name for each in self.columns)
        if self.event_id is not None:
            wanted[self.event_id.name] = None
        for batch in numbers:
            for number in batch.column(0).to_pylist():
                for found in self.pieces[number].batches(list(wanted)):
                    yield self._arranged(found)

    def _arranged(self, found: pa.RecordBatch) -> pa.RecordBatch:
        ids = pa.nulls(found.num_rows)
        if self.event_id is not None:
            ids = self.event_id.of(found).cast(self.event_id.type_)
        columns = [each.of(found) for each in self.columns]
        names = [str(place) for place in range(len(columns) + 1)]
        return pa.RecordBatch.from_arrays([ids, *columns], names=names)


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
        id_column = None
        if event_id is not None:
            id_column = Column(event_id, arrow_type(type_of(self.frame, event_id)))
        kinds = {field.name: field.dataType for field in self.frame.schema.fields}
        chosen = tuple(
            Column(name, arrow_type(kinds[name]) if isinstance(kinds[name], AtomicType) else None)
            for name in columns
        )
        count = len(self.pieces)
        numbers = self.frame.sparkSession.range(0, count, 1, max(count, 1))
        return numbers, FileColumns(self.pieces, id_column, chosen)


def arrow_type(kind: DataType) -> pa.DataType:
    """The type of Arrow that a worker has for one of Spark."""
    return to_arrow_type(kind, timezone="UTC")


def parquet_files(
    session: SparkSession, path: str, *, options: Mapping[str, Any] | None = None
) -> ParquetFiles:
    """The events of Parquet files, for the workers to read without Spark: several times faster.

    `path` is what `session.read.parquet` takes, and tells the same events. Elsewhere than on a
    local disk workers read by fsspec, with its `options`. Every worker must reach the files.
    Raises UsageError if folders are partitions (`day=2026-11-15`), which are no part of the
    files: give `session.read.parquet(…)` then.
    """
    frame = session.read.parquet(path)
    files = [unquote(each) for each in frame.inputFiles()]
    known = {name.casefold() for name in frame.columns}
    for file in files:
        for name in _PARTITION.findall(file):
            if name.casefold() in known:
                raise UsageError(
                    f"the column {name!r} is in the names of folders and not in the files: give "
                    f"session.read.parquet({path!r}) instead"
                )
    sizes = [_size(file, options) for file in files]
    most = min(_LARGEST, max(_SMALLEST, sum(sizes) // _PIECES))
    pieces = [
        piece
        for file, size in zip(files, sizes, strict=True)
        for piece in _split(file, size, most, options)
    ]
    return ParquetFiles(frame, tuple(pieces))


def local_path(file: str) -> str | None:
    """The path of a local file; None of all others."""
    return re.sub("^file:/+", "/", file) if file.startswith("file:/") else None


def _size(file: str, options: Mapping[str, Any] | None) -> int:
    local = local_path(file)
    if local is not None:
        return Path(local).stat().st_size
    system, path = fsspec.core.url_to_fs(file, **(options or {}))
    return int(system.info(path)["size"])


def piece_of(file: str, begin: int, end: int, options: Mapping[str, Any] | None) -> Piece:
    """A piece of a file that Spark names: local ones are mapped, others read by fsspec."""
    local = local_path(file)
    if local is not None:
        return Piece(local, begin, end)
    return Piece(file, begin, end, dict(options or {}))


def _split(file: str, size: int, most: int, options: Mapping[str, Any] | None) -> Iterator[Piece]:
    for begin in range(0, size, most):
        yield piece_of(file, begin, min(begin + most, size), options)
