"""Which of many subscriptions become one by rules, perfectly or not (P2-B10).

Subscriptions are grouped in a dictionary, and each group is merged by itself (`groups`). A merger
may be as imperfect as a threshold allows, measured against its original constituents
(`merger_imperfection`). Within the threshold, what is left of a group may lose its top predicate,
or the two on top.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from boolcast.algebra import ordered_sets as ordered
from boolcast.algebra.ordered_sets import OrderedSet
from boolcast.filters.expressions import Filter, Leaf, conjunction
from boolcast.model.identifiers import SubscriptionId
from boolcast.model.schemas import Schema
from boolcast.optimising.merging.boxes import Box, box_of
from boolcast.optimising.merging.groups import (
    AttributeOrder,
    GroupLimits,
    MergedPredicate,
    SplitConjunction,
    merged_predicates,
    split,
    union_of,
    with_cost,
)
from boolcast.optimising.merging.merger_imperfection import Audience, imperfection_of
from boolcast.optimising.merging.rules import SchemaValues

Constituents = Mapping[SubscriptionId, Filter]


class Threshold(NamedTuple):
    """How imperfect a merger may be: the expected share of events accepted for nothing (IMT).

    `audience` says which events count. `drops` is how many predicates may be dropped, 0 to 2.
    """

    share: float
    audience: Audience
    drops: int = 0


class Merged(NamedTuple):
    """A filter that covers some entries, and its imperfection, as a share of events."""

    filter: Filter
    entries: tuple[SubscriptionId, ...]
    imperfection: float
    operations: int


class MergingRules:
    """Merges entries by rules; without a `threshold` only perfectly.

    `order` says which predicates are on top; a `schema` makes more mergers perfect.
    """

    def __init__(
        self,
        order: AttributeOrder,
        *,
        schema: Schema | None = None,
        threshold: Threshold | None = None,
    ) -> None:
        self.order = order
        self.threshold = threshold
        self._schema_values = SchemaValues(schema)

    def groups(
        self, entries: Iterable[tuple[SubscriptionId, Filter]]
    ) -> dict[tuple[str, frozenset[Leaf]], dict[SubscriptionId, SplitConjunction]]:
        """The conjunctions among the entries, by what a group has in common."""
        found: dict[tuple[str, frozenset[Leaf]], dict[SubscriptionId, SplitConjunction]] = {}
        for name, filter in entries:
            conjunction = split(filter, self.order)
            if conjunction is not None:
                found.setdefault(conjunction.key(), {})[name] = conjunction
        return found

    def mergers(
        self, entries: Constituents, held: Mapping[SubscriptionId, Constituents] | None = None
    ) -> Iterator[Merged]:
        """Merge entries that came from one neighbour; each goes into at most one merger.

        `held` are the entries that already are mergers, with their constituents: a merger that
        absorbs one is judged by these. A merger whose constituents now belong to other groups
        stays as it is.
        """
        held = held or {}
        merged: set[SubscriptionId] = set()
        for group in self.groups(entries.items()).values():
            if len(group) > 1:
                for each in self._of_group(group, held):
                    merged.update(each.entries)
                    yield each
        if self.threshold is not None and self.threshold.drops > 1:
            left = {name: each for name, each in entries.items() if name not in merged}
            yield from self._without_two(left, held)

    def _of_group(
        self,
        group: Mapping[SubscriptionId, SplitConjunction],
        held: Mapping[SubscriptionId, Constituents],
    ) -> Iterator[Merged]:
        first = next(iter(group.values()))
        limits = self._limits(first)
        predicates = [
            predicate
            for name, each in group.items()
            for predicate in self._predicates(name, each, held.get(name), limits)
        ]
        found = merged_predicates(predicates, limits)
        cost = self._cost_of_dropping(found, limits) if len(found) > 1 else None
        if cost is not None:
            names = tuple(name for each in found for name in each.members)
            yield Merged(first.with_top(None), names, cost, len(names) - 1)
            return
        for each in found:
            if len(each.members) > 1:
                filter = first.with_top(each.predicate)
                yield Merged(filter, each.members, each.cost, each.operations)

    def _predicates(
        self,
        name: SubscriptionId,
        conjunction: SplitConjunction,
        constituents: Constituents | None,
        limits: GroupLimits,
    ) -> Iterator[MergedPredicate]:
        """The top predicate of an entry, judged by the constituents if it is a merger."""
        merged = MergedPredicate.of(conjunction.predicate, name)
        if constituents is None:
            yield merged
            return
        splits = [split(each, self.order) for each in constituents.values()]
        if all(each is not None and each.key() == conjunction.key() for each in splits):
            union = union_of(
                MergedPredicate.of(each.predicate, name) for each in splits if each is not None
            )
            is_perfect = limits.possible.agree(union, merged.union)
            yield with_cost(merged._replace(union=union, is_perfect=is_perfect), limits)

    def _limits(self, conjunction: SplitConjunction) -> GroupLimits:
        attribute = conjunction.attribute
        possible = self._schema_values.of(attribute)
        threshold = self.threshold
        if threshold is None:
            return GroupLimits(possible, _no_cost, None)
        box = box_of(conjunction.remainder)

        def cost(values: OrderedSet) -> float:
            if box is None or not values:
                return 0.0
            return threshold.audience.probability(
                Box({attribute: values, **box.ranges}, box.others)
            )

        return GroupLimits(possible, cost, threshold.share)

    def _cost_of_dropping(
        self, predicates: list[MergedPredicate], limits: GroupLimits
    ) -> float | None:
        """How imperfect the remainder of a group alone is; None if that is too much."""
        if self.threshold is None or self.threshold.drops < 1:
            return None
        cost = limits.cost(ordered.complement(union_of(predicates)))
        return cost if cost <= self.threshold.share else None

    def _without_two(
        self, entries: Constituents, held: Mapping[SubscriptionId, Constituents]
    ) -> Iterator[Merged]:
        """Merge conjunctions that differ in the two predicates on top, by dropping these."""
        assert self.threshold is not None
        groups: dict[tuple[object, ...], tuple[SplitConjunction, list[SubscriptionId]]] = {}
        for name, filter in entries.items():
            upper = split(filter, self.order)
            if upper is None or not upper.remainder or name in held:
                continue
            lower = split(conjunction(upper.remainder), self.order)
            if lower is not None:
                key = (upper.attribute, *lower.key())
                groups.setdefault(key, (lower, []))[1].append(name)
        for lower, names in groups.values():
            if len(names) > 1:
                filter = lower.with_top(None)
                originals = [entries[name] for name in names]
                cost = imperfection_of(filter, originals, self.threshold.audience).share
                if cost <= self.threshold.share:
                    yield Merged(filter, tuple(names), cost, len(names) - 1)


def _no_cost(values: OrderedSet) -> float:  # noqa: ARG001 - perfect mergers cost nothing
    return 0.0
