"""`boolcast demo`: a small tour, and `boolcast demo spark`: the pipeline at work."""

from typing import Annotated

import typer

from boolcast.cli.input.options import AsJson
from boolcast.cli.output.extras import needing_spark

demo = typer.Typer(
    name="demo", invoke_without_command=True, rich_markup_mode=None, pretty_exceptions_enable=False
)

Seed = Annotated[int, typer.Option(min=0, metavar="N", help="Seed of the random auction.")]


@demo.callback()
def take_tour(
    context: typer.Context,
    subscriptions: Annotated[
        int, typer.Option(min=1, metavar="N", help="Subscriptions to load into each engine.")
    ] = 200_000,
    seed: Seed = 1,
    as_json: Annotated[
        bool, typer.Option("--json", help="Write only the engines' figures, as JSON.")
    ] = False,
) -> None:
    """Compare the engines and see what filters can do.

    The engines match events of a book auction against 200,000 filters, measured on this
    machine. That takes half a minute, mostly to load the two slower engines. Then come an
    explanation, an error message, proofs and a simplification. `boolcast demo spark` shows
    a stream.

    \b
    Examples:
      boolcast demo
      boolcast demo --subscriptions 20000
      boolcast demo --json
      boolcast demo spark

    \b
    Exit codes:
      0  done
      2  the usage is wrong
    """  # noqa: D301 - \b keeps the lines of a paragraph apart
    if context.invoked_subcommand is not None:
        return
    from boolcast.lab.demo import tour  # noqa: PLC0415 - rich, numpy and pyarrow are for this one only

    if as_json:
        tour.write_figures(subscriptions, seed)
    else:
        tour.show(subscriptions, seed)


@demo.command()
def spark(
    subscriptions: Annotated[
        int, typer.Option(min=100, metavar="N", help="Subscriptions to index.")
    ] = 200_000,
    events: Annotated[int, typer.Option(min=100, metavar="N", help="Events to stream.")] = 300_000,
    output: Annotated[
        str,
        typer.Option(
            "--output", "-o", metavar="FOLDER", help="Folder to write; an older demo is replaced."
        ),
    ] = "boolcast-demo",
    seed: Seed = 1,
    as_json: AsJson = False,
) -> None:
    """Match a stream on Spark while its subscriptions change.

    Spark runs inside the command, on all cores. It indexes the subscriptions of a book
    auction and matches a stream of events. Meanwhile subscriptions are added, changed and
    deleted four times; each change publishes a new version of the index, and the next batch
    uses it. Malformed filters and events end in tables of rejects and dead letters, with the
    reason. All of it takes about a minute on two cores.

    FOLDER then holds the events, the index, the matches, summary.json and summary.png. The
    picture needs pip install 'boolcast[report]'.

    \b
    Examples:
      boolcast demo spark
      boolcast demo spark --events 1000000 --output somewhere
      boolcast demo spark --json | jq .events_per_second

    \b
    Exit codes:
      0  all events are matched
      2  Spark or Java is missing, or the usage is wrong
    """  # noqa: D301 - \b keeps the lines of a paragraph apart
    with needing_spark():
        from boolcast.lab.demo import stream_report  # noqa: PLC0415 - rich, numba and Spark
        from boolcast.lab.demo.stream import Choice  # noqa: PLC0415 - see above

    choice = Choice(subscriptions=subscriptions, events=events, folder=output, seed=seed)
    stream_report.show(choice, as_json=as_json)
