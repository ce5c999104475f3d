"""Writing to standard output and standard error, as text or as JSON lines."""

import io
import math
import os
import sys
from collections.abc import Mapping

import msgspec
import typer

from boolcast.cli.output.endings import discard_output, end_quietly
from boolcast.errors import FileError
from boolcast.model.values import Opaque, Timestamp, is_well_formed


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """The number and what it counts: `1 event`, `3,000 events`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def styled(text: str, style: str, *, error: bool = False) -> str:
    """The text in a colour, if the stream is a terminal that shows colours.

    NO_COLOR with any value and TERM=dumb turn colours off.
    """
    stream = sys.stderr if error else sys.stdout
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or not stream.isatty():
        return text
    return typer.style(text, fg=style)


def tolerate_narrow_encodings() -> None:
    """Escape characters that the terminal's encoding lacks (✓ in Latin-1), instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def write(text: str | bytes, *, end: bool = True) -> None:
    """Write to standard output at once, so that a reader downstream need not wait.

    If that reader is gone (`| head`), the command ends here silently.
    """
    try:
        typer.echo(text, nl=end)
    except BrokenPipeError:
        end_quietly()
    except OSError as error:
        discard_output()
        raise FileError(f"cannot write: {error.strerror}", path="<stdout>") from None


def write_error(text: str) -> None:
    """Write a line to standard error."""
    typer.echo(text, err=True)


def write_json(value: object, *, error: bool = False) -> None:
    """Write one JSON line to standard output, or to standard error."""
    line = json_line(value)
    if error:
        typer.echo(line, nl=False, err=True)
    else:
        write(line, end=False)


def json_line(value: object) -> bytes:
    """The value as one line of JSON, the line end included."""
    return msgspec.json.encode(_plain(value)) + b"\n"


def _plain(value: object) -> object:
    """The value as JSON types: timestamps as ISO 8601, what JSON lacks as text."""
    match value:
        case Timestamp() | Opaque():
            return str(value)
        case float() if not math.isfinite(value):
            return str(value)
        case str() if not is_well_formed(value):
            return value.encode(errors="replace").decode()
        case Mapping():
            return {name: _plain(member) for name, member in value.items()}
        case tuple() | list():
            return [_plain(member) for member in value]
        case msgspec.Struct():
            return {name: _plain(getattr(value, name)) for name in value.__struct_fields__}
        case _:
            return value
