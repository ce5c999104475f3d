"""`boolcast demo`: a small tour, and `boolcast demo spark`: the pipeline at work."""

from typing import Annotated

import typer

from boolcast.cli.input.options import AsJson
from boolcast.cli.output.extras import needing_spark

demo = typer.Typer(
    name="demo", invoke_without_command=True, rich_markup_mode=None, pretty_exceptions_enable=False
)

Seed = Annotated[int, typer.Option(min=0, metavar="N", help="Another auction for each.")]


@demo.callback()
def take_tour(
    context: typer.Context,
    events: Annotated[
        int, typer.Option(min=1, metavar="N", help="How many events to match.")
    ] = 3_000,
    subscriptions: Annotated[
        int, typer.Option(min=1, metavar="N", help="How many subscriptions to match.")
    ] = 200,
    engines: Annotated[
        int,
        typer.Option(
            min=0, metavar="N", help="How many subscriptions for the engines; 0 leaves them out."
        ),
    ] = 200_000,
    seed: Seed = 1,
    as_json: Annotated[
        bool, typer.Option("--json", help="Write only the figures, as JSON.")
    ] = False,
) -> None:
    """Take a small tour, in under a minute, or see a stream on Spark.

    The stops: read filters, explain, prove, simplify, match, and the match engines side by
    side. Events and subscriptions are those of a book auction, as in the literature on
    content-based publish/subscribe, drawn from the seed. All figures are measured in the run;
    most of the time goes into loading the engines that are slow to load.

    \b
    Examples:
      boolcast demo
      boolcast demo --engines 0
      boolcast demo --events 10000 --subscriptions 100
      boolcast demo --json
      boolcast demo spark

    \b
    Exit codes:
      0  the tour is over
      2  the usage is wrong
    """  # noqa: D301 - \b keeps the lines of a paragraph apart
    if context.invoked_subcommand is not None:
        return
    from boolcast.lab.demo import tour  # noqa: PLC0415 - rich, numpy and pyarrow are for this one only

    if as_json:
        tour.write_figures(events, subscriptions, seed, engines)
    else:
        tour.show(events, subscriptions, seed, engines)


@demo.command()
def spark(
    subscriptions: Annotated[
        int, typer.Option(min=100, metavar="N", help="How many subscriptions to index.")
    ] = 200_000,
    events: Annotated[
        int, typer.Option(min=100, metavar="N", help="How many events to stream.")
    ] = 300_000,
    output: Annotated[
        str,
        typer.Option("--output", "-o", metavar="FOLDER", help="What is there is replaced."),
    ] = "boolcast-demo",
    seed: Seed = 1,
    as_json: AsJson = False,
) -> None:
    """Match a stream on Spark while its subscriptions change.

    It takes one to two minutes. Spark runs inside the command, on all cores, with the Java of
    this machine or, where there is none, the one that pip installs. Subscriptions of a book
    auction become an index; events are put into a folder a file at a time, and a stream matches
    them. Meanwhile subscriptions come, go and change: each change is a new version of the
    index, which the next batch takes up. Some filters and events are malformed, and end with
    their reasons among the rejects and the dead letters.

    The folder then holds the events, the index, the matches, summary.json and summary.png;
    for the last one pip install 'boolcast[report]'. Ctrl-C stops.

    \b
    Examples:
      boolcast demo spark
      boolcast demo spark --events 1000000 --output somewhere
      boolcast demo spark --json | jq .events_per_second

    \b
    Exit codes:
      0    all is matched
      2    Spark or Java is missing, or the usage is wrong
      130  stopped by Ctrl-C
    """  # noqa: D301 - \b keeps the lines of a paragraph apart
    with needing_spark():
        from boolcast.lab.demo import stream_report  # noqa: PLC0415 - rich, numba and Spark
        from boolcast.lab.demo.stream import Choice  # noqa: PLC0415 - see above

    choice = Choice(subscriptions=subscriptions, events=events, folder=output, seed=seed)
    stream_report.show(choice, as_json=as_json)
