"""`boolcast explain`: why a filter accepts or refuses an event."""

from pathlib import Path
from typing import Annotated

import msgspec
import typer

from boolcast.cli.input.options import AsJson, SchemaPath, read_schema
from boolcast.cli.input.sources import STANDARD_INPUT, Source, refuse_two_readers
from boolcast.cli.output.endings import ExitCode
from boolcast.cli.output.writing import write, write_json
from boolcast.errors import EventError, FileError
from boolcast.filters import evaluation
from boolcast.filters.evaluation import Explanation
from boolcast.filters.parsing import parse
from boolcast.model.events import Event
from boolcast.model.schemas import Schema


class Explained(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome, the deciding predicates, and the whole tree."""

    accepted: bool
    filter: str
    deciding: tuple[str, ...]
    explanation: Explanation


def explain(
    filter: Annotated[str, typer.Argument(metavar="FILTER", show_default=False, help="Filter.")],
    event: Annotated[
        str,
        typer.Argument(
            metavar="EVENT",
            show_default=False,
            help="Event as JSON, @FILE, or - for standard input.",
        ),
    ],
    schema: SchemaPath = None,
    as_json: AsJson = False,
) -> None:
    """Show why a filter accepts or refuses an event.

    The output marks the predicates that decide and shows the values they see. A predicate is
    ✓ true, ✗ false, or ? unknown: the event lacks the attribute, or its value has another
    type. With --json, the answer is one object with the members accepted, filter, deciding
    and explanation (the tree).

    \b
    Examples:
      boolcast explain "price < 25 and condition = 'new'" '{"price": 21, "condition": "used"}'
      boolcast explain "item.price < 25" @event.json
      tail -n 1 events.jsonl | boolcast explain --json "price < 25" -

    \b
    Exit codes:
      0  the filter accepts the event
      1  the filter refuses the event
      2  the filter or the event cannot be read, or the usage is wrong
    """  # noqa: D301 - \b keeps the lines of a paragraph apart
    is_path = event.startswith("@") or event == STANDARD_INPUT
    event_path = event.removeprefix("@") if is_path else None
    refuse_two_readers(event_path, schema)
    known = read_schema(schema)
    parsed = parse(filter, schema=known)
    explained = evaluation.explain(parsed, _read_event(event, event_path, known))
    if as_json:
        write_json(
            Explained(
                accepted=explained.accepted,
                filter=str(parsed),
                deciding=tuple(leaf.text for leaf in explained.deciding()),
                explanation=explained,
            )
        )
    else:
        write(str(explained))
    raise typer.Exit(ExitCode.FINE if explained.accepted else ExitCode.RESERVATIONS)


def _read_event(text: str, path: str | None, schema: Schema | None) -> Event:
    if path is None:
        try:
            return Event.from_json(text, schema)
        except EventError as error:
            raise EventError(f"{error}\nhint: {_hint(text)}") from None
    with Source(path) as source:
        try:
            return Event.from_json(source.read_whole(), schema)
        except EventError as error:
            raise FileError(str(error), path=source.name) from None


def _hint(text: str) -> str:
    try:
        is_file = Path(text).is_file()
    except (OSError, ValueError):  # too long for a path, or with a NUL
        is_file = False
    if is_file:
        return f"to read the event from this file, write @{text}"
    return """an event is given as '{"price": 21}', in single quotes for the shell, or as @FILE"""
