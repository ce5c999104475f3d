"""How both parts of the demo look: headings, rows of figures, and a bar while they run."""

from collections.abc import Sequence
from textwrap import fill
from typing import Final

from rich import progress
from rich.console import Console
from rich.text import Text

_WIDEST: Final = 80


def print_heading(console: Console, title: str) -> None:
    """Begin a section."""
    console.print()
    console.print(Text(wrapped(console, title, "", ""), style="bold green"))


def wrapped(console: Console, text: str, indent: str = "  ", hanging: str = "    ") -> str:
    """The text in lines that fit the console, and 80 columns; later lines are `hanging`."""
    return fill(
        text,
        min(console.width, _WIDEST),
        initial_indent=indent,
        subsequent_indent=hanging,
        break_long_words=False,
        break_on_hyphens=False,
    )


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
