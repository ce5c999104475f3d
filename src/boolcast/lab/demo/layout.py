"""How both parts of the demo look: headings, rows of figures, and a bar while they run."""

from collections.abc import Sequence

from rich import progress
from rich.console import Console
from rich.text import Text


def print_heading(console: Console, title: str) -> None:
    """Begin a section."""
    console.print()
    console.print(Text(title, style="bold green"))


def aligned(cells: Sequence[str], widths: Sequence[int]) -> str:
    """A row of a table that grows while the demo runs: the first cell left, the others right."""
    first, *others = zip(cells, widths, strict=True)
    return f"  {first[0]:<{first[1]}}" + "".join(f"{cell:>{width}}" for cell, width in others)


def running_bar(console: Console) -> progress.Progress:
    """A bar on a terminal, nothing elsewhere; its tasks have a field `figures`."""
    return progress.Progress(
        progress.SpinnerColumn(),
        progress.TextColumn("{task.description}"),
        progress.BarColumn(20),
        progress.TimeElapsedColumn(),
        progress.TextColumn("{task.fields[figures]}"),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
