"""The progress of a stream: one line on a terminal, elsewhere lines or JSON."""

from collections import deque
from types import TracebackType
from typing import Protocol

import msgspec
from rich.console import Console
from rich.status import Status

from boolcast.cli.output.writing import counted, write, write_error, write_json
from boolcast.pipeline.streaming.backlog import Waiting
from boolcast.pipeline.streaming.ledger import Batch

_RECENT = 10


class BatchReport(msgspec.Struct, frozen=True, kw_only=True):
    """A published batch, for programs.

    `waiting` counts the files that wait, if the source is files; `behind` is the lag that other
    sources report.
    """

    batch: int
    version: int
    events: int
    matches: int
    dead_letters: int
    seconds: float
    events_per_second: float
    behind: dict[str, str]
    waiting: Waiting | None
    warnings: tuple[str, ...]

    @classmethod
    def of(
        cls, batch: Batch, *, behind: dict[str, str], waiting: Waiting | None = None
    ) -> "BatchReport":
        """The report of a batch."""
        return cls(
            batch=batch.batch,
            version=batch.version,
            events=batch.events,
            matches=batch.match_count,
            dead_letters=batch.dead_letter_count,
            seconds=round(batch.seconds, 3),
            events_per_second=round(batch.events / max(batch.seconds, 1e-3), 1),
            behind=behind,
            waiting=waiting,
            warnings=batch.warnings,
        )

    def __str__(self) -> str:
        rate = f"{self.events_per_second:,.0f}/s"
        parts = [
            f"batch {self.batch}: {counted(self.events, 'event')} in {self.seconds:.2f} s ({rate})",
            counted(self.matches, "match", "matches"),
            counted(self.dead_letters, "dead letter"),
            f"version {self.version}",
        ]
        parts += [f"{name} {value}" for name, value in sorted(self.behind.items())]
        if self.waiting is not None:
            parts.append(waiting_text(self.waiting))
        return ", ".join(parts)


def waiting_text(waiting: Waiting) -> str:
    """The waiting files, for people."""
    if not waiting.files:
        return "no file waits"
    verb = "waits" if waiting.files == 1 else "wait"
    size = waiting.bytes / 1e6
    age = round(waiting.oldest_seconds)
    return f"{counted(waiting.files, 'file')} ({size:,.1f} MB) {verb}, the oldest for {age:,} s"


class Display(Protocol):
    """Shows progress, in a `with` statement."""

    def __enter__(self) -> "Display": ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

    def tell(self, text: str) -> None:
        """Show what happens between batches."""

    def show(self, report: BatchReport) -> None:
        """Show a published batch."""

    def wait(self, waiting: Waiting) -> None:
        """Show the files that wait."""

    def summary(self) -> str:
        """The totals of all batches."""


class _Totals:
    def __init__(self) -> None:
        self.batches = self.events = self.matches = self.dead_letters = 0

    def add(self, report: BatchReport) -> None:
        self.batches += 1
        self.events += report.events
        self.matches += report.matches
        self.dead_letters += report.dead_letters

    def __str__(self) -> str:
        return (
            f"{counted(self.batches, 'batch', 'batches')}, {counted(self.events, 'event')}, "
            f"{counted(self.matches, 'match', 'matches')}, "
            f"{counted(self.dead_letters, 'dead letter')}"
        )


class Lines:
    """A line for each batch on standard output, as text or JSON."""

    def __init__(self, as_json: bool) -> None:
        self._as_json = as_json
        self._totals = _Totals()

    def __enter__(self) -> "Lines":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        return None

    def tell(self, text: str) -> None:
        """Do nothing: lines are for batches."""

    def show(self, report: BatchReport) -> None:
        self._totals.add(report)
        if self._as_json:
            write_json(report)
            return
        for warning in report.warnings:
            write_error(f"warning: {warning}")
        write(str(report))

    def wait(self, waiting: Waiting) -> None:
        """Do nothing: each batch shows it."""

    def summary(self) -> str:
        return str(self._totals)


class Terminal:
    """One line on standard error: the latest batch, the recent rate, and the totals."""

    def __init__(self) -> None:
        self._console = Console(stderr=True)
        self._status = Status("", console=self._console)
        self._totals = _Totals()
        self._recent: deque[BatchReport] = deque(maxlen=_RECENT)
        self._told = ""
        self._waiting = ""

    def __enter__(self) -> "Terminal":
        self._status.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._status.stop()

    def tell(self, text: str) -> None:
        self._told = text
        self._status.update(f"{self._told}{self._waiting}")

    def wait(self, waiting: Waiting) -> None:
        self._waiting = f" · {waiting_text(waiting)}"
        self.tell(self._told)

    def show(self, report: BatchReport) -> None:
        self._totals.add(report)
        self._recent.append(report)
        for warning in report.warnings:
            self._console.print(f"warning: {warning}", style="yellow", markup=False)
        seconds = sum(each.seconds for each in self._recent)
        rate = sum(each.events for each in self._recent) / max(seconds, 1e-3)
        behind = "".join(f" · {name} {value}" for name, value in sorted(report.behind.items()))
        self.tell(
            f"{rate:,.0f} events/s · batch {report.batch} in {report.seconds:.2f} s · "
            f"version {report.version}{behind} · {self._totals}"
        )

    def summary(self) -> str:
        return str(self._totals)
