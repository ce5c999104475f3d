"""The command line `boolcast`, one module per command.

`application` puts the commands together and `options` holds what they share. `sources` reads
files, standard input and gzip line by line, `subscriptions` what stands in such lines,
`reports` says what is wrong with them, `output` writes text and JSON, `tables` tables. What a
command needs heavy imports for is in a module of its own: `bench_report`, `spark_report`,
`backtest_report`, `simulate_report`, one for each command of `boolcast reproduce`, which
`reproduce_output` runs and shows alike. `tour` is the text of `boolcast demo`
and `engine_stop` its last stop; `spark_demo` is what `boolcast demo spark` does, with
`spark_demo_input`, which `spark_demo_summary` sums up and `spark_demo_report` shows.

Nothing that takes long to import is imported before a command needs it: `boolcast --help`
answers at once.
"""

import sys
from collections.abc import Sequence
from itertools import takewhile
from typing import NoReturn

from boolcast.cli.application import application
from boolcast.cli.output.exit_codes import ExitCode
from boolcast.cli.output.faults import ErrorReport, text_of
from boolcast.cli.output.writing import tolerate_narrow_encodings, write_error, write_json
from boolcast.errors import BoolcastError

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run one command and exit with its code; `arguments` are those of the process if None."""
    tolerate_narrow_encodings()
    given = sys.argv[1:] if arguments is None else list(arguments)
    try:
        application(given, prog_name="boolcast")
    except BoolcastError as error:
        if "--json" in takewhile(lambda argument: argument != "--", given):
            write_json({"error": ErrorReport.of(error)}, error=True)
        else:
            write_error(f"error: {text_of(error)}")
        sys.exit(ExitCode.BAD_INPUT)
    raise AssertionError("typer ends every command by SystemExit")
