"""`boolcast bench`: measure how fast Boolcast is on this machine."""

from collections.abc import Sequence
from enum import StrEnum
from functools import partial
from typing import Annotated, Any, TypeVar

import typer

from boolcast.cli.input.options import AsJson
from boolcast.cli.output.endings import ExitCode
from boolcast.cli.output.extras import needing_spark
from boolcast.errors import UsageError
from boolcast.lab.benchmarks.choices import AlternativeName, EngineName, SparkPart, WorkloadName

bench = typer.Typer(
    name="bench", no_args_is_help=True, rich_markup_mode=None, pretty_exceptions_enable=False
)

Name = TypeVar("Name", bound=StrEnum)

_Repeats = Annotated[
    int, typer.Option(metavar="N", min=1, help="Runs per measurement; the median is reported.")
]
_Seed = Annotated[int, typer.Option(metavar="N", min=0, help="Seed of the workload.")]


def _names_option(long: str, short: str, names: type[StrEnum], *, default: str) -> Any:
    """An option that takes some of the names, or all."""
    listed = f"{', '.join(names)}, or all."
    return typer.Option(long, short, metavar="NAME", help=listed, show_default=default)


@bench.callback()
def benchmarks() -> None:
    """Measure how fast Boolcast is on this machine.

    \b
    Examples:
      boolcast bench match
      boolcast bench match --chart engines.svg
      boolcast bench match --help
      boolcast bench spark

    \b
    Exit codes:
      0  measured
      1  measured, except what is not installed
      2  the usage is wrong
    """  # noqa: D301 - \b keeps the lines of a paragraph apart


@bench.command()
def match(  # noqa: PLR0913, PLR0917 - an option each
    workload: Annotated[
        list[str] | None, _names_option("--workload", "-w", WorkloadName, default="auction")
    ] = None,
    subscriptions: Annotated[
        list[int] | None,
        typer.Option(
            "--subscriptions",
            "-s",
            metavar="N",
            min=1,
            help="Number of filters; repeat for several sizes.",
            show_default="200000",
        ),
    ] = None,
    engines: Annotated[
        list[str] | None,
        _names_option(
            "--engines", "-e", EngineName, default="access,counting; with --chart also scan"
        ),
    ] = None,
    single: Annotated[
        bool,
        typer.Option("--single", help="Time calls with one event as a dict, on class 1 of fixed."),
    ] = False,
    against: Annotated[
        list[str] | None,
        typer.Option(
            "--against",
            metavar="NAME",
            help=f"Alternatives on class 1: {', '.join(AlternativeName)}, or all.",
        ),
    ] = None,
    events: Annotated[
        int, typer.Option(metavar="N", min=2, help="Events for the fastest engine.")
    ] = 20_000,
    repeats: _Repeats = 5,
    seed: _Seed = 1,
    chart: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Draw the engines as an SVG chart, on a log scale."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure the match engines, on one core.

    Times are processor time, so other programs on the machine matter little. Events go in and
    matches come out as Arrow, in batches of 10,000 events. Slower engines get fewer events:
    mbd a quarter, counting a twentieth, scan one in 5,000; the table and the chart show how
    many. All engines must find the same matches. With several sizes, a table shows how the time
    per candidate and match grows. Separate several names by commas, or repeat the option.

    \b
    Workloads:
      auction         three classes of filters on books; one title per subscription
      auction-zipf    the same, with titles by Zipf's law
      auction-random  the same, with random bounds on another attribute
      fixed           auction with the same few prices in all filters
      diverse         1,500 shapes of 2 to 20 predicates over 30 attributes
      unselective     no index helps: wide ranges, negations, substrings

    --single and --against use auctions of class 1 only (a title and a few conditions), and
    measure nothing else unless --workload is given. The alternatives of --against need
    pip install 'boolcast[rivals]'.

    \b
    Examples:
      boolcast bench match
      boolcast bench match --workload all --subscriptions 200000 --subscriptions 1000000
      boolcast bench match --workload unselective --engines access,scan
      boolcast bench match --chart engines.svg
      boolcast bench match --single --against duckdb,polars --json

    \b
    Exit codes:
      0  measured
      1  measured, except what is not installed
      2  the usage is wrong
    """  # noqa: D301 - \b keeps the lines of a paragraph apart
    alternatives = _chosen(AlternativeName, against or [], "--against")
    only_class_1 = workload is None and chart is None and (single or bool(alternatives))
    default = [] if only_class_1 else [WorkloadName.AUCTION]
    workloads = _chosen(WorkloadName, workload or default, "--workload")
    usual = ["access", "counting"] if chart is None else ["access", "counting", "scan"]
    chosen = _chosen(EngineName, engines or usual, "--engines")
    sizes = subscriptions or [200_000]
    if chart is not None and (len(workloads) > 1 or len(sizes) > 1):
        raise UsageError("--chart shows one workload and one number of subscriptions")

    from boolcast.lab.benchmarks.match import report  # noqa: PLC0415 - rich, numba and pyarrow
    from boolcast.lab.benchmarks.match.run import Choice, run  # noqa: PLC0415 - see above

    choice = Choice(
        workloads=workloads,
        sizes=sizes,
        engines=chosen,
        single=single,
        against=alternatives,
        events=events,
        repeats=repeats,
        seed=seed,
    )
    is_complete = report.show(partial(run, choice), choice.steps, as_json=as_json, chart=chart)
    raise typer.Exit(ExitCode.FINE if is_complete else ExitCode.RESERVATIONS)


@bench.command()
def spark(  # noqa: PLR0913, PLR0917 - an option each
    part: Annotated[
        list[str] | None, _names_option("--part", "-p", SparkPart, default="all")
    ] = None,
    subscriptions: Annotated[
        int, typer.Option("--subscriptions", "-s", metavar="N", min=10, help="Number of filters.")
    ] = 200_000,
    events: Annotated[int, typer.Option(metavar="N", min=10, help="Number of events.")] = 1_000_000,
    theta_subscriptions: Annotated[
        int, typer.Option(metavar="N", min=1, help="Filters for the theta join.")
    ] = 1_000,
    theta_events: Annotated[
        int, typer.Option(metavar="N", min=1, help="Events for the theta join.")
    ] = 2_000,
    cores: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Cores for Spark.", show_default="all"),
    ] = None,
    repeats: _Repeats = 3,
    seed: _Seed = 1,
    as_json: AsJson = False,
) -> None:
    """Compare Boolcast on Spark with what a Spark user would write instead.

    Each part starts its own Spark on this machine, confined to its cores. Events are drawn once,
    into Parquet files that all contenders read. Contenders take turns, and all must find the same
    number of matches for each subscription. Times are wall-clock time; if others use the machine,
    look at the processor time in the next column. With the defaults, everything takes half an
    hour.

    \b
    Parts:
      class-1  a title and a few conditions: compared with a broadcast join on the title
      auction  three classes of filters mixed: compared with joins split by hand, with writing
               the matches to files, and with the engine in a single process
      diverse  filters of 1,500 shapes: compared with one theta join on a sample of filters and
               events, assuming that its time grows with the filters
      cores    auction, on one core and on all
      stream   auction, matches written by a stream: compared with all at once, and while the
               index changes

    \b
    Examples:
      boolcast bench spark
      boolcast bench spark --part class-1,auction --events 5000000
      boolcast bench spark --subscriptions 20000 --events 100000 --repeats 1
      boolcast bench spark --json

    \b
    Exit codes:
      0  measured
      2  Spark or Java is missing, or the usage is wrong
    """  # noqa: D301 - \b keeps the lines of a paragraph apart
    parts = _chosen(SparkPart, part or ["all"], "--part")
    with needing_spark():
        from boolcast.lab.benchmarks.spark import report  # noqa: PLC0415 - rich, numba and Spark
        from boolcast.lab.benchmarks.spark.run import (  # noqa: PLC0415 - see above
            SparkChoice,
            processors,
            run,
        )

    present = len(processors())
    if cores is not None and cores > present:
        raise UsageError(f"--cores {cores} is more than the {present} of this machine")
    choice = SparkChoice(
        parts=parts,
        subscriptions=subscriptions,
        events=events,
        theta_subscriptions=theta_subscriptions,
        theta_events=theta_events,
        cores=cores or present,
        repeats=repeats,
        seed=seed,
    )
    report.show(partial(run, choice), choice.steps, as_json=as_json)


def _chosen(names: type[Name], given: Sequence[str], option: str) -> list[Name]:
    """The names that an option gives, each once, in their usual order."""
    wanted = {part.strip() for text in given for part in text.split(",")}
    unknown = wanted - {*names, "all"}
    if unknown:
        known = ", ".join(names)
        raise UsageError(f"{option} knows {known} and all, not {', '.join(sorted(unknown))}")
    return [name for name in names if name in wanted or "all" in wanted]
