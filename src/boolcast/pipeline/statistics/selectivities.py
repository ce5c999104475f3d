"""How many events of history satisfy each predicate (P1-B5), counted by the match engine.

Every predicate is a subscription in an index of its own. The tasks count matches
(`matching.predicate_counts`) and do not list them: an event may satisfy many of all predicates.
"""

from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's users know

from boolcast.matching.predicate_counts import PredicateCounts
from boolcast.matching.store.catalog import index_of
from boolcast.matching.store.snapshots import read_manifest
from boolcast.matching.store.store import Store
from boolcast.model.schemas import Schema
from boolcast.pipeline.events.column_selection import select_columns
from boolcast.pipeline.events.decoded_batches import decode_all
from boolcast.pipeline.events.parquet_reading import Events
from boolcast.pipeline.matching.workers import open_parts

MATCHES: Final = "predicate string, matches long"
"""The columns of `count_predicates`; predicates that no event satisfied are left out."""

_SCHEMA: Final = pa.schema([("predicate", pa.string()), ("matches", pa.int64())])


def count_predicates(
    events: Events, store: Store, version: int, *, json: str | None, schema: Schema | None
) -> DataFrame:
    """How many events satisfy each predicate of an index; columns as in `MATCHES`.

    The id of each subscription in the index is its predicate. Events are as for `match`;
    malformed ones are left out.
    """
    parts = index_of(read_manifest(store, version)).parts
    needed = {name for part in parts for name in part.attributes}
    frame, source = select_columns(events, None, needed, json, schema)

    def count(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        segments = open_parts(store, parts, 1)
        tallies = [PredicateCounts(segment) for segment in segments]
        for decoded in decode_all(batches, source):
            for tally in tallies:
                tally.add(decoded.chunk)
        for segment, tally in zip(segments, tallies, strict=True):
            # By id, which is the predicate: predicates that are equal as filters share a slot.
            matches = tally.matches()[segment.slots_of(np.arange(len(segment)))]
            found = np.flatnonzero(matches)
            texts = segment.subscriptions.array.take(pa.array(found)).cast(pa.string())
            columns = [texts, pa.array(matches[found])]
            yield pa.record_batch(columns, schema=_SCHEMA)

    counted = frame.mapInArrow(count, MATCHES)
    return counted.groupBy("predicate").agg(F.sum("matches").alias("matches"))
