"""A progress bar while a large file is read."""

import sys
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

_PATIENCE_SECONDS: Final = 1.0


class ReadingProgress:
    """A bar for a file of `size` bytes (None if unknown), for a `with` statement.

    It shows after a second, on a terminal, and only if standard output goes elsewhere: results
    on the same terminal would run into it, and show progress by themselves.
    """

    def __init__(self, title: str, size: int | None) -> None:
        self._title = title
        self._size = size
        self._start = monotonic() if sys.stderr.isatty() and not sys.stdout.isatty() else None
        self._bar: Bar | None = None

    def __enter__(self) -> "ReadingProgress":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def update(self, position: int) -> None:
        """Show that `position` bytes are read."""
        if self._start is None:
            return
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=position)
        elif monotonic() - self._start > _PATIENCE_SECONDS:
            self._bar = self._begin()

    def _begin(self) -> "Bar":
        from rich.console import Console  # noqa: PLC0415 - 0.1 s, and most runs need no bar
        from rich.progress import Progress as Bar  # noqa: PLC0415 - see above

        bar = Bar(console=Console(stderr=True), transient=True)
        bar.add_task(self._title, total=self._size)
        bar.start()
        return bar
