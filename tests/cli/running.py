"""Run `boolcast` in this process, as the shell would."""

import io
import json
import os
import sys
from typing import Any, NamedTuple
from unittest.mock import patch

from boolcast.cli import main

BOOLCAST = [sys.executable, "-c", "from boolcast.cli import main; main()"]
# Unbuffered output would hide what is left in buffers when a write fails.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}


class Result(NamedTuple):
    """What the shell gets: the exit code and the two outputs."""

    code: int
    output: str
    errors: str

    @property
    def json(self) -> list[Any]:
        """The lines of the output, each of which must be JSON."""
        return [json.loads(line) for line in self.output.splitlines()]

    @property
    def json_errors(self) -> list[Any]:
        return [json.loads(line) for line in self.errors.splitlines()]


def run(*arguments: object, stdin: bytes = b"", encoding: str = "utf-8") -> Result:
    written = io.BytesIO(), io.BytesIO()
    output, errors = (io.TextIOWrapper(each, encoding=encoding) for each in written)
    source = io.TextIOWrapper(io.BufferedReader(io.BytesIO(stdin)))
    code: int | str | None = None
    with (
        patch.object(sys, "stdin", source),
        patch.object(sys, "stdout", output),
        patch.object(sys, "stderr", errors),
    ):
        try:
            main([str(argument) for argument in arguments])
        except SystemExit as end:
            code = end.code
        output.flush()
        errors.flush()
    assert isinstance(code, int)
    return Result(code, *(each.getvalue().decode(encoding) for each in written))
