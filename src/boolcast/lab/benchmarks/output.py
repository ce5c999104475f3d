"""How all benchmarks show their figures: JSON lines while they come, or tables at the end."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import msgspec
from rich.console import Console
from rich.table import Table

from boolcast.cli.output.progress import steps
from boolcast.cli.output.tables import WIDTH, QuietConsole
from boolcast.cli.output.writing import write_json

F = TypeVar("F", bound=msgspec.Struct)

Begin = Callable[[str], None]
"""Gets the title of a step before it begins."""

Benchmark = Callable[[Begin], Iterator[F]]
"""Measures, and yields figures as they come."""


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


def mark_scaled(table: Table, whose: str) -> None:
    """Explain the asterisk of a time that is scaled to more subscriptions."""
    table.caption = f"* assumes that time grows with the subscriptions, up to those of {whose}"
