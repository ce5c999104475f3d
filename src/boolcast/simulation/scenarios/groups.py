"""The subscriptions of P4-X1: large ones that cover many small ones.

A *root* is `group = g`; its *children* are `group = g and x between l and l + w`, all of the same
width, so that none covers another.
"""

from typing import Final

from boolcast.filters.expressions import And, Between, Comparison, Filter

RANGE: Final = 1_000_000
"""How many values `x` has."""


def root(group: int) -> Filter:
    """All of a group."""
    return Comparison("group", "=", group)


def child(group: int, low: int, width: int) -> Filter:
    """So many values of `x`, from `low` on."""
    return And((Comparison("group", "=", group), Between("x", low, low + width - 1)))
