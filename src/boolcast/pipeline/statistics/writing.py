"""Statistics of event history and of subscriptions, as Parquet for engines and optimisers.

Four folders, whose columns `docs/statistics.md` describes: `predicates`, how many events satisfied
each predicate of the subscriptions; `attributes`, how often events carry one and subscriptions use
it; `values`, how its values are distributed; and `summary`, the totals. The summary is written
last: if it exists, the others are complete.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Final

from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's users know

from boolcast.errors import UsageError
from boolcast.filters.limits import Limits
from boolcast.matching.store.store import Store
from boolcast.model.schemas import Schema
from boolcast.pipeline.events.parquet_reading import Events, frame_of
from boolcast.pipeline.index.indexing import build_index
from boolcast.pipeline.spark.files import check_writable
from boolcast.pipeline.spark.stores import open_store
from boolcast.pipeline.statistics.distributions import (
    COUNTS,
    EVENTS,
    MALFORMED,
    count_values,
    to_bins,
)
from boolcast.pipeline.statistics.profiles import PROFILES, attributes_of, predicates_of, profile
from boolcast.pipeline.statistics.selectivities import MATCHES, count_predicates

BINS: Final = 64
"""The number of bins for the values of one attribute and kind, besides the frequent ones."""

# The predicates were within limits once; in canonical form they may be a little longer.
_LIMITS: Final = Limits(text=2**30, predicates=2**20, values=2**20, regexes=2**20)


def write_statistics(
    place: str,
    *,
    events: Events | None = None,
    subscriptions: DataFrame | None = None,
    json: str | None = None,
    schema: Schema | None = None,
    bins: int = BINS,
) -> None:
    """Learn from event history, subscriptions, or both, and write the result to a folder.

    `place` is the folder or URL; older statistics there are replaced. `events` are as for
    `match`: every column an attribute, or JSON in the column `json`. `subscriptions` has the
    columns `subscription` and `filter`. Malformed events and filters are left out and counted.
    Raises UsageError, and OutputError if the folder cannot be written.
    """
    given = subscriptions if events is None else frame_of(events)
    if given is None:
        raise UsageError("statistics need events, subscriptions, or both")
    check_writable(place)
    session = given.sparkSession
    counts = (
        session.createDataFrame([], COUNTS)
        if events is None
        else count_values(events, json=json, schema=schema)
    )
    profiles = (
        session.createDataFrame([], PROFILES) if subscriptions is None else profile(subscriptions)
    )
    # Read several times, and expensive to compute.
    kept = [frame.persist(StorageLevel.MEMORY_AND_DISK) for frame in (counts, profiles)]
    predicates = predicates_of(profiles).persist(StorageLevel.MEMORY_AND_DISK)
    with ExitStack() as stack:
        for frame in (*kept, predicates):
            stack.callback(frame.unpersist)
        if events is None or subscriptions is None:
            matches = session.createDataFrame([], MATCHES)
        else:
            index = _predicate_index(predicates, _under(place, "index"))
            store, version = stack.enter_context(index)
            matches = count_predicates(events, store, version, json=json, schema=schema)
        summary = _summary(counts, profiles, has_events=events is not None)
        tables = {
            "predicates": _predicates(predicates, matches, summary),
            "values": to_bins(counts, bins),
            "attributes": _attributes(counts, attributes_of(profiles, predicates)).coalesce(1),
            "summary": summary.coalesce(1),
        }
        for name, table in tables.items():
            table.write.mode("overwrite").parquet(_under(place, name))


def _under(place: str, name: str) -> str:
    return f"{place.rstrip('/')}/{name}"


@contextmanager
def _predicate_index(predicates: DataFrame, location: str) -> Iterator[tuple[Store, int]]:
    """An index with each predicate as a subscription, its own id; deleted at the end."""
    store = open_store(location)
    text = F.col("predicate")
    rows = predicates.select(text.alias("subscription"), text.alias("filter"))
    report = build_index(rows, store, limits=_LIMITS)
    assert report.rejected == 0
    try:
        yield store, report.version
    finally:
        for name in store.list(""):
            store.delete(name)


def _summary(counts: DataFrame, profiles: DataFrame, *, has_events: bool) -> DataFrame:
    """One row: the numbers of events and subscriptions, readable or not."""

    def events_of(kind: str) -> Column:
        counted = F.coalesce(F.sum(F.when(F.col("kind") == kind, F.col("events"))), F.lit(0))
        return counted if has_events else F.lit(None).cast("long")

    of_events = counts.where(F.col("attribute").isNull()).agg(
        events_of(EVENTS).alias("events"), events_of(MALFORMED).alias("malformed_events")
    )
    is_sound = F.col("predicates").isNotNull()
    rejected = F.sum(F.when(is_sound, 0).otherwise(F.col("rows")))
    of_subscriptions = profiles.agg(
        F.count_if(is_sound).alias("subscriptions"),
        F.coalesce(rejected, F.lit(0)).alias("rejected_subscriptions"),
    )
    return of_events.crossJoin(of_subscriptions)


def _predicates(predicates: DataFrame, matches: DataFrame, summary: DataFrame) -> DataFrame:
    counted = F.coalesce(F.col("matches"), F.lit(0))
    return (
        predicates.join(matches, "predicate", "left")
        .crossJoin(F.broadcast(summary.select("events")))
        .select(
            "predicate",
            "attributes",
            "subscriptions",
            F.when(F.col("events").isNotNull(), counted).alias("matches"),
            F.when(F.col("events") > 0, counted / F.col("events")).alias("selectivity"),
        )
    )


def _attributes(counts: DataFrame, use: DataFrame) -> DataFrame:
    kinds = counts.where(F.col("attribute").isNotNull()).groupBy("attribute", "kind")
    entries = F.sort_array(F.collect_list(F.struct("kind", "events")))
    carried = (
        kinds.agg(F.sum("events").alias("events"))
        .groupBy("attribute")
        .agg(F.sum("events").alias("events"), F.map_from_entries(entries).alias("kinds"))
    )
    return carried.join(use, "attribute", "outer")
