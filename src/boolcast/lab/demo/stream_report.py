"""`boolcast demo spark` on the terminal: a row per version while it runs, then a summary."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Final

from rich.console import Console
from rich.text import Text

from boolcast.cli.output.tables import QuietConsole
from boolcast.cli.output.writing import json_line, write
from boolcast.cli.stream_progress import BatchReport
from boolcast.lab.demo.layout import aligned, print_heading, running_bar, wrapped
from boolcast.lab.demo.stream import Choice, run
from boolcast.lab.demo.stream_picture import draw
from boolcast.lab.demo.stream_summary import Reason, Summary, VersionFigures, Watch

_HEADINGS: Final = (
    *("version", "filters", "changed", "deleted"),
    *("batches", "events", "matches", "events/s"),
)
_WIDTHS: Final = (7, 10, 9, 9, 9, 10, 11, 10)
_NARROW_WIDTHS: Final = (7, 8, 8, 8, 0, 8, 10, 9)
"""For 60 columns, without the batches."""


def show(choice: Choice, *, as_json: bool) -> None:
    """Run the demo, and write the summary to the terminal and into the folder."""
    console = QuietConsole(highlight=False, soft_wrap=True, stderr=as_json)
    with _Live(console) as live:
        summary = run(choice, live)
    folder = Path(choice.folder)
    line = json_line(summary)
    (folder / "summary.json").write_bytes(line)
    picture = folder / "summary.png" if find_spec("matplotlib") else None
    if picture is not None:
        draw(summary, picture)
    if as_json:
        write(line, end=False)
    else:
        _print_summary(console, summary, picture)


class _Live:
    """Prints a row per version of the index, with its batches; on a terminal, a bar below."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._bar = running_bar(console)
        self._versions: dict[int, VersionFigures] = {}
        self._batches: list[BatchReport] = []
        self._events = 0

    def __enter__(self) -> "_Live":
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bar.stop()

    def begin(self, title: str, total: int | None = None) -> None:
        self._print_row()
        for task in self._bar.task_ids:
            self._bar.remove_task(task)
        self._bar.add_task(title, total=total, figures="")

    def tell(self, text: str) -> None:
        self._console.print(wrapped(self._console, text, ""), markup=False)

    def show_version(self, figures: VersionFigures) -> None:
        if not self._versions:
            self.tell(
                f"indexed {figures.subscriptions:,} filters in {figures.seconds:.0f} s, "
                f"rejected {figures.rejected:,} malformed ones"
            )
            print_heading(self._console, "A stream whose filters change while it runs")
            self._console.print(Text(self._row(_HEADINGS), style="bold"))
        self._versions[figures.version] = figures

    def show_batch(self, batch: BatchReport) -> None:
        if self._batches and self._batches[-1].version != batch.version:
            self._print_row()
        self._batches.append(batch)
        self._events += batch.events
        for task in self._bar.task_ids:
            figures = f"{self._events:,} events · version {batch.version}"
            self._bar.update(task, completed=self._events, figures=figures)

    def _print_row(self) -> None:
        """Print the version of the batches since the last row."""
        if not self._batches:
            return
        version = self._versions[self._batches[-1].version]
        events = sum(each.events for each in self._batches)
        seconds = sum(each.seconds for each in self._batches)
        is_first = version.version == min(self._versions)
        cells = (
            str(version.version),
            f"{version.subscriptions:,}",
            "" if is_first else f"{version.upserted:,}",
            "" if is_first else f"{version.deleted:,}",
            str(len(self._batches)),
            f"{events:,}",
            f"{sum(each.matches for each in self._batches):,}",
            f"{events / max(seconds, 1e-3):,.0f}",
        )
        self._console.print(Text(self._row(cells)))
        self._batches = []

    def _row(self, cells: Sequence[str]) -> str:
        is_wide = self._console.width >= len(aligned(_HEADINGS, _WIDTHS))
        widths = _WIDTHS if is_wide else _NARROW_WIDTHS
        shown = [(cell, width) for cell, width in zip(cells, widths, strict=True) if width]
        return aligned(*zip(*shown, strict=True))


def _print_summary(console: Console, summary: Summary, picture: Path | None) -> None:
    stream = summary.stream
    text = (
        f"{stream.events:,} events in {stream.seconds:.0f} s: "
        f"{stream.events_per_second:,.0f} events and {stream.matches_per_second:,.0f} matches "
        "a second"
    )
    console.print(wrapped(console, text))
    print_heading(console, "Filters added while the stream ran match from their version on")
    _print_watches(console, stream.watches)
    print_heading(console, f"{summary.rejected:,} malformed filters were rejected")
    _print_reasons(console, summary.reject_reasons)
    print_heading(console, f"{stream.dead_letters:,} malformed events became dead letters")
    _print_reasons(console, stream.dead_letter_reasons)
    console.print()
    told = f"{summary.seconds:.0f} s in all. Everything is in {summary.folder}/"
    told = wrapped(console, told, "", "")
    hint = "pip install 'boolcast[report]' draws a picture, too"
    console.print(f"{told}\npicture: {picture}" if picture else f"{told}\n{hint}", markup=False)


def _print_watches(console: Console, watches: Sequence[Watch]) -> None:
    console.print(Text("  version   matches  filter", style="bold"))
    for watch in watches:
        figures = f"  {watch.since_version:<7}{watch.matches:>10,}  "
        filter = wrapped(console, watch.filter, figures, " " * len(figures))
        console.print(Text.assemble(figures, (filter.removeprefix(figures), "cyan")))


def _print_reasons(console: Console, reasons: Sequence[Reason]) -> None:
    for reason in reasons:
        text = f"{reason.rows:>6,}  {reason.error}"
        console.print(wrapped(console, text, hanging=" " * 10), markup=False)
