"""The figures of `boolcast demo spark`, read from what the jobs published."""

from collections.abc import Mapping
from pathlib import Path

import msgspec
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from boolcast.cli.stream_progress import BatchReport
from boolcast.lab.demo.stream_input import WATCHES
from boolcast.pipeline import IndexReport, read_batches, read_dead_letters, read_matches


class VersionFigures(msgspec.Struct, frozen=True, kw_only=True):
    """A version of the index: its size, its changes, and the seconds to publish it."""

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
    """Why rows were refused, how many, and one of them."""

    error: str
    rows: int
    example: str | None


class Watch(msgspec.Struct, frozen=True, kw_only=True):
    """A subscription added while the stream ran, and the version that first matched it."""

    subscription: str
    filter: str
    matches: int
    since_version: int


class TimedBatch(BatchReport, frozen=True, kw_only=True):
    """A batch, its start in seconds after the first batch, and the watches' matches in it."""

    start: float
    watched: dict[str, int]


class Totals(msgspec.Struct, frozen=True, kw_only=True):
    """All published batches together."""

    batches: tuple[TimedBatch, ...]
    events: int
    matches: int
    dead_letters: int
    seconds: float
    watches: tuple[Watch, ...]
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


def totals(spark: SparkSession, output: Path) -> Totals:
    """Read what the stream published."""
    watched: dict[int, dict[str, int]] = {}
    first_version: dict[str, int] = {}
    of_watches = F.col("subscription").isin(list(WATCHES))
    rows = (
        read_matches(spark, output)
        .where(of_watches)
        .groupBy("batch", "version", "subscription")
        .count()
        .orderBy("batch")
        .collect()
    )
    for row in rows:
        watched.setdefault(row["batch"], {})[row["subscription"]] = row["count"]
        first_version.setdefault(row["subscription"], row["version"])
    batches = _batches(output, watched)
    return Totals(
        batches=batches,
        events=sum(each.events for each in batches),
        matches=sum(each.matches for each in batches),
        dead_letters=sum(each.dead_letters for each in batches),
        # From the start of the first batch to the end of the last.
        seconds=round(batches[-1].start + batches[-1].seconds, 3),
        watches=tuple(
            Watch(
                subscription=name,
                filter=WATCHES[name],
                matches=sum(each.watched.get(name, 0) for each in batches),
                since_version=version,
            )
            for name, version in sorted(first_version.items())
        ),
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
    """The rows by error, the most frequent first; `example` names the column to show."""
    found = (
        rows.groupBy("error")
        .agg(F.count("*").alias("rows"), F.min(example).alias("example"))
        .orderBy(F.desc("rows"), "error")
    )
    return tuple(Reason(**row.asDict()) for row in found.collect())
