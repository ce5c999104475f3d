"""`boolcast backtest`: match subscriptions against history."""

from typing import Annotated

import typer

from boolcast.cli.input.options import AsJson, SchemaPath, read_schema
from boolcast.cli.output.endings import ExitCode
from boolcast.cli.output.extras import check_matplotlib, needing_spark


def backtest(  # noqa: PLR0913, PLR0917 - an option each
    subscriptions: Annotated[
        str,
        typer.Option(
            "--subscriptions",
            "-s",
            metavar="PATH",
            show_default=False,
            help="Subscriptions, as Parquet or JSON lines.",
        ),
    ],
    events: Annotated[
        str,
        typer.Option(
            "--events",
            "-e",
            metavar="PATH",
            show_default=False,
            help="Events, as Parquet or JSON lines.",
        ),
    ],
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FOLDER", help="Folder for the whole result."),
    ] = None,
    plot: Annotated[
        str | None, typer.Option("--plot", metavar="FILE", help="Picture to draw, such as a PNG.")
    ] = None,
    top: Annotated[int, typer.Option(metavar="N", min=1, help="Rows in each list.")] = 10,
    schema: SchemaPath = None,
    master: Annotated[
        str | None,
        typer.Option(
            metavar="URL", help="Spark cluster; without it Spark runs here, on all cores."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show what subscriptions would have matched in the past.

    Runs on Spark (pip install 'boolcast[spark]'), so history may be larger than memory. A path
    is a file or a folder of files. Parquet events have a column per attribute; subscriptions
    have the columns subscription and filter. JSON lines are as for `boolcast match`.

    The tables list the subscriptions with most matches, those that never or always match, and
    the most expensive ones, which the largest share of events must be checked against (an
    estimate). --output writes everything as Parquet:

    \b
      FOLDER/subscriptions   subscription, filter, matches, share, reach
      FOLDER/statistics      distributions of the events' values
      FOLDER/index           the index, ready to match with

    Malformed subscriptions and events are counted and left out. --plot needs
    pip install 'boolcast[report]'.

    \b
    Examples:
      boolcast backtest --subscriptions alerts.jsonl --events history.parquet
      boolcast backtest -s alerts.parquet -e january/ --output report --plot report.png
      boolcast backtest -s alerts.jsonl -e books.jsonl --json | jq .never

    \b
    Exit codes:
      0  everything was read
      1  subscriptions or events were left out
      2  a file cannot be read, Spark is missing, or the usage is wrong
    """  # noqa: D301 - \b keeps the lines of a paragraph apart
    known = read_schema(schema)
    if plot is not None:
        check_matplotlib()
    with needing_spark():
        from boolcast.cli import backtest_report  # noqa: PLC0415 - Spark, numba and rich

    choice = backtest_report.Choice(
        subscriptions=subscriptions,
        events=events,
        output=output,
        plot=plot,
        top=top,
        schema=known,
        master=master,
    )
    is_complete = backtest_report.show(choice, as_json=as_json)
    raise typer.Exit(ExitCode.FINE if is_complete else ExitCode.RESERVATIONS)
