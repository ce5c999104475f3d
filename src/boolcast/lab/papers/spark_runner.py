"""Runs of an experiment spread by Spark: a row for each, and a task for each row.

A run takes minutes and needs nothing but its setting, so Spark has only to hand out numbers. Each
task puts its figures into the folder as soon as it has them, so that nothing is run twice if the
job is stopped. That takes a Spark whose tasks see the driver's files, as a local one does; with
another one the figures are there when all have come back.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final

import msgspec
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from boolcast.lab.papers.reproduction import R, Result, Runner, S, are_kept, keep

_FIGURES: Final = "number long, figures string"


def tasks(spark: SparkSession, count: int) -> DataFrame:
    """A row `number` for each, in a partition of its own, which are started in this order."""
    return spark.range(0, count, 1, numPartitions=count).withColumnRenamed("id", "number")


def carried_out(
    numbers: DataFrame, run: Callable[[S], R], chosen: Sequence[S], folder: Path
) -> DataFrame:
    """Run and keep those with these numbers; their `figures` as JSON."""

    def results(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column("number").to_pylist():
                figures = run(chosen[number])
                keep(folder, figures)
                row = {"number": [number], "figures": [msgspec.json.encode(figures).decode()]}
                yield pa.RecordBatch.from_pydict(row)

    return numbers.mapInArrow(results, _FIGURES)


def by_spark(
    start: Callable[[], AbstractContextManager[SparkSession]],
    run: Callable[[S], R],
    decoder: msgspec.json.Decoder[R],
    folder: Path,
) -> Runner[S, R]:
    """Carries out each run as a task; `run` must be one that workers can import."""
    place = folder.absolute()

    def results(waiting: Sequence[S]) -> Iterator[Result[R]]:
        with start() as spark, ThreadPoolExecutor(1) as pool:
            job = carried_out(tasks(spark, len(waiting)), run, waiting, place)
            rows = pool.submit(job.collect)
            before = set(are_kept(place, waiting))
            try:
                while wait([rows], timeout=1.0).not_done:
                    for label in are_kept(place, waiting):
                        if label not in before:
                            before.add(label)
                            yield label, 1.0
            finally:
                # Who is ended meanwhile does not wait for runs of minutes. A job that is still
                # being planned cannot be cancelled yet.
                while not rows.done():
                    spark.sparkContext.cancelAllJobs()
                    wait([rows], timeout=0.5)
            for row in rows.result():
                yield waiting[row.number].label, decoder.decode(row.figures)

    return results
