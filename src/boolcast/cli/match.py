"""`boolcast match`: which events go to which subscriptions."""

from time import monotonic
from typing import TYPE_CHECKING, Annotated, Final

import typer

from boolcast.cli.input.options import SchemaPath, Strict, read_schema
from boolcast.cli.input.sources import Source, refuse_two_readers
from boolcast.cli.output.exit_codes import ExitCode
from boolcast.cli.output.faults import ErrorReport, text_at
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
            help="JSON lines: a subscription each.",
        ),
    ],
    events: Annotated[
        str,
        typer.Option(
            "--events",
            "-e",
            metavar="FILE",
            show_default=False,
            help="JSON lines: an event each.",
        ),
    ],
    event_id: Annotated[
        str | None,
        typer.Option(
            "--event-id",
            metavar="ATTRIBUTE",
            help="Name events by this attribute instead of their line.",
        ),
    ] = None,
    schema: SchemaPath = None,
    strict: Strict = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Write no summary.")] = False,
    as_json: Annotated[
        bool,
        typer.Option("--json", help="Write bad lines and the summary as JSON, too."),
    ] = False,
) -> None:
    """Tell which events go to which subscriptions.

    Both files are JSON lines, may be gzipped, and one of them may be `-` for standard input:

    \b
      {"subscription": "alert-1", "filter": "item.price < 25"}    a subscription
      {"title": "Dune", "item": {"price": 21}}                    an event

    For each match there is one line on standard output, in the order of the events, and for
    each event in that of the subscriptions:

    \b
      {"event": 1, "subscription": "alert-1"}

    `event` is the number of the event's line, from 1, or the value of the attribute that
    --event-id names. Events are read one at a time: a stream may go on for ever.

    A bad line is reported on standard error as FILE:LINE: reason, and left out, and so is a
    subscription that an earlier line has with another filter. Empty lines are skipped. At the
    end there is a summary on standard error.

    \b
    Examples:
      boolcast match --subscriptions alerts.jsonl --events books.jsonl
      boolcast match -s alerts.jsonl -e books.jsonl --event-id isbn | jq -r .subscription
      tail -f books.jsonl | boolcast match -s alerts.jsonl -e -

    \b
    Exit codes:
      0  all lines were read, whether there are matches or not
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

    matcher = FileMatcher(known, event_id)
    # Both are opened first: a wrong path shows before the work begins.
    with Source(subscriptions) as subscription_source, Source(events) as event_source:
        matcher.load(subscription_source, report)
        matcher.match(event_source, report, strict=strict)
    if not quiet:
        _write_summary(matcher.summary(bad_lines, monotonic() - start), as_json)
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
