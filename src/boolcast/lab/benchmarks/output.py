"""How all benchmarks show their figures: JSON lines while they come, or tables at the end."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Protocol, TypeVar

import msgspec
from rich.console import Console
from rich.table import Table

from boolcast.cli.output.progress import steps
from boolcast.cli.output.tables import WIDTH, QuietConsole, plain_table
from boolcast.cli.output.writing import write_json

F = TypeVar("F", bound=msgspec.Struct)

Begin = Callable[[str], None]
"""Gets the title of a step before it begins."""

Benchmark = Callable[[Begin], Iterator[F]]
"""Measures, and yields figures as they come."""

Cell = Callable[[F], str]
"""The text of a cell."""


def measured(run: Benchmark[F], count: int, *, as_json: bool) -> list[F]:
    """All figures; a progress bar shows `count` steps."""
    found: list[F] = []
    with steps(count) as begin:
        for figures in run(begin):
            found.append(figures)
            if as_json:
                write_json(figures)
    return found


def wide_console() -> QuietConsole:
    """A console as wide as the tables need: a truncated figure is useless."""
    return QuietConsole(highlight=False, width=max(Console().width, WIDTH))


def write_tables(console: Console, tables: Iterable[Table]) -> None:
    """Print the tables that have rows."""
    for table in tables:
        if table.row_count:
            console.print(table)


def table_of(
    title: str, figures: Iterable[F], names: Mapping[str, Cell[F]], numbers: Mapping[str, Cell[F]]
) -> Table:
    """A row for each of the figures; a column has a heading and a function for its cells."""
    table = plain_table(title, list(names), list(numbers))
    for each in figures:
        table.add_row(*(cell(each) for cell in (*names.values(), *numbers.values())))
    return table


class _Scaled(Protocol):
    @property
    def subscriptions(self) -> int: ...
    @property
    def scaled_to(self) -> int: ...


def mark(figures: _Scaled) -> str:
    """An asterisk for a time that is scaled to more subscriptions."""
    return "*" if figures.subscriptions < figures.scaled_to else ""


def explain_marks(table: Table, figures: Iterable[_Scaled], whose: str) -> Table:
    """The table with a caption that explains the asterisks, if there are any."""
    if any(map(mark, figures)):
        table.caption = f"* assumes that time grows with the subscriptions, up to those of {whose}"
    return table
