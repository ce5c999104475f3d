"""Conjunctions that differ in the one predicate on top, and what becomes of such a group.

Two conjunctions with the same top attribute and the same remainder are what two outputs of one
diagram with the same child are (P2-B2): the candidates of a merger. A group lies on the line of
its attribute's values: at most one predicate without lower end, at most one without upper end,
and values in between. Only neighbours on that line can become one without taking in more than
they must, so there are two steps to choose from at any time, and the cheaper one is taken. That
goes on until no rule or no threshold lets another one pass.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import zip_longest
from typing import Final, NamedTuple, cast

from boolcast.algebra import ordered_sets as ordered
from boolcast.algebra.ordered_sets import OrderedSet
from boolcast.algebra.value_sets import meaning
from boolcast.filters.canonical import canonical_predicate, to_nnf
from boolcast.filters.expressions import Comparison, Filter, IsNull, Leaf, conjunction, leaves
from boolcast.model.identifiers import SubscriptionId
from boolcast.model.values import Kind, kind_of
from boolcast.optimising.merging.attribute_order import AttributeOrder
from boolcast.optimising.merging.rules import Known, cuts_of, joined, side_of

_MOST_STEPS: Final = 500
"""How many values one group may take up at a time; each step looks at all taken up before."""


class Split(NamedTuple):
    """A conjunction, and which of its predicates is the one on its top attribute."""

    predicates: tuple[Leaf, ...]
    top: int

    @property
    def predicate(self) -> Leaf:
        """The one on top."""
        return self.predicates[self.top]

    @property
    def attribute(self) -> str:
        """The one on top."""
        return self.predicate.attribute

    @property
    def remainder(self) -> tuple[Leaf, ...]:
        """All others, as they stand."""
        return self.predicates[: self.top] + self.predicates[self.top + 1 :]

    def key(self) -> tuple[str, frozenset[Leaf]]:
        """The same for all conjunctions of a group."""
        return self.attribute, frozenset(self.remainder)

    def with_top(self, predicate: Leaf | None) -> Filter:
        """The conjunction with another predicate in that place, or without any."""
        replaced = () if predicate is None else (predicate,)
        return conjunction(self.predicates[: self.top] + replaced + self.predicates[self.top + 1 :])


def split(filter: Filter, order: AttributeOrder) -> Split | None:
    """Find the top of a conjunction; None for other filters, and if several predicates are there.

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
    (place,) = [place for place, leaf in enumerate(predicates) if top in leaf.names()]
    return Split(predicates, place) if len(predicates[place].names()) == 1 else None


@lru_cache(maxsize=65_536)
def _canonical(predicate: Leaf) -> Leaf:
    return canonical_predicate(predicate)


class Part(NamedTuple):
    """A predicate of a group and the subscriptions that it stands for.

    `union` is what those accept, exactly; `operations` steps made it one. `cost` is its
    imperfection; a perfect one has none.
    """

    predicate: Leaf
    members: tuple[SubscriptionId, ...]
    union: OrderedSet
    operations: int = 0
    cost: float = 0.0
    is_perfect: bool = True

    @classmethod
    def of(cls, predicate: Leaf, member: SubscriptionId) -> "Part":
        """The predicate of one subscription; one that is no set of values accepts none for sure."""
        variable, inside, _ = meaning(predicate)
        is_set = not variable.is_residual and not inside.literals
        return cls(predicate, (member,), inside.ordered if is_set else ordered.NOTHING)


Cost = Callable[[OrderedSet], float]
"""The probability of events with these values, among those that satisfy the remainder."""


class Limits(NamedTuple):
    """What a group may become: `threshold` None is for perfect mergers only."""

    known: Known
    cost: Cost
    threshold: float | None


def merged_parts(parts: Iterable[Part], limits: Limits) -> list[Part]:
    """The parts of a group after all steps that are allowed."""
    kinds: dict[Kind, list[Part]] = {}
    present: list[Part] = []
    rest: list[Part] = []
    for part in _distinct(parts, limits):
        match part.predicate:
            case Comparison(_, _, value):
                kinds.setdefault(kind_of(value), []).append(part)
            case IsNull(_, True):
                present.append(part)
            case _:
                rest.append(part)
    found = [part for each in kinds.values() for part in _on_a_line(each, limits)]
    found += present
    # All values of the attribute: that covers the others, of whatever kind.
    found.sort(key=lambda part: not isinstance(part.predicate, IsNull))
    if found and isinstance(found[0].predicate, IsNull):
        found = _taking_up(found, limits)
    return found + rest


def _distinct(parts: Iterable[Part], limits: Limits) -> list[Part]:
    """Each predicate once."""
    found: dict[Leaf, Part] = {}
    for part in parts:
        same = found.get(part.predicate)
        if same is None:
            found[part.predicate] = part
        else:
            found[part.predicate] = judged(_together(same, part, part.predicate), limits)
    return list(found.values())


def _on_a_line(parts: Sequence[Part], limits: Limits) -> list[Part]:
    """The same for comparisons with values of one kind."""
    if len(parts) == 1:
        return list(parts)
    sides: dict[str, list[Part]] = {"lower": [], "upper": [], "point": [], "hole": []}
    for part in sorted(parts, key=lambda part: cuts_of(part.predicate)):
        sides[side_of(cast("Comparison", part.predicate))].append(part)
    # All that have no end on one side begin, or end, alike, and the widest covers the others.
    lower = _taking_up(sides["lower"][::-1], limits)
    upper = _taking_up(sides["upper"], limits)
    line = _Line(lower[:1], sides["point"], upper[:1], limits)
    found = [*line.merged(), *lower[1:], *upper[1:]]
    for hole in sides["hole"]:
        found = _taking_up([hole, *found], limits)
    return found


def _taking_up(parts: list[Part], limits: Limits) -> list[Part]:
    """The first part with those that it may be merged with, and then the rest."""
    if not parts:
        return []
    wide, *others = parts
    kept: list[Part] = []
    for other in others:
        both = _step(wide, other, limits)
        if both is None:
            kept.append(other)
        else:
            wide = both
    return [wide, *kept]


class _Line:
    """Values in their order between a part without lower end and one without upper end, if any."""

    def __init__(
        self, lower: list[Part], points: list[Part], upper: list[Part], limits: Limits
    ) -> None:
        self.lower = lower[0] if lower else None
        self.upper = upper[0] if upper else None
        self.points = points
        self.first = 0
        self.last = len(points) - 1
        self.limits = limits

    def merged(self) -> list[Part]:
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
        return [part for part in ends if part is not None]


def _step(left: Part, right: Part, limits: Limits) -> Part | None:
    """Two parts as one, if a rule and the threshold allow it."""
    rule = joined(left.predicate, right.predicate, limits.known)
    if rule is None:
        return None
    both = _together(left, right, rule.predicate)
    if both.is_perfect and rule.is_perfect:
        return both
    if limits.threshold is None:
        return None
    both = judged(both._replace(is_perfect=False), limits)
    return both if both.cost <= limits.threshold else None


def union_of(parts: Iterable[Part]) -> OrderedSet:
    """What the members of some parts accept: by halves, so that long sets are rarely copied."""
    unions = [part.union for part in parts]
    while len(unions) > 1:
        half = zip_longest(unions[::2], unions[1::2], fillvalue=ordered.NOTHING)
        unions = [ordered.unite(left, right) for left, right in half]
    return unions[0] if unions else ordered.NOTHING


def judged(part: Part, limits: Limits) -> Part:
    """The part with its cost: of the values that it accepts and none of its members does."""
    if part.is_perfect:
        return part
    outside = ordered.complement(part.union)
    return part._replace(cost=limits.cost(ordered.intersect(cuts_of(part.predicate), outside)))


def _together(left: Part, right: Part, predicate: Leaf) -> Part:
    return Part(
        predicate,
        left.members + right.members,
        ordered.unite(left.union, right.union),
        left.operations + right.operations + 1,
        is_perfect=left.is_perfect and right.is_perfect,
    )
