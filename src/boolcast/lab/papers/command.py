"""`boolcast reproduce`: the papers' experiments, run again."""

from typing import Annotated

import typer

from boolcast.cli.input.options import AsJson
from boolcast.cli.output.extras import needing_spark

reproduce = typer.Typer(
    name="reproduce", no_args_is_help=True, rich_markup_mode=None, pretty_exceptions_enable=False
)


_Seed = Annotated[int, typer.Option(metavar="N", min=0, help="Draws the workload.")]
_Output = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FOLDER",
        help="Write figures and plots; runs that are there already are not run again.",
    ),
]
_Cores = Annotated[
    int | None, typer.Option(metavar="N", min=1, help="How many runs at a time; all cores.")
]


@reproduce.callback()
def experiments() -> None:
    """Run the papers' experiments again, beside their figures.

    \b
    Examples:
      boolcast reproduce unsubscription --scale 0.0625
      boolcast reproduce unsubscription --output unsubscription
      boolcast reproduce pruning --scale 0.1 --output pruning
      boolcast reproduce advertisements --scale 0.1
      boolcast reproduce mbd --scale 0.1

    \b
    Exit codes:
      0  all checks hold
      1  some do not
      2  the usage is wrong, or a file cannot be written
    """  # noqa: D301 - \b keeps the lines of a paragraph apart


@reproduce.command()
def unsubscription(
    part: Annotated[
        str,
        typer.Option(
            "--part",
            metavar="LIST",
            help="Some of x2 (benefit of covering), x3 (main comparison), x4 (number of removals), "
            "x5 (covering degree), x6 (threshold), x9 (clusters), or all.",
        ),
    ] = "all",
    scale: Annotated[
        float,
        typer.Option(
            metavar="SHARE",
            min=0.001,
            max=1.0,
            help="Of the paper's 80,000 subscriptions; all but x3 never have more than a sixth.",
        ),
    ] = 1.0,
    seed: _Seed = 1,
    output: _Output = None,
    cores: _Cores = None,
    as_json: AsJson = False,
) -> None:
    """Remove subscriptions under four policies (P4), in virtual time.

    49 brokers, and subscriptions to groups that cover many smaller ones each. Some of the large
    ones go: with active covering all that they covered must be told, and events wait. The checks
    are those of docs/experiments/unsubscription.md, from 5,000 subscriptions on (--scale 0.0625).

    \b
      FOLDER/figures.json      all that was measured, and the checks
      FOLDER/brokers.parquet   brokers A to E of each run
      FOLDER/curves.parquet    delay and queue over virtual time
      FOLDER/x3.svg ...        plots, if matplotlib is there: pip install 'boolcast[report]'

    The four runs of x3 take five to seven minutes of processor time and over 1 GB each.
    """  # noqa: D301 - \b keeps the lines of a paragraph apart
    from boolcast.lab.papers.output import show  # noqa: PLC0415 - as above
    from boolcast.lab.papers.unsubscription import report  # noqa: PLC0415 - numba and rich

    show(
        report.REPRODUCTION,
        part,
        scale=scale,
        seed=seed,
        output=output,
        cores=cores,
        as_json=as_json,
    )


@reproduce.command()
def advertisements(
    part: Annotated[
        str,
        typer.Option(
            "--part",
            metavar="LIST",
            help="Some of overlap (subscriptions against advertisements), pruning (advertisements, "
            "class by class), combined (after subscriptions), or all.",
        ),
    ] = "all",
    scale: Annotated[
        float,
        typer.Option(
            metavar="SHARE", min=0.002, max=1.0, help="Of the paper's 300,000 advertisements."
        ),
    ] = 1.0,
    seed: _Seed = 1,
    output: _Output = None,
    cores: _Cores = None,
    as_json: AsJson = False,
) -> None:
    """Ask what overlaps with Boolean advertisements, and prune them (P3).

    The book auction. Subscriptions are asked against up to 300,000 advertisements, as they are
    and as conjunctions. Then 50,000 advertisements are pruned against 100,000 subscriptions,
    class by class and together, and together after 0 to 100 % of the subscriptions' prunings.
    A local Spark spreads the runs over the cores. The checks are those of
    docs/experiments/advertisements.md.

    \b
      FOLDER/figures.json       all that was measured, and the checks
      FOLDER/overlaps.parquet   times and work of each class, scenario and form
      FOLDER/prunings.parquet   the curves of pruning
      FOLDER/advertisements-overlap.svg ...   plots: pip install 'boolcast[report]'
    """  # noqa: D301 - \b keeps the lines of a paragraph apart
    with needing_spark():
        from boolcast.lab.papers.advertisements import report  # noqa: PLC0415 - Spark, numba and rich
    from boolcast.lab.papers.output import show  # noqa: PLC0415 - as above

    show(
        report.REPRODUCTION,
        part,
        scale=scale,
        seed=seed,
        output=output,
        cores=cores,
        as_json=as_json,
    )


@reproduce.command()
def pruning(
    part: Annotated[
        str,
        typer.Option("--part", metavar="LIST", help="x5 (one broker), x3 (five), or all."),
    ] = "all",
    scale: Annotated[
        float,
        typer.Option(
            metavar="SHARE",
            min=0.0003,
            max=1.0,
            help="Of the paper's 200,000 subscriptions; x3 never has more than a tenth.",
        ),
    ] = 1.0,
    seed: _Seed = 1,
    output: _Output = None,
    cores: _Cores = None,
    as_json: AsJson = False,
) -> None:
    """Prune subscriptions step by step to exhaustion (P1), spread by Spark.

    A book auction with three classes of subscriptions and their mix. At each step: how much of
    the table is gone, how many more events match for it, and what matching takes. The checks are
    those of docs/experiments/pruning.md, from 20,000 subscriptions on (--scale 0.1).

    \b
      FOLDER/figures.json         all that was measured, and the checks
      FOLDER/x5.parquet           one broker, step by step
      FOLDER/x3.parquet           five brokers, step by step
      FOLDER/pruning-x5.svg ...   plots, if matplotlib is there: pip install 'boolcast[report]'

    Needs pip install 'boolcast[spark]'.
    """  # noqa: D301 - \b keeps the lines of a paragraph apart
    with needing_spark():
        from boolcast.lab.papers.pruning import report  # noqa: PLC0415 - Spark, numba and rich
    from boolcast.lab.papers.output import show  # noqa: PLC0415 - as above

    show(
        report.REPRODUCTION,
        part,
        scale=scale,
        seed=seed,
        output=output,
        cores=cores,
        as_json=as_json,
    )


@reproduce.command()
def mbd(
    part: Annotated[
        str,
        typer.Option("--part", metavar="LIST", help="tables, orders, insertion, imt, or all."),
    ] = "all",
    scale: Annotated[
        float,
        typer.Option(
            metavar="SHARE", min=0.001, max=1.0, help="Of the paper's 200,000 subscriptions."
        ),
    ] = 1.0,
    seed: _Seed = 1,
    output: _Output = None,
    cores: _Cores = None,
    as_json: AsJson = False,
) -> None:
    """Cover and merge subscriptions in decision diagrams (P2), spread by Spark.

    Two sets of conjunctions that share their predicates. What covering, perfect and imperfect
    merging leave of a table, what routing with it takes against a scan, what the order of
    attributes and the cache of dependencies do, and how imperfect mergers may be. The checks are
    those of docs/experiments/mbd.md, from 20,000 subscriptions on (--scale 0.1).

    \b
      FOLDER/figures.json        all that was measured, and the checks
      FOLDER/tables.parquet      what each method leaves, and routing with it
      FOLDER/insertion.parquet   what insertions took, step by step
      FOLDER/imt.parquet         tables by threshold
      FOLDER/mbd-tables.svg ...  plots, if matplotlib is there: pip install 'boolcast[report]'

    Needs pip install 'boolcast[spark]'.
    """  # noqa: D301 - \b keeps the lines of a paragraph apart
    with needing_spark():
        from boolcast.lab.papers.diagrams import report  # noqa: PLC0415 - Spark, numba and rich
    from boolcast.lab.papers.output import show  # noqa: PLC0415 - as above

    show(
        report.REPRODUCTION,
        part,
        scale=scale,
        seed=seed,
        output=output,
        cores=cores,
        as_json=as_json,
    )
