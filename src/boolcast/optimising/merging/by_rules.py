"""Which of many subscriptions become one by rules, perfect or not (P2-B10).

Groups are found by a dictionary and looked at one by one (`merging_groups`). A merger may be
imperfect as far as a threshold allows, which is taken against its original constituents
(`degrees`). Where a threshold lets it, what is left of a group loses its top predicate, or two.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from boolcast.algebra import ordered_sets as ordered
from boolcast.algebra.ordered_sets import OrderedSet
from boolcast.filters.expressions import Filter, Leaf, conjunction
from boolcast.model.identifiers import SubscriptionId
from boolcast.model.schemas import Schema
from boolcast.optimising.merging.attribute_order import AttributeOrder
from boolcast.optimising.merging.boxes import Box, box_of
from boolcast.optimising.merging.groups import (
    Limits,
    Part,
    Split,
    judged,
    merged_parts,
    split,
    union_of,
)
from boolcast.optimising.merging.merger_imperfection import Audience, degree_of
from boolcast.optimising.merging.rules import Knowledge

Constituents = Mapping[SubscriptionId, Filter]


class Threshold(NamedTuple):
    """How imperfect a merger may be: an expected share of events, of those that count (IMT).

    `drops` is how many predicates may be dropped, 0 to 2.
    """

    share: float
    audience: Audience
    drops: int = 0


class Merged(NamedTuple):
    """A filter that covers some entries, and how imperfect it is."""

    filter: Filter
    entries: tuple[SubscriptionId, ...]
    imperfection: float
    operations: int


class MergingRules:
    """The rules as they are to be used: without a `threshold` only the perfect ones.

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
        self._knowledge = Knowledge(schema)

    def groups(
        self, entries: Iterable[tuple[SubscriptionId, Filter]]
    ) -> dict[tuple[str, frozenset[Leaf]], dict[SubscriptionId, Split]]:
        """The conjunctions among some entries, by what they must have in common."""
        found: dict[tuple[str, frozenset[Leaf]], dict[SubscriptionId, Split]] = {}
        for name, filter in entries:
            parts = split(filter, self.order)
            if parts is not None:
                found.setdefault(parts.key(), {})[name] = parts
        return found

    def mergers(
        self, entries: Constituents, held: Mapping[SubscriptionId, Constituents] | None = None
    ) -> Iterator[Merged]:
        """What becomes of entries that came from one neighbour; each is in one merger at most.

        `held` are those among them that are mergers already, with their constituents: a merger
        that takes one up is judged by those. One whose constituents are in other groups by now
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
        self, group: Mapping[SubscriptionId, Split], held: Mapping[SubscriptionId, Constituents]
    ) -> Iterator[Merged]:
        form = next(iter(group.values()))
        limits = self._limits(form)
        parts = [
            part
            for name, each in group.items()
            for part in self._parts(name, each, held.get(name), limits)
        ]
        found = merged_parts(parts, limits)
        whole = self._dropped(found, limits) if len(found) > 1 else None
        if whole is not None:
            names = tuple(name for part in found for name in part.members)
            yield Merged(form.with_top(None), names, whole, len(names) - 1)
            return
        for part in found:
            if len(part.members) > 1:
                filter = form.with_top(part.predicate)
                yield Merged(filter, part.members, part.cost, part.operations)

    def _parts(
        self,
        name: SubscriptionId,
        form: Split,
        constituents: Constituents | None,
        limits: Limits,
    ) -> Iterator[Part]:
        part = Part.of(form.predicate, name)
        if constituents is None:
            yield part
            return
        splits = [split(each, self.order) for each in constituents.values()]
        if all(each is not None and each.key() == form.key() for each in splits):
            union = union_of(Part.of(each.predicate, name) for each in splits if each is not None)
            is_perfect = limits.known.agree(union, part.union)
            yield judged(part._replace(union=union, is_perfect=is_perfect), limits)

    def _limits(self, form: Split) -> Limits:
        known = self._knowledge.of(form.attribute)
        threshold = self.threshold
        if threshold is None:
            return Limits(known, _nothing, None)
        box = box_of(form.remainder)

        def cost(cuts: OrderedSet) -> float:
            if box is None or not cuts:
                return 0.0
            return threshold.audience.chance(Box({form.attribute: cuts, **box.ranges}, box.others))

        return Limits(known, cost, threshold.share)

    def _dropped(self, parts: list[Part], limits: Limits) -> float | None:
        """How imperfect the remainder of a group alone is; None if that is too much."""
        if self.threshold is None or self.threshold.drops < 1:
            return None
        cost = limits.cost(ordered.complement(union_of(parts)))
        return cost if cost <= self.threshold.share else None

    def _without_two(
        self, entries: Constituents, held: Mapping[SubscriptionId, Constituents]
    ) -> Iterator[Merged]:
        """Conjunctions that differ in the two predicates on top become what is below them."""
        assert self.threshold is not None
        groups: dict[tuple[object, ...], tuple[Split, list[SubscriptionId]]] = {}
        for name, filter in entries.items():
            upper = split(filter, self.order)
            if upper is None or not upper.remainder or name in held:
                continue
            lower = split(conjunction(upper.remainder), self.order)
            if lower is not None:
                key = (upper.attribute, *lower.key())
                groups.setdefault(key, (lower, []))[1].append(name)
        for form, names in groups.values():
            if len(names) > 1:
                filter = form.with_top(None)
                originals = [entries[name] for name in names]
                cost = degree_of(filter, originals, self.threshold.audience).imperfection
                if cost <= self.threshold.share:
                    yield Merged(filter, tuple(names), cost, len(names) - 1)


def _nothing(cuts: OrderedSet) -> float:  # noqa: ARG001 - nobody asks for perfect mergers
    return 0.0
