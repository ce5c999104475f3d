"""`boolcast reproduce`: run the papers' experiments again."""

from collections.abc import Callable
from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple

import typer

from boolcast.cli.input.options import AsJson
from boolcast.cli.output.extras import needing_spark

if TYPE_CHECKING:
    from boolcast.lab.papers.reproduction import Reproduction

reproduce = typer.Typer(
    name="reproduce", no_args_is_help=True, rich_markup_mode=None, pretty_exceptions_enable=False
)

_Seed = Annotated[int, typer.Option(metavar="N", min=0, help="Seed of the workload.")]
_Output = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FOLDER",
        help="Write figures and plots here; finished runs in it are not run again.",
    ),
]
_Cores = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="Runs at a time.", show_default="all cores"),
]


class _Paper(NamedTuple):
    """A command: the import of its paper, the help of its options, and its help."""

    command: str
    load: "Callable[[], Reproduction[Any, Any, Any]]"
    parts: str
    scale: str
    least_scale: float
    needs_spark: bool
    help: str


# Each paper is imported only when its command runs: Spark, numba and rich take seconds.
def _unsubscription() -> "Reproduction[Any, Any, Any]":
    from boolcast.lab.papers.unsubscription import report  # noqa: PLC0415 - see above

    return report.REPRODUCTION


def _advertisements() -> "Reproduction[Any, Any, Any]":
    from boolcast.lab.papers.advertisements import report  # noqa: PLC0415 - see above

    return report.REPRODUCTION


def _pruning() -> "Reproduction[Any, Any, Any]":
    from boolcast.lab.papers.pruning import report  # noqa: PLC0415 - see above

    return report.REPRODUCTION


def _diagrams() -> "Reproduction[Any, Any, Any]":
    from boolcast.lab.papers.diagrams import report  # noqa: PLC0415 - see above

    return report.REPRODUCTION


_PAPERS: Final = (
    _Paper(
        command="unsubscription",
        load=_unsubscription,
        parts="Some of x2 (benefit of covering), x3 (main comparison), x4 (number of removals), "
        "x5 (covering degree), x6 (threshold), x9 (clusters), or all.",
        scale="Share of the paper's 80,000 subscriptions; all but x3 use at most a sixth.",
        least_scale=0.001,
        needs_spark=False,
        help="""Remove subscriptions under four policies (P4), in virtual time.

        49 brokers hold subscriptions to groups, each of which covers many smaller ones. Some of
        the large ones are removed. With active covering, brokers must then send all that the
        large ones covered, and events wait. docs/experiments/unsubscription.md lists the checks;
        they need 5,000 subscriptions or more (--scale 0.0625).

        \b
          FOLDER/figures.json            all figures and checks
          FOLDER/brokers.parquet         brokers A to E of each run
          FOLDER/curves.parquet          delay and queue over virtual time
          FOLDER/unsubscription-x3.svg   and other plots: pip install 'boolcast[report]'

        The four runs of x3 take five to seven minutes of processor time and over 1 GB each.
        """,
    ),
    _Paper(
        command="advertisements",
        load=_advertisements,
        parts="Some of overlap (subscriptions against advertisements), pruning (advertisements, "
        "class by class), combined (after subscriptions), or all.",
        scale="Share of the paper's 300,000 advertisements.",
        least_scale=0.002,
        needs_spark=True,
        help="""Find overlaps with Boolean advertisements, and prune them (P3).

        In the book auction, subscriptions are looked up among up to 300,000 advertisements, as
        they are and as conjunctions. Then 50,000 advertisements are pruned against 100,000
        subscriptions, class by class and together, and together after 0 to 100 % of the
        subscriptions' prunings. A local Spark spreads the runs over the cores.
        docs/experiments/advertisements.md lists the checks.

        \b
          FOLDER/figures.json                 all figures and checks
          FOLDER/overlaps.parquet             times and work by class, scenario and form
          FOLDER/prunings.parquet             the curves of pruning
          FOLDER/advertisements-overlap.svg   and other plots: pip install 'boolcast[report]'

        Needs pip install 'boolcast[spark]'.
        """,
    ),
    _Paper(
        command="pruning",
        load=_pruning,
        parts="x5 (one broker), x3 (five), or all.",
        scale="Share of the paper's 200,000 subscriptions; x3 uses at most a tenth.",
        least_scale=0.0003,
        needs_spark=True,
        help="""Prune subscriptions step by step to exhaustion (P1), spread by Spark.

        A book auction with three classes of subscriptions and their mix. Each step shows how
        much of the table is gone, how many more events match because of it, and how long
        matching takes. docs/experiments/pruning.md lists the checks; they need 20,000
        subscriptions or more (--scale 0.1).

        \b
          FOLDER/figures.json     all figures and checks
          FOLDER/x5.parquet       one broker, step by step
          FOLDER/x3.parquet       five brokers, step by step
          FOLDER/pruning-x5.svg   and other plots: pip install 'boolcast[report]'

        Needs pip install 'boolcast[spark]'.
        """,
    ),
    _Paper(
        command="mbd",
        load=_diagrams,
        parts="tables, orders, insertion, imt, or all.",
        scale="Share of the paper's 200,000 subscriptions.",
        least_scale=0.001,
        needs_spark=True,
        help="""Cover and merge subscriptions in decision diagrams (P2), spread by Spark.

        Two sets of conjunctions that share their predicates. Shows what covering, perfect and
        imperfect merging leave of a table, how routing with it compares with a scan, what the
        order of attributes and the cache of dependencies contribute, and how imperfect mergers
        may be. docs/experiments/mbd.md lists the checks; they need 20,000 subscriptions or
        more (--scale 0.1).

        \b
          FOLDER/figures.json          all figures and checks
          FOLDER/tables.parquet        the table that each method leaves, and routing with it
          FOLDER/insertion.parquet     the cost of insertions, step by step
          FOLDER/imt.parquet           tables by threshold
          FOLDER/diagrams-tables.svg   and other plots: pip install 'boolcast[report]'

        Needs pip install 'boolcast[spark]'.
        """,
    ),
)


@reproduce.callback()
def experiments() -> None:
    """Run the papers' experiments again.

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


def _add(paper: _Paper) -> None:
    def command(
        part: Annotated[str, typer.Option("--part", metavar="LIST", help=paper.parts)] = "all",
        scale: Annotated[
            float,
            typer.Option(metavar="SHARE", min=paper.least_scale, max=1.0, help=paper.scale),
        ] = 1.0,
        seed: _Seed = 1,
        output: _Output = None,
        cores: _Cores = None,
        as_json: AsJson = False,
    ) -> None:
        with needing_spark() if paper.needs_spark else nullcontext():
            reproduction = paper.load()
        from boolcast.lab.papers.reproduction import show  # noqa: PLC0415 - rich and pyarrow

        show(
            reproduction,
            part,
            scale=scale,
            seed=seed,
            output=output,
            cores=cores,
            as_json=as_json,
        )

    reproduce.command(paper.command, help=paper.help)(command)


for each in _PAPERS:
    _add(each)
