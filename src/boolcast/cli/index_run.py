"""The work of `boolcast index`; apart from the command because Spark takes seconds to import."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import msgspec
from pyspark.sql import SparkSession

from boolcast.cli.input.spark import spark_session
from boolcast.cli.output.writing import counted, write, write_error, write_json
from boolcast.errors import FileError, StoreError
from boolcast.matching.store.catalog import index_of
from boolcast.matching.store.snapshots import read_manifest, versions
from boolcast.pipeline import IndexReport, apply_changes, build_index
from boolcast.pipeline import collect as collect_beside
from boolcast.pipeline.index.subscription_files import PROBLEM, read_changes, read_subscriptions
from boolcast.pipeline.spark.error_causes import SPARK_ERRORS, first_line
from boolcast.pipeline.spark.files import is_parquet
from boolcast.pipeline.spark.stores import open_store

_SHOWN: Final = 20
"""Rejected rows to show; the others are counted."""


class VersionReport(msgspec.Struct, frozen=True, kw_only=True):
    """A version of an index; the figures of a damaged one are null."""

    version: int
    subscriptions: int | None = None
    segments: int | None = None
    bytes: int | None = None
    problem: str | None = None

    def __str__(self) -> str:
        if self.problem is not None:
            return f"version {self.version}: {self.problem}"
        assert self.subscriptions is not None
        assert self.segments is not None
        assert self.bytes is not None
        return (
            f"version {self.version}: {counted(self.subscriptions, 'subscription')} in "
            f"{counted(self.segments, 'segment')}, {self.bytes / 1e6:,.1f} MB"
        )


def build(location: str, file: str, *, order: str | None, master: str | None, as_json: bool) -> int:
    """Build a version; returns the number of rejected rows."""
    with _session(file, master) as spark:
        rows = read_subscriptions(spark, file, order=order)
        return _report(build_index(rows, location, order=order, problem=PROBLEM), as_json)


def apply(location: str, file: str, *, order: str | None, master: str | None, as_json: bool) -> int:
    """Change the newest version; returns the number of rejected rows."""
    with _session(file, master) as spark:
        rows = read_changes(spark, file, order=order)
        return _report(apply_changes(rows, location, order=order, problem=PROBLEM), as_json)


def list_versions(location: str, *, as_json: bool) -> None:
    """List the versions, oldest first."""
    store = open_store(location)
    present = versions(store)
    if not present:
        raise StoreError(f"there is no index in {store}: build one first")
    show: Callable[[Any], None] = write_json if as_json else lambda report: write(str(report))
    for number in present:
        try:
            manifest = read_manifest(store, number)
            index = index_of(manifest)
        except StoreError as error:
            show(VersionReport(version=number, problem=str(error)))
            continue
        show(
            VersionReport(
                version=number,
                subscriptions=index.subscriptions,
                segments=len(index.parts),
                bytes=sum(files.nbytes for files in manifest.segments),
            )
        )


def collect_versions(location: str, keep: int, streams: Sequence[str]) -> None:
    """Delete old versions, except those that streams may need."""
    collect_beside(location, keep, streams=streams)


@contextmanager
def _session(file: str, master: str | None) -> Iterator[SparkSession]:
    # A wrong path shows before Spark starts.
    is_parquet(file)
    with spark_session(master, "boolcast index") as spark:
        try:
            yield spark
        except SPARK_ERRORS as error:
            raise FileError(f"Spark cannot read it: {first_line(error)}", path=file) from error


def _report(report: IndexReport, as_json: bool) -> int:
    for reject in report.rejects.limit(_SHOWN).collect() if report.rejected else []:
        told = reject.asDict()
        if as_json:
            write_json({"reject": told}, error=True)
        else:
            row = reject.filter if reject.subscription is None else reject.subscription
            write_error(f"rejected {row!r}: {reject.error}")
    counts = {name: value for name, value in report._asdict().items() if name != "rejects"}
    if as_json:
        write_json(counts)
    else:
        more = report.rejected - _SHOWN
        if more > 0:
            write_error(f"and {more:,} more")
        write(
            f"version {report.version}: {counted(report.subscriptions, 'subscription')}; "
            f"{report.upserted:,} upserted, {report.deleted:,} deleted, "
            f"{report.unchanged:,} unchanged, {counted(report.rejected, 'row')} rejected"
        )
    return report.rejected
