"""What all commands have in common."""

import json
import subprocess
import sys
from importlib.metadata import version

import pytest

from boolcast.cli.input.reading_progress import ReadingProgress
from boolcast.errors import UsageError
from tests.cli.running import BOOLCAST, ENVIRONMENT, run

COMMANDS = (
    *("check", "explain", "match", "stream", "backtest", "simulate"),
    *("index", "demo", "bench", "reproduce"),
)
# What takes long to import, or is for one command only.
HEAVY = {"asyncio", "numba", "numpy", "pandas", "pyarrow", "pyspark", "re2", "rich"}

IMPORTS = """\
import json, sys
from boolcast.cli import main
try:
    main(sys.argv[1:])
finally:
    print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules})), file=sys.stderr)
"""


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["match", "--help"],
        ["stream", "--help"],
        ["demo", "spark", "--help"],
        ["index", "build", "--help"],
        ["--version"],
        ["check", "price < 25"],
        ["explain", "price < 25", '{"price": 21}'],
    ],
    ids=" ".join,
)
def test_nothing_heavy_is_imported(arguments):
    process = subprocess.run(
        [sys.executable, "-c", IMPORTS, *arguments], capture_output=True, text=True, check=False
    )
    assert process.returncode == 0, process.stderr
    imported = set(json.loads(process.stderr))
    assert "typer" in imported
    assert imported & HEAVY == set()


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_has_examples_and_exit_codes(command, option):
    result = run(command, option)
    assert (result.code, result.errors) == (0, "")
    assert f"  Examples:\n    boolcast {command}" in result.output
    assert "  Exit codes:\n    0  " in result.output


def test_help_names_all_commands():
    result = run("--help")
    assert result.code == 0
    listed = result.output.partition("Commands:\n")[2].splitlines()
    assert [line.split()[0] for line in listed] == list(COMMANDS)
    assert not any(line.endswith("...") for line in listed)


def test_without_a_command_there_is_help():
    result = run()
    assert result.code == 2
    assert "Commands:" in result.output + result.errors


def test_the_version():
    assert run("--version") == (0, f"boolcast {version('boolcast')}\n", "")


@pytest.mark.parametrize("arguments", [["nonsense"], ["check", "--nonsense"], ["explain", "a = 1"]])
def test_wrong_usage(arguments):
    result = run(*arguments)
    assert (result.code, result.output) == (2, "")
    assert "Usage: boolcast" in result.errors
    assert "Traceback" not in result.errors


def test_an_unexpected_error_of_ours_ends_without_a_traceback(monkeypatch):
    def fail(*_: object, **__: object) -> None:
        raise UsageError("unexpected")

    monkeypatch.setattr("boolcast.cli.check.simplify", fail)
    assert run("check", "a = 1") == (2, "", "error: unexpected\n")
    (line,) = run("check", "--json", "a = 1").json_errors
    assert (line["error"]["kind"], line["error"]["problem"]) == ("UsageError", "unexpected")


def test_a_bug_is_not_hidden(monkeypatch):
    def fail(*_: object, **__: object) -> None:
        raise AssertionError("a bug")

    monkeypatch.setattr("boolcast.cli.check.simplify", fail)
    with pytest.raises(AssertionError, match="a bug"):
        run("check", "a = 1")


def test_standard_input_that_is_closed():
    process = subprocess.run(
        ["sh", "-c", 'exec "$0" "$@" <&-', *BOOLCAST, "check", "-"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 2
    assert process.stderr.startswith("error: <stdin>: standard input is closed\n")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/dev/full is of Linux")
def test_a_full_disk():
    with open("/dev/full", "w") as full:  # noqa: PTH123 - a device
        process = subprocess.run(
            [*BOOLCAST, "check", "a = 1"],
            env=ENVIRONMENT,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert process.returncode == 2
    assert process.stderr.startswith("error: <stdout>: cannot write: ")
    assert "Exception ignored" not in process.stderr


class Terminal:
    """A standard stream that says it is a terminal, or not."""

    def __init__(self, is_terminal: bool) -> None:
        self.is_terminal = is_terminal
        self.written = ""

    def isatty(self) -> bool:
        return self.is_terminal

    def write(self, text: str) -> int:
        self.written += text
        return len(text)

    def flush(self) -> None:
        pass


@pytest.mark.parametrize(
    ("patience", "error_terminal", "output_terminal", "shown"),
    [
        (0.0, True, False, True),
        (60.0, True, False, False),
        (0.0, False, False, False),
        (0.0, True, True, False),
    ],
)
def test_progress_shows_on_a_terminal_of_its_own(
    monkeypatch, patience, error_terminal, output_terminal, shown
):
    errors, output = Terminal(error_terminal), Terminal(output_terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("boolcast.cli.input.reading_progress._PATIENCE_SECONDS", patience)
    monkeypatch.setattr(sys, "stderr", errors)
    monkeypatch.setattr(sys, "stdout", output)
    with ReadingProgress("events.jsonl", 100) as progress:
        for position in (10, 50, 100):
            progress.update(position)
        assert (progress._bar is not None) is shown
    monkeypatch.undo()
    assert ("events.jsonl" in errors.written) is shown
    assert output.written == ""
