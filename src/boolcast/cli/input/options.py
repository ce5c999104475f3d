"""Options that several commands share."""

from typing import Annotated

import typer

from boolcast.cli.input.sources import Source
from boolcast.errors import FileError, SchemaError
from boolcast.model.schemas import Schema

SchemaPath = Annotated[
    str | None,
    typer.Option(
        "--schema",
        metavar="FILE",
        help="Schema of the events, as JSON.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Write JSON for programs.")]
Strict = Annotated[bool, typer.Option("--strict", help="Stop at the first bad line.")]


def read_schema(path: str | None) -> Schema | None:
    """The schema in the file, or None without a path. Raises FileError."""
    if path is None:
        return None
    with Source(path) as source:
        try:
            return Schema.from_json(source.read_whole())
        except SchemaError as error:
            raise FileError(str(error), path=source.name) from None
