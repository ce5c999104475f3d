"""What covering and merging leave of one broker's table, as a pure function (P2-X2).

All subscriptions come from one neighbour. Covered ones go first; then groups are merged; then
mergers take part in covering as ordinary filters (R5).
"""

from collections.abc import Callable, Iterable, Mapping

import msgspec

from boolcast.algebra import ordered_sets as ordered
from boolcast.algebra.ordered_sets import OrderedSet
from boolcast.filters.expressions import Filter, Leaf
from boolcast.model.identifiers import SubscriptionId
from boolcast.optimising.merging.by_rules import Merged, MergingRules
from boolcast.optimising.merging.groups import (
    AttributeOrder,
    MergedPredicate,
    SplitConjunction,
    split,
)

Entries = Mapping[SubscriptionId, Filter]
Covering = Callable[[Entries], Iterable[SubscriptionId]]
"""The entries that no other one covers, in their order; the first of equal ones."""


class TableLeft(msgspec.Struct, frozen=True, kw_only=True):
    """What is left of `received` subscriptions, of which `uncovered` were covered by no other.

    `entries` is the table, with mergers under the names they have in `mergers`; `mergers` also
    holds those that another merger covers.
    """

    received: int
    uncovered: int
    entries: dict[SubscriptionId, Filter]
    mergers: dict[SubscriptionId, Merged]

    def __len__(self) -> int:
        return len(self.entries)


def table_left(
    subscriptions: Entries,
    *,
    covering: Covering | None = None,
    rules: MergingRules | None = None,
) -> TableLeft:
    """The table that is left by covering, by merging, or by both.

    A covering function may miss coverings, which only costs space. `CoveringByRemainder` is the
    one used here.
    """
    left = _kept(subscriptions, covering)
    uncovered = len(left)
    mergers: dict[SubscriptionId, Merged] = {}
    if rules is not None:
        for merged in rules.mergers(left):
            mergers[SubscriptionId(f"merger {len(mergers)}")] = merged
        gone = {name for merged in mergers.values() for name in merged.entries}
        left = {name: each for name, each in left.items() if name not in gone}
        left |= {name: merged.filter for name, merged in mergers.items()}
        left = _kept(left, covering)
    return TableLeft(
        received=len(subscriptions), uncovered=uncovered, entries=left, mergers=mergers
    )


def _kept(entries: Entries, covering: Covering | None) -> dict[SubscriptionId, Filter]:
    if covering is None:
        return dict(entries)
    return {name: entries[name] for name in covering(entries)}


class CoveringByRemainder:
    """Covering among conjunctions, without a proof for each pair.

    A conjunction is covered if another one's remainder is among its predicates and one of its
    other predicates lies within that one's top predicate. This finds all coverings by filters
    whose remainder consists of equalities, and misses some others. A filter that is no
    conjunction is covered only by its equal.
    """

    def __init__(self, order: AttributeOrder) -> None:
        self._order = order

    def __call__(self, entries: Entries) -> list[SubscriptionId]:
        splits = {name: split(each, self._order) for name, each in entries.items()}
        groups: dict[tuple[str, frozenset[Leaf]], _Group] = {}
        for name, conjunction in splits.items():
            if conjunction is not None:
                groups.setdefault(conjunction.key(), _Group()).add(conjunction.predicate, name)
        for group in groups.values():
            group.narrow()
        remainders = _Remainders(remainder for _, remainder in groups)
        kept: list[SubscriptionId] = []
        others: set[Filter] = set()
        for name, conjunction in splits.items():
            if conjunction is None:
                if entries[name] not in others:
                    others.add(entries[name])
                    kept.append(name)
            elif not _is_covered(name, conjunction, groups, remainders):
                kept.append(name)
        return kept


def _is_covered(
    name: SubscriptionId,
    conjunction: SplitConjunction,
    groups: Mapping[tuple[str, frozenset[Leaf]], "_Group"],
    remainders: "_Remainders",
) -> bool:
    attribute, remainder = conjunction.key()
    if groups[attribute, remainder].covers(conjunction.predicate, besides=name):
        return True
    for smaller in remainders.within(remainder):
        if smaller != remainder:
            group = groups.get((attribute, smaller))
            if group is not None and group.covers(conjunction.predicate):
                return True
        for leaf in remainder - smaller:
            group = groups.get((leaf.attribute, smaller))
            if group is not None and group.covers(leaf):
                return True
    return False


class _Group:
    """The top predicates of conjunctions with the same remainder, by the first that has each."""

    def __init__(self) -> None:
        self._first: dict[Leaf, SubscriptionId] = {}
        self._wide: dict[OrderedSet, SubscriptionId] = {}

    def add(self, predicate: Leaf, name: SubscriptionId) -> None:
        if predicate not in self._first:
            self._first[predicate] = name
            values = MergedPredicate.of(predicate, name).union
            if values and not ordered.is_point(*ordered.intervals(values)[0]):
                self._wide.setdefault(values, name)

    def narrow(self) -> None:
        """Of the predicates that may cover others, keep those that no other covers."""
        kept: dict[OrderedSet, SubscriptionId] = {}
        for values, name in self._wide.items():
            if not any(_includes(each, values) for each in kept):
                kept = {each: who for each, who in kept.items() if not _includes(values, each)}
                kept[values] = name
        self._wide = kept

    def covers(self, predicate: Leaf, besides: SubscriptionId | None = None) -> bool:
        """True if the predicate of another entry accepts all that this one does."""
        first = self._first.get(predicate)
        if first is not None and first != besides:
            return True
        union = MergedPredicate.of(predicate, SubscriptionId("")).union
        return bool(union) and any(
            name != besides and _includes(values, union) for values, name in self._wide.items()
        )


def _includes(outer: OrderedSet, inner: OrderedSet) -> bool:
    return ordered.intersect(outer, inner) == inner


class _Remainders:
    """Sets of predicates, asked which lie within another; each is found by its rarest member."""

    def __init__(self, remainders: Iterable[frozenset[Leaf]]) -> None:
        distinct = dict.fromkeys(remainders)
        counts: dict[Leaf, int] = {}
        for remainder in distinct:
            for leaf in remainder:
                counts[leaf] = counts.get(leaf, 0) + 1
        self._empty = [each for each in distinct if not each]
        self._by_leaf: dict[Leaf, list[frozenset[Leaf]]] = {}
        for remainder in distinct:
            if remainder:
                self._by_leaf.setdefault(min(remainder, key=counts.__getitem__), []).append(
                    remainder
                )
        self._known: dict[frozenset[Leaf], list[frozenset[Leaf]]] = {}

    def within(self, remainder: frozenset[Leaf]) -> list[frozenset[Leaf]]:
        """The sets whose members are all in this one."""
        known = self._known.get(remainder)
        if known is None:
            known = self._known[remainder] = self._empty + [
                each
                for leaf in remainder
                for each in self._by_leaf.get(leaf, ())
                if each <= remainder
            ]
        return known
