"""Contenders on Spark, measured in turns on one workload: the same events, the same cores.

Events are drawn once into Parquet files, and each contender reads the columns that it needs. All
of them count the matches of each subscription, except those that show what something costs: bare
transport to Python, and writing matches to files.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Final, NamedTuple

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from boolcast.lab.benchmarks.figures import SparkFigures
from boolcast.lab.benchmarks.spark.process_times import tree_seconds
from boolcast.lab.benchmarks.spark.streams import Batches, folder_of
from boolcast.pipeline import (
    ParquetFiles,
    build_index,
    count_matches,
    match,
    parquet_files,
    read_statistics,
)
from boolcast.pipeline.spark import workloads
from boolcast.pipeline.statistics.writing import write_statistics
from boolcast.workloads import Workload

EVENT: Final = "event"
_LESSON_EVENTS: Final = 20_000
_WARM_SHARE: Final = 10


class Outcome(NamedTuple):
    """What contenders must agree on: matches, subscriptions with any, and a checksum."""

    matches: int
    subscriptions: int
    checksum: int


class Contender(NamedTuple):
    """One way to match: `run` does all the work on the given events.

    `subscriptions` and `events` are the numbers that it works on.
    """

    what: str
    run: Callable[[DataFrame], Outcome | Batches | None]
    subscriptions: int
    events: int


class Contest:
    """One workload of one size, on which contenders are measured in turns.

    Events are in `files` files; by default one for each core.
    """

    def __init__(
        self,
        session: SparkSession,
        folder: Path,
        name: str,
        workload: Workload,
        size: int,
        files: int | None = None,
    ) -> None:
        self.session = session
        self.folder = folder / name
        self.folder.mkdir()
        self.size = size
        self._name = name
        self._workload = workload
        self._cores = int(session.sparkContext.defaultParallelism)
        self._files = files or self._cores
        self._events: dict[int, DataFrame] = {}

    def events(self, count: int) -> DataFrame:
        """The first events, from Parquet files that are written once."""
        if count not in self._events:
            path = str(self.folder / f"events-{count}")
            drawn = workloads.events(
                self.session, self._workload, count, start=_LESSON_EVENTS, partitions=self._files
            )
            drawn.write.parquet(path)
            self._events[count] = self.session.read.parquet(path)
        return self._events[count]

    def index(self) -> str:
        """Build the index of all subscriptions, with statistics from earlier events."""
        index = str(self.folder / "index")
        lesson = workloads.events(self.session, self._workload, _LESSON_EVENTS, partitions=1)
        write_statistics(str(self.folder / "statistics"), events=lesson.drop(EVENT))
        subscriptions = workloads.subscriptions(
            self.session, self._workload, self.size, partitions=self._cores
        )
        known = read_statistics(str(self.folder / "statistics"))
        report = build_index(subscriptions, index, statistics=known, buckets=1)
        assert report.subscriptions == self.size
        return index

    def measure(
        self, contenders: Mapping[str, Contender], repeats: int, begin: Callable[[str], None]
    ) -> Iterator[SparkFigures]:
        """Warm up all contenders on fewer events, then run them in turns."""
        for name, each in contenders.items():
            begin(f"warming up {name} on {self._name}")
            each.run(self.events(max(each.events // _WARM_SHARE, 1)))
        seconds: dict[str, list[float]] = {name: [] for name in contenders}
        core_seconds: dict[str, list[float]] = {name: [] for name in contenders}
        outcomes: dict[str, Outcome | Batches | None] = {}
        for turn in range(repeats):
            for name, each in contenders.items():
                begin(f"{name} on {self._name}, {turn + 1} of {repeats}")
                events = self.events(each.events)
                spent, start = tree_seconds(os.getpid()), perf_counter()
                outcomes[name] = each.run(events)
                seconds[name].append(perf_counter() - start)
                after = tree_seconds(os.getpid())
                if spent is not None and after is not None:
                    core_seconds[name].append(after - spent)
        _compare(contenders, outcomes)
        for name, each in contenders.items():
            yield self._figures(name, each, seconds[name], core_seconds[name], outcomes[name])

    def _figures(
        self,
        name: str,
        contender: Contender,
        seconds: list[float],
        core_seconds: list[float],
        outcome: Outcome | Batches | None,
    ) -> SparkFigures:
        taken, events = median(seconds), contender.events
        rate = events / taken
        return SparkFigures(
            workload=self._name,
            contender=name,
            what=contender.what,
            cores=self._cores,
            subscriptions=contender.subscriptions,
            scaled_to=self.size,
            events=events,
            seconds=taken,
            events_per_second=rate,
            scaled_events_per_second=rate * contender.subscriptions / self.size,
            core_microseconds_per_event=(
                median(core_seconds) / events * 1e6 if core_seconds else None
            ),
            matches_per_event=outcome.matches / events if isinstance(outcome, Outcome) else None,
            batch_seconds=outcome.seconds if isinstance(outcome, Batches) else (),
        )


def _compare(
    contenders: Mapping[str, Contender], outcomes: Mapping[str, Outcome | Batches | None]
) -> None:
    """A contender that finds other matches is a bug in how we use it."""
    agreed: dict[tuple[int, int], tuple[str, Outcome]] = {}
    for name, outcome in outcomes.items():
        if isinstance(outcome, Outcome):
            size = (contenders[name].subscriptions, contenders[name].events)
            other, expected = agreed.setdefault(size, (name, outcome))
            assert outcome == expected, f"{name}: {outcome}, {other}: {expected}"


def boolcast_counts(index: str, *, from_files: bool = False) -> Callable[[DataFrame], Outcome]:
    """Boolcast's `count_matches`; with `from_files`, its workers read the files themselves."""

    def run(events: DataFrame) -> Outcome:
        given: DataFrame | ParquetFiles = events.drop(EVENT)
        if from_files:
            given = parquet_files(events.sparkSession, str(folder_of(events)))
        counts = count_matches(given, index)
        number = F.substring("subscription", 2, 20).cast("long")
        return _outcome(counts.select(number.alias("subscription"), "matches"))

    return run


def join_counts(join: Callable[[DataFrame], DataFrame]) -> Callable[[DataFrame], Outcome]:
    """A join with a row for each match, counted by Spark."""

    def run(events: DataFrame) -> Outcome:
        counts = join(events).groupBy("subscription").agg(F.count("*").alias("matches"))
        return _outcome(counts)

    return run


def _outcome(counts: DataFrame) -> Outcome:
    (row,) = counts.agg(
        F.coalesce(F.sum("matches"), F.lit(0)),
        F.count("*"),
        F.coalesce(F.sum(F.col("matches") * (F.col("subscription") + 1)), F.lit(0)),
    ).collect()
    return Outcome(*row)


def transport(columns: list[str]) -> Callable[[DataFrame], None]:
    """Only move the columns to Python: no engine there can be faster."""

    def count(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows = sum(batch.num_rows for batch in batches)
        yield pa.record_batch([pa.array([rows])], names=["rows"])

    def run(events: DataFrame) -> None:
        events.select(*columns).mapInArrow(count, "rows long").agg(F.sum("rows")).collect()

    return run


def written_matches(index: str, folder: Path, form: str) -> Callable[[DataFrame], None]:
    """Write the matches to Parquet files."""

    def run(events: DataFrame) -> None:
        found = match(events, index, event_id=EVENT, form=form)  # type: ignore[arg-type]
        found.write.mode("overwrite").parquet(str(folder / form))

    return run
