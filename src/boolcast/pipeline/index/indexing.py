"""Build and change an index: from DataFrames of subscriptions to a new version in a store."""

from collections.abc import Callable, Sequence
from functools import partial, reduce
from operator import add
from typing import Final, NamedTuple

import msgspec
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it
from pyspark.sql.types import CalendarIntervalType, MapType, VariantType

from boolcast.errors import StoreError, UsageError
from boolcast.filters.limits import DEFAULT_LIMITS, Limits
from boolcast.matching.store.catalog import Index, index_of
from boolcast.matching.store.snapshots import commit, current, read_manifest, reusable
from boolcast.matching.store.store import Location, Store
from boolcast.matching.values.selectivity import Selectivity
from boolcast.model.statistics import Statistics
from boolcast.pipeline.index.buckets import (
    SEGMENT_ROWS,
    Counts,
    Job,
    Outcome,
    read_rejects,
    update_bucket,
)
from boolcast.pipeline.index.changes import DELETE, UPSERT
from boolcast.pipeline.spark.exact_columns import by_position, check_string, named, type_of
from boolcast.pipeline.spark.stores import open_store

REJECTS: Final = "subscription string, filter string, error string, position long"

_ATTEMPTS: Final = 5
"""How often to start over because another writer published first."""


class IndexReport(NamedTuple):
    """A new version of an index, and what happened to rows and subscriptions.

    `subscriptions` is how many the index now has. Rows that were not used: `rejected`,
    `duplicates` (the same as another row) and `superseded` (not the last of their id).
    Subscriptions: `upserted` (new, or with a new filter), `unchanged` (had this filter already),
    `deleted`, and `unknown` (to be deleted, but not in the index). `rejects` has the rejected
    rows with the reason and the position in the filter's text; it is read from the store when you
    use it.
    """

    version: int
    subscriptions: int
    rejected: int
    duplicates: int
    superseded: int
    upserted: int
    unchanged: int
    deleted: int
    unknown: int
    rejects: DataFrame


def build_index(
    subscriptions: DataFrame,
    store: Location,
    *,
    order: str | None = None,
    problem: str | None = None,
    buckets: int | None = None,
    statistics: Statistics | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> IndexReport:
    """Publish a new version that holds exactly these subscriptions.

    Columns `subscription` (the id) and `filter` (its text), both strings; others are ignored.
    Rows with the same id and equal filters count once. With different filters all of them are
    rejected, unless `order` names a column: then the row with the greatest value counts.
    `problem` names a column of strings: where it is not null, the row is rejected for that reason.

    A hash of the id assigns a subscription to a bucket, and each bucket is one task. `buckets`
    sets their number and saves a count of the rows. `statistics` of events give a better index.

    Raises UsageError if a column is missing or has another type. Raises StoreError if the version
    cannot be written; the version before then stays current.
    """
    rows = _rows(subscriptions, ("subscription", "filter"), order, problem)
    if buckets is None:
        buckets = max(1, -(-rows.count() // SEGMENT_ROWS))
    elif buckets < 1:
        raise UsageError(f"an index needs at least one bucket, not {buckets}")
    empty = Index(buckets, ())
    return _publish(rows, open_store(store), lambda before: empty, limits, statistics)


def apply_changes(
    changes: DataFrame,
    store: Location,
    *,
    order: str | None = None,
    problem: str | None = None,
    statistics: Statistics | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> IndexReport:
    """Publish a new version with these changes to the current one; only they are built.

    Columns `subscription`, `filter` and `operation`, all strings: `upsert` adds the subscription
    or replaces its filter, `delete` removes it, whatever the filter. Without an `operation`
    column a null filter deletes, like a tombstone in a compacted topic. Deleting an unknown id is
    counted, and is no error. If a filter is rejected, the subscription keeps its old one.

    Several rows with one id, the other arguments and the errors are as for `build_index`. Raises
    StoreError if there is no index yet.
    """
    opened = open_store(store)
    if "operation" in changes.columns:
        rows = _rows(changes, ("subscription", "filter", "operation"), order, problem)
    else:
        rows = _rows(changes, ("subscription", "filter"), order, problem)
        is_deletion = rows["filter"].isNull()
        rows = rows.withColumn("operation", F.when(is_deletion, DELETE).otherwise(UPSERT))

    def index_before(number: int) -> Index:
        return index_of(read_manifest(opened, number))

    return _publish(rows, opened, index_before, limits, statistics)


def _rows(
    frame: DataFrame, names: Sequence[str], order: str | None, problem: str | None
) -> DataFrame:
    """The columns that `resolve` takes."""
    chosen = {name: name for name in names} | ({} if problem is None else {"problem": problem})
    for name in chosen.values():
        check_string(frame, name)
    superseded: Column = F.lit(False)
    if order is not None:
        kind = type_of(frame, order)
        if isinstance(kind, MapType | VariantType | CalendarIntervalType):
            raise UsageError(f"the column {order!r} of type {kind.simpleString()} has no order")
        last_first = named(frame, order).desc_nulls_last()
        ids = named(frame, "subscription")
        superseded = F.rank().over(Window.partitionBy(ids).orderBy(last_first)) > 1
    return by_position(frame).select(
        *(named(frame, each).cast("string").alias(name) for name, each in chosen.items()),
        superseded.alias("superseded"),
    )


def _publish(
    rows: DataFrame,
    store: Store,
    index_before: Callable[[int], Index],
    limits: Limits,
    statistics: Statistics | None,
) -> IndexReport:
    """Change the index that `index_before` gives for a version, and commit the result."""
    selectivity = (
        Selectivity.unknown() if statistics is None else Selectivity.from_statistics(statistics)
    )
    for _ in range(_ATTEMPTS):
        number = current(store) + 1
        before = index_before(number - 1)
        known = reusable(store, number - 1)
        job = Job(store, number, before.parts, known, limits, selectivity)
        outcomes = _run(rows, before.buckets, job)
        failures = [outcome.failure for outcome in outcomes if outcome.failure is not None]
        try:
            if failures:
                raise StoreError(failures[0])
            changed = {outcome.bucket for outcome in outcomes}
            after = Index(
                before.buckets,
                (
                    *(part for part in before.parts if part.bucket not in changed),
                    *(part for outcome in outcomes for part in outcome.parts),
                ),
                tuple(outcome.rejects for outcome in outcomes if outcome.rejects is not None),
            )
            is_published = commit(store, number, *after.entries())
        except (StoreError, OSError) as error:
            # If another writer took the number, the deletion of old versions may have removed
            # what we were writing for it.
            if current(store) < number:
                raise _not_written(store, number, error) from None
            continue
        if is_published:
            counts = reduce(add, (outcome.counts for outcome in outcomes), Counts())
            return IndexReport(
                version=number,
                subscriptions=after.subscriptions,
                rejects=_rejects(rows.sparkSession, store, after),
                **msgspec.structs.asdict(counts),
            )
    raise StoreError(
        f"other writers published the index in {store} {_ATTEMPTS} times meanwhile: try again"
    )


def _run(rows: DataFrame, buckets: int, job: Job) -> list[Outcome]:
    """Update every bucket that has rows; the driver gets one small row for each."""
    # Rows without an id will be rejected; spread them, as one bucket may not hold them all.
    key = F.coalesce("subscription", "filter")
    bucket = F.pmod(F.xxhash64(key), F.lit(buckets)).cast("int")
    outcomes = (
        rows.withColumn("bucket", bucket)
        .repartitionById(buckets, "bucket")
        .mapInArrow(partial(update_bucket, job=job), "outcome binary")
        .collect()
    )
    decoded = (msgspec.msgpack.decode(bytes(row.outcome), type=Outcome) for row in outcomes)
    return sorted(decoded, key=lambda outcome: outcome.bucket)


def _rejects(spark: SparkSession, store: Store, index: Index) -> DataFrame:
    files = [(msgspec.msgpack.encode(each),) for each in index.rejects]
    named = spark.createDataFrame(files, "files binary")
    return named.mapInArrow(partial(read_rejects, store=store), REJECTS)


def _not_written(store: Store, number: int, error: Exception) -> StoreError:
    still = f"version {number - 1} is still current" if number > 1 else "there is no index yet"
    return StoreError(f"the index in {store} could not be written: {error}; {still}")
