"""An index larger than a worker should hold, on Spark: build it, and match with it.

python -m benchmarks.large_index [--subscriptions 10000000] [--events 100000] [--memory 1024]

Subscriptions and events come from the workload `auction` and are written to Parquet files first.
The index is built from them. Then events are matched and counted, once with the whole index open
and once in groups of at most `--memory` megabytes; both must find the same. Seconds are wall-clock
time; memory is the peak of the Python driver.
"""

import argparse
import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from boolcast.lab.benchmarks.match.engines import auction
from boolcast.matching.store.catalog import index_of
from boolcast.matching.store.snapshots import read_manifest
from boolcast.pipeline import (
    ParquetFiles,
    build_index,
    count_matches,
    parquet_files,
    session,
)
from boolcast.pipeline.matching.matches import groups_of
from boolcast.pipeline.spark import workloads
from boolcast.pipeline.spark.stores import open_store


@contextmanager
def timed(what: str) -> Iterator[None]:
    begin = perf_counter()
    yield
    print(f"{what:<52}{perf_counter() - begin:>10,.1f} s", flush=True)


def matched(events: ParquetFiles, location: str, memory: int) -> tuple[int, int]:
    counts = count_matches(events, location, memory=memory)
    (row,) = counts.agg(F.count("*"), F.coalesce(F.sum("matches"), F.lit(0))).collect()
    return int(row[0]), int(row[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--subscriptions", type=int, default=10_000_000)
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--memory", type=int, default=1_024, help="Megabytes per group")
    parser.add_argument("--folder", default=None, help="Working folder; default: a temporary one")
    options = parser.parse_args()
    workload = auction("auction", options.subscriptions, 1)
    with TemporaryDirectory(prefix="boolcast-large-", dir=options.folder) as folder:
        spark = session(
            "local[*]",
            name="boolcast large index",
            settings={"spark.sql.warehouse.dir": str(Path(folder, "tables"))},
        )
        rows = f"{folder}/subscriptions"
        with timed(f"draw {options.subscriptions:,} subscriptions"):
            drawn = workloads.subscriptions(spark, workload, options.subscriptions, partitions=16)
            drawn.write.parquet(rows)
        with timed(f"draw {options.events:,} events"):
            workloads.events(spark, workload, options.events, partitions=4).write.parquet(
                f"{folder}/events"
            )
        location = f"{folder}/index"
        with timed("build the index"):
            report = build_index(spark.read.parquet(rows), location)
        assert report.subscriptions == options.subscriptions
        index = index_of(read_manifest(open_store(location), report.version))
        size = sum(part.files.nbytes for part in index.parts)
        print(f"{'segments':<52}{len(index.parts):>10,}")
        print(f"{'bytes per subscription, with texts and ids':<52}", end="")
        print(f"{size / options.subscriptions:>10,.0f}")
        files = parquet_files(spark, f"{folder}/events")
        with timed("match, all open, first time"):
            expected = matched(files, location, sys.maxsize)
        with timed("match, all open"):
            assert matched(files, location, sys.maxsize) == expected
        memory = options.memory << 20
        with timed(f"match, in {len(groups_of(index, memory))} groups"):
            assert matched(files, location, memory) == expected
        print(f"{'matches per event':<52}{expected[1] / options.events:>10,.1f}")
        held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
        print(f"{'megabytes in the Python driver':<52}{held:>10,.0f}")
        spark.stop()


if __name__ == "__main__":
    main()
