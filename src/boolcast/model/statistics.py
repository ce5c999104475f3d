"""Statistics about events, predicates and subscriptions, as data for engines and optimisers.

Selectivity is the share of events that satisfy a predicate (P1-B5): a large value means an
unselective predicate. A predicate goes by its canonical text (`filters.canonical`).
"""

import msgspec

from boolcast.model.values import Kind, Value


class ValueBin(msgspec.Struct, frozen=True):
    """The events whose value lies between `low` and `high`, both included."""

    low: Value
    high: Value
    events: int
    distinct: int


class AttributeStatistics(msgspec.Struct, frozen=True, kw_only=True):
    """How often an attribute occurs, with which kinds, and how its values are spread.

    `bins` of one kind do not overlap and ascend; a frequent single value may have a bin of
    its own, with `low` equal to `high`. They hold finite values only: infinities, like opaque
    values, are counted under `kinds` and in no bin, because JSON has no number for a bound.
    """

    events: int
    kinds: dict[Kind, int] = {}
    bins: dict[Kind, tuple[ValueBin, ...]] = {}


class Statistics(msgspec.Struct, frozen=True, kw_only=True):
    """Events seen, how many of them satisfied each predicate, and what they carried."""

    events: int
    predicates: dict[str, int] = {}
    attributes: dict[str, AttributeStatistics] = {}

    def selectivity(self, predicate: str) -> float | None:
        """The share of events that satisfied the predicate; None where history is silent.

        >>> Statistics(events=100_000, predicates={"price < 25": 15_000}).selectivity("price < 25")
        0.15
        """
        matches = self.predicates.get(predicate)
        return None if matches is None or self.events == 0 else matches / self.events

    def frequency(self, attribute: str) -> float | None:
        """The share of events that carry the attribute; None before the first event."""
        if self.events == 0:
            return None
        known = self.attributes.get(attribute)
        return 0.0 if known is None else known.events / self.events


class AttributeUse(msgspec.Struct, frozen=True, kw_only=True):
    """How subscriptions look at an attribute (P2-B3).

    `subscriptions` use it, with this number of distinct `predicates`. `concentration` is the
    probability that two uses of the attribute, drawn at random, are the same predicate.
    `companions` are the other attributes, with the number of subscriptions that use both.
    """

    subscriptions: int
    predicates: int
    concentration: float
    companions: dict[str, int] = {}


class SubscriptionStatistics(msgspec.Struct, frozen=True, kw_only=True):
    """Subscriptions, how many of them hold each predicate, and how they look at attributes."""

    subscriptions: int
    predicates: dict[str, int] = {}
    attributes: dict[str, AttributeUse] = {}

    def frequency(self, attribute: str) -> float:
        """The share of subscriptions that look at the attribute; 0 without subscriptions."""
        known = self.attributes.get(attribute)
        return 0.0 if known is None else known.subscriptions / self.subscriptions

    def affinity(self, attribute: str, other: str) -> float:
        """The share of subscriptions that use both attributes, among those that use at least one.

        >>> price = AttributeUse(
        ...     subscriptions=30, predicates=9, concentration=0.2, companions={"time": 20}
        ... )
        >>> time = AttributeUse(
        ...     subscriptions=30, predicates=9, concentration=0.2, companions={"price": 20}
        ... )
        >>> use = {"price": price, "time": time}
        >>> SubscriptionStatistics(subscriptions=90, attributes=use).affinity("price", "time")
        0.5
        """
        one, two = self.attributes.get(attribute), self.attributes.get(other)
        if one is None or two is None:
            return 0.0
        both = one.companions.get(other, 0)
        return both / (one.subscriptions + two.subscriptions - both)
