"""Batch match: events of a DataFrame against a version of an index.

The version is chosen when the function is called and pinned in the plan: whatever is published
before the DataFrame is computed, or computed again, does not change it.
"""

from collections.abc import Callable, Collection, Iterator
from functools import partial
from typing import Final

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

from boolcast.errors import UsageError
from boolcast.matching.store.catalog import Index, Part, index_of
from boolcast.matching.store.snapshots import current, read_manifest
from boolcast.model.schemas import Schema
from boolcast.pipeline.events.column_selection import Events, Planned, frame_of, travel
from boolcast.pipeline.matching.match_task import (
    Form,
    Visit,
    count_places,
    find_problems,
    match_lists,
    match_rows,
    name_places,
)
from boolcast.pipeline.spark.exact_columns import type_of
from boolcast.pipeline.spark.stores import Place, check_files, open_store

MEMORY: Final = 8 << 30
"""How many bytes of an index a worker opens at a time, unless told otherwise."""

COUNTS: Final = StructType(
    [StructField("subscription", StringType()), StructField("matches", LongType())]
)

Task = Callable[..., Iterator[pa.RecordBatch]]

FORMS: Final[dict[str, tuple[Task, StructField]]] = {
    "rows": (match_rows, StructField("subscription", StringType())),
    "lists": (match_lists, StructField("subscriptions", ArrayType(StringType()))),
}
"""What tasks do for each form, and the column of matches that they make."""


def match(  # noqa: PLR0913 - options, all by name
    events: Events,
    store: Place,
    *,
    event_id: str,
    version: int | None = None,
    form: Form = "rows",
    json: str | None = None,
    schema: Schema | None = None,
    memory: int = MEMORY,
) -> DataFrame:
    """Which subscriptions accept each event.

    In the form `rows` a row for each match, with the event's id under its own name and type,
    and `subscription`. In the form `lists` a row for each event, with the array
    `subscriptions`, which may be empty.

    Every column is an attribute of the event, nested fields under dotted names; one that the
    filters name and the events lack is missing. With `json`, that column of strings holds the
    events instead, and strings in it become timestamps where `schema` says so. Malformed
    events match nothing; `match_rejects` tells them.

    The version is the current one at this call, or a given one. A worker opens at most
    `memory` bytes of the index at a time, and one segment at least. Raises UsageError, and
    StoreError if there is no such index, or files of it are missing or cut off.
    """
    task, column = form_of(form)
    frame, visit = planned(
        events, store, event_id=event_id, version=version, json=json, schema=schema, memory=memory
    )
    output = StructType([id_field(events, event_id, {column.name}), column])
    return frame.mapInArrow(partial(task, visit=visit), output)


def match_rejects(
    events: Events,
    store: Place,
    *,
    event_id: str,
    version: int | None = None,
    json: str | None = None,
    schema: Schema | None = None,
) -> DataFrame:
    """The events that `match` passes over because they are malformed, and why.

    Columns: the event's id, `event` (the JSON text, null where events are columns), `error`.
    """
    frame, visit = planned(
        events, store, event_id=event_id, version=version, json=json, schema=schema, memory=MEMORY
    )
    output = StructType([id_field(events, event_id, {"event", "error"}), *_PROBLEM])
    visit = visit._replace(with_problems=True)
    return frame.mapInArrow(partial(find_problems, visit=visit), output)


def match_with_rejects(  # noqa: PLR0913 - as `match`
    events: Events,
    store: Place,
    *,
    event_id: str,
    version: int | None = None,
    form: Form = "rows",
    json: str | None = None,
    schema: Schema | None = None,
    memory: int = MEMORY,
) -> DataFrame:
    """What `match` and `match_rejects` give, in one pass over the events.

    Where `error` is null the row is a match, else a malformed event without subscriptions.
    """
    task, column = form_of(form)
    frame, visit = planned(
        events, store, event_id=event_id, version=version, json=json, schema=schema, memory=memory
    )
    taken = {column.name, "event", "error"}
    output = StructType([id_field(events, event_id, taken), column, *_PROBLEM])
    return frame.mapInArrow(partial(task, visit=visit._replace(with_problems=True)), output)


def count_matches(
    events: Events,
    store: Place,
    *,
    version: int | None = None,
    json: str | None = None,
    schema: Schema | None = None,
    memory: int = MEMORY,
) -> DataFrame:
    """How many events each subscription accepts: `subscription`, `matches`; none with 0.

    They are counted where they are found: far cheaper than to move and group the matches.
    """
    frame, visit = planned(
        events, store, event_id=None, version=version, json=json, schema=schema, memory=memory
    )
    places = frame.mapInArrow(partial(count_places, visit=visit), "place long, matches long")
    summed = places.groupBy("place").agg(F.sum("matches").alias("matches"))
    return summed.mapInArrow(partial(name_places, visit=visit), COUNTS)


_PROBLEM: Final = (StructField("event", StringType()), StructField("error", StringType()))


def form_of(form: Form) -> tuple[Task, StructField]:
    """What `FORMS` has of a form. Raises UsageError."""
    if form not in FORMS:
        raise UsageError(f"the form is one of {', '.join(map(repr, FORMS))}, and not {form!r}")
    return FORMS[form]


def planned(  # noqa: PLR0913 - by name, for all jobs
    events: Planned,
    store: Place,
    *,
    event_id: str | None,
    version: int | None,
    json: str | None,
    schema: Schema | None,
    memory: int,
    is_verified: bool = False,
) -> tuple[DataFrame, Visit]:
    """The columns that travel to Python, the event's id first, and what is done with them.

    Unless the version `is_verified`, its files are looked for: workers would find out late.
    """
    place = open_store(store)
    index = index_of(read_manifest(place, current(place) if version is None else version))
    if not is_verified:
        check_files(place, index)
    needed = {name for part in index.parts for name in part.attributes}
    frame, source = travel(events, event_id, needed, json, schema)
    return frame, Visit(place, groups_of(index, memory), source, event_id or "id")


def groups_of(index: Index, memory: int) -> tuple[tuple[Part, ...], ...]:
    """The parts in groups of at most so many bytes, or of one part; at least one group."""
    groups: list[list[Part]] = [[]]
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
    """The event's id as a column beside those of the names that are taken. Raises UsageError."""
    return id_of_type(event_id, type_of(frame_of(events), event_id), taken)


def id_of_type(event_id: str, kind: DataType, taken: Collection[str]) -> StructField:
    """As `id_field`, where the type is known."""
    # As Spark looks names up: without regard to case.
    if event_id.casefold() in taken:
        raise UsageError(f"the event's id cannot be called {event_id!r}: rename that column")
    if not _can_travel(kind):
        raise UsageError(
            f"the event's id {event_id!r} is of type {kind.simpleString()}, which cannot travel "
            "to Python: cast it to a string"
        )
    return StructField(event_id, kind)


def _can_travel(kind: DataType) -> bool:
    """False of what Spark has no type of Arrow for."""
    match kind:
        case YearMonthIntervalType() | CalendarIntervalType():
            return False
        case ArrayType():
            return _can_travel(kind.elementType)
        case MapType():
            return _can_travel(kind.keyType) and _can_travel(kind.valueType)
        case StructType():
            return all(_can_travel(field.dataType) for field in kind.fields)
        case _:
            return True
