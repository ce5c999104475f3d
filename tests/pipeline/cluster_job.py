"""What the cluster is asked to do, in a process of its own: one has one Spark.

`python -m tests.pipeline.cluster_job <master> <output>`, with the pickled store on its input.
"""

import json
import pickle
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa

from boolcast import pipeline
from tests.pipeline.cluster import WORKERS

# The same twice: as Spark makes them, without a way through the driver, and as Python does.
SUBSCRIPTIONS = (
    "concat('s', id) as subscription",
    (
        """concat("price < ", id % 50, " and title = 't", id % 7, "' or seller = 'u", id, "'")"""
        " as filter"
    ),
)
FILTERS = {
    f"s{number}": f"price < {number % 50} and title = 't{number % 7}' or seller = 'u{number}'"
    for number in range(300)
}
ATTRIBUTES = ("id", "id % 60 as price", "concat('t', id % 9) as title", "concat('u', id) as seller")
EVENTS = [
    {"id": number, "price": number % 60, "title": f"t{number % 9}", "seller": f"u{number}"}
    for number in range(600)
]


def where(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The executor's working folder, which ends in its number; slowly, so that both take part."""
    for _ in batches:
        time.sleep(1)
        yield pa.RecordBatch.from_pydict({"executor": [Path.cwd().name]})


def main(master: str, output: str) -> None:
    store = pickle.load(sys.stdin.buffer)
    settings = {
        "spark.cores.max": str(WORKERS),
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.executor.cores": "1",
        "spark.executor.memory": "512m",
        # Nothing begins before all of them are there.
        "spark.scheduler.maxRegisteredResourcesWaitingTime": "120s",
        "spark.scheduler.minRegisteredResourcesRatio": "1.0",
        "spark.sql.shuffle.partitions": "4",
    }
    spark = pipeline.session(master, settings=settings)
    executors = spark.range(0, 4, 1, 4).mapInArrow(where, "executor string").collect()
    subscriptions = spark.range(0, len(FILTERS), 1, 4).selectExpr(*SUBSCRIPTIONS)
    report = pipeline.build_index(subscriptions, store, buckets=4)
    events = spark.range(0, len(EVENTS), 1, 4).selectExpr(*ATTRIBUTES)
    matches = pipeline.match(events, store, event_id="id").collect()
    told = {
        "executors": sorted({row.executor for row in executors}),
        "subscriptions": report.subscriptions,
        "matches": sorted([row.id, row.subscription] for row in matches),
    }
    Path(output).write_text(json.dumps(told))
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
