"""The order of attributes: which predicate of a conjunction stands on top (P2-B3).

Attributes that many subscriptions look at go to the bottom, and of those that are as frequent,
the ones whose predicates are always the same: so what conjunctions have in common is at the
bottom, and what they differ in on top. Two that differ further down are not found (P2-E12).
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
        uses: dict[str, list[int]] = {}
        for leaf, count in predicates.items():
            for name in leaf.names():
                uses.setdefault(name, []).append(count)

        def rank(name: str) -> tuple[int, float, str]:
            counts = uses[name]
            # The probability that two of them are the same, times a constant.
            return sum(counts), sum(count * count for count in counts), name

        return cls(sorted(uses, key=rank))

    def rank(self, name: str) -> tuple[int, str]:
        """What to sort by; the least is on top."""
        return self._ranks.get(name, (-1, name))
