"""Events of the files of a stream, as a task reads them: each file has columns of its own.

The columns are told by each file alone, so a column that came, went or changed its type is
nothing special. What cannot be read is told with its reason, and the rest is read: a file, or
some rows of it. That is for files that are damaged. One that cannot be reached ends the task,
since nobody can say that it will not be there the next time.
"""

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from boolcast.errors import StreamError
from boolcast.model.arrow import decoded
from boolcast.model.events import DEPTH_LIMIT
from boolcast.pipeline.event_ids import ids_of, may_be
from boolcast.pipeline.parquet_reading import piece_of, read_groups
from boolcast.pipeline.spark_paths import folder_values


class Portion(NamedTuple):
    """Some events: the id first, then the attributes by their names, or the JSON.

    `problems` tells by row why an id is null that is not null in the file.
    """

    events: pa.RecordBatch
    problems: Mapping[int, str]


class Unreadable(NamedTuple):
    """A file, or some rows of it, of which no event can be told; and why."""

    reason: str


class IdColumn(NamedTuple):
    """The column of the event's id, and the type that ids have in the results; its name too."""

    name: str
    type_: pa.DataType
    type_name: str


class FileEvents(NamedTuple):
    """What a task takes from each file.

    That is the id, and either all columns that tell `needed` attributes or the column `json`.
    Folders below `root` that are called `name=value` tell an attribute as well; `types` are
    those of attributes that are not to be strings then.
    """

    event_id: IdColumn
    needed: frozenset[str]
    json: str | None
    root: str
    types: Mapping[str, pa.DataType]
    options: Mapping[str, Any] | None

    def read(self, files: Iterable[pa.RecordBatch]) -> Iterator[Portion | Unreadable]:
        """All that the files hold whose paths are in the first column. Raises StreamError."""
        for batch in files:
            for path in batch.column(0).to_pylist():
                yield from self._read(path)

    def _read(self, path: str) -> Iterator[Portion | Unreadable]:
        piece = piece_of(path, 0, sys.maxsize, self.options)
        with ExitStack() as stack:
            try:
                with _noticing(piece.path):
                    file = stack.enter_context(piece.opened())
                    columns = self._columns(file.schema_arrow)
                    groups = [
                        file.metadata.row_group(number).num_rows
                        for number in range(file.metadata.num_row_groups)
                    ]
            except _UnreadableError as error:
                yield Unreadable(f"no event of {piece.path} can be read: {error}")
                return
            constants = self._constants(path, file.schema_arrow.names)
            wanted = list(dict.fromkeys([self.event_id.name, *columns]))
            first = 0
            for number, rows in enumerate(groups):
                seen = first
                reason = "there are fewer than the file says"
                try:
                    for batch in _batches(file, number, wanted, piece.path):
                        yield self._portion(batch, columns, constants)
                        seen += batch.num_rows
                except _UnreadableError as error:
                    reason = str(error)
                first += rows
                if seen < first:
                    told = f"the rows {seen} to {first - 1} of {piece.path} cannot be read"
                    yield Unreadable(f"{told}: {reason}")

    def _columns(self, schema: pa.Schema) -> list[str]:
        """The columns that tell events, besides the id."""
        found = _only(schema, self.event_id.name).type
        if not may_be(found, self.event_id.type_):
            raise _UnreadableError(
                f"its column {self.event_id.name!r} is of type {found}, and the ids of this "
                f"stream are of type {self.event_id.type_name}"
            )
        if self.json is None:
            return columns_of(schema, self.needed)
        found = _only(schema, self.json).type
        if not _is_text(found):
            raise _UnreadableError(
                f"its column {self.json!r} must hold JSON as strings, and it is of type {found}"
            )
        return [self.json]

    def _constants(self, path: str, names: Sequence[str]) -> dict[str, pa.Scalar]:
        if self.json is not None:
            return {}
        return {
            name: _typed(value, self.types.get(name, pa.string()))
            for name, value in folder_values(path, self.root).items()
            if name in self.needed and name not in names
        }

    def _portion(
        self, batch: pa.RecordBatch, columns: Sequence[str], constants: Mapping[str, pa.Scalar]
    ) -> Portion:
        name, wanted, type_name = self.event_id
        ids = ids_of(_without_views(batch.column(name)), wanted, type_name)
        names = ["id"]
        arrays = [ids.array]
        for name, array in zip(batch.schema.names, batch.columns, strict=True):
            if name in columns:
                names.append(name)
                arrays.append(_without_views(array if self.json is None else decoded(array)))
        for name, value in constants.items():
            names.append(name)
            arrays.append(pa.repeat(value, batch.num_rows))
        return Portion(pa.RecordBatch.from_arrays(arrays, names=names), ids.problems)


class _UnreadableError(Exception):
    pass


@contextmanager
def _noticing(path: str) -> Iterator[None]:
    """Tell damage from files that cannot be reached, which raise StreamError."""
    try:
        yield
    except pa.ArrowMemoryError:
        raise
    except (pa.ArrowException, UnicodeDecodeError) as error:
        raise _UnreadableError(_first_line(error)) from error
    except OSError as error:
        # Arrow's own; those of the system and of fsspec have a number or a class.
        if type(error) is OSError and error.errno is None:
            raise _UnreadableError(_first_line(error)) from error
        raise StreamError(
            f"the file {path} cannot be reached: {error.strerror or error}. Once it can, start "
            "the stream again and it goes on"
        ) from error


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


def _batches(
    file: pq.ParquetFile, group: int, columns: Sequence[str], path: str
) -> Iterator[pa.RecordBatch]:
    batches = read_groups(file, [group], columns)
    while True:
        with _noticing(path):
            batch = next(batches, None)
        if batch is None:
            return
        yield batch


def _without_views(array: pa.Array) -> pa.Array:
    """The same values, in types of which Arrow can take single rows."""
    kind = _type_without_views(array.type)
    return array if kind == array.type else array.cast(kind)


def _type_without_views(kind: pa.DataType) -> pa.DataType:
    types = pa.types
    if types.is_string_view(kind):
        return pa.large_string()
    if types.is_binary_view(kind):
        return pa.large_binary()
    if types.is_struct(kind):
        return pa.struct([each.with_type(_type_without_views(each.type)) for each in kind])
    if types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_type_without_views(kind.value_type)))
    return kind


def _only(schema: pa.Schema, name: str) -> pa.Field:
    places = schema.get_all_field_indices(name)
    if len(places) != 1:
        count = f"{len(places)} columns" if places else "no column"
        raise _UnreadableError(f"it has {count} {name!r}")
    return schema.field(places[0])


def _is_text(kind: pa.DataType) -> bool:
    types = pa.types
    if types.is_dictionary(kind):
        return _is_text(kind.value_type)
    return bool(
        types.is_string(kind)
        or types.is_large_string(kind)
        or types.is_string_view(kind)
        or types.is_binary(kind)
        or types.is_large_binary(kind)
        or types.is_binary_view(kind)
    )


def schema_of(path: str, options: Mapping[str, Any] | None) -> pa.Schema | None:
    """The columns of a file; None if it is damaged. Raises StreamError if it is not reached."""
    piece = piece_of(path, 0, sys.maxsize, options)
    try:
        with _noticing(piece.path), piece.opened() as file:
            return file.schema_arrow
    except _UnreadableError:
        return None


def columns_of(schema: pa.Schema, needed: frozenset[str]) -> list[str]:
    """The columns in which the needed attributes are, each as a whole.

    Where two columns give the same attribute both are among them, needed or not: an event with
    both is malformed. So is every event of a column that nests too deep.
    """
    leaves = [(field.name, list(_leaves(field, field.name, DEPTH_LIMIT))) for field in schema]
    times = Counter(leaf for _, names in leaves for leaf in names)
    chosen = (
        name
        for name, names in leaves
        if any(leaf is None or leaf in needed or times[leaf] > 1 for leaf in names)
    )
    return list(dict.fromkeys(chosen))


def _leaves(field: pa.Field, name: str, depth: int) -> Iterator[str | None]:
    """The attributes that a column tells; None for one that no event can have."""
    if not depth:
        yield None
    elif pa.types.is_struct(field.type):
        for each in field.type:
            yield from _leaves(each, f"{name}.{each.name}", depth - 1)
    else:
        yield name


def _typed(value: str | None, wanted: pa.DataType) -> pa.Scalar:
    """The value in the type that it should have, or as the string that it is."""
    if pa.types.is_timestamp(wanted):
        # Without a zone, which means UTC: Arrow reads no other text of a timestamp with one.
        wanted = pa.timestamp(wanted.unit)
    try:
        return pa.scalar(value, pa.string()).cast(wanted)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return pa.scalar(value, pa.string())
