"""What the reports of all reproductions share."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from boolcast.cli.output import write, write_error
from boolcast.errors import FileError
from boolcast.experiments.checks import Check


@contextmanager
def made_folder(output: str | None) -> Iterator[Path | None]:
    """The folder, made if need be. Raises FileError for what cannot be written meanwhile."""
    folder = None if output is None else Path(output)
    try:
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
        yield folder
    except OSError as error:
        raise FileError(f"cannot write: {error.strerror}", path=str(output)) from None


def write_checks(checks: Iterable[Check]) -> None:
    """Two lines for each: ours, and what it should be beside what the paper has."""
    for check in checks:
        mark = "✓" if check.holds else "✗"
        write(f"{mark} {check.number}. {check.name}: {check.ours}")
        write(f"     should be {check.bound}; the paper: {check.paper}")


def can_draw() -> bool:
    """Whether there is matplotlib; says so if there is not."""
    if find_spec("matplotlib") is not None:
        return True
    write_error("no plots: pip install 'boolcast[report]'")
    return False
