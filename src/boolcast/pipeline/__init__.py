"""Boolcast on Spark: jobs from DataFrame to DataFrame, over the same engine as everywhere.

`indexing` makes an index of subscriptions: `build_index` a new one, `apply_changes` the next
version of one. Rows of the same id are told apart in `changes`; what a task does to its
`buckets` ends in the store, and only what the manifest says comes back.

`matches` shows events to an index: `match`, `match_rejects`, both at once in
`match_with_rejects`, and `count_matches`. `projection` chooses the columns that travel to
Python, `readings` makes events of them there, `visits` matches them with segments that
`workers` keeps open.

`streaming` matches streams, and `claims` says which output and checkpoint belong to one.
`serving` chooses the version of the index for each batch, `delivery` is what its tasks do,
`ledger` makes it exactly once, `results` reads what came of it. `taken_files` knows the files of
each batch by Spark's checkpoint, `backlog` those that wait, `spark_errors` what a stream has
ended with. `parquet_streaming` makes streams of files, which `file_events` reads in the tasks,
whatever columns each of them has, as far as `damaged_files` can; `event_ids` sees to their ids.

`statistics` learns from history and subscriptions: values are counted and put into bins in
`distributions`, predicates counted by the engine in `selectivities`, attributes of filters in
`profiles`. `statistics_reading` reads what it wrote. `workloads` draws events and
subscriptions of the room of that name, for more rows than one machine holds.

`backtest` runs subscriptions over history, and tells what each matched and costs.

`travel` says what of the events goes to Python; `parquet_reading` lets tasks read them there
without Spark; `attribute_columns` says which columns are needed. `frames` names columns,
`spark_paths` knows how Spark reads paths. `files` reads Parquet and JSON lines, of which
`subscription_lines` makes subscriptions. `stores` finds stores by their places: folders, or an
`object_store`, of which a `local_cache` holds copies to be mapped. `sessions` makes Spark
sessions, with a Java from `java`; no other module here does.
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
