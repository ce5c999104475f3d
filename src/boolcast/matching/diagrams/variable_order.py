"""The order of attributes in diagrams, from what subscriptions look at (P2-B3).

Frequent attributes go to the bottom, where the nodes above can share theirs. So do attributes with
few distinct predicates. Attributes that occur together stand together. The paper gives these
criteria but no formula. Here one number covers frequency and concentration: how many pairs of
subscriptions have the same predicate on the attribute. The order is built from the bottom up:
next comes the attribute with the largest number, weighted by its affinity to the last one.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from boolcast.filters.canonical import canonical
from boolcast.filters.expressions import Filter
from boolcast.model.statistics import AttributeUse, SubscriptionStatistics

_WINDOW: Final = 16
"""The next attribute is chosen among this many of the heaviest."""


def attribute_order(statistics: SubscriptionStatistics) -> list[str]:
    """The attributes from the top of the diagrams to their bottom."""

    def weight(name: str) -> float:
        return statistics.frequency(name) ** 2 * statistics.attributes[name].concentration

    left = sorted(statistics.attributes, key=lambda name: (-weight(name), name))
    order: list[str] = []
    while left:
        chosen = left[0]
        if order:
            below = order[-1]
            chosen = max(
                left[:_WINDOW],
                key=lambda name: weight(name) * (1 + statistics.affinity(name, below)),
            )
        left.remove(chosen)
        order.append(chosen)
    return order[::-1]


def statistics_of(filters: Iterable[Filter]) -> SubscriptionStatistics:
    """What some subscriptions look at, as `pipeline.write_statistics` counts it on Spark."""
    subscriptions = 0
    holding: Counter[str] = Counter()
    places: dict[str, Counter[str]] = {}
    looking: Counter[str] = Counter()
    companions: dict[str, Counter[str]] = {}
    for filter in filters:
        subscriptions += 1
        leaves = {str(leaf): leaf for leaf in canonical(filter).predicates()}
        holding.update(leaves.keys())
        names = sorted({name for leaf in leaves.values() for name in leaf.names()})
        looking.update(names)
        for text, leaf in leaves.items():
            for name in set(leaf.names()):
                places.setdefault(name, Counter())[text] += 1
        for name in names:
            companions.setdefault(name, Counter()).update(other for other in names if other != name)
    return SubscriptionStatistics(
        subscriptions=subscriptions,
        predicates=dict(holding),
        attributes={
            name: AttributeUse(
                subscriptions=count,
                predicates=len(places[name]),
                concentration=_concentration(places[name]),
                companions=dict(companions[name]),
            )
            for name, count in looking.items()
        },
    )


def _concentration(places: Counter[str]) -> float:
    """The probability that two places, drawn at random, hold the same predicate."""
    total = sum(places.values())
    return sum(count * count for count in places.values()) / (total * total)
