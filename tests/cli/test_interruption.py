"""Ctrl-C ends every command the same way: one line, exit code 130, no traceback."""

import signal
import subprocess
from collections.abc import Iterator

import pytest

from boolcast.cli.input.sources import Source
from tests.cli.running import BOOLCAST, ENVIRONMENT, run

COMMANDS = {
    "check": (["check", "-"], b"price < 5\n"),
    "match": (["match", "-s", "s.jsonl", "-e", "-"], b'{"price": 1}\n'),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_that_waits_for_input(name, tmp_path):
    (tmp_path / "s.jsonl").write_text('{"subscription": "cheap", "filter": "price < 25"}')
    arguments, line = COMMANDS[name]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [*BOOLCAST, *arguments],
        cwd=tmp_path,
        env=ENVIRONMENT,
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
    ) as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        process.stdin.write(line)
        process.stdin.flush()
        assert process.stdout.readline()
        process.send_signal(signal.SIGINT)
        *told, last = [each for each in process.stderr.readlines() if b"compiling" not in each]
        assert (process.wait(60), last) == (130, b"interrupted\n")
        assert bool(told) == (name == "match")


def test_a_match_that_is_interrupted_is_summed_up(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.jsonl").write_text('{"subscription": "cheap", "filter": "prize < 25"}')

    def batches(self: Source) -> Iterator[list[tuple[int, bytes]]]:
        if self.name == "<stdin>":
            yield [(1, b'{"price": 1}')]
            raise KeyboardInterrupt
        yield from read(self)

    read = Source.batches
    monkeypatch.setattr(Source, "batches", batches)
    result = run("match", "-s", "s.jsonl", "-e", "-")
    warning, summary, end = result.errors.splitlines()
    assert (result.code, end) == (130, "interrupted")
    assert warning.startswith("warning: ")
    assert "prize" in warning
    assert summary.startswith("1 event, 1 subscription, 0 matches in ")
    assert run("match", "-q", "-s", "s.jsonl", "-e", "-").errors == "interrupted\n"


@pytest.mark.parametrize(
    "function",
    [
        "boolcast.cli.check.parse",
        "boolcast.cli.explain.parse",
        "boolcast.cli.match.read_schema",
        "boolcast.cli.simulate._engine",
        "boolcast.cli.stream.read_configuration",
        "boolcast.cli.backtest.read_schema",
        "boolcast.cli.index._commands",
        "boolcast.lab.demo.tour.show",
    ],
)
def test_all_commands(monkeypatch, function):
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(function, interrupt)
    arguments = {
        "check": ["a = 1"],
        "explain": ["a = 1", "{}"],
        "match": ["-s", "a", "-e", "b"],
        "simulate": [],
        "stream": ["a.toml"],
        "backtest": ["-s", "a", "-e", "b"],
        "index": ["list", "a"],
        "demo": [],
    }
    command = function.split(".")[2]
    assert run(command, *arguments[command]) == (130, "", "interrupted\n")


def test_it_is_documented_once():
    commands = ("check", "explain", "match", "stream", "backtest", "simulate", "index", "demo")
    texts = [run(*words, "--help").output for words in ((), *((name,) for name in commands))]
    assert ["130" in text for text in texts] == [True] + len(commands) * [False]
