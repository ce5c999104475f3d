"""A paper's statement as data: what the paper says, what we measured, whether the bound holds."""

from collections.abc import Iterable

import msgspec


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One statement; `number` is its number in the paper's list of checks.

    `paper` and `ours` are figures as text.
    """

    number: int
    part: str
    name: str
    bound: str
    paper: str
    ours: str
    holds: bool


def listed(values: Iterable[float], spec: str = "") -> str:
    """Figures as text, separated by commas."""
    return ", ".join(format(value, spec) for value in values)


def percents(values: Iterable[float]) -> str:
    """Shares as percentages with one decimal."""
    return ", ".join(f"{100 * value:.1f} %" for value in values)
