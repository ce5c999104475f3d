"""Events of the files of a stream, as a task reads them: each file has columns of its own.

The columns are told by each file alone, so a column that came, went or changed its type is
nothing special. What cannot be read is told with its reason, and the rest is read: a file, or
some rows of it (`damaged_files`).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple

import pyarrow as pa

from boolcast.model.arrow import decoded, is_binary, is_string, without_views
from boolcast.pipeline.events.attribute_columns import attributes_of, needed_columns
from boolcast.pipeline.events.damaged_files import DamageError, batches_of_group, noticing, whole
from boolcast.pipeline.events.event_ids import ids_of, may_be
from boolcast.pipeline.spark.paths import folder_values


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
        piece = whole(path, self.options)
        with ExitStack() as stack:
            try:
                with noticing(piece.path):
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
                reason = "there are fewer than the file says"
                try:
                    for batch in batches_of_group(file, number, wanted, piece.path):
                        yield self._portion(batch, columns, constants)
                        seen += batch.num_rows
                except DamageError as error:
                    reason = str(error)
                first += rows
                if seen < first:
                    told = f"the rows {seen} to {first - 1} of {piece.path} cannot be read"
                    yield Unreadable(f"{told}: {reason}")

    def _columns(self, schema: pa.Schema) -> list[str]:
        """The columns that tell events, besides the id."""
        found = _only(schema, self.event_id.name).type
        if not may_be(found, self.event_id.type_):
            raise DamageError(
                f"its column {self.event_id.name!r} is of type {found}, and the ids of this "
                f"stream are of type {self.event_id.type_name}, which it cannot be: write the file "
                "again with such a column, under a new name"
            )
        if self.json is None:
            return needed_columns(schema, self.needed)
        found = _only(schema, self.json).type
        if not (is_string(found) or is_binary(found)):
            raise DamageError(
                f"its column {self.json!r} must hold JSON as strings, and it is of type {found}"
            )
        return [self.json]

    def _constants(self, path: str, schema: pa.Schema) -> dict[str, pa.Scalar]:
        """What folders tell that the file itself does not."""
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
    places = schema.get_all_field_indices(name)
    if len(places) != 1:
        count = f"{len(places)} columns" if places else "no column"
        raise DamageError(f"it has {count} {name!r}")
    return schema.field(places[0])


def _typed(value: str | None, wanted: pa.DataType) -> pa.Scalar:
    """The value in the type that it should have, or as the string that it is."""
    if pa.types.is_timestamp(wanted):
        # Without a zone, which means UTC: Arrow reads no other text of a timestamp with one.
        wanted = pa.timestamp(wanted.unit)
    try:
        return pa.scalar(value, pa.string()).cast(wanted)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return pa.scalar(value, pa.string())
