"""Groups of conjunctions that differ in one predicate, and what such a group becomes.

Attributes have an order, as in diagrams: what conjunctions share is at the bottom, what they differ
in on top (P2-B3). Conjunctions with the same top attribute and the same remainder form a group.
They correspond to outputs of one diagram with the same child (P2-B2), and are the candidates for a
merger. Conjunctions that differ further down are not found (P2-E12).

The predicates of a group lie on the line of the attribute's values: at most one without lower end,
at most one without upper end, and single values in between. Only neighbours on that line can be
joined without accepting more than necessary. So there are two steps to choose from at any time, and
the cheaper one is taken, until no rule or no threshold allows another.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import zip_longest
from typing import Final, NamedTuple

from boolcast.algebra import ordered_sets as ordered
from boolcast.algebra.ordered_sets import OrderedSet
from boolcast.algebra.value_sets import meaning
from boolcast.filters.canonical import canonical_predicate, to_nnf
from boolcast.filters.expressions import Comparison, Filter, IsNull, Leaf, conjunction, leaves
from boolcast.matching.diagrams.variable_order import attribute_order, statistics_of
from boolcast.model.identifiers import SubscriptionId
from boolcast.model.values import Kind, kind_of
from boolcast.optimising.merging.rules import PossibleValues, joined, side_of, values_of

_MOST_STEPS: Final = 500
"""How many values of one group are joined at a time; each step looks at all joined before."""


class AttributeOrder:
    """Attributes from top to bottom; unnamed ones come first, by name."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = tuple(names)
        self._ranks = {name: (rank, "") for rank, name in enumerate(self.names)}

    @classmethod
    def of(cls, filters: Iterable[Filter]) -> "AttributeOrder":
        """The order that diagrams of these filters would have."""
        return cls(attribute_order(statistics_of(filters)))

    def rank(self, name: str) -> tuple[int, str]:
        """A sort key; the least is on top."""
        return self._ranks.get(name, (-1, name))


class SplitConjunction(NamedTuple):
    """A conjunction, and the index of its predicate on the top attribute."""

    predicates: tuple[Leaf, ...]
    top: int

    @property
    def predicate(self) -> Leaf:
        """The predicate on top."""
        return self.predicates[self.top]

    @property
    def attribute(self) -> str:
        """The attribute on top."""
        return self.predicate.attribute

    @property
    def remainder(self) -> tuple[Leaf, ...]:
        """All other predicates, in their order."""
        return self.predicates[: self.top] + self.predicates[self.top + 1 :]

    def key(self) -> tuple[str, frozenset[Leaf]]:
        """The same for all conjunctions of a group."""
        return self.attribute, frozenset(self.remainder)

    def with_top(self, predicate: Leaf | None) -> Filter:
        """The conjunction with another predicate on top, or with none."""
        replaced = () if predicate is None else (predicate,)
        return conjunction(self.predicates[: self.top] + replaced + self.predicates[self.top + 1 :])


def split(filter: Filter, order: AttributeOrder) -> SplitConjunction | None:
    """Find the top predicate; None if the filter is not a conjunction or has several on top.

    A predicate on two attributes is never alone on top.
    """
    found = leaves(filter) or leaves(to_nnf(filter))
    if found is None:
        return None
    predicates = tuple(dict.fromkeys(map(_canonical, found)))
    names = [name for leaf in predicates for name in leaf.names()]
    top = min(names, key=order.rank)
    if names.count(top) > 1:
        return None
    (index,) = [index for index, leaf in enumerate(predicates) if top in leaf.names()]
    return SplitConjunction(predicates, index) if len(predicates[index].names()) == 1 else None


@lru_cache(maxsize=65_536)
def _canonical(predicate: Leaf) -> Leaf:
    return canonical_predicate(predicate)


class MergedPredicate(NamedTuple):
    """A top predicate of a group, and the subscriptions it stands for.

    `union` is exactly what these accept; `operations` steps led here. `cost` is the imperfection,
    0 if `is_perfect`.
    """

    predicate: Leaf
    members: tuple[SubscriptionId, ...]
    union: OrderedSet
    operations: int = 0
    cost: float = 0.0
    is_perfect: bool = True

    @classmethod
    def of(cls, predicate: Leaf, member: SubscriptionId) -> "MergedPredicate":
        """The predicate of one subscription; its union is empty if it is not a set of values."""
        variable, inside, _ = meaning(predicate)
        is_set = not variable.is_residual and not inside.literals
        return cls(predicate, (member,), inside.ordered if is_set else ordered.NOTHING)


Cost = Callable[[OrderedSet], float]
"""The probability of events with these values, among those that satisfy the remainder."""


class GroupLimits(NamedTuple):
    """What a group may become; without a `threshold` only perfect mergers."""

    possible: PossibleValues
    cost: Cost
    threshold: float | None


def merged_predicates(
    several: Iterable[MergedPredicate], limits: GroupLimits
) -> list[MergedPredicate]:
    """The predicates of a group after all steps that are allowed."""
    kinds: dict[Kind, list[MergedPredicate]] = {}
    present: list[MergedPredicate] = []
    rest: list[MergedPredicate] = []
    for each in _distinct(several, limits):
        match each.predicate:
            case Comparison(_, _, value):
                kinds.setdefault(kind_of(value), []).append(each)
            case IsNull(_, True):
                present.append(each)
            case _:
                rest.append(each)
    found = [each for of_kind in kinds.values() for each in _on_a_line(of_kind, limits)]
    found += present
    # `is not null` covers all comparisons, of whatever kind.
    found.sort(key=lambda each: not isinstance(each.predicate, IsNull))
    if found and isinstance(found[0].predicate, IsNull):
        found = _absorbing(found, limits)
    return found + rest


def _distinct(several: Iterable[MergedPredicate], limits: GroupLimits) -> list[MergedPredicate]:
    """Each predicate once."""
    found: dict[Leaf, MergedPredicate] = {}
    for each in several:
        same = found.get(each.predicate)
        if same is None:
            found[each.predicate] = each
        else:
            found[each.predicate] = with_cost(_together(same, each, each.predicate), limits)
    return list(found.values())


def _on_a_line(several: Sequence[MergedPredicate], limits: GroupLimits) -> list[MergedPredicate]:
    """The same for comparisons with values of one kind."""
    if len(several) == 1:
        return list(several)
    sides: dict[str, list[MergedPredicate]] = {"lower": [], "upper": [], "point": [], "hole": []}
    for each in sorted(several, key=lambda each: values_of(each.predicate)):
        assert isinstance(each.predicate, Comparison)
        sides[side_of(each.predicate)].append(each)
    # Of those that are open on one side, the widest covers the others.
    lower = _absorbing(sides["lower"][::-1], limits)
    upper = _absorbing(sides["upper"], limits)
    line = _Line(lower[:1], sides["point"], upper[:1], limits)
    found = [*line.merged(), *lower[1:], *upper[1:]]
    for hole in sides["hole"]:
        found = _absorbing([hole, *found], limits)
    return found


def _absorbing(several: list[MergedPredicate], limits: GroupLimits) -> list[MergedPredicate]:
    """The first joined with all others that it may be joined with, then the rest."""
    if not several:
        return []
    wide, *others = several
    kept: list[MergedPredicate] = []
    for other in others:
        both = _step(wide, other, limits)
        if both is None:
            kept.append(other)
        else:
            wide = both
    return [wide, *kept]


class _Line:
    """Single values in their order, between a predicate open below and one open above, if any."""

    def __init__(
        self,
        lower: list[MergedPredicate],
        points: list[MergedPredicate],
        upper: list[MergedPredicate],
        limits: GroupLimits,
    ) -> None:
        self.lower = lower[0] if lower else None
        self.upper = upper[0] if upper else None
        self.points = points
        self.first = 0
        self.last = len(points) - 1
        self.limits = limits

    def merged(self) -> list[MergedPredicate]:
        for _ in range(_MOST_STEPS):
            below = above = both = None
            if self.first <= self.last:
                if self.lower is not None:
                    below = _step(self.lower, self.points[self.first], self.limits)
                if self.upper is not None:
                    above = _step(self.upper, self.points[self.last], self.limits)
            elif self.lower is not None and self.upper is not None:
                both = _step(self.lower, self.upper, self.limits)
            if below is not None and (above is None or below.cost <= above.cost):
                self.lower = below
                self.first += 1
            elif above is not None:
                self.upper = above
                self.last -= 1
            elif both is not None:
                return [both]
            else:
                break
        ends = [self.lower, *self.points[self.first : self.last + 1], self.upper]
        return [each for each in ends if each is not None]


def _step(
    left: MergedPredicate, right: MergedPredicate, limits: GroupLimits
) -> MergedPredicate | None:
    """The two as one, if a rule and the threshold allow it."""
    rule = joined(left.predicate, right.predicate, limits.possible)
    if rule is None:
        return None
    both = _together(left, right, rule.predicate)
    if both.is_perfect and rule.is_perfect:
        return both
    if limits.threshold is None:
        return None
    both = with_cost(both._replace(is_perfect=False), limits)
    return both if both.cost <= limits.threshold else None


def union_of(several: Iterable[MergedPredicate]) -> OrderedSet:
    """What all members accept; united by halves, so that long sets are rarely copied."""
    unions = [each.union for each in several]
    while len(unions) > 1:
        half = zip_longest(unions[::2], unions[1::2], fillvalue=ordered.NOTHING)
        unions = [ordered.unite(left, right) for left, right in half]
    return unions[0] if unions else ordered.NOTHING


def with_cost(merged: MergedPredicate, limits: GroupLimits) -> MergedPredicate:
    """With the cost of the values that the predicate accepts and no member does."""
    if merged.is_perfect:
        return merged
    outside = ordered.complement(merged.union)
    return merged._replace(
        cost=limits.cost(ordered.intersect(values_of(merged.predicate), outside))
    )


def _together(left: MergedPredicate, right: MergedPredicate, predicate: Leaf) -> MergedPredicate:
    return MergedPredicate(
        predicate,
        left.members + right.members,
        ordered.unite(left.union, right.union),
        left.operations + right.operations + 1,
        is_perfect=left.is_perfect and right.is_perfect,
    )
