"""The command line `boolcast`: one module per command.

A command declares its options and its help, and imports little: `boolcast --help` answers at
once. Whatever needs numpy, Spark or rich is in a module of the same name with `_run`, `_report`
or `_progress`, which the command imports when it runs. Commands read through `input` and write
through `output`, which do not know each other. A bad input raises a `BoolcastError`; `main` turns
it into a message and exit code 2. When the program starts, `main` lets the laboratory add its own
commands.
"""

import sys
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from itertools import takewhile
from typing import NoReturn

from boolcast.cli.application import application
from boolcast.cli.output.endings import ExitCode
from boolcast.cli.output.error_messages import ErrorReport, text_of
from boolcast.cli.output.writing import tolerate_narrow_encodings, write_error, write_json
from boolcast.errors import BoolcastError

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run one command and exit with its code; `arguments` default to those of the process."""
    tolerate_narrow_encodings()
    given = sys.argv[1:] if arguments is None else list(arguments)
    _add_laboratory()
    try:
        application(given, prog_name="boolcast")
    except BoolcastError as error:
        if "--json" in takewhile(lambda argument: argument != "--", given):
            write_json({"error": ErrorReport.of(error)}, error=True)
        else:
            write_error(f"error: {text_of(error)}")
        sys.exit(ExitCode.BAD_INPUT)
    raise AssertionError("typer ends every command by SystemExit")


@cache
def _add_laboratory() -> None:
    """Add the laboratory's commands once; by name, as it stands above the command line."""
    import_module("boolcast.lab.commands").register(application)
