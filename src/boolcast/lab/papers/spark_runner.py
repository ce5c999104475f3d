"""Spread runs by Spark: one row for each run, and one task for each row.

A run takes minutes and needs nothing but its setting, so Spark only hands out numbers. Each task
writes its figures to the folder as soon as it has them, so a job that is stopped loses only the
runs at work. That requires tasks that see the driver's files, as those of a local Spark do. With
another Spark, figures reach the folder when the whole job is done.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final

import msgspec
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from boolcast.cli.input.spark import local_spark
from boolcast.lab.papers.runs import R, Result, Runner, S, are_kept, keep

_FIGURES: Final = "number long, figures string"


def on_local_spark(
    command: str, run: Callable[[S], R], decoder: msgspec.json.Decoder[R]
) -> Callable[[int | None, Path], Runner[S, R]]:
    """Carry out runs on a Spark with this many cores, started when the first run is due."""
    name = f"boolcast reproduce {command}"
    return lambda cores, folder: by_spark(local_spark(cores, name), run, decoder, folder)


def tasks(spark: SparkSession, count: int) -> DataFrame:
    """A column `number` with one row in each partition; Spark starts them in this order."""
    return spark.range(0, count, 1, numPartitions=count).withColumnRenamed("id", "number")


def _carried_out(
    numbers: DataFrame, run: Callable[[S], R], chosen: Sequence[S], folder: Path
) -> DataFrame:
    """Carry out and keep the runs with these numbers; a row has the `figures` as JSON."""

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
    """Carry out each run as a task; workers must be able to import `run`."""
    absolute = folder.absolute()

    def results(waiting: Sequence[S]) -> Iterator[Result[R]]:
        with start() as spark, ThreadPoolExecutor(1) as pool:
            job = _carried_out(tasks(spark, len(waiting)), run, waiting, absolute)
            rows = pool.submit(job.collect)
            before = set(are_kept(absolute, waiting))
            try:
                while wait([rows], timeout=1.0).not_done:
                    for label in are_kept(absolute, waiting):
                        if label not in before:
                            before.add(label)
                            yield label, 1.0
            finally:
                # If the command is interrupted, do not wait for runs that take minutes. A job
                # that is still being planned cannot be cancelled yet, so ask again.
                while not rows.done():
                    spark.sparkContext.cancelAllJobs()
                    wait([rows], timeout=0.5)
            for row in rows.result():
                yield waiting[row.number].label, decoder.decode(row.figures)

    return results
