"""In a task: the events of a stream's files, each file with columns of its own.

Every file states its own columns, so a column that is new, gone or of another type is nothing
special. What cannot be read, a file or some rows of it, is reported with the reason, and the rest
is read. Damage stays in a file, so it can be reported and skipped. A file that cannot be reached
raises StreamError instead: it may be reachable the next time.
"""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from boolcast.errors import StreamError
from boolcast.model.arrow import decoded, is_binary, is_string, without_views
from boolcast.pipeline.events.attribute_columns import attributes_of, needed_columns
from boolcast.pipeline.events.event_ids import ids_of, may_convert
from boolcast.pipeline.events.parquet_reading import Piece, piece_of, read_groups
from boolcast.pipeline.spark.files import folder_values


class Portion(NamedTuple):
    """Some events: the id first, then the attributes by name, or the JSON.

    `problems` says by row why an id is null that is not null in the file.
    """

    events: pa.RecordBatch
    problems: Mapping[int, str]


class Unreadable(NamedTuple):
    """Why no event can be read from a file, or from some rows of it."""

    reason: str


class IdColumn(NamedTuple):
    """The column of the event's id, and the type of ids in the results with its name."""

    name: str
    type_: pa.DataType
    type_name: str


class FileEvents(NamedTuple):
    """What a task takes from each file.

    That is the id, and either all columns that hold `needed` attributes or the column `json`.
    A folder `name=value` below `root` is an attribute too: a string, unless `types` says
    otherwise.
    """

    event_id: IdColumn
    needed: frozenset[str]
    json: str | None
    root: str
    types: Mapping[str, pa.DataType]
    options: Mapping[str, Any] | None

    def read(self, files: Iterable[pa.RecordBatch]) -> Iterator[Portion | Unreadable]:
        """All events of the files whose paths are in the first column. Raises StreamError."""
        for batch in files:
            for path in batch.column(0).to_pylist():
                yield from self._read(path)

    def _read(self, path: str) -> Iterator[Portion | Unreadable]:
        piece = _whole(path, self.options)
        with ExitStack() as stack:
            try:
                with _noticing_damage(piece.path):
                    file = stack.enter_context(piece.opened())
                    columns = self._columns(file.schema_arrow)
                    groups = [
                        file.metadata.row_group(number).num_rows
                        for number in range(file.metadata.num_row_groups)
                    ]
            except DamageError as error:
                yield Unreadable(f"no event of {piece.path} can be read: {error}")
                return
            constants = self._constants(path, file.schema_arrow)
            wanted = list(dict.fromkeys([self.event_id.name, *columns]))
            first = 0
            for number, rows in enumerate(groups):
                seen = first
                reason = "the file has fewer rows than it says"
                try:
                    for batch in _group_batches(file, number, wanted, piece.path):
                        yield self._portion(batch, columns, constants)
                        seen += batch.num_rows
                except DamageError as error:
                    reason = str(error)
                first += rows
                if seen < first:
                    rows_lost = f"the rows {seen} to {first - 1} of {piece.path} cannot be read"
                    yield Unreadable(f"{rows_lost}: {reason}")

    def _columns(self, schema: pa.Schema) -> list[str]:
        """The columns of the events, besides the id."""
        found = _only(schema, self.event_id.name).type
        if not may_convert(found, self.event_id.type_):
            raise DamageError(
                f"its column {self.event_id.name!r} has type {found}, which cannot become "
                f"{self.event_id.type_name}, the type of this stream's ids: write the file again "
                "with such a column, under a new name"
            )
        if self.json is None:
            return needed_columns(schema, self.needed)
        found = _only(schema, self.json).type
        if not (is_string(found) or is_binary(found)):
            raise DamageError(
                f"its column {self.json!r} must hold JSON as strings, but its type is {found}"
            )
        return [self.json]

    def _constants(self, path: str, schema: pa.Schema) -> dict[str, pa.Scalar]:
        """The attributes in folder names that the file itself does not have."""
        if self.json is not None:
            return {}
        names = {*schema.names, *attributes_of(schema)}
        return {
            name: _typed(value, self.types.get(name, pa.string()))
            for name, value in folder_values(path, self.root).items()
            if name in self.needed and name not in names
        }

    def _portion(
        self, batch: pa.RecordBatch, columns: Sequence[str], constants: Mapping[str, pa.Scalar]
    ) -> Portion:
        name, wanted, type_name = self.event_id
        ids = ids_of(batch.column(name), wanted, type_name)
        names = ["id"]
        arrays = [ids.array]
        for name, array in zip(batch.schema.names, batch.columns, strict=True):
            if name in columns:
                names.append(name)
                arrays.append(without_views(array if self.json is None else decoded(array)))
        for name, value in constants.items():
            names.append(name)
            arrays.append(pa.repeat(value, batch.num_rows))
        return Portion(pa.RecordBatch.from_arrays(arrays, names=names), ids.problems)


def _only(schema: pa.Schema, name: str) -> pa.Field:
    positions = schema.get_all_field_indices(name)
    if len(positions) != 1:
        count = f"{len(positions)} columns" if positions else "no column"
        raise DamageError(f"it has {count} {name!r}")
    return schema.field(positions[0])


def _typed(value: str | None, wanted: pa.DataType) -> pa.Scalar:
    """The value in the wanted type; if that fails, the string."""
    if pa.types.is_timestamp(wanted):
        # Without a zone, which means UTC: with one, Arrow would demand an offset in the text.
        wanted = pa.timestamp(wanted.unit)
    try:
        return pa.scalar(value, pa.string()).cast(wanted)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return pa.scalar(value, pa.string())


class DamageError(Exception):
    """What is wrong with a file, or some rows of it, in one line."""


def schema_of(path: str, options: Mapping[str, Any] | None) -> pa.Schema | None:
    """The columns of a file; None if it is damaged. Raises StreamError if it cannot be reached."""
    piece = _whole(path, options)
    try:
        with _noticing_damage(piece.path), piece.opened() as file:
            return file.schema_arrow
    except DamageError:
        return None


def _whole(path: str, options: Mapping[str, Any] | None) -> Piece:
    return piece_of(path, 0, sys.maxsize, options)


@contextmanager
def _noticing_damage(path: str) -> Iterator[None]:
    """Raise DamageError, or StreamError if the file cannot be reached."""
    try:
        yield
    except pa.ArrowMemoryError:
        raise
    except (pa.ArrowException, UnicodeDecodeError) as error:
        raise DamageError(_first_line(error)) from error
    except OSError as error:
        # Arrow's own; errors of the system and of fsspec have a number or a subclass.
        if type(error) is OSError and error.errno is None:
            raise DamageError(_first_line(error)) from error
        raise StreamError(
            f"the file {path} cannot be reached: {error.strerror or error}. Make it reachable and "
            "start the stream again to continue"
        ) from error


def _group_batches(
    file: pq.ParquetFile, group: int, columns: Sequence[str], path: str
) -> Iterator[pa.RecordBatch]:
    """Some columns of a row group. Raises as `_noticing_damage`."""
    batches = read_groups(file, [group], columns)
    while True:
        with _noticing_damage(path):
            batch = next(batches, None)
        if batch is None:
            return
        yield batch


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
