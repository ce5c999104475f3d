"""How many events of history satisfy each predicate (P1-B5), counted by the match engine.

Every predicate is a subscription of its own in an index of its own, which lies beside the
statistics while they are made. A task counts (`matching.predicate_counts`) and lists no matches: an
event may satisfy a large part of all predicates.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Final

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's users know

from boolcast.filters.limits import Limits
from boolcast.matching.predicate_counts import Tally
from boolcast.matching.store.catalog import index_of
from boolcast.matching.store.snapshots import read_manifest
from boolcast.model.schemas import Schema
from boolcast.pipeline.events.column_selection import Events, travel
from boolcast.pipeline.events.decoded_batches import readings_of
from boolcast.pipeline.index.indexing import build_index
from boolcast.pipeline.matching.workers import open_parts
from boolcast.pipeline.spark.stores import Place, open_store

MATCHES: Final = "predicate string, matches long"
"""The columns of `counted_predicates`: predicates that no event satisfied are left out."""

# They were read within limits once, and may be a little longer in their canonical form.
_LIMITS: Final = Limits(text=2**30, predicates=2**20, values=2**20, regexes=2**20)

_SCHEMA: Final = pa.schema([("predicate", pa.string()), ("matches", pa.int64())])


@contextmanager
def counted_predicates(
    events: Events,
    predicates: DataFrame,
    place: Place,
    *,
    json: str | None = None,
    schema: Schema | None = None,
) -> Iterator[DataFrame]:
    """For each predicate of the column `predicate`, how many events satisfy it.

    The index lies at the place until the context is left. Events are as for `match`;
    malformed ones are left out.
    """
    store = open_store(place)
    texts = predicates.select(
        F.col("predicate").alias("subscription"), F.col("predicate").alias("filter")
    )
    report = build_index(texts, store, limits=_LIMITS)
    assert report.rejected == 0
    parts = index_of(read_manifest(store, report.version)).parts
    needed = {name for part in parts for name in part.attributes}
    frame, source = travel(events, None, needed, json, schema)

    def count(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        segments = open_parts(store, parts, 1)
        tallies = [Tally(segment) for segment in segments]
        for reading in readings_of(batches, source):
            for tally in tallies:
                tally.add(reading.chunk)
        for segment, tally in zip(segments, tallies, strict=True):
            # By the ids, which are the predicates: equal ones of another text are one filter.
            matches = tally.matches()[segment.slots_of(np.arange(len(segment)))]
            places = np.flatnonzero(matches)
            texts = segment.subscriptions.array.take(pa.array(places)).cast(pa.string())
            columns = [texts, pa.array(matches[places])]
            yield pa.record_batch(columns, schema=_SCHEMA)

    counted = frame.mapInArrow(count, MATCHES)
    try:
        yield counted.groupBy("predicate").agg(F.sum("matches").alias("matches"))
    finally:
        for name in store.list(""):
            store.delete(name)
