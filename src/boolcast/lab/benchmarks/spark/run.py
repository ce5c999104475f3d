"""What a process of `boolcast bench spark` measures, pinned to its cores, with its own Spark.

It is started as `python -m boolcast.lab.benchmarks.spark.run`, gets its `Order` as JSON on
standard input, and writes JSON lines: titles of what begins, and figures.
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
from boolcast.lab.benchmarks.match.contenders import auction
from boolcast.lab.benchmarks.spark.contest import (
    EVENT,
    Arena,
    Contender,
    Outcome,
    boolcast_counts,
    join_counts,
    transport,
    written_matches,
)
from boolcast.lab.benchmarks.spark.joins import (
    ShapeTable,
    Tables,
    fixed_places,
    greatest_bound,
    hand_split,
    matched,
)
from boolcast.lab.benchmarks.spark.streams import FILES, Batches, streamed_matches
from boolcast.lab.benchmarks.spark.theta_joins import theta_matched, theta_table
from boolcast.pipeline.spark.sessions import session
from boolcast.workloads import Auction, Diverse, Workload

_OURS: Final = "boolcast"
_OUR_WHAT: Final = "count_matches, the index opened by Python workers"
_OURS_FROM_FILES: Final = "boolcast from files"
_OUR_WHAT_FROM_FILES: Final = "count_matches of parquet_files, which workers read themselves"
_MORE: Final = 4
"""So many times the events, where it is asked what a job costs beside its events."""


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """What to measure, and on which processors."""

    part: SparkPart
    processors: tuple[int, ...]
    subscriptions: int
    events: int
    theta_subscriptions: int
    theta_events: int
    repeats: int
    seed: int


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """What the process tells: the title of what begins, or figures."""

    begins: str | None = None
    figures: SparkFigures | None = None


Made = tuple[Arena, dict[str, Contender]]


class Stage:
    """Where contenders are made: a session, a folder, and what was ordered."""

    def __init__(
        self, order: Order, spark: SparkSession, folder: Path, begin: Callable[[str], None]
    ) -> None:
        self.order = order
        self._spark = spark
        self._folder = folder
        self._begin = begin
        self._tables = Tables(spark, folder)

    def class_1(self) -> Made:
        """One equality on the title each: what a join by hash is made for."""
        size = self.order.subscriptions
        workload = auction("auction", size, self.order.seed, only_class_1=True)
        arena, ours = self._arena("class-1", workload)
        filters = list(enumerate(workload.subscription_filters(0, size)))
        table = self._tables.of_shape(filters, fixed_places("S1"))
        return arena, {
            "join": self._contender(
                "broadcast join on the title, the rest a condition",
                join_counts(lambda events: matched(events, table)),
            ),
            _OURS: ours,
            _OURS_FROM_FILES: self._from_files(arena),
            "transport": self._contender(
                "the same columns to Python, nothing else",
                transport(["title", "condition", "price", "ending"]),
            ),
        }

    def auction(self) -> Made:
        """The three classes mixed."""
        size = self.order.subscriptions
        workload = auction("auction", size, self.order.seed)
        arena, ours = self._arena("auction", workload)
        tables = self._class_tables(workload, size)
        bound = greatest_bound(tables)
        place = str(arena.folder / "index")
        return arena, {
            "joins": self._contender(
                "the OR split by hand: a union of four broadcast joins",
                join_counts(lambda events: hand_split(events, tables)),
            ),
            "joins with a bound": self._contender(
                "the same, without the events that are past the bound of all filters",
                join_counts(lambda events: hand_split(events, tables, bound=bound)),
            ),
            _OURS: ours,
            _OURS_FROM_FILES: self._from_files(arena),
            "boolcast from more files": self._from_files(arena, times=_MORE),
            "rows": self._contender(
                "match, a row for each match, to Parquet",
                written_matches(place, arena.folder, "rows"),
            ),
            "lists": self._contender(
                "match, a list for each event, to Parquet",
                written_matches(place, arena.folder, "lists"),
            ),
            "transport": self._contender(
                "all ten columns to Python, nothing else",
                transport(workload.events(0, 0).column_names),
            ),
        }

    def cores(self) -> Made:
        """The engine alone, to compare one core with several."""
        workload = auction("auction", self.order.subscriptions, self.order.seed)
        arena, ours = self._arena("auction", workload)
        return arena, {_OURS: ours, _OURS_FROM_FILES: self._from_files(arena)}

    def stream(self) -> Made:
        """Matches written batch by batch, against all at once."""
        workload = auction("auction", self.order.subscriptions, self.order.seed)
        arena, _ = self._arena("auction", workload, files=FILES)
        place = str(arena.folder / "index")
        return arena, {
            "batch": self._contender(
                "match, a row for each match, to Parquet",
                written_matches(place, arena.folder, "rows"),
            ),
            "stream": self._contender(
                "match_stream, a batch after the other, to Parquet",
                streamed_matches(place, arena.folder, EVENT),
            ),
            "stream with changes": self._contender(
                "the same while the index changes after each batch",
                streamed_matches(place, arena.folder, EVENT, with_changes=True),
            ),
        }

    def diverse(self) -> Made:
        """Filters of 1,500 shapes, against one theta join over a sample of them."""
        order = self.order
        workload = Diverse(seed=order.seed)
        arena, ours = self._arena("diverse", workload)
        sample = min(order.theta_subscriptions, order.subscriptions)
        table = theta_table(self._tables, enumerate(workload.subscription_filters(0, sample)))
        theta = Contender(
            f"one theta join; disjunctive normal form, {table.count():,} rows of constants",
            join_counts(lambda events: theta_matched(events, table, EVENT)),
            sample,
            min(order.theta_events, order.events),
        )
        return arena, {"theta join": theta, _OURS: ours}

    def _arena(
        self, name: str, workload: Workload, *, files: int | None = None
    ) -> tuple[Arena, Contender]:
        self._begin(f"drawing {name} and building its index")
        size = self.order.subscriptions
        arena = Arena(self._spark, self._folder, name, workload, size, files)
        return arena, self._contender(_OUR_WHAT, boolcast_counts(arena.index()))

    def _from_files(self, arena: Arena, *, times: int = 1) -> Contender:
        place = str(arena.folder / "index")
        found = self._contender(_OUR_WHAT_FROM_FILES, boolcast_counts(place, from_files=True))
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
            name: self._tables.of_shape(filters, fixed_places(name))
            for name, filters in by_class.items()
        }


_PARTS: Final[dict[SparkPart, Callable[[Stage], Made]]] = {
    SparkPart.CLASS_1: Stage.class_1,
    SparkPart.AUCTION: Stage.auction,
    SparkPart.DIVERSE: Stage.diverse,
    SparkPart.CORES: Stage.cores,
    SparkPart.STREAM: Stage.stream,
}


def run(order: Order, folder: Path, begin: Callable[[str], None]) -> Iterator[SparkFigures]:
    """Measure one part, with a Spark on as many cores as there are processors in the order."""
    begin("starting Spark")
    spark = session(
        f"local[{len(order.processors)}]",
        name="boolcast bench spark",
        settings={"spark.driver.memory": "2g", "spark.sql.warehouse.dir": str(folder / "tables")},
    )
    arena, contenders = _PARTS[order.part](Stage(order, spark, folder, begin))
    yield from arena.measure(contenders, order.repeats, begin)


def main() -> None:
    """Carry out the order on standard input."""
    order = msgspec.json.decode(sys.stdin.buffer.read(), type=Order)
    if hasattr(os, "sched_setaffinity"):
        # Before Java is started: what a process starts is confined with it.
        os.sched_setaffinity(0, order.processors)

    def write(line: Line) -> None:
        sys.stdout.buffer.write(msgspec.json.encode(line) + b"\n")
        sys.stdout.buffer.flush()

    with TemporaryDirectory(prefix="boolcast-bench-") as folder:
        for figures in run(order, Path(folder), lambda title: write(Line(begins=title))):
            write(Line(figures=figures))


if __name__ == "__main__":
    main()
