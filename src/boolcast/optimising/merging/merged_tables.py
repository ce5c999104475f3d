"""One broker's table after covering and merging, as a pure function: for experiments (P2-X2).

All subscriptions come from one neighbour. What another covers goes first; then groups are merged;
then mergers take part in covering as ordinary filters (R5).
"""

from collections.abc import Callable, Iterable, Mapping

import msgspec

from boolcast.algebra import ordered_sets as ordered
from boolcast.algebra.ordered_sets import OrderedSet
from boolcast.filters.expressions import Filter, Leaf
from boolcast.model.identifiers import SubscriptionId
from boolcast.optimising.merging.attribute_order import AttributeOrder
from boolcast.optimising.merging.by_rules import Merged, MergingRules
from boolcast.optimising.merging.groups import Part, Split, split

Entries = Mapping[SubscriptionId, Filter]
Covering = Callable[[Entries], Iterable[SubscriptionId]]
"""Which entries no other one covers, in their order; of equal ones the first."""


class TableLeft(msgspec.Struct, frozen=True, kw_only=True):
    """What is left of `received` subscriptions, of which `uncovered` were covered by no other.

    `entries` is the table, the mergers among it by the names that `mergers` has them under;
    `mergers` also has those that another merger covers.
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
    """The table that subscriptions of one neighbour come to; without either, all of them.

    A covering function may miss coverings, which costs room only. `CoveringByRemainder` is the
    one of this module.
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
    """Covering among conjunctions, by closed forms: no pair is proven.

    A conjunction is covered if another one's remainder is among its predicates and one of its
    other predicates lies within that one's top predicate. That finds all coverings by filters
    whose remainder are equalities, and misses some of others. What is no conjunction is covered
    by its equal only.
    """

    def __init__(self, order: AttributeOrder) -> None:
        self._order = order

    def __call__(self, entries: Entries) -> list[SubscriptionId]:
        splits = {name: split(each, self._order) for name, each in entries.items()}
        groups: dict[tuple[str, frozenset[Leaf]], _Group] = {}
        for name, form in splits.items():
            if form is not None:
                groups.setdefault(form.key(), _Group()).add(form.predicate, name)
        for group in groups.values():
            group.narrow()
        remainders = _Remainders(remainder for _, remainder in groups)
        kept: list[SubscriptionId] = []
        others: set[Filter] = set()
        for name, form in splits.items():
            if form is None:
                if entries[name] not in others:
                    others.add(entries[name])
                    kept.append(name)
            elif not _is_covered(name, form, groups, remainders):
                kept.append(name)
        return kept


def _is_covered(
    name: SubscriptionId,
    form: Split,
    groups: Mapping[tuple[str, frozenset[Leaf]], "_Group"],
    remainders: "_Remainders",
) -> bool:
    attribute, remainder = form.key()
    if groups[attribute, remainder].covers(form.predicate, besides=name):
        return True
    for smaller in remainders.within(remainder):
        if smaller != remainder:
            group = groups.get((attribute, smaller))
            if group is not None and group.covers(form.predicate):
                return True
        for leaf in remainder - smaller:
            group = groups.get((leaf.attribute, smaller))
            if group is not None and group.covers(leaf):
                return True
    return False


class _Group:
    """The top predicates of conjunctions with the same remainder, each by who has it first."""

    def __init__(self) -> None:
        self._first: dict[Leaf, SubscriptionId] = {}
        self._wide: dict[OrderedSet, SubscriptionId] = {}

    def add(self, predicate: Leaf, name: SubscriptionId) -> None:
        if predicate not in self._first:
            self._first[predicate] = name
            cuts = Part.of(predicate, name).union
            if cuts and not ordered.is_point(*ordered.intervals(cuts)[0]):
                self._wide.setdefault(cuts, name)

    def narrow(self) -> None:
        """Keep of those that may cover others the ones that no other one covers."""
        kept: dict[OrderedSet, SubscriptionId] = {}
        for cuts, name in self._wide.items():
            if not any(_includes(each, cuts) for each in kept):
                kept = {each: who for each, who in kept.items() if not _includes(cuts, each)}
                kept[cuts] = name
        self._wide = kept

    def covers(self, predicate: Leaf, besides: SubscriptionId | None = None) -> bool:
        """True if somebody else's predicate accepts all that this one does."""
        first = self._first.get(predicate)
        if first is not None and first != besides:
            return True
        union = Part.of(predicate, SubscriptionId("")).union
        return bool(union) and any(
            name != besides and _includes(cuts, union) for cuts, name in self._wide.items()
        )


def _includes(outer: OrderedSet, inner: OrderedSet) -> bool:
    return ordered.intersect(outer, inner) == inner


class _Remainders:
    """Which of many sets of predicates are within another one, each found by its rarest member."""

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
        """Those whose members are all in this one."""
        known = self._known.get(remainder)
        if known is None:
            known = self._known[remainder] = self._empty + [
                each
                for leaf in remainder
                for each in self._by_leaf.get(leaf, ())
                if each <= remainder
            ]
        return known
