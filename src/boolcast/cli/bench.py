"""`boolcast bench`: how fast it is, measured here and now."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, TypeVar

import typer

from boolcast.cli.exit_codes import ExitCode
from boolcast.cli.options import AsJson
from boolcast.errors import UsageError
from boolcast.experiments.choices import EngineName, RivalName, WorkloadName

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

    from boolcast.cli import bench_report  # noqa: PLC0415 - rich, numba and pyarrow
    from boolcast.experiments.match_benchmark import Choice  # noqa: PLC0415 - see above

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
    is_complete = bench_report.show(choice, as_json=as_json)
    raise typer.Exit(ExitCode.FINE if is_complete else ExitCode.RESERVATIONS)


def _chosen(names: type[Name], given: Sequence[str], option: str) -> list[Name]:
    """The names that an option gives, in their usual order and once each."""
    wanted = {part.strip() for text in given for part in text.split(",")}
    unknown = wanted - {*names, "all"}
    if unknown:
        known = ", ".join(names)
        raise UsageError(f"{option} knows {known} and all, not {', '.join(sorted(unknown))}")
    return [name for name in names if name in wanted or "all" in wanted]
