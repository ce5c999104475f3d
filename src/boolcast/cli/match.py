"""`boolcast match`: find the subscriptions that accept each event."""

from time import monotonic
from typing import TYPE_CHECKING, Annotated, Final

import typer

from boolcast.cli.input.options import SchemaPath, Strict, read_schema
from boolcast.cli.input.sources import Source, refuse_two_readers
from boolcast.cli.output.endings import ExitCode
from boolcast.cli.output.error_messages import ErrorReport, text_at
from boolcast.cli.output.writing import counted, write_error, write_json
from boolcast.errors import InputError

if TYPE_CHECKING:
    from boolcast.cli.match_run import MatchSummary

_SHOWN_WARNINGS: Final = 10


def match(
    subscriptions: Annotated[
        str,
        typer.Option(
            "--subscriptions",
            "-s",
            metavar="FILE",
            show_default=False,
            help="Subscriptions, as JSON lines.",
        ),
    ],
    events: Annotated[
        str,
        typer.Option(
            "--events",
            "-e",
            metavar="FILE",
            show_default=False,
            help="Events, as JSON lines.",
        ),
    ],
    event_id: Annotated[
        str | None,
        typer.Option(
            "--event-id",
            metavar="ATTRIBUTE",
            help="Attribute to name events by, instead of the line number.",
        ),
    ] = None,
    schema: SchemaPath = None,
    strict: Strict = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Write no summary and no warnings.")
    ] = False,
    as_json: Annotated[
        bool,
        typer.Option("--json", help="Write errors and the summary as JSON, too."),
    ] = False,
) -> None:
    """Find the subscriptions that accept each event.

    Both files are JSON lines, gzip works, and one of them may be `-` for standard input:

    \b
      {"subscription": "alert-1", "filter": "item.price < 25"}    a subscription
      {"title": "Dune", "item": {"price": 21}}                    an event

    Each match is one line on standard output, in the order of the events, then of the
    subscriptions:

    \b
      {"event": 1, "subscription": "alert-1"}

    `event` is the line number, or the attribute that --event-id names. Events from a pipe are
    matched as they arrive, so a stream may go on forever; Ctrl-C ends it with the summary.

    Bad lines are reported on standard error as FILE:LINE: reason, and left out. So is a
    subscription whose id an earlier line has with another filter. At the end come warnings
    about attributes that no event had, probably misspelled, and a summary.

    \b
    Examples:
      boolcast match --subscriptions alerts.jsonl --events books.jsonl
      boolcast match -s alerts.jsonl -e books.jsonl --event-id isbn | jq -r .subscription
      tail -f books.jsonl | boolcast match -s alerts.jsonl -e -

    \b
    Exit codes:
      0  all lines were read, with or without matches
      1  bad lines were left out
      2  a file cannot be read, a line is bad with --strict, or the usage is wrong
    """  # noqa: D301 - \b keeps the lines of a paragraph apart
    refuse_two_readers(subscriptions, events, schema)
    known = read_schema(schema)
    from boolcast.cli.match_run import FileMatcher  # noqa: PLC0415 - numpy and pyarrow take time

    bad_lines = 0
    start = monotonic()

    def report(file: str, line: int, error: InputError) -> None:
        nonlocal bad_lines
        bad_lines += 1
        if as_json:
            write_json({"error": ErrorReport.of(error, file=file, line=line)}, error=True)
        else:
            write_error(text_at(file, line, error))
        if strict:
            raise typer.Exit(ExitCode.BAD_INPUT)

    def summarise() -> None:
        if not quiet:
            _write_summary(matcher.summary(bad_lines, monotonic() - start), as_json)

    matcher = FileMatcher(known, event_id)
    # Both are opened first: a wrong path shows before the work begins.
    with Source(subscriptions) as subscription_source, Source(events) as event_source:
        matcher.load(subscription_source, report)
        try:
            matcher.match(event_source, report, strict=strict)
        except KeyboardInterrupt:
            summarise()
            raise
    summarise()
    raise typer.Exit(ExitCode.RESERVATIONS if bad_lines else ExitCode.FINE)


def _write_summary(summary: "MatchSummary", as_json: bool) -> None:
    if as_json:
        write_json({"summary": summary}, error=True)
        return
    for unseen in summary.unseen_attributes[:_SHOWN_WARNINGS]:
        write_error(f"warning: {unseen}")
    more = len(summary.unseen_attributes) - _SHOWN_WARNINGS
    if more > 0:
        write_error(f"warning: {counted(more, 'more attribute')} were in no event")
    write_error(str(summary))
