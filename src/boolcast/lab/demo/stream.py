"""The work of `boolcast demo spark`: build an index, stream events, change the index meanwhile."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import reduce
from pathlib import Path
from shutil import rmtree
from time import monotonic
from typing import Final, Protocol

import msgspec
import pyarrow.parquet as pq
import pyspark
from pyspark.sql import DataFrame, SparkSession

from boolcast.cli.input.spark import spark_session
from boolcast.cli.output.writing import counted
from boolcast.cli.stream_progress import BatchReport
from boolcast.errors import FileError, StreamError, UsageError
from boolcast.lab.demo.stream_input import (
    CHANGE_SCHEMA,
    CHANGES,
    EVENT_SCHEMA,
    auction,
    put_events,
    slices,
)
from boolcast.lab.demo.stream_summary import Summary, VersionFigures, reasons, totals
from boolcast.pipeline import IndexReport, MatchStream, apply_changes, build_index, match_stream
from boolcast.pipeline.spark.error_causes import SPARK_ERRORS, first_line

_MARK: Final = ".boolcast-demo"
"""A folder with this file may be replaced."""

_FILES: Final = 72
"""Files of events."""
_FILES_A_BATCH: Final = 4
_FILES_WAITING: Final = 8

_BUCKETS: Final = 2
"""One bucket would do for so few subscriptions; with two, two cores build the index."""

_CHANGED_SHARE: Final = 200
"""Each change adds, changes and deletes one in this many subscriptions."""

_LOOK_SECONDS: Final = 0.1


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """The options of the command."""

    subscriptions: int
    events: int
    folder: str
    seed: int


class Display(Protocol):
    """Shows the user how far the demo is."""

    def begin(self, title: str, total: int | None = None) -> None:
        """Show a step that takes a while; `total` is in events."""

    def tell(self, text: str) -> None:
        """Print a line."""

    def show_version(self, figures: VersionFigures) -> None:
        """Show a version of the index when it is published."""

    def show_batch(self, batch: BatchReport) -> None:
        """Show a batch when it is published."""


def run(choice: Choice, display: Display) -> Summary:
    """Run the demo in a new folder. Raises BoolcastError."""
    start = monotonic()
    folder = _emptied(Path(choice.folder))
    display.begin("starting Spark")
    with spark_session(None, "boolcast demo") as spark:
        started = monotonic() - start
        cores = spark.sparkContext.defaultParallelism
        display.tell(
            f"Spark {pyspark.__version__} on {counted(cores, 'core')}, started in {started:.0f} s"
        )
        job = _Job(spark, choice, folder, display)
        try:
            job.index()
            job.stream()
            display.begin("reading the results")
            found = totals(spark, folder / "output")
            rejects = reduce(DataFrame.union, (each.rejects for each in job.reports))
            return Summary(
                folder=choice.folder,
                seed=choice.seed,
                spark=pyspark.__version__,
                cores=cores,
                rejected=sum(each.rejected for each in job.reports),
                reject_reasons=reasons(rejects, "filter"),
                session_seconds=round(started, 3),
                seconds=round(monotonic() - start, 3),
                versions=tuple(job.versions),
                stream=found,
            )
        except SPARK_ERRORS as error:
            raise StreamError(f"Spark ended the demo: {first_line(error)}") from error


class _Job:
    """The index and the stream, and what they reported so far."""

    def __init__(self, spark: SparkSession, choice: Choice, folder: Path, display: Display) -> None:
        self.reports: list[IndexReport] = []
        self.versions: list[VersionFigures] = []
        self._spark = spark
        self._choice = choice
        self._folder = folder
        self._display = display
        self._auction = auction(choice.subscriptions, choice.seed)

    def index(self) -> None:
        """Write a table of subscriptions and index it."""
        many = self._choice.subscriptions
        self._display.begin(f"indexing {many:,} filters")
        table = self._folder / "subscriptions.parquet"
        pq.write_table(self._auction.subscriptions(0, many), table)
        subscriptions = self._spark.read.parquet(str(table))
        self._publish(lambda: build_index(subscriptions, self._index, buckets=_BUCKETS))

    def stream(self) -> None:
        """Match a folder that fills with events, and change the index meanwhile."""
        self._display.begin("streaming", self._choice.events)
        events = self._spark.readStream.schema(EVENT_SCHEMA)
        stream = match_stream(
            events.option("maxFilesPerTrigger", _FILES_A_BATCH).parquet(
                str(self._folder / "events")
            ),
            self._index,
            event_id="id",
            json="value",
            output=self._folder / "output",
            checkpoint=self._folder / "checkpoint",
            trigger=0.0,
        )
        try:
            with ThreadPoolExecutor(1) as changer:
                self._feed(stream, changer)
        finally:
            stream.stop()

    def _feed(self, stream: MatchStream, changer: ThreadPoolExecutor) -> None:
        """Keep some files waiting for the stream, until all events are matched."""
        files = slices(self._choice.events, -(-self._choice.events // _FILES))
        due = {(number + 1) * len(files) // (CHANGES + 1): number for number in range(CHANGES)}
        change: Future[None] = changer.submit(lambda: None)
        put = matched = 0
        while matched < self._choice.events:
            if change.done():
                change.result()
            # Wait for a change before the next is due, so that each version gets batches.
            is_awaited = put + 1 in due or put + _FILES_A_BATCH >= len(files)
            waiting = sum(map(len, files[:put])) - matched
            if (
                put < len(files)
                and waiting < _FILES_WAITING * len(files[0])
                and (change.done() or not is_awaited)
            ):
                put_events(self._auction, files[put], self._folder / "events")
                put += 1
                if put in due:
                    change = changer.submit(self._change, due[put])
            else:
                stream.wait(_LOOK_SECONDS)
            for batch in stream.published():
                matched += batch.events
                self._display.show_batch(BatchReport.of(batch, behind={}))

    def _change(self, number: int) -> None:
        many = max(1, self._choice.subscriptions // _CHANGED_SHARE)
        rows = self._auction.changes(number, self._choice.subscriptions, many)
        frame = self._spark.createDataFrame(rows, CHANGE_SCHEMA)
        self._publish(lambda: apply_changes(frame, self._index))

    def _publish(self, publish: Callable[[], IndexReport]) -> None:
        start = monotonic()
        report = publish()
        self.reports.append(report)
        self.versions.append(VersionFigures.of(report, monotonic() - start))
        self._display.show_version(self.versions[-1])

    @property
    def _index(self) -> Path:
        return self._folder / "index"


def _emptied(folder: Path) -> Path:
    """Empty the folder of an older demo, or create it. Raises UsageError for any other folder."""
    try:
        if folder.exists() and not (folder / _MARK).exists() and any(folder.iterdir()):
            raise UsageError(f"{folder} holds something else than a demo: choose another --output")
        rmtree(folder, ignore_errors=True)
        (folder / "events").mkdir(parents=True)
        (folder / _MARK).touch()
    except OSError as error:
        raise FileError(error.strerror or str(error), path=str(folder)) from None
    return folder
