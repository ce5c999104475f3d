"""Events as rows of ranks, from mappings and from Arrow, and their strings for patterns."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from boolcast.errors import EventError
from boolcast.model.arrow import columns_of, decoded
from boolcast.model.events import Event
from boolcast.model.values import EventValue

if TYPE_CHECKING:
    from boolcast.matching.values.rank_tables import Spaces
    from boolcast.matching.values.ranks import RankSpace
    from boolcast.matching.values.segments import Segment

Ranks = NDArray[np.int32]


class Encoded(NamedTuple):
    """Events as the kernel reads them.

    `ranks` has a row for each event and a column for each attribute. `texts` holds the code
    points of strings; those of event e and text column c lie between entries 2e and 2e+1 of
    `text_offsets[c]`. Both entries are -1 if the value is not a string.
    """

    ranks: Ranks
    texts: NDArray[np.uint32]
    text_offsets: NDArray[np.int64]


class Columns:
    """Events by attribute: an Arrow array for each, or values that are already converted."""

    def __init__(self, count: int, columns: Mapping[str, pa.Array | Sequence[EventValue | None]]):
        self.count = count
        self.columns = columns

    @classmethod
    def of_batch(cls, batch: pa.RecordBatch) -> "Columns":
        """Typed columns stay Arrow arrays; nested and clashing ones are taken apart."""
        simple = all(_is_simple(field.type) for field in batch.schema)
        if simple and len(set(batch.schema.names)) == batch.num_columns:
            arrays = dict(zip(batch.schema.names, batch.columns, strict=True))
            for name, array in arrays.items():
                _check_text(name, array)
            return cls(batch.num_rows, arrays)
        return cls(batch.num_rows, columns_of(batch))

    @classmethod
    def of_events(cls, events: Sequence[Event]) -> "Columns":
        names = dict.fromkeys(name for event in events for name in event)
        columns = {name: [event.get(name) for event in events] for name in names}
        return cls(len(events), columns)

    def encode(self, spaces: "Spaces", text_columns: NDArray[np.int32]) -> Encoded:
        """The events in the ranks of one segment."""
        ranks = np.empty((self.count, len(spaces.names)), dtype=np.int32)
        for number, (name, space) in enumerate(zip(spaces.names, spaces.spaces, strict=True)):
            column = self.columns.get(name)
            ranks[:, number] = space.rank(None) if column is None else _ranks(space, column)
        return Encoded(ranks, *self._texts(spaces, text_columns))

    def _texts(
        self, spaces: "Spaces", text_columns: NDArray[np.int32]
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        attributes = np.flatnonzero(text_columns >= 0)
        if not len(attributes):
            return NO_TEXTS, NO_OFFSETS
        offsets = np.full((len(attributes), 2 * self.count), -1, dtype=np.int64)
        parts: list[str] = []
        size = 0
        for attribute in attributes.tolist():
            column = self.columns.get(spaces.names[attribute], ())
            row = offsets[text_columns[attribute]]
            for event, value in enumerate(_python_values(column)):
                if isinstance(value, str):
                    parts.append(value)
                    row[2 * event] = size
                    size += len(value)
                    row[2 * event + 1] = size
        texts = np.frombuffer("".join(parts).encode("utf-32-le"), dtype=np.uint32)
        return texts.copy(), offsets


NO_TEXTS = np.zeros(0, dtype=np.uint32)
NO_OFFSETS = np.zeros((1, 2), dtype=np.int64)


class SingleEvent:
    """One event, encoded without Arrow; Python's own work dominates, so there is little of it."""

    __slots__ = ("_event",)

    def __init__(self, event: Event) -> None:
        self._event = event

    def encode(self, spaces: "Spaces", segment: "Segment") -> Encoded:
        """The event in the ranks of one segment."""
        if segment.has_patterns:
            return Columns.of_events([self._event]).encode(spaces, segment.text_columns)
        get = self._event.get
        ranks = [[rank(get(name)) for name, rank in spaces.ranks]]
        return Encoded(np.array(ranks, dtype=np.int32), NO_TEXTS, NO_OFFSETS)

    def event(self, row: int) -> Event:  # noqa: ARG002 - there is only row 0
        """The event itself."""
        return self._event


def _check_text(name: str, array: pa.Array) -> None:
    """Raise EventError for invalid UTF-8: Arrow itself does not check."""
    try:
        array.validate(full=True)
    except pa.ArrowInvalid:
        raise EventError("a string is not valid UTF-8", attribute=name) from None


def _is_simple(kind: pa.DataType) -> bool:
    """True for a type whose column is always one attribute."""
    types = pa.types
    if types.is_dictionary(kind) or types.is_run_end_encoded(kind):
        return _is_simple(kind.value_type)
    return not types.is_struct(kind) and not isinstance(kind, pa.BaseExtensionType)


def _ranks(space: "RankSpace", column: pa.Array | Sequence[EventValue | None]) -> NDArray[Any]:
    if not isinstance(column, pa.Array):
        return np.array([space.rank(value) for value in column], dtype=np.int32)
    kind = column.type
    if pa.types.is_dictionary(kind):
        if len(column.dictionary) > 2 * len(column):
            return _ranks(space, decoded(column))
        return _dictionary_ranks(space, column)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return space.string_ranks(column)
    ranks = _ranks_of_numbers(space, column)
    if ranks is not None:
        return ranks
    distinct = column.dictionary_encode() if _is_hashable(kind) else None
    if distinct is not None and len(distinct.dictionary) * 2 < len(column):
        return _dictionary_ranks(space, distinct)
    return np.array([space.rank(value) for value in _python_values(column)], dtype=np.int32)


def _ranks_of_numbers(space: "RankSpace", column: pa.Array) -> NDArray[Any] | None:
    """The ranks of integers, floats and timestamps as a whole; None for other types."""
    kind = column.type
    ranks: NDArray[Any]
    if pa.types.is_integer(kind) and kind != pa.uint64():
        ranks = space.integer_ranks(_filled(column).astype(np.int64, copy=False))
    elif pa.types.is_float64(kind) or pa.types.is_float32(kind):
        ranks = space.float_ranks(_filled(column).astype(np.float64, copy=False))
    elif pa.types.is_timestamp(kind) and kind.unit == "us":
        ranks = space.timestamp_ranks(_filled(column.cast(pa.int64())))
    else:
        return None
    if not column.null_count:
        return ranks
    valid = column.is_valid().to_numpy(zero_copy_only=False)
    return np.where(valid, ranks, space.rank(None))


def _filled(column: pa.Array) -> NDArray[Any]:
    """A column of numbers with 0 for null."""
    values: NDArray[Any] = (column.fill_null(0) if column.null_count else column).to_numpy()
    return values


def _is_hashable(kind: pa.DataType) -> bool:
    return bool(pa.types.is_primitive(kind) or pa.types.is_boolean(kind))


def _dictionary_ranks(space: "RankSpace", column: pa.DictionaryArray) -> NDArray[np.int32]:
    """The rank of each distinct value, looked up once; one more entry stands for null."""
    values = column.dictionary
    if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        known = space.string_ranks(values)
    else:
        known = np.array([space.rank(value) for value in _python_values(values)], dtype=np.int32)
    missing = len(known)
    table = np.append(known, np.int32(space.rank(None)))
    indices = column.indices
    if indices.null_count:
        indices = (
            indices.fill_null(missing)
            if _fits(missing, indices.type)
            else (indices.cast(pa.int64()).fill_null(missing))
        )
    ranks: NDArray[np.int32] = table[indices.to_numpy()]
    return ranks


def _fits(value: int, kind: pa.DataType) -> bool:
    return bool(value < 1 << (kind.bit_width - 1))


def _python_values(
    column: pa.Array | Sequence[EventValue | None],
) -> Sequence[EventValue | None]:
    if not isinstance(column, pa.Array):
        return column
    batch = pa.record_batch([column], names=["value"])
    return columns_of(batch).get("value", [None] * len(column))
