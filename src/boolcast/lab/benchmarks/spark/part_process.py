"""The process that measures one part of `boolcast bench spark`, with its own Spark.

Started as `python -m boolcast.lab.benchmarks.spark.part_process`. It reads an `Order` as JSON from
standard input, confines itself to its processors, sets up the contenders of the part, and writes
JSON lines: the title of each step, and figures.
"""

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import msgspec
from pyspark.sql import DataFrame, SparkSession

from boolcast.filters.expressions import Filter
from boolcast.lab.benchmarks.choices import SparkPart
from boolcast.lab.benchmarks.figures import SparkFigures
from boolcast.lab.benchmarks.match.engines import auction
from boolcast.lab.benchmarks.spark.contenders import (
    EVENT,
    Contender,
    Contest,
    Outcome,
    boolcast_counts,
    join_counts,
    transport,
    written_matches,
)
from boolcast.lab.benchmarks.spark.joins import (
    ShapeTable,
    Tables,
    fixed_positions,
    greatest_bound,
    hand_split,
    matched,
)
from boolcast.lab.benchmarks.spark.order import Line, Order
from boolcast.lab.benchmarks.spark.streams import FILES, Batches, streamed_matches
from boolcast.lab.benchmarks.spark.theta_joins import theta_matched, theta_table
from boolcast.pipeline.spark.sessions import session
from boolcast.workloads import Auction, Diverse, Workload

_OURS: Final = "boolcast"
_OUR_WHAT: Final = "count_matches, the index opened by Python workers"
_OURS_FROM_FILES: Final = "boolcast from files"
_OUR_WHAT_FROM_FILES: Final = "count_matches of parquet_files, which workers read themselves"
_MORE: Final = 4
"""This many times the events show what a job costs beside its events."""


Made = tuple[Contest, dict[str, Contender]]


class BenchmarkPart:
    """Sets up a contest: a workload, and the contenders on it."""

    def __init__(
        self, order: Order, spark: SparkSession, folder: Path, begin: Callable[[str], None]
    ) -> None:
        self.order = order
        self._spark = spark
        self._folder = folder
        self._begin = begin
        self._tables = Tables(spark, folder)

    def class_1(self) -> Made:
        """Every filter has one equality on the title: the best case for a hash join."""
        size = self.order.subscriptions
        workload = auction("auction", size, self.order.seed, only_class_1=True)
        contest, ours = self._contest("class-1", workload)
        filters = list(enumerate(workload.subscription_filters(0, size)))
        table = self._tables.of_shape(filters, fixed_positions("S1"))
        return contest, {
            "join": self._contender(
                "broadcast join on the title, the rest a condition",
                join_counts(lambda events: matched(events, table)),
            ),
            _OURS: ours,
            _OURS_FROM_FILES: self._from_files(contest),
            "transport": self._contender(
                "the same columns to Python, nothing else",
                transport(["title", "condition", "price", "ending"]),
            ),
        }

    def auction(self) -> Made:
        """The three classes mixed."""
        size = self.order.subscriptions
        workload = auction("auction", size, self.order.seed)
        contest, ours = self._contest("auction", workload)
        tables = self._class_tables(workload, size)
        bound = greatest_bound(tables)
        index = str(contest.folder / "index")
        return contest, {
            "joins": self._contender(
                "the OR split by hand: a union of four broadcast joins",
                join_counts(lambda events: hand_split(events, tables)),
            ),
            "joins with a bound": self._contender(
                "the same, without the events that are past the bound of all filters",
                join_counts(lambda events: hand_split(events, tables, bound=bound)),
            ),
            _OURS: ours,
            _OURS_FROM_FILES: self._from_files(contest),
            "boolcast from more files": self._from_files(contest, times=_MORE),
            "rows": self._contender(
                "match, a row for each match, to Parquet",
                written_matches(index, contest.folder, "rows"),
            ),
            "lists": self._contender(
                "match, a list for each event, to Parquet",
                written_matches(index, contest.folder, "lists"),
            ),
            "transport": self._contender(
                "all ten columns to Python, nothing else",
                transport(workload.events(0, 0).column_names),
            ),
        }

    def cores(self) -> Made:
        """Boolcast alone, to compare one core with several."""
        workload = auction("auction", self.order.subscriptions, self.order.seed)
        contest, ours = self._contest("auction", workload)
        return contest, {_OURS: ours, _OURS_FROM_FILES: self._from_files(contest)}

    def stream(self) -> Made:
        """Matches written batch by batch, compared with all at once."""
        workload = auction("auction", self.order.subscriptions, self.order.seed)
        contest, _ = self._contest("auction", workload, files=FILES)
        index = str(contest.folder / "index")
        return contest, {
            "batch": self._contender(
                "match, a row for each match, to Parquet",
                written_matches(index, contest.folder, "rows"),
            ),
            "stream": self._contender(
                "match_stream, a batch after the other, to Parquet",
                streamed_matches(index, contest.folder, EVENT),
            ),
            "stream with changes": self._contender(
                "the same while the index changes after each batch",
                streamed_matches(index, contest.folder, EVENT, with_changes=True),
            ),
        }

    def diverse(self) -> Made:
        """Filters of 1,500 shapes, compared with one theta join over a sample of them."""
        order = self.order
        workload = Diverse(seed=order.seed)
        contest, ours = self._contest("diverse", workload)
        sample = min(order.theta_subscriptions, order.subscriptions)
        table = theta_table(self._tables, enumerate(workload.subscription_filters(0, sample)))
        theta = Contender(
            f"one theta join; disjunctive normal form, {table.count():,} rows of constants",
            join_counts(lambda events: theta_matched(events, table, EVENT)),
            sample,
            min(order.theta_events, order.events),
        )
        return contest, {"theta join": theta, _OURS: ours}

    def _contest(
        self, name: str, workload: Workload, *, files: int | None = None
    ) -> tuple[Contest, Contender]:
        self._begin(f"drawing {name} and building its index")
        size = self.order.subscriptions
        contest = Contest(self._spark, self._folder, name, workload, size, files)
        return contest, self._contender(_OUR_WHAT, boolcast_counts(contest.index()))

    def _from_files(self, contest: Contest, *, times: int = 1) -> Contender:
        index = str(contest.folder / "index")
        found = self._contender(_OUR_WHAT_FROM_FILES, boolcast_counts(index, from_files=True))
        return found._replace(events=times * found.events)

    def _contender(
        self, what: str, run: Callable[[DataFrame], Outcome | Batches | None]
    ) -> Contender:
        return Contender(what, run, self.order.subscriptions, self.order.events)

    def _class_tables(self, workload: Auction, size: int) -> dict[str, ShapeTable]:
        classes = workload.subscriptions(0, size)["class"].to_pylist()
        by_class: dict[str, list[tuple[int, Filter]]] = {}
        for number, filter in enumerate(workload.subscription_filters(0, size)):
            by_class.setdefault(classes[number], []).append((number, filter))
        return {
            name: self._tables.of_shape(filters, fixed_positions(name))
            for name, filters in by_class.items()
        }


_PARTS: Final[dict[SparkPart, Callable[[BenchmarkPart], Made]]] = {
    SparkPart.CLASS_1: BenchmarkPart.class_1,
    SparkPart.AUCTION: BenchmarkPart.auction,
    SparkPart.DIVERSE: BenchmarkPart.diverse,
    SparkPart.CORES: BenchmarkPart.cores,
    SparkPart.STREAM: BenchmarkPart.stream,
}


def run(order: Order, folder: Path, begin: Callable[[str], None]) -> Iterator[SparkFigures]:
    """Measure one part, on a Spark with one core for each processor of the order."""
    begin("starting Spark")
    spark = session(
        f"local[{len(order.processors)}]",
        name="boolcast bench spark",
        settings={"spark.driver.memory": "2g", "spark.sql.warehouse.dir": str(folder / "tables")},
    )
    contest, contenders = _PARTS[order.part](BenchmarkPart(order, spark, folder, begin))
    yield from contest.measure(contenders, order.repeats, begin)


def main() -> None:
    """Carry out the order on standard input."""
    order = msgspec.json.decode(sys.stdin.buffer.read(), type=Order)
    if hasattr(os, "sched_setaffinity"):
        # Before Java starts, because child processes inherit it.
        os.sched_setaffinity(0, order.processors)

    def write(line: Line) -> None:
        sys.stdout.buffer.write(msgspec.json.encode(line) + b"\n")
        sys.stdout.buffer.flush()

    with TemporaryDirectory(prefix="boolcast-bench-") as folder:
        for figures in run(order, Path(folder), lambda title: write(Line(begins=title))):
            write(Line(figures=figures))


if __name__ == "__main__":
    main()
