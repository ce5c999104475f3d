"""`boolcast demo spark` on the terminal: a bar while it runs, then a summary and a picture."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Final

import typer
from rich import progress
from rich.console import Console
from rich.text import Text

from boolcast.cli.output.exit_codes import ExitCode
from boolcast.cli.output.tables import QuietConsole
from boolcast.cli.output.writing import counted, json_line, write, write_error
from boolcast.cli.stream_progress import BatchReport
from boolcast.errors import FileError
from boolcast.lab.demo.stream import Choice, run
from boolcast.lab.demo.stream_summary import Matched, Reason, Summary, VersionFigures


def show(choice: Choice, *, as_json: bool) -> None:
    """Run it and write the summary, also into the folder."""
    console = QuietConsole(highlight=False, soft_wrap=True, stderr=as_json)
    try:
        with _Live(console) as live:
            summary = run(choice, live)
    except KeyboardInterrupt:
        write_error("stopped")
        raise typer.Exit(ExitCode.INTERRUPTED) from None
    folder = Path(choice.folder)
    line = json_line(summary)
    (folder / "summary.json").write_bytes(line)
    picture = folder / "summary.png" if find_spec("matplotlib") else None
    if picture is not None:
        _draw(summary, picture)
    if as_json:
        write(line, end=False)
    else:
        _write_summary(console, summary, picture)


class _Live:
    """What is going on: a line for all that is done, and below, on a terminal, a bar."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._bar = progress.Progress(
            progress.SpinnerColumn(),
            progress.TextColumn("{task.description}"),
            progress.BarColumn(),
            progress.TimeElapsedColumn(),
            progress.TextColumn("{task.fields[figures]}"),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._events = self._matches = 0
        self._has_header = False

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
        for task in self._bar.task_ids:
            self._bar.remove_task(task)
        self._bar.add_task(title, total=total, figures="")

    def tell(self, text: str) -> None:
        self._console.print(text, markup=False)

    def show_version(self, figures: VersionFigures) -> None:
        text = (
            f"version {figures.version}: {counted(figures.subscriptions, 'subscription')} "
            f"(+{figures.upserted:,} −{figures.deleted:,}, {figures.rejected:,} rejected) "
            f"in {figures.seconds:.1f} s"
        )
        self._console.print(Text(text, style="green"))

    def show_batch(self, batch: BatchReport) -> None:
        if not self._has_header:
            self._has_header = True
            self._console.print(Text(_row(_COLUMNS), style="bold"))
        self._events += batch.events
        self._matches += batch.matches
        self._console.print(
            _row(
                (
                    str(batch.batch),
                    str(batch.version),
                    f"{batch.events:,}",
                    f"{batch.matches:,}",
                    f"{batch.dead_letters:,}",
                    f"{batch.seconds:.2f}",
                    f"{batch.events_per_second:,.0f}",
                )
            )
        )
        for task in self._bar.task_ids:
            figures = (
                f"{self._events:,} events · {self._matches:,} matches · version {batch.version}"
            )
            self._bar.update(task, completed=self._events, figures=figures)


_COLUMNS: Final = ("batch", "version", "events", "matches", "dead letters", "seconds", "events/s")


def _row(cells: Sequence[str]) -> str:
    return "  ".join(
        cell.rjust(max(len(name), 7)) for cell, name in zip(cells, _COLUMNS, strict=True)
    )


def _figures(summary: Summary) -> dict[str, str]:
    stream, first, later = summary.stream, summary.versions[0], summary.versions[1:]
    batches = counted(len(stream.batches), "batch", "batches")
    came, went = (sum(getattr(each, name) for each in later) for name in ("upserted", "deleted"))
    return {
        "index": _rate(first.subscriptions, "subscriptions", first.seconds),
        "changes": f"{came:,} came or changed and {went:,} went, in {len(later)} versions",
        "stream": _rate(stream.events, f"events in {batches}", stream.seconds),
        "matches": _rate(stream.matches, "matches, each exactly once,", stream.seconds),
        "rejects": f"{summary.rejected:,} subscriptions could not be taken",
        "dead letters": f"{stream.dead_letters:,} events could not be matched",
        "all in all": f"{summary.seconds:.0f} s, {summary.session_seconds:.0f} s for Spark's start",
    }


def _rate(many: int, what: str, seconds: float) -> str:
    return f"{many:,} {what} in {seconds:.1f} s: {many / seconds:,.0f} a second"


def _write_summary(console: Console, summary: Summary, picture: Path | None) -> None:
    _begin(console, "Summary")
    for name, text in _figures(summary).items():
        console.print(f"  {name:<14}{text}", markup=False)
    stream = summary.stream
    _begin(console, "Top subscriptions")
    _write_matched(console, stream.top)
    _begin(console, "New while the stream ran: matches begin with the version")
    _write_matched(console, stream.watches)
    _begin(console, "Rejects, by their reasons")
    _write_reasons(console, summary.reject_reasons)
    _begin(console, "Dead letters, by their reasons")
    _write_reasons(console, stream.dead_letter_reasons)
    console.print()
    told = f"all of it is in {summary.folder}/"
    if picture is None:
        told += ", but for a picture: pip install 'boolcast[report]'"
    else:
        told += f"; the picture: {picture}"
    console.print(told, markup=False)


def _begin(console: Console, title: str) -> None:
    console.print()
    console.print(Text(title, style="bold green"))


def _write_matched(console: Console, rows: Sequence[Matched]) -> None:
    console.print(Text("       matches  from version  subscription", style="bold"))
    for row in rows:
        told = f"  {row.matches:>12,}  {row.since_version:>12}  {row.subscription}: "
        shown = _shortened(row.filter, console.width - len(told))
        console.print(Text.assemble(told, (shown, "cyan")))


def _write_reasons(console: Console, found: Sequence[Reason]) -> None:
    for each in found:
        console.print(f"  {each.rows:>6,}  {each.error}", markup=False)
        if each.example is not None:
            shown = _shortened(each.example, console.width - 10)
            console.print(Text(f"          {shown}", style="cyan"))


def _shortened(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: max(length, 20) - 1]}…"


def _draw(summary: Summary, path: Path) -> None:
    """Draw the rate of every batch in the colour of its version, and the matches of the watches."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - an extra, and a second

    batches = summary.stream.batches
    figure = Figure(figsize=(10, 6.5), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True)
    for version in sorted({each.version for each in batches}):
        of_version = [each for each in batches if each.version == version]
        above.bar(
            [each.start for each in of_version],
            [each.events_per_second for each in of_version],
            [each.seconds for each in of_version],
            align="edge",
            color=f"C{version - 1}",
            edgecolor="white",
            label=f"version {version}",
        )
    above.set_ylabel("events a second")
    above.set_title(
        f"{summary.versions[0].subscriptions:,} subscriptions, {summary.stream.events:,} events, "
        f"{summary.stream.matches:,} matches on {counted(summary.cores, 'core')}"
    )
    above.legend()
    for number, watch in enumerate(summary.stream.watches):
        below.step(
            [each.start for each in batches],
            [100 * each.watched.get(watch.subscription, 0) / each.events for each in batches],
            where="post",
            color=f"C{number + 1}",
            label=f"{watch.subscription}: {watch.filter}",
        )
    below.set_ylabel("matching events, %")
    below.set_xlabel("seconds since the stream began")
    below.set_title("subscriptions that came while the stream ran")
    below.set_ylim(0, 1.5 * max(below.dataLim.ymax, 0.1))
    below.legend(fontsize="small", loc="upper left")
    try:
        figure.savefig(path, dpi=120)
    except OSError as error:
        raise FileError(f"cannot draw: {error}", path=str(path)) from None
