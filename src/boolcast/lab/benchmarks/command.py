"""`boolcast bench`: how fast it is, measured here and now."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, TypeVar

import typer

from boolcast.cli.input.options import AsJson
from boolcast.cli.output.endings import ExitCode
from boolcast.cli.output.extras import needing_spark
from boolcast.errors import UsageError
from boolcast.lab.benchmarks.choices import EngineName, RivalName, SparkPart, WorkloadName

bench = typer.Typer(
    name="bench", no_args_is_help=True, rich_markup_mode=None, pretty_exceptions_enable=False
)

Name = TypeVar("Name", bound=StrEnum)


@bench.callback()
def benchmarks() -> None:
    """Measure how fast it is, here and now.

    \b
    Examples:
      boolcast bench match
      boolcast bench match --help
      boolcast bench spark

    \b
    Exit codes:
      0  measured
      1  measured, but for what is not installed
      2  the usage is wrong
    """  # noqa: D301 - \b keeps the lines of a paragraph apart


@bench.command()
def match(  # noqa: PLR0913, PLR0917 - an option each
    workload: Annotated[
        list[str] | None,
        typer.Option(
            "--workload",
            "-w",
            metavar="NAME",
            help=f"{', '.join(WorkloadName)}, or all.",
            show_default="auction",
        ),
    ] = None,
    subscriptions: Annotated[
        list[int] | None,
        typer.Option(
            "--subscriptions",
            "-s",
            metavar="N",
            min=1,
            help="How many; may be repeated.",
            show_default="200000",
        ),
    ] = None,
    engines: Annotated[
        list[str] | None,
        typer.Option(
            "--engines",
            "-e",
            metavar="NAME",
            help=f"{', '.join(EngineName)}, or all.",
            show_default="access,counting",
        ),
    ] = None,
    single: Annotated[
        bool,
        typer.Option("--single", help="Calls with one event as a dict, on class 1 of fixed."),
    ] = False,
    against: Annotated[
        list[str] | None,
        typer.Option(
            "--against", metavar="NAME", help=f"On class 1: {', '.join(RivalName)}, or all."
        ),
    ] = None,
    events: Annotated[int, typer.Option(metavar="N", min=2, help="How many events.")] = 20_000,
    repeats: Annotated[
        int, typer.Option(metavar="N", min=1, help="Of so many runs the median is taken.")
    ] = 5,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Other events for each.")] = 1,
    as_json: AsJson = False,
) -> None:
    """Measure the match engines, on one core.

    Times are of the processor, so that whatever else runs on the machine counts little. Events
    go in as Arrow, in batches of 10,000, and matches come out as Arrow. Slower engines
    get fewer events: counting a twentieth, scan the odd one. All engines must find the same
    matches. Where sizes are several, the growth of the time for each candidate and match is
    shown. Several names may be given with commas, or by repeating the option.

    \b
    Workloads:
      auction         three classes of filters on books; a title for each subscription
      auction-zipf    the same with titles by Zipf's law
      auction-random  that with random bounds on another attribute
      fixed           auction with the same few prices in all filters
      diverse         1,500 shapes of 2 to 20 predicates over 30 attributes
      unselective     what no index helps: wide ranges, negations, parts of strings

    --single and --against measure with auctions of class 1 only, a title and a few conditions,
    and then nothing else unless --workload is given. What --against names comes with
    pip install 'boolcast[rivals]'.

    \b
    Examples:
      boolcast bench match
      boolcast bench match --workload all --subscriptions 200000 --subscriptions 1000000
      boolcast bench match --workload unselective --engines access,scan
      boolcast bench match --single --against duckdb,polars --json

    \b
    Exit codes:
      0  measured
      1  measured, but for what is not installed
      2  the usage is wrong
    """  # noqa: D301 - \b keeps the lines of a paragraph apart
    rivals = _chosen(RivalName, against or [], "--against")
    only_class_1 = workload is None and (single or bool(rivals))
    default = [] if only_class_1 else [WorkloadName.AUCTION]
    workloads = _chosen(WorkloadName, workload or default, "--workload")
    chosen = _chosen(EngineName, engines or ["access", "counting"], "--engines")

    from boolcast.lab.benchmarks.match import report  # noqa: PLC0415 - rich, numba and pyarrow
    from boolcast.lab.benchmarks.match.run import Choice  # noqa: PLC0415 - see above

    choice = Choice(
        workloads=workloads,
        sizes=subscriptions or [200_000],
        engines=chosen,
        single=single,
        against=rivals,
        events=events,
        repeats=repeats,
        seed=seed,
    )
    is_complete = report.show(choice, as_json=as_json)
    raise typer.Exit(ExitCode.FINE if is_complete else ExitCode.RESERVATIONS)


@bench.command()
def spark(  # noqa: PLR0913, PLR0917 - an option each
    part: Annotated[
        list[str] | None,
        typer.Option(
            "--part",
            "-p",
            metavar="NAME",
            help=f"{', '.join(SparkPart)}, or all.",
            show_default="all",
        ),
    ] = None,
    subscriptions: Annotated[
        int, typer.Option("--subscriptions", "-s", metavar="N", min=10, help="How many.")
    ] = 200_000,
    events: Annotated[int, typer.Option(metavar="N", min=10, help="How many.")] = 1_000_000,
    theta_subscriptions: Annotated[
        int, typer.Option(metavar="N", min=1, help="How many of them the theta join gets.")
    ] = 1_000,
    theta_events: Annotated[
        int, typer.Option(metavar="N", min=1, help="How many events the theta join gets.")
    ] = 2_000,
    cores: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="How many Spark gets.", show_default="all"),
    ] = None,
    repeats: Annotated[
        int, typer.Option(metavar="N", min=1, help="Of so many runs the median is taken.")
    ] = 3,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Other events for each.")] = 1,
    as_json: AsJson = False,
) -> None:
    """Measure Boolcast on Spark against what a Spark user would write instead.

    Each part has a Spark of its own on this machine, confined to its cores. Events are drawn
    once, into Parquet files that all contenders read. They take turns, and all must find the
    same number of matches for each subscription. Times are by the clock; on a machine that
    others use, look at the processor time beside them. All of it takes half an hour with the
    numbers that are preset.

    \b
    Parts:
      class-1  a title and a few conditions each: against a broadcast join on the title
      auction  three classes of filters mixed: against joins split by hand; what it costs to
               write the matches out; what the engine does in a single process
      diverse  filters of 1,500 shapes: against one theta join, on a sample of the filters
               and events, as if its time grew with the filters
      cores    auction, on one core and on all
      stream   auction, matches written by a stream: against all at once, and while the
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
        from boolcast.lab.benchmarks.spark.benchmark import (  # noqa: PLC0415 - see above
            SparkChoice,
            processors,
        )

    present = len(processors())
    if cores is not None and cores > present:
        raise UsageError(f"--cores {cores} is more than the {present} that there are")
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
    report.show(choice, as_json=as_json)


def _chosen(names: type[Name], given: Sequence[str], option: str) -> list[Name]:
    """The names that an option gives, in their usual order and once each."""
    wanted = {part.strip() for text in given for part in text.split(",")}
    unknown = wanted - {*names, "all"}
    if unknown:
        known = ", ".join(names)
        raise UsageError(f"{option} knows {known} and all, not {', '.join(sorted(unknown))}")
    return [name for name in names if name in wanted or "all" in wanted]
