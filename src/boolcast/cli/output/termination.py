"""SIGTERM ends a command like Ctrl-C: with the processes that it has started, and quietly."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from boolcast.cli.output.exit_codes import ExitCode


@contextmanager
def ended_by_sigterm() -> Iterator[None]:
    """Let SIGTERM unwind what is done inside; a second one ends at once."""

    def end(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - as signals have it
        signal.signal(number, signal.SIG_DFL)
        raise SystemExit(ExitCode.TERMINATED)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
