"""Batch matching: the events of a DataFrame against one version of an index.

The version is chosen when you call the function, and pinned in the plan: versions that are
published later do not change the result, however often the DataFrame is computed.
"""

from collections.abc import Callable, Collection, Iterator
from functools import partial
from typing import Final, NamedTuple

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it
from pyspark.sql.types import (
    ArrayType,
    CalendarIntervalType,
    DataType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
    YearMonthIntervalType,
)

from boolcast.errors import StoreError, UsageError
from boolcast.matching.store.catalog import Index, IndexSegment, index_of
from boolcast.matching.store.snapshots import current, read_manifest
from boolcast.matching.store.store import FolderStore, Location, Store
from boolcast.model.schemas import Schema
from boolcast.pipeline.events.column_selection import select_columns
from boolcast.pipeline.events.parquet_reading import Events, frame_of
from boolcast.pipeline.matching.match_task import (
    Form,
    MatchTask,
    count_positions,
    find_problems,
    match_lists,
    match_rows,
    name_positions,
)
from boolcast.pipeline.spark.exact_columns import type_of
from boolcast.pipeline.spark.stores import open_store

MEMORY: Final = 8 << 30
"""How many bytes of an index a worker opens at a time by default."""

COUNTS: Final = StructType(
    [StructField("subscription", StringType()), StructField("matches", LongType())]
)

TaskFunction = Callable[..., Iterator[pa.RecordBatch]]

FORMS: Final[dict[str, tuple[TaskFunction, StructField]]] = {
    "rows": (match_rows, StructField("subscription", StringType())),
    "lists": (match_lists, StructField("subscriptions", ArrayType(StringType()))),
}
"""For each form of result: the function of the tasks, and the column of matches."""


def match(  # noqa: PLR0913 - options, all by name
    events: Events,
    store: Location,
    *,
    event_id: str,
    version: int | None = None,
    form: Form = "rows",
    json: str | None = None,
    schema: Schema | None = None,
    memory: int = MEMORY,
) -> DataFrame:
    """Which subscriptions accept each event.

    With the form `rows`, a row for each match: the event's id under its own name and type, and
    `subscription`. With the form `lists`, a row for each event, with the array `subscriptions`,
    which may be empty.

    Every column is an attribute of the event, nested fields under dotted names. An attribute that
    filters name and the events lack is missing. With `json`, that column of strings holds the
    events instead; strings in it become timestamps where `schema` says so. Malformed events match
    nothing: `match_rejects` gives them.

    `version` is the current one by default. A worker opens at most `memory` bytes of the index at
    a time, and at least one segment. Raises UsageError, and StoreError if there is no such index,
    or files of it are missing or truncated.
    """
    run, column = form_of(form)
    frame, task = plan_match(
        events, store, event_id=event_id, version=version, json=json, schema=schema, memory=memory
    )
    output = StructType([id_field(events, event_id, {column.name}), column])
    return frame.mapInArrow(partial(run, task=task), output)


def match_rejects(
    events: Events,
    store: Location,
    *,
    event_id: str,
    version: int | None = None,
    json: str | None = None,
    schema: Schema | None = None,
) -> DataFrame:
    """The events that `match` skips because they are malformed, and why.

    Columns: the event's id, `event` (the JSON text, null where events are columns), `error`.
    """
    frame, task = plan_match(
        events, store, event_id=event_id, version=version, json=json, schema=schema, memory=MEMORY
    )
    output = StructType([id_field(events, event_id, {"event", "error"}), *_PROBLEM])
    task = task._replace(with_problems=True)
    return frame.mapInArrow(partial(find_problems, task=task), output)


def match_with_rejects(  # noqa: PLR0913 - as `match`
    events: Events,
    store: Location,
    *,
    event_id: str,
    version: int | None = None,
    form: Form = "rows",
    json: str | None = None,
    schema: Schema | None = None,
    memory: int = MEMORY,
) -> DataFrame:
    """The results of `match` and `match_rejects` in one pass over the events.

    If `error` is null the row is a match, otherwise a malformed event.
    """
    run, column = form_of(form)
    frame, task = plan_match(
        events, store, event_id=event_id, version=version, json=json, schema=schema, memory=memory
    )
    taken = {column.name, "event", "error"}
    output = StructType([id_field(events, event_id, taken), column, *_PROBLEM])
    return frame.mapInArrow(partial(run, task=task._replace(with_problems=True)), output)


def count_matches(
    events: Events,
    store: Location,
    *,
    version: int | None = None,
    json: str | None = None,
    schema: Schema | None = None,
    memory: int = MEMORY,
) -> DataFrame:
    """How many events each subscription accepts: `subscription`, `matches`; without zeros.

    The workers count the matches where they find them, which is far cheaper than to move and
    group them.
    """
    frame, task = plan_match(
        events, store, event_id=None, version=version, json=json, schema=schema, memory=memory
    )
    positions = frame.mapInArrow(partial(count_positions, task=task), "position long, matches long")
    summed = positions.groupBy("position").agg(F.sum("matches").alias("matches"))
    return summed.mapInArrow(partial(name_positions, task=task), COUNTS)


_PROBLEM: Final = (StructField("event", StringType()), StructField("error", StringType()))


def form_of(form: Form) -> tuple[TaskFunction, StructField]:
    """The entry of `FORMS`. Raises UsageError if there is none."""
    if form not in FORMS:
        raise UsageError(f"the form must be one of {', '.join(map(repr, FORMS))}, not {form!r}")
    return FORMS[form]


class PinnedIndex(NamedTuple):
    """One version of an index, in groups that a worker opens one at a time.

    `attributes` are those that the filters name.
    """

    store: Store
    groups: tuple[tuple[IndexSegment, ...], ...]
    attributes: frozenset[str]


def pin_index(
    location: Location, version: int | None, memory: int, *, is_verified: bool = False
) -> PinnedIndex:
    """A version of an index, the current one if None.

    Unless the version `is_verified`, check that its files are there: workers would find out late.
    """
    store = open_store(location)
    index = index_of(read_manifest(store, current(store) if version is None else version))
    if not is_verified:
        _check_files(store, index)
    needed = frozenset(name for part in index.parts for name in part.attributes)
    return PinnedIndex(store, groups_of(index, memory), needed)


def plan_match(
    events: Events,
    location: Location,
    *,
    event_id: str | None,
    version: int | None,
    json: str | None,
    schema: Schema | None,
    memory: int,
) -> tuple[DataFrame, MatchTask]:
    """The columns that are sent to Python, the event's id first, and the work of the tasks."""
    index = pin_index(location, version, memory)
    frame, source = select_columns(events, event_id, index.attributes, json, schema)
    return frame, MatchTask(index.store, index.groups, source, event_id or "id")


def _check_files(store: Store, index: Index) -> None:
    """Raise StoreError if a file of the index is missing or has the wrong length.

    Reads no content, and takes 3 ms for 40 segments. Checks folders only: in other stores it
    would take many requests, and workers may have copies.
    """
    if not isinstance(store, FolderStore):
        return
    for part in index.parts:
        for segment in filter(None, (part.files, part.tombstones)):
            for file in (segment.metadata, *segment.arrays):
                path = store.path(segment.path(file))
                try:
                    size = path.stat().st_size
                except FileNotFoundError:
                    size = None
                if size != file.size:
                    problem = (
                        "it is missing"
                        if size is None
                        else f"it has {size:,} bytes instead of {file.size:,}"
                    )
                    raise StoreError(
                        f"{path} is damaged: {problem}. Build the index again, restore the file "
                        "from a copy, or ask for an older version"
                    )


def groups_of(index: Index, memory: int) -> tuple[tuple[IndexSegment, ...], ...]:
    """The parts in groups of at most `memory` bytes, or of one part; at least one group."""
    groups: list[list[IndexSegment]] = [[]]
    size = 0
    for part in index.parts:
        nbytes = part.files.nbytes
        if groups[-1] and size + nbytes > memory:
            groups.append([])
            size = 0
        groups[-1].append(part)
        size += nbytes
    return tuple(map(tuple, groups))


def id_field(events: Events, event_id: str, taken: Collection[str]) -> StructField:
    """The column of the event's id in results. Raises UsageError if its name is `taken`."""
    return id_of_type(event_id, type_of(frame_of(events), event_id), taken)


def id_of_type(event_id: str, kind: DataType, taken: Collection[str]) -> StructField:
    """As `id_field`, with a known type."""
    # Spark ignores case when it looks names up.
    if event_id.casefold() in taken:
        raise UsageError(f"the event's id cannot be called {event_id!r}: rename that column")
    if not _has_arrow_type(kind):
        raise UsageError(
            f"the event's id {event_id!r} has type {kind.simpleString()}, which cannot be sent "
            "to Python: cast it to a string"
        )
    return StructField(event_id, kind)


def _has_arrow_type(kind: DataType) -> bool:
    """False if Spark cannot convert the type to Arrow."""
    match kind:
        case YearMonthIntervalType() | CalendarIntervalType():
            return False
        case ArrayType():
            return _has_arrow_type(kind.elementType)
        case MapType():
            return _has_arrow_type(kind.keyType) and _has_arrow_type(kind.valueType)
        case StructType():
            return all(_has_arrow_type(field.dataType) for field in kind.fields)
        case _:
            return True
