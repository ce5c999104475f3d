"""`boolcast demo`: a small tour."""

from typing import Annotated

import typer

from boolcast.cli.output import write_json


def demo(
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
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="Another auction for each.")] = 1,
    as_json: Annotated[
        bool, typer.Option("--json", help="Write only the figures, as JSON.")
    ] = False,
) -> None:
    """Take a small tour, in under a minute.

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

    \b
    Exit codes:
      0  the tour is over
      2  the usage is wrong
    """  # noqa: D301 - \b keeps the lines of a paragraph apart
    from boolcast.cli import tour  # noqa: PLC0415 - rich, numpy and pyarrow are for this one only

    if as_json:
        write_json(tour.run_auction(events, subscriptions, seed).figures)
    else:
        tour.show(events, subscriptions, seed, engines)
