"""Boolcast on Spark: jobs that take and give DataFrames, over the same engine as `Matcher`.

**An index first.** `build_index` hashes the ids of subscriptions into buckets, and each bucket is
one task. The task parses and compiles its filters into segments and writes them to a store. The
driver then publishes a manifest that names them: that is a version, and it never changes.

**Then events.** The path of an event through `match`:

1. The driver reads the manifest. It pins the version in the plan, and selects the attributes that
   the filters name, so that Spark reads and sends nothing else.
2. Spark sends Arrow batches to a Python worker (`mapInArrow`). With `parquet_files` it only sends
   which pieces of which files to read, and the worker reads the columns itself.
3. The worker decodes the batch. It sets malformed events aside with a reason.
4. The worker shows the batch to the segments of the index, which it keeps open from task to task.
   The kernels find the matching rows and slots.
5. Ids and subscriptions go back to Spark as Arrow batches: rows, lists or counts. In a stream,
   the task writes them to Parquet files itself, and only the names of the files go back.

**A stream is exactly once** because a batch has one manifest. The driver pins the batch to a
version before any work; the tasks write files under random names; then the driver writes the
manifest, which cannot be overwritten. If anything dies on the way, Spark repeats the batch with
the same events. A batch that already has its manifest is skipped. Readers read only what
manifests name.

The rooms, from the top: `streaming` and `statistics` (which includes back-tests) build on
`matching`; that builds on `events` and `index`; all use `spark`. Only `spark.sessions` creates
sessions: jobs use the session of their DataFrames.
"""

from boolcast.pipeline.events.parquet_reading import ParquetFiles, parquet_files
from boolcast.pipeline.events.parquet_streaming import ParquetStream, parquet_stream
from boolcast.pipeline.index.indexing import IndexReport, apply_changes, build_index
from boolcast.pipeline.matching.matches import (
    count_matches,
    match,
    match_rejects,
    match_with_rejects,
)
from boolcast.pipeline.spark import workloads as workloads
from boolcast.pipeline.spark.sessions import session
from boolcast.pipeline.statistics.backtest import Backtest, backtest
from boolcast.pipeline.statistics.reading import read_statistics, read_subscription_statistics
from boolcast.pipeline.statistics.writing import write_statistics
from boolcast.pipeline.streaming.match_stream import MatchStream, match_stream
from boolcast.pipeline.streaming.results import (
    collect,
    delete_old_versions,
    read_batches,
    read_dead_letters,
    read_matches,
)

__all__ = [
    "Backtest",
    "IndexReport",
    "MatchStream",
    "ParquetFiles",
    "ParquetStream",
    "apply_changes",
    "backtest",
    "build_index",
    "collect",
    "count_matches",
    "delete_old_versions",
    "match",
    "match_rejects",
    "match_stream",
    "match_with_rejects",
    "parquet_files",
    "parquet_stream",
    "read_batches",
    "read_dead_letters",
    "read_matches",
    "read_statistics",
    "read_subscription_statistics",
    "session",
    "write_statistics",
]
