"""Contenders on Spark, side by side on one workload: the same events, the same cores.

Events are drawn once, into Parquet files that all contenders read; each reads only the columns
it needs. All of them end with a count of matches for each subscription, but for those that
show what something costs: bare transport to Python, and writing matches out.
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
from boolcast.lab.benchmarks.process_times import tree_seconds
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
    """What all contenders must agree on: matches, subscriptions with any, and a checksum."""

    matches: int
    subscriptions: int
    checksum: int


class Contender(NamedTuple):
    """Who takes part: `run` does all the work on the given events.

    `subscriptions` and `events` are how many it takes part with.
    """

    what: str
    run: Callable[[DataFrame], Outcome | Batches | None]
    subscriptions: int
    events: int


class Arena:
    """One workload of one size; contenders are measured in turns, and medians taken.

    Events are in as many `files` as there are cores, if not told otherwise.
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
        """So many events, as Parquet files."""
        if count not in self._events:
            path = str(self.folder / f"events-{count}")
            drawn = workloads.events(
                self.session, self._workload, count, start=_LESSON_EVENTS, partitions=self._files
            )
            drawn.write.parquet(path)
            self._events[count] = self.session.read.parquet(path)
        return self._events[count]

    def index(self) -> str:
        """Build the index of all subscriptions, with what a few earlier events teach."""
        place = str(self.folder / "index")
        lesson = workloads.events(self.session, self._workload, _LESSON_EVENTS, partitions=1)
        write_statistics(str(self.folder / "statistics"), events=lesson.drop(EVENT))
        subscriptions = workloads.subscriptions(
            self.session, self._workload, self.size, partitions=self._cores
        )
        known = read_statistics(str(self.folder / "statistics"))
        report = build_index(subscriptions, place, statistics=known, buckets=1)
        assert report.subscriptions == self.size
        return place

    def measure(
        self, contenders: Mapping[str, Contender], repeats: int, begin: Callable[[str], None]
    ) -> Iterator[SparkFigures]:
        """Warm all of them up, on fewer events; then run them in turns."""
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
    """They stand in one table: whoever finds other matches is a bug in how it is used."""
    agreed: dict[tuple[int, int], tuple[str, Outcome]] = {}
    for name, outcome in outcomes.items():
        if isinstance(outcome, Outcome):
            size = (contenders[name].subscriptions, contenders[name].events)
            other, expected = agreed.setdefault(size, (name, outcome))
            assert outcome == expected, f"{name}: {outcome}, {other}: {expected}"


def boolcast_counts(place: str, *, from_files: bool = False) -> Callable[[DataFrame], Outcome]:
    """The match engine, by `count_matches`; with `from_files` its workers read the files."""

    def run(events: DataFrame) -> Outcome:
        given: DataFrame | ParquetFiles = events.drop(EVENT)
        if from_files:
            given = parquet_files(events.sparkSession, str(folder_of(events)))
        counts = count_matches(given, place)
        number = F.substring("subscription", 2, 20).cast("long")
        return _outcome(counts.select(number.alias("subscription"), "matches"))

    return run


def join_counts(join: Callable[[DataFrame], DataFrame]) -> Callable[[DataFrame], Outcome]:
    """A join that gives a row for each match, counted by Spark."""

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
    """The columns to Python and nothing else: no engine there can be faster."""

    def count(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows = sum(batch.num_rows for batch in batches)
        yield pa.record_batch([pa.array([rows])], names=["rows"])

    def run(events: DataFrame) -> None:
        events.select(*columns).mapInArrow(count, "rows long").agg(F.sum("rows")).collect()

    return run


def written_matches(place: str, folder: Path, form: str) -> Callable[[DataFrame], None]:
    """The matches themselves, as Parquet."""

    def run(events: DataFrame) -> None:
        found = match(events, place, event_id=EVENT, form=form)  # type: ignore[arg-type]
        found.write.mode("overwrite").parquet(str(folder / form))

    return run
