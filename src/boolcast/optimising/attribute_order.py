"""The order of attributes: which predicate of a conjunction stands on top (P2-B3).

Attributes that many subscriptions look at, and with the same predicates, go to the bottom. Both
are in one number: how many pairs of subscriptions hold the same predicate on the attribute. So
what conjunctions have in common is at the bottom, and what they differ in on top. Two that
differ further down are not found (P2-E12).
"""

from collections import Counter
from collections.abc import Iterable

from boolcast.algebra.conjunctions import leaves
from boolcast.filters.expressions import Filter, Leaf


class AttributeOrder:
    """Attributes from the top to the bottom; those that are not named come first, by name."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = tuple(names)
        self._ranks = {name: (rank, "") for rank, name in enumerate(self.names)}

    @classmethod
    def of(cls, filters: Iterable[Filter]) -> "AttributeOrder":
        """By how the conjunctions among some filters look at attributes."""
        predicates: Counter[Leaf] = Counter()
        for each in filters:
            predicates.update(leaves(each) or ())
        alike: dict[str, int] = {}
        for leaf, count in predicates.items():
            for name in leaf.names():
                alike[name] = alike.get(name, 0) + count * count
        return cls(sorted(alike, key=lambda name: (alike[name], name)))

    def rank(self, name: str) -> tuple[int, str]:
        """What to sort by; the least is on top."""
        return self._ranks.get(name, (-1, name))
