"""The order of attributes: which predicate of a conjunction stands on top (P2-B3).

What conjunctions have in common is at the bottom, and what they differ in on top, as in diagrams.
Two that differ further down are not found (P2-E12).
"""

from collections.abc import Iterable

from boolcast.filters.expressions import Filter
from boolcast.matching.diagrams.variable_order import attribute_order, statistics_of


class AttributeOrder:
    """Attributes from the top to the bottom; those that are not named come first, by name."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = tuple(names)
        self._ranks = {name: (rank, "") for rank, name in enumerate(self.names)}

    @classmethod
    def of(cls, filters: Iterable[Filter]) -> "AttributeOrder":
        """As diagrams of some filters would have it (`matching.diagrams.variable_order`)."""
        return cls(attribute_order(statistics_of(filters)))

    def rank(self, name: str) -> tuple[int, str]:
        """What to sort by; the least is on top."""
        return self._ranks.get(name, (-1, name))
