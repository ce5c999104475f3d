"""Ctrl-C ends every command the same way: one line, exit code 130, no traceback."""

import signal
import subprocess

import pytest

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
        errors = [each for each in process.stderr.readlines() if b"compiling" not in each]
        assert (process.wait(60), errors) == (130, [b"interrupted\n"])


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
