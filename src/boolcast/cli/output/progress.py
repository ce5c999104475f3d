"""Progress on standard error, if that is a terminal, for work of more than a second."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


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
    """A bar for `count` steps; call the function it yields with the title of each step."""
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
    """A bar; call the function it yields with the share that is done, and a remark."""
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
