"""`boolcast match`: which events go to which subscriptions."""

from collections.abc import Callable, Mapping
from time import monotonic
from typing import Annotated

import msgspec
import typer

from boolcast.cli.input.options import SchemaPath, Strict, read_schema
from boolcast.cli.input.sources import Line, Source, refuse_two_readers
from boolcast.cli.input.subscriptions import Subscriptions
from boolcast.cli.output.exit_codes import ExitCode
from boolcast.cli.output.faults import ErrorReport, text_at
from boolcast.cli.output.writing import counted, json_line, write, write_error, write_json
from boolcast.errors import EventError, InputError
from boolcast.filters.expressions import Filter
from boolcast.model.events import Event
from boolcast.model.identifiers import SubscriptionId
from boolcast.model.values import EventValue, Opaque


class Match(msgspec.Struct, frozen=True):
    """One line of the output: the event goes to the subscription."""

    event: EventValue
    subscription: SubscriptionId


class Summary(msgspec.Struct, kw_only=True):
    """What was read, and what came of it; `bad_lines` were left out."""

    subscriptions: int = 0
    events: int = 0
    matches: int = 0
    bad_lines: int = 0
    seconds: float = 0.0

    def __str__(self) -> str:
        text = (
            f"{counted(self.events, 'event')}, {counted(self.subscriptions, 'subscription')}, "
            f"{counted(self.matches, 'match', 'matches')} in {self.seconds:.1f} s"
        )
        return f"{text}; {counted(self.bad_lines, 'bad line')} left out" if self.bad_lines else text


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
    summary = Summary()
    start = monotonic()

    def report(file: str, line: int, error: InputError) -> None:
        summary.bad_lines += 1
        if as_json:
            write_json({"error": ErrorReport.of(error, file=file, line=line)}, error=True)
        else:
            write_error(text_at(file, line, error))
        if strict:
            raise typer.Exit(ExitCode.BAD_INPUT)

    def read_event(line: Line) -> tuple[EventValue, Event]:
        event = Event.from_json(line.data, known)
        return line.number if event_id is None else _id_of(event, event_id), event

    registered = Subscriptions(known)
    # Both are opened first: a path that is wrong shows before the work begins.
    with Source(subscriptions) as subscription_source, Source(events) as event_source:
        for _ in subscription_source.records(registered.read, report):
            pass
        summary.subscriptions = len(registered)
        matching = matching_of(registered)
        for _, (name, event) in event_source.records(read_event, report):
            summary.events += 1
            if found := matching(event):
                summary.matches += len(found)
                write(b"".join(json_line(Match(name, each)) for each in found), end=False)
    summary.seconds = monotonic() - start
    if as_json and not quiet:
        write_json({"summary": summary}, error=True)
    elif not quiet:
        write_error(str(summary))
    raise typer.Exit(ExitCode.RESERVATIONS if summary.bad_lines else ExitCode.FINE)


def matching_of(
    subscriptions: Mapping[SubscriptionId, Filter],
) -> Callable[[Event], list[SubscriptionId]]:
    """What finds the subscriptions that accept an event, in the order in which they were given."""
    from boolcast.matching.matcher import Matcher  # noqa: PLC0415 - numpy and pyarrow take time

    matcher = Matcher()
    places: dict[str, int] = {}
    for place, (name, filter) in enumerate(subscriptions.items()):
        matcher.add(name, filter)
        places[name] = place

    def matching(event: Event) -> list[SubscriptionId]:
        return [
            SubscriptionId(name) for name in sorted(matcher.match(event), key=places.__getitem__)
        ]

    return matching


def _id_of(event: Event, attribute: str) -> EventValue:
    value = event.get(attribute)
    if value is None:
        raise EventError("the event lacks the attribute that names it", attribute=attribute)
    if isinstance(value, Opaque):
        raise EventError(f"{value} cannot name an event", attribute=attribute)
    return value
