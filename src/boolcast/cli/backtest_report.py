"""Runs a back-test, and shows it as tables, JSON or a picture."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import msgspec
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it
from rich.table import Table

from boolcast.cli.input.spark import spark_session
from boolcast.cli.output.progress import steps
from boolcast.cli.output.tables import QuietConsole, plain_table
from boolcast.cli.output.writing import counted, write, write_error, write_json
from boolcast.errors import FileError, InputError
from boolcast.model.schemas import Schema
from boolcast.pipeline.events.history import read_events
from boolcast.pipeline.index.subscription_files import PROBLEM, read_subscriptions
from boolcast.pipeline.spark.error_causes import SPARK_ERRORS, first_line
from boolcast.pipeline.spark.files import is_parquet
from boolcast.pipeline.statistics.backtest import STEPS, Backtest, backtest

_SHOWN_REJECTS: Final = 5
_DECADES: Final = 9
"""The last bar holds all shares below 10⁻⁹, too."""


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """The options of the command."""

    subscriptions: str
    events: str
    output: str | None
    plot: str | None
    top: int
    schema: Schema | None
    master: str | None


class Tested(msgspec.Struct, frozen=True):
    """A subscription: the events that match it, their share, and the share checked against it."""

    subscription: str
    filter: str
    matches: int
    share: float | None
    reach: float


class Rejected(msgspec.Struct, frozen=True):
    """A subscription that was left out; `position` is an offset into the filter's text."""

    subscription: str | None
    filter: str | None
    error: str
    position: int | None


class BacktestReport(msgspec.Struct, frozen=True, kw_only=True):
    """Totals, and the first rows of each list."""

    events: int
    malformed_events: int
    subscriptions: int
    rejected_subscriptions: int
    matches: int
    never_matching: int
    always_matching: int
    most_matching: tuple[Tested, ...]
    never: tuple[Tested, ...]
    always: tuple[Tested, ...]
    expensive: tuple[Tested, ...]
    rejects: tuple[Rejected, ...]

    @property
    def is_complete(self) -> bool:
        """False if subscriptions or events were left out."""
        return not self.malformed_events and not self.rejected_subscriptions


def show(choice: Choice, *, as_json: bool) -> bool:
    """Run and write; False if subscriptions or events were left out."""
    # A wrong path shows before Spark starts.
    for path in (choice.subscriptions, choice.events):
        is_parquet(path)
    with _folder(choice.output) as folder, steps(2 + STEPS + (choice.plot is not None)) as begin:
        report, bars = _run(choice, folder, begin)
        if choice.plot is not None:
            begin("drawing")
            _draw(report, bars, choice.plot)
    if as_json:
        write_json(report)
    else:
        _write_tables(report)
        _write_rejects(report)
        for title, written in (("result", choice.output), ("picture", choice.plot)):
            if written is not None:
                write_error(f"{title}: {written}")
    return report.is_complete


@contextmanager
def _folder(output: str | None) -> Iterator[str]:
    if output is not None:
        yield output
        return
    with TemporaryDirectory(prefix="boolcast-backtest-") as folder:
        yield folder


def _run(
    choice: Choice, folder: str, begin: Callable[[str], None]
) -> tuple[BacktestReport, dict[int, int]]:
    begin("starting Spark")
    with spark_session(choice.master, "boolcast backtest") as spark:
        events, json = read_events(spark, choice.events)
        subscriptions = read_subscriptions(spark, choice.subscriptions)
        try:
            tested = backtest(
                subscriptions,
                events,
                folder,
                json=json,
                schema=choice.schema if json is not None else None,
                problem=PROBLEM,
                begin=begin,
            )
            return _report(tested, choice.top), _bars(tested.result)
        except SPARK_ERRORS as error:
            raise InputError(f"Spark ended the back-test: {first_line(error)}") from error


def _report(tested: Backtest, top: int) -> BacktestReport:
    result = tested.result.persist()
    is_never = F.col("matches") == 0
    is_always = (F.col("matches") == tested.events) & F.lit(tested.events > 0)
    (totals,) = result.agg(
        F.coalesce(F.sum("matches"), F.lit(0)).alias("matches"),
        F.count_if(is_never).alias("never"),
        F.count_if(is_always).alias("always"),
    ).collect()
    return BacktestReport(
        events=tested.events,
        malformed_events=tested.malformed_events,
        subscriptions=tested.subscriptions,
        rejected_subscriptions=tested.rejected,
        matches=totals["matches"],
        never_matching=totals["never"],
        always_matching=totals["always"],
        most_matching=_first(result.where(~is_never), F.desc("matches"), top),
        never=_first(result.where(is_never), F.desc("reach"), top),
        always=_first(result.where(is_always), F.desc("reach"), top),
        expensive=_first(result, F.desc("reach"), top),
        rejects=tuple(
            Rejected(**row.asDict()) for row in tested.rejects.limit(_SHOWN_REJECTS).collect()
        ),
    )


def _first(frame: DataFrame, order: Column, count: int) -> tuple[Tested, ...]:
    rows = frame.orderBy(order, "subscription").limit(count).collect()
    return tuple(Tested(**row.asDict()) for row in rows)


def _bars(result: DataFrame) -> dict[int, int]:
    """The subscriptions with a share of about 10⁻ᵏ, by k; -1 counts those without matches."""
    decade = F.least(F.floor(-F.log10("share")), F.lit(_DECADES)).cast("int")
    of_each = F.when(F.col("matches") > 0, decade).otherwise(-1).alias("decade")
    rows = result.groupBy(of_each).agg(F.count("*").alias("subscriptions")).collect()
    return {row["decade"]: row["subscriptions"] for row in rows}


def _write_tables(report: BacktestReport) -> None:
    console = QuietConsole(highlight=False)
    write(
        f"{counted(report.subscriptions, 'subscription')}, {counted(report.events, 'event')}, "
        f"{counted(report.matches, 'match', 'matches')}: "
        f"{report.never_matching:,} never match, {report.always_matching:,} always"
    )
    for title, rows in (
        ("Most matches", report.most_matching),
        ("Never matching, the most expensive first", report.never),
        ("Always matching", report.always),
        ("Most expensive: share of events that have to be checked, estimated", report.expensive),
    ):
        if rows:
            console.print(_table(title, rows))


def _table(title: str, rows: Sequence[Tested]) -> Table:
    table = plain_table(title, ["subscription"], ["matches", "share", "checked"])
    table.add_column("filter", overflow="fold")
    for row in rows:
        share = "–" if row.share is None else _percent(row.share)
        table.add_row(row.subscription, f"{row.matches:,}", share, _percent(row.reach), row.filter)
    return table


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def _write_rejects(report: BacktestReport) -> None:
    if report.malformed_events:
        write_error(f"left out: {counted(report.malformed_events, 'malformed event')}")
    if report.rejected_subscriptions:
        write_error(f"left out: {counted(report.rejected_subscriptions, 'subscription')}")
    for reject in report.rejects:
        write_error(f"  {reject.subscription}: {reject.error}: {reject.filter}")


def _draw(report: BacktestReport, bars: dict[int, int], path: str) -> None:
    """Draw how many subscriptions match how often, and the most expensive ones."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - an extra, and a second

    figure = Figure(figsize=(11, 4.5), layout="constrained")
    left, right = figure.subplots(1, 2)
    decades = [-1, *range(_DECADES, -1, -1)]
    left.bar(range(len(decades)), [bars.get(each, 0) for each in decades])
    names = ["never", *(f"$10^{{-{each}}}$" for each in range(_DECADES, 0, -1)), "1"]
    left.set_xticks(range(len(decades)), names)
    left.set_xlabel("share of events that match, down to")
    left.set_ylabel("subscriptions")
    left.set_title(f"{report.subscriptions:,} subscriptions, {report.events:,} events")
    rows = report.expensive[::-1]
    heights = range(len(rows))
    right.barh([at + 0.2 for at in heights], [row.reach for row in rows], 0.4, label="checked")
    right.barh([at - 0.2 for at in heights], [row.share or 0 for row in rows], 0.4, label="match")
    right.set_yticks(heights, [row.subscription for row in rows])
    right.set_xlabel("share of events")
    right.set_title("most expensive")
    right.legend()
    try:
        figure.savefig(path, dpi=120)
    except (OSError, ValueError) as error:
        raise FileError(f"cannot draw: {error}", path=str(Path(path))) from None
