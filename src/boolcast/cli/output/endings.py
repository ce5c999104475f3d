"""How a command ends: its exit codes, and what SIGTERM or a closed output does."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum
from types import FrameType
from typing import NoReturn

import typer


class ExitCode(IntEnum):
    """What a command tells the shell; `--help` says what each means for the command."""

    FINE = 0
    RESERVATIONS = 1
    """It ran, but the answer is no or not everything went well: findings, refused, bad lines."""
    BAD_INPUT = 2
    """The input or the usage is wrong."""
    INTERRUPTED = 130
    """Ctrl-C: 128 + SIGINT."""
    BROKEN_PIPE = 141
    """The output is no longer read: 128 + SIGPIPE, as with other tools."""
    TERMINATED = 143
    """128 + SIGTERM."""


def end_quietly() -> NoReturn:
    """End the command because its output is no longer read."""
    discard_output()
    raise typer.Exit(ExitCode.BROKEN_PIPE)


def discard_output() -> None:
    """Let the interpreter's last flush succeed, whatever is left in the buffers."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def ended_by_sigterm() -> Iterator[None]:
    """Let SIGTERM end the command like Ctrl-C, child processes included; a second one kills."""

    def end(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - as signals have it
        signal.signal(number, signal.SIG_DFL)
        raise SystemExit(ExitCode.TERMINATED)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
