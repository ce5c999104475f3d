"""Parquet files that the workers read themselves, past Spark.

Spark reads a file, turns its columns into rows, and the rows into columns for Python. That takes
longer than matching the events. If nothing has to be done to the events before they are matched,
Spark only says which piece of which file a task reads.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias
from urllib.parse import unquote

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import to_arrow_type
from pyspark.sql.types import DataType

from boolcast.errors import UsageError

_LARGEST: Final = 128 << 20
_SMALLEST: Final = 4 << 20
_PIECES: Final = 64
"""The number of pieces that a table is split into, within the two sizes."""

_BYTES: Final = 4 << 20
_MOST_ROWS: Final = 1 << 16
_FEWEST_ROWS: Final = 1 << 10
"""A task reads about this many bytes of events at a time, within these numbers of events.

The reader itself holds a few pages of each column.
"""

_DICTIONARY: Final = 1 << 17
"""The largest dictionary, in compressed bytes, that is taken from a file as it is."""

_PARTITION: Final = re.compile(r"/([^/=]+)=[^/]*(?=/)")


class Piece(NamedTuple):
    """The row groups of a file that begin between two offsets; `options` are fsspec's."""

    path: str
    begin: int
    end: int
    options: Mapping[str, Any] | None = None

    @contextmanager
    def opened(self, *, keeps_dictionaries: bool = False) -> Iterator[pq.ParquetFile]:
        """The open file; pages with a checksum are verified when they are read.

        With `keeps_dictionaries`, string columns with a small dictionary stay encoded.
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
        """These columns, in the file's order, without those that the file lacks.

        As in Spark, case does not matter.
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
    """Some columns of some row groups; all columns if several have the same name."""
    rows = _rows_at_a_time(file.metadata, groups, set(columns))
    yield from file.iter_batches(
        batch_size=rows, row_groups=groups, columns=columns, use_threads=False
    )


def _rows_at_a_time(
    metadata: pq.FileMetaData, groups: Sequence[int], columns: Collection[str]
) -> int:
    chosen = [
        position
        for position in range(metadata.num_columns)
        if metadata.schema.column(position).path.partition(".")[0] in columns
    ]
    rows = nbytes = 0
    for group in map(metadata.row_group, groups):
        rows += group.num_rows
        nbytes += sum(group.column(each).total_uncompressed_size for each in chosen)
    return max(_FEWEST_ROWS, min(_MOST_ROWS, _BYTES * rows // max(nbytes, 1)))


def _of_few_strings(metadata: pq.FileMetaData) -> list[str]:
    """The string columns that have a short dictionary in each row group.

    If it is long, the writer may have given it up midway, and reading it as one takes long.
    """
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    return [
        column.name
        for position in range(metadata.num_columns)
        for column in [metadata.schema.column(position)]
        if column.path == column.name
        and column.logical_type.type == "STRING"
        and all(_has_few_strings(group.column(position)) for group in groups)
    ]


def _has_few_strings(column: pq.ColumnChunkMetaData) -> bool:
    begin = column.dictionary_page_offset
    return begin is not None and column.data_page_offset - begin <= _DICTIONARY


def _offset(group: pq.RowGroupMetaData) -> int:
    first = group.column(0)
    return int(first.dictionary_page_offset or first.data_page_offset)


class FileColumn(NamedTuple):
    """A column to read, and its type as Spark sees it; None if it is the file's own."""

    name: str
    type_: pa.DataType | None

    def of(self, batch: pa.RecordBatch) -> pa.Array:
        """The column of a batch, or nulls if the batch lacks it."""
        position = batch.schema.get_field_index(self.name)
        if position < 0:
            return (
                pa.nulls(batch.num_rows)
                if self.type_ is None
                else pa.nulls(batch.num_rows, self.type_)
            )
        column = batch.column(position)
        if self.type_ is None or _is_same(column.type, self.type_):
            return column
        return column.cast(self.type_)


def _is_same(found: pa.DataType, wanted: pa.DataType) -> bool:
    """True if events read the same values from both types, so that no cast is needed."""
    if pa.types.is_dictionary(found):
        found = found.value_type
    if pa.types.is_timestamp(found) and pa.types.is_timestamp(wanted):
        return bool(found.tz) == bool(wanted.tz)
    return bool(found == wanted or (pa.types.is_large_string(found) and wanted == pa.string()))


class FileColumns(NamedTuple):
    """What a task reads from its pieces of files: the event's id, if any, and other columns."""

    pieces: tuple[Piece, ...]
    event_id: FileColumn | None
    columns: tuple[FileColumn, ...]

    def read(self, numbers: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The events in the pieces with these numbers: the id or null first, then the columns."""
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
        names = [str(position) for position in range(len(columns) + 1)]
        return pa.RecordBatch.from_arrays([ids, *columns], names=names)


class ParquetFiles(NamedTuple):
    """Events for `match`, `count_matches` and the other jobs, in place of a DataFrame.

    Made by `parquet_files`. `frame` is the same events as Spark reads them.
    """

    frame: DataFrame
    pieces: tuple[Piece, ...]


Events: TypeAlias = DataFrame | ParquetFiles
"""Events for a batch job."""


def frame_of(events: Events) -> DataFrame:
    """The events as Spark sees them."""
    return events.frame if isinstance(events, ParquetFiles) else events


def arrow_type(kind: DataType) -> pa.DataType:
    """Arrow's type for one of Spark's, as workers use it."""
    return to_arrow_type(kind, timezone="UTC")


def parquet_files(
    session: SparkSession, path: str, *, options: Mapping[str, Any] | None = None
) -> ParquetFiles:
    """Events in Parquet files, which the workers read without Spark: several times faster.

    `path` is as for `session.read.parquet`, and gives the same events. Files that are not local
    are read with fsspec and its `options`. Every worker must reach the files. Raises UsageError
    if there are partition folders (`day=2026-11-15`), whose values are not in the files: use
    `session.read.parquet(…)` then.
    """
    frame = session.read.parquet(path)
    files = [unquote(each) for each in frame.inputFiles()]
    known = {name.casefold() for name in frame.columns}
    for file in files:
        for name in _PARTITION.findall(file):
            if name.casefold() in known:
                raise UsageError(
                    f"the column {name!r} is in the names of folders and not in the files: use "
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
    """The path of a local file; None of any other file."""
    return re.sub("^file:/+", "/", file) if file.startswith("file:/") else None


def _size(file: str, options: Mapping[str, Any] | None) -> int:
    local = local_path(file)
    if local is not None:
        return Path(local).stat().st_size
    system, path = fsspec.core.url_to_fs(file, **(options or {}))
    return int(system.info(path)["size"])


def piece_of(file: str, begin: int, end: int, options: Mapping[str, Any] | None) -> Piece:
    """A piece of a file: local files are mapped into memory, others are read with fsspec."""
    local = local_path(file)
    if local is not None:
        return Piece(local, begin, end)
    return Piece(file, begin, end, dict(options or {}))


def _split(file: str, size: int, most: int, options: Mapping[str, Any] | None) -> Iterator[Piece]:
    for begin in range(0, size, most):
        yield piece_of(file, begin, min(begin + most, size), options)
