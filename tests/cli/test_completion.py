"""Completion in the shell, asked for as bash, zsh and fish ask."""

import os
import subprocess
import sys

import pytest

from tests.cli.running import BOOLCAST, ENVIRONMENT

BASH = {"_BOOLCAST_COMPLETE": "complete_bash", "COMP_WORDS": "boolcast ma", "COMP_CWORD": "1"}
ZSH = {"_BOOLCAST_COMPLETE": "complete_zsh", "_TYPER_COMPLETE_ARGS": "boolcast ma"}
FISH = {
    "_BOOLCAST_COMPLETE": "complete_fish",
    "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    "_TYPER_COMPLETE_ARGS": "boolcast ma",
}


def ask(variables):
    return subprocess.run(
        BOOLCAST, env={**ENVIRONMENT, **variables}, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("shell", [BASH, ZSH, FISH], ids=["bash", "zsh", "fish"])
def test_a_command_is_completed(shell):
    answer = ask(shell)
    assert (answer.returncode, answer.stderr) == (0, "")
    assert "match" in answer.stdout
    assert "simulate" not in answer.stdout


def test_a_command_of_the_laboratory_is_completed():
    answer = ask({**FISH, "_TYPER_COMPLETE_ARGS": "boolcast re"})
    assert [line.split("\t")[0] for line in answer.stdout.splitlines()] == ["reproduce"]


def test_options_are_completed_with_one_line_each():
    answer = ask({**FISH, "_TYPER_COMPLETE_ARGS": "boolcast match --s"})
    named = [line.split("\t")[0] for line in answer.stdout.splitlines()]
    assert named == ["--subscriptions", "--schema", "--strict"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_it_is_installed_for_the_shell(shell, tmp_path):
    environment = {
        **ENVIRONMENT,
        "HOME": str(tmp_path),
        "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1",
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    for option in ("--show-completion", "--install-completion"):
        process = subprocess.run(
            [*BOOLCAST, option, shell],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (process.returncode, process.stderr) == (0, "")
    written = [path.read_text() for path in tmp_path.rglob("*") if path.is_file()]
    assert any(f"_BOOLCAST_COMPLETE=complete_{shell}" in text for text in written)
