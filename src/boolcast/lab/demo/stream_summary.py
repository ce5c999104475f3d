"""What came of `boolcast demo spark`, read from what the jobs have published."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import msgspec
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from boolcast.cli.stream_progress import BatchReport
from boolcast.lab.demo.stream_input import CHANGES, watch_id
from boolcast.pipeline import IndexReport, read_batches, read_dead_letters, read_matches

_TOP: Final = 5


class VersionFigures(msgspec.Struct, frozen=True, kw_only=True):
    """A version of the index: what is in it, and what it took to publish it."""

    version: int
    subscriptions: int
    upserted: int
    deleted: int
    rejected: int
    seconds: float

    @classmethod
    def of(cls, report: IndexReport, seconds: float) -> "VersionFigures":
        """The figures of a report."""
        return cls(
            version=report.version,
            subscriptions=report.subscriptions,
            upserted=report.upserted,
            deleted=report.deleted,
            rejected=report.rejected,
            seconds=round(seconds, 3),
        )


class Reason(msgspec.Struct, frozen=True):
    """Why rows could not be taken, how many, and one of them."""

    error: str
    rows: int
    example: str | None


class Matched(msgspec.Struct, frozen=True, kw_only=True):
    """A subscription with its filter of now, its matches, and the version that had the first."""

    subscription: str
    filter: str
    matches: int
    since_version: int


class TimedBatch(BatchReport, frozen=True, kw_only=True):
    """A batch, its beginning in seconds since that of the first, and matches of the watches."""

    start: float
    watched: dict[str, int]


class Totals(msgspec.Struct, frozen=True, kw_only=True):
    """What the published batches tell when put together."""

    batches: tuple[TimedBatch, ...]
    events: int
    matches: int
    dead_letters: int
    seconds: float
    top: tuple[Matched, ...]
    watches: tuple[Matched, ...]
    dead_letter_reasons: tuple[Reason, ...]

    @property
    def events_per_second(self) -> float:
        return self.events / self.seconds

    @property
    def matches_per_second(self) -> float:
        return self.matches / self.seconds


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """All figures of a run, the start of Spark included."""

    folder: str
    seed: int
    spark: str
    cores: int
    seconds: float
    session_seconds: float
    rejected: int
    reject_reasons: tuple[Reason, ...]
    versions: tuple[VersionFigures, ...]
    stream: Totals


def totals(spark: SparkSession, output: Path, filter_of: Callable[[str], str]) -> Totals:
    """Read what the stream has published; `filter_of` tells the filter of a subscription."""
    matches = read_matches(spark, output)
    counts = matches.groupBy("subscription").agg(
        F.count("*").alias("matches"), F.min("version").alias("since_version")
    )
    names = [watch_id(number) for number in range(CHANGES)]
    is_watch = F.col("subscription").isin(names)
    first = counts.orderBy(is_watch.desc(), F.desc("matches"), "subscription")
    found = [
        Matched(**row.asDict(), filter=filter_of(row["subscription"]))
        for row in first.limit(CHANGES + _TOP).collect()
    ]
    watches = [each for each in found if each.subscription in names]
    watched: dict[int, dict[str, int]] = {}
    for row in matches.where(is_watch).groupBy("batch", "subscription").count().collect():
        watched.setdefault(row["batch"], {})[row["subscription"]] = row["count"]
    batches = _batches(output, watched)
    return Totals(
        batches=batches,
        events=sum(each.events for each in batches),
        matches=sum(each.matches for each in batches),
        dead_letters=sum(each.dead_letters for each in batches),
        # From the beginning of the first batch to the end of the last.
        seconds=round(batches[-1].start + batches[-1].seconds, 3),
        top=tuple(each for each in found if each.subscription not in names)[:_TOP],
        watches=tuple(sorted(watches, key=lambda each: each.subscription)),
        dead_letter_reasons=reasons(read_dead_letters(spark, output), "event"),
    )


def _batches(output: Path, watched: Mapping[int, dict[str, int]]) -> tuple[TimedBatch, ...]:
    published = list(read_batches(output))
    return tuple(
        TimedBatch(
            **msgspec.structs.asdict(BatchReport.of(batch, behind={})),
            start=round(batch.started - published[0].started, 3),
            watched=watched.get(batch.batch, {}),
        )
        for batch in published
    )


def reasons(rows: DataFrame, example: str) -> tuple[Reason, ...]:
    """The rows by their errors, the most frequent first; `example` names the column to show."""
    found = (
        rows.groupBy("error")
        .agg(F.count("*").alias("rows"), F.min(example).alias("example"))
        .orderBy(F.desc("rows"), "error")
    )
    return tuple(Reason(**row.asDict()) for row in found.collect())
