"""A back-test: what subscriptions would have matched in history, and what they cost.

It first learns how the values of the history are distributed, so that the index is the one that
would serve such events. The cost of a filter follows from its cut, the condition that it is
indexed under: the *reach* of a filter is the estimated share of events that satisfy its cut and
have to be checked against the whole filter.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Final, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from boolcast.matching.segment.building import cut_shares
from boolcast.matching.segment.live_segment import LiveSegment
from boolcast.matching.store.catalog import IndexSegment, index_of
from boolcast.matching.store.snapshots import read_manifest
from boolcast.matching.store.store import Store
from boolcast.matching.values.selectivity import Selectivity
from boolcast.model.schemas import Schema
from boolcast.pipeline.events.parquet_reading import Events
from boolcast.pipeline.index.indexing import build_index
from boolcast.pipeline.matching.matches import count_matches
from boolcast.pipeline.matching.workers import open_parts
from boolcast.pipeline.spark.files import literal
from boolcast.pipeline.spark.stores import open_store
from boolcast.pipeline.statistics.reading import read_statistics, read_totals
from boolcast.pipeline.statistics.writing import write_statistics

SUBSCRIPTIONS: Final = "subscriptions"
"""The folder of the result: `subscription`, `filter`, `matches`, `share` and `reach`."""

STEPS: Final = 4
"""How many steps `backtest` announces."""

_REACH: Final = "subscription string, filter string, reach double"
_REACH_SCHEMA: Final = pa.schema(
    [("subscription", pa.string()), ("filter", pa.string()), ("reach", pa.float64())]
)


class Backtest(NamedTuple):
    """The result of a back-test.

    `events` and `malformed_events` count what was read and what could not be. `rejected` counts
    the rows of subscriptions that were rejected, `rejects` has the reasons. `result` has a row for
    each subscription: `matches`, `share` (of the events; null if there are none) and `reach`.
    """

    events: int
    malformed_events: int
    subscriptions: int
    rejected: int
    rejects: DataFrame
    result: DataFrame


def backtest(
    subscriptions: DataFrame,
    events: Events,
    place: str,
    *,
    json: str | None = None,
    schema: Schema | None = None,
    problem: str | None = None,
    begin: Callable[[str], None] = lambda title: None,
) -> Backtest:
    """Run subscriptions over history, and write what each of them matched to a folder.

    Arguments are as for `build_index` and `match`. `place` is the folder or URL; it gets the
    folders `subscriptions` (the result), `index` and `statistics`, which replace older ones.
    `begin` is called with the title of each step. Raises UsageError, OutputError and StoreError.
    """
    root = place.rstrip("/")
    begin("learning how the values of events are distributed")
    write_statistics(f"{root}/statistics", events=events, json=json, schema=schema)
    known = read_statistics(f"{root}/statistics")
    begin("building the index")
    report = build_index(subscriptions, f"{root}/index", problem=problem, statistics=known)
    begin(f"matching {known.events:,} events with {report.subscriptions:,} subscriptions")
    counted = count_matches(
        events, f"{root}/index", version=report.version, json=json, schema=schema
    )
    matches = F.coalesce(F.col("matches"), F.lit(0))
    share = matches / known.events if known.events else F.lit(None).cast("double")
    session = subscriptions.sparkSession
    selectivity = Selectivity.from_statistics(known)
    reached = _reached(session, open_store(f"{root}/index"), report.version, selectivity)
    result = reached.join(counted, "subscription", "left").select(
        "subscription", "filter", matches.alias("matches"), share.alias("share"), "reach"
    )
    result.write.mode("overwrite").parquet(f"{root}/{SUBSCRIPTIONS}")
    begin("summing up")
    totals = read_totals(f"{root}/statistics")
    return Backtest(
        totals.events or 0,
        totals.malformed_events or 0,
        report.subscriptions,
        report.rejected,
        report.rejects,
        session.read.parquet(literal(f"{root}/{SUBSCRIPTIONS}")),
    )


def _reached(
    session: SparkSession, store: Store, version: int, selectivity: Selectivity
) -> DataFrame:
    """Each subscription of an index, its filter and its reach; one task per part."""
    parts = index_of(read_manifest(store, version)).parts
    named = session.createDataFrame(
        [(msgspec.msgpack.encode(part),) for part in parts], "part binary"
    )
    task = partial(_reach, store=store, selectivity=selectivity)
    return named.repartition(max(len(parts), 1)).mapInArrow(task, _REACH)


def _reach(
    parts: Iterable[pa.RecordBatch], *, store: Store, selectivity: Selectivity
) -> Iterator[pa.RecordBatch]:
    for batch in parts:
        for encoded in batch.column(0).to_pylist():
            part = msgspec.msgpack.decode(encoded, type=IndexSegment)
            for live in open_parts(store, [part], 1):
                slots = live.slots_of(np.arange(len(live)))
                columns = [
                    live.subscriptions.array.cast(pa.string()),
                    live.texts.array.take(pa.array(slots)).cast(pa.string()),
                    pa.array(reach(live, selectivity)[slots]),
                ]
                yield pa.record_batch(columns, schema=_REACH_SCHEMA)


def reach(live: LiveSegment, selectivity: Selectivity) -> NDArray[np.float64]:
    """For each slot, the estimated share of events that satisfy the cut of its filter.

    A filter that accepts nothing has no cut, and is never checked.
    """
    shares = np.zeros(len(live.texts))
    for group in live.groups:
        shares[group.slots] = np.minimum(cut_shares(group, live.spaces, selectivity), 1.0)
    return shares
