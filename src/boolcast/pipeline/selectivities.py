"""How many events of history satisfy each predicate (P1-B5), counted by the match engine.

Every predicate is a subscription of its own in an index of its own, which lies beside the
statistics while they are made. A task counts (`matching.tallies`) and lists no matches: an
event may satisfy a large part of all predicates.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Final

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's users know

from boolcast.filters.limits import Limits
from boolcast.matching.catalog import index_of
from boolcast.matching.snapshots import current, open_segment, read_manifest
from boolcast.matching.stored import from_stored
from boolcast.matching.tallies import Tally
from boolcast.pipeline.histories import history_columns, pieces
from boolcast.pipeline.indexing import build_index
from boolcast.pipeline.stores import Place, open_store

MATCHES: Final = "predicate string, matches long"
"""The columns of `counted_predicates`: predicates that no event satisfied are left out."""

# They were read within limits once, and may be a little longer in their canonical form.
_LIMITS: Final = Limits(text=2**30, predicates=2**20, values=2**20, regexes=2**20)

_SCHEMA: Final = pa.schema([("predicate", pa.string()), ("matches", pa.int64())])


@contextmanager
def counted_predicates(
    events: DataFrame,
    predicates: DataFrame,
    place: Place,
    *,
    event_id: str | None = None,
    json: str | None = None,
) -> Iterator[DataFrame]:
    """For each predicate of the column `predicate`, how many events satisfy it.

    The index lies at the place until the context is left. Malformed events are left out.
    """
    store = open_store(place)
    texts = predicates.select(
        F.col("predicate").alias("subscription"), F.col("predicate").alias("filter")
    )
    report = build_index(texts, store, limits=_LIMITS)
    assert report.rejected == 0
    parts = index_of(read_manifest(store, report.version)).parts
    is_json = json is not None

    def count(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        segments = [from_stored(open_segment(store, part.files), 0) for part in parts]
        tallies = [Tally(segment) for segment in segments]
        for chunk, _ in pieces(batches, is_json=is_json):
            for tally in tallies:
                tally.add(chunk)
        for segment, tally in zip(segments, tallies, strict=True):
            counts = pa.array(tally.matches())
            table = pa.table([segment.dictionary(), counts], schema=_SCHEMA)
            yield from table.filter(pa.compute.greater(counts, 0)).to_batches()

    columns = history_columns(events, event_id=event_id, json=json)
    counted = columns.mapInArrow(count, MATCHES)
    try:
        yield counted.groupBy("predicate").agg(F.sum("matches").alias("matches"))
    finally:
        for name in store.list(""):
            store.delete(name)
