"""What the reports of all reproductions share."""

from collections.abc import Iterable
from importlib.util import find_spec

from boolcast.cli.output import write, write_error
from boolcast.experiments.checks import Check


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
