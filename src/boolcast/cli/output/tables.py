"""Tables and numbers as all reports show them."""

import os
from collections.abc import Iterator, Sequence
from typing import Any, Final, TypeVar

from rich.box import SIMPLE_HEAD
from rich.console import Console, ConsoleOptions, RenderableType
from rich.table import Table
from rich.text import Text

from boolcast.cli.output.endings import end_quietly

WIDTH: Final = 60
"""The narrowest terminal that output is laid out for."""

_FILE_WIDTH: Final = 160
"""The width outside a terminal, unless COLUMNS gives another."""

_WRAPPED_WIDTH: Final = 16
"""The least width of a column that may wrap."""

Kind = TypeVar("Kind")


class QuietConsole(Console):
    """A console that ends the command silently if its output is no longer read (`| head`)."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        if not self.is_terminal and "COLUMNS" not in os.environ:
            self.width = max(self.width, _FILE_WIDTH)

    def on_broken_pipe(self) -> None:
        end_quietly()


class FittingTable(Table):
    """A table that shows one figure per line where the terminal is too narrow for columns."""

    def __init__(self, title: str, names: int) -> None:
        super().__init__(
            title=title,
            title_justify="left",
            caption_justify="left",
            box=SIMPLE_HEAD,
            pad_edge=False,
        )
        self._names = names

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterator[RenderableType]:
        if self._least_width(console, options) <= options.max_width:
            yield from super().__rich_console__(console, options)  # type: ignore[misc]
        else:
            yield from self._stacked(console)

    def _least_width(self, console: Console, options: ConsoleOptions) -> int:
        unbounded = options.update(max_width=1_000)
        widths = (
            (column.no_wrap, self._measure_column(console, unbounded, column).maximum)
            for column in self.columns
        )
        needed = (width if no_wrap else min(width, _WRAPPED_WIDTH) for no_wrap, width in widths)
        return sum(needed) + self._extra_width

    def _stacked(self, console: Console) -> Iterator[RenderableType]:
        if self.title:
            yield Text(str(self.title), style="italic")
        headings = [console.render_str(str(column.header)) for column in self.columns]
        widest = max(heading.cell_len for heading in headings)
        for cells in zip(*(column.cells for column in self.columns), strict=True):
            shown = [console.render_str(cell) if isinstance(cell, str) else cell for cell in cells]
            texts = [each.plain if isinstance(each, Text) else str(each) for each in shown]
            # The headings of a column come first among its cells.
            if texts == [heading.plain for heading in headings]:
                continue
            yield Text(" · ".join(texts[: self._names]), style="bold")
            for heading, text in zip(headings[self._names :], texts[self._names :], strict=True):
                yield Text(f"  {heading.plain:<{widest}}  {text}")
        if self.caption:
            yield Text(str(self.caption), style="dim italic")


def plain_table(title: str, names: Sequence[str], *numbers: Sequence[str]) -> Table:
    """A table without lines: columns of names, then columns of numbers."""
    table = FittingTable(title, len(names))
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
    """The figures of one class."""
    return [each for each in figures if isinstance(each, kind)]
