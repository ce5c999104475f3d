"""Progress bars on standard error, for what takes more than a second."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

_PATIENCE_SECONDS: Final = 1.0


class Progress:
    """How far a file is read, of `size` bytes where that is known; use it by `with`.

    There is a bar only on a terminal and only where the results go elsewhere: on the same
    terminal they would run into each other, and show by themselves that it goes on.
    """

    def __init__(self, title: str, size: int | None) -> None:
        self._title = title
        self._size = size
        self._start = monotonic() if sys.stderr.isatty() and not sys.stdout.isatty() else None
        self._bar: Bar | None = None

    def __enter__(self) -> "Progress":
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
        """Show that `position` bytes of the file are read; costs next to nothing without a bar."""
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


@contextmanager
def working(title: str, *, enough: bool) -> Iterator[None]:
    """A spinner, if standard error is a terminal and there is `enough` work to take a second."""
    if not enough or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console  # noqa: PLC0415 - 0.1 s, and most runs need no spinner

    with Console(stderr=True).status(title):
        yield


@contextmanager
def steps(count: int) -> Iterator[Callable[[str], None]]:
    """A bar for so many steps, if standard error is a terminal: tell it each before it begins."""
    if not sys.stderr.isatty():
        yield lambda title: None
        return
    from rich import progress  # noqa: PLC0415 - 0.1 s, and most runs need no bar
    from rich.console import Console  # noqa: PLC0415 - see above

    columns = (
        progress.MofNCompleteColumn(),
        progress.BarColumn(),
        progress.TimeElapsedColumn(),
        progress.TextColumn("{task.description}"),
    )
    with progress.Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=count)
        begun = 0

        def begin(title: str) -> None:
            nonlocal begun
            bar.update(task, completed=begun, description=title)
            begun += 1

        yield begin


@contextmanager
def shares(title: str) -> Iterator[Callable[[float, str], None]]:
    """A bar, if standard error is a terminal: tell it which share is done, and a word on it."""
    if not sys.stderr.isatty():
        yield lambda share, text: None
        return
    from rich import progress  # noqa: PLC0415 - 0.1 s, and most runs need no bar
    from rich.console import Console  # noqa: PLC0415 - see above

    columns = (
        progress.TextColumn(title),
        progress.BarColumn(),
        progress.TaskProgressColumn(),
        progress.TimeElapsedColumn(),
        progress.TextColumn("{task.description}"),
    )
    with progress.Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=1.0)

        def show(share: float, text: str) -> None:
            bar.update(task, completed=share, description=text)

        yield show
