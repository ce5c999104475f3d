"""Read what streams have published, and delete versions of an index that none of them needs."""

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
from boolcast.matching.store.store import FolderStore, Location, Store
from boolcast.pipeline.spark.files import literal
from boolcast.pipeline.spark.stores import open_store
from boolcast.pipeline.streaming.ledger import DEAD_LETTERS, MATCHES, Batch, Ledger

_READ_AT_ONCE: Final = 65_536


def read_matches(session: SparkSession, output: Location) -> DataFrame:
    """The matches published so far: event id, subscription(s), version, batch.

    Raises StreamError if no stream has written to the output.
    """
    return _read(session, Ledger(open_store(output)), MATCHES)


def read_dead_letters(session: SparkSession, output: Location) -> DataFrame:
    """The events that could not be matched: event id, event (text), error, version, batch.

    Raises StreamError if no stream has written to the output.
    """
    return _read(session, Ledger(open_store(output)), DEAD_LETTERS)


def read_batches(output: Location) -> Iterator[Batch]:
    """The batches published so far, in order: versions, counts, times and warnings."""
    ledger = Ledger(open_store(output))
    for number in ledger.batches():
        batch = ledger.batch(number)
        assert batch is not None, "published batches stay"
        yield batch


def delete_old_versions(store: Location, keep: int, *, streams: Sequence[Location] = ()) -> None:
    """Delete all versions of an index except the newest `keep`, and those that `streams` need.

    `streams` are the outputs of the streams over this index. An unfinished batch is repeated with
    the version that it began with, so the oldest such version and all newer ones are kept. Raises
    UsageError if `keep` is less than 1, and StoreError if the manifest of a kept version cannot be
    read.
    """
    if keep < 1:
        raise UsageError(f"keep at least one version, not {keep}")
    index = open_store(store)
    # Before the streams are asked: batches that begin from now on use no older version.
    oldest = max(snapshots.versions(index), default=0)
    used = {each for output in streams for each in Ledger(open_store(output)).versions_in_use()}
    snapshots.delete_old_versions(index, keep, oldest=min({oldest, *used}))


collect = delete_old_versions
"""The old name of `delete_old_versions`."""


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
    """Reads files of a store in the tasks: Spark itself may have no access to the store."""

    store: Store

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for name in batch.column("name").to_pylist():
                yield from pq.ParquetFile(BytesIO(self.store.get(name))).iter_batches(_READ_AT_ONCE)
