"""Reading what streams have published, and clearing away the versions that none of them needs."""

from collections.abc import Iterator, Sequence
from io import BytesIO
from typing import Final

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from boolcast.errors import StreamError, UsageError
from boolcast.matching.store import snapshots
from boolcast.matching.store.store import FolderStore, Place, Store
from boolcast.pipeline.spark.paths import literal
from boolcast.pipeline.spark.stores import open_store
from boolcast.pipeline.streaming.ledger import DEAD_LETTERS, MATCHES, Batch, Ledger

_READ_AT_ONCE: Final = 65_536


def read_matches(session: SparkSession, output: Place) -> DataFrame:
    """The matches that were published by now: event id, subscription(s), version, batch.

    Raises StreamError if no stream has written there.
    """
    return _read(session, Ledger(open_store(output)), MATCHES)


def read_dead_letters(session: SparkSession, output: Place) -> DataFrame:
    """The events that could not be matched: event id, event (text), error, version, batch.

    Raises StreamError if no stream has written there.
    """
    return _read(session, Ledger(open_store(output)), DEAD_LETTERS)


def read_batches(output: Place) -> Iterator[Batch]:
    """All that was published by now, in order: versions, counts, times and warnings."""
    ledger = Ledger(open_store(output))
    for number in ledger.batches():
        batch = ledger.batch(number)
        assert batch is not None, "batches are for good"
        yield batch


def collect(store: Place, keep: int, *, streams: Sequence[Place] = ()) -> None:
    """Delete all versions of an index but the newest `keep`, and those that `streams` may need.

    `streams` are the outputs of the streams over this index. A batch that is not finished is
    matched again with the version that it began with, so from the oldest such version on all are
    kept. Raises UsageError if `keep` is less than 1, StoreError if a manifest to be kept cannot
    be read.
    """
    if keep < 1:
        raise UsageError(f"at least one version is kept, and not {keep}")
    index = open_store(store)
    # Before the streams are asked: what they take up from now on is no older.
    oldest = max(snapshots.versions(index), default=0)
    used = {each for place in streams for each in Ledger(open_store(place)).versions_in_use()}
    snapshots.collect(index, keep, oldest=min({oldest, *used}))


def _read(session: SparkSession, ledger: Ledger, table: str) -> DataFrame:
    identity = ledger.identity()
    if identity is None:
        raise StreamError(f"no stream has written to {ledger.store} yet")
    schema = StructType.fromJson(msgspec.json.decode(getattr(identity, table)))
    batches = (ledger.batch(number) for number in ledger.batches())
    names = [file.name for batch in batches if batch for file in getattr(batch, table)]
    if not names:
        return session.createDataFrame([], schema)
    if isinstance(ledger.store, FolderStore):
        paths = [literal(str(ledger.store.path(name).absolute())) for name in names]
        return session.read.schema(schema).parquet(*paths)
    listed = session.createDataFrame([(name,) for name in names], "name string")
    return listed.mapInArrow(_Reader(ledger.store), schema)


class _Reader(msgspec.Struct, frozen=True):
    """Reads the files of a store in the tasks: Spark itself may know nothing of the store."""

    store: Store

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for name in batch.column("name").to_pylist():
                yield from pq.ParquetFile(BytesIO(self.store.get(name))).iter_batches(_READ_AT_ONCE)
