"""Tables and numbers as all reports show them."""

from collections.abc import Sequence
from typing import Final, TypeVar

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from boolcast.cli.output.writing import end_quietly

WIDTH: Final = 136
"""The least width of a table with many columns."""

Kind = TypeVar("Kind")


class QuietConsole(Console):
    """A console that ends the command without a word where nobody reads it any more."""

    def on_broken_pipe(self) -> None:
        end_quietly()


def plain_table(title: str, names: Sequence[str], *numbers: Sequence[str]) -> Table:
    """A table without lines: columns of names, then columns of numbers."""
    table = Table(
        title=title, title_justify="left", caption_justify="left", box=SIMPLE_HEAD, pad_edge=False
    )
    for name in names:
        table.add_column(name, no_wrap=True)
    for group in numbers:
        for name in group:
            table.add_column(name, justify="right", no_wrap=True)
    return table


def number(value: float | None) -> str:
    """Three significant figures, or all of a large number."""
    if value is None:
        return "–"
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def of_kind(kind: type[Kind], figures: Sequence[object]) -> list[Kind]:
    """The figures of one kind among all."""
    return [each for each in figures if isinstance(each, kind)]
