"""P5-B1: one writing for conjunctions that say the same of the order of their values.

All that a conjunction says about one attribute is a set, and the set is written in one way: as
one equality or list, or as a lower bound, an upper bound and the gaps between them. String
patterns that are no prefix, and prefixes that are left out, stay as they are written, the
former without those that the rest implies.
"""

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import Final, cast

from boolcast.algebra import ordered_sets as ordered
from boolcast.algebra.budget import SIMPLIFY_BUDGET, Budget
from boolcast.algebra.ordered_sets import Boundary, OrderedSet
from boolcast.algebra.satisfaction import Search
from boolcast.algebra.value_sets import (
    ALL_EVENTS,
    ONLY_MISSING,
    Variable,
    World,
    intersect,
    meaning,
    worlds,
)
from boolcast.errors import UsageError
from boolcast.filters.canonical import (
    canonical_predicate,
    canonical_value,
    to_nnf,
    without_constants,
)
from boolcast.filters.expressions import (
    FALSE,
    Between,
    Comparison,
    Constant,
    Filter,
    FilterLike,
    In,
    IsNull,
    Leaf,
    RewrittenFilter,
    StringTest,
    as_filter,
    conjunction,
    leaves,
)
from boolcast.filters.printing import to_text
from boolcast.filters.words import value_text
from boolcast.model.schemas import Schema
from boolcast.model.values import Timestamp, Value

_LARGEST: Final = math.nextafter(math.inf, 0)
_OPERATOR_ORDER: Final = ("=", "<", "<=", ">", ">=", "!=")


class Normalised(RewrittenFilter, frozen=True):
    """The conjunction in normal form; where the budget is `exhausted` it may say too much."""

    exhausted: bool = False


def normalise_conjunction(
    filter: FilterLike, *, schema: Schema | None = None, budget: int = SIMPLIFY_BUDGET
) -> Normalised:
    """The normal form of a conjunction; `false` if no event can satisfy it.

    Raises UsageError for a filter that is not a conjunction of predicates.

    >>> str(normalise_conjunction("z = 9 and z < 10 and z > 2 and y > 3"))
    'y > 3 and z = 9'
    """
    node = without_constants(to_nnf(as_filter(filter)))
    if isinstance(node, Constant):
        return Normalised(node)
    predicates = leaves(node)
    if predicates is None:
        raise UsageError(f"only a conjunction of predicates can be normalised, not: {filter}")
    steps = Budget(budget)
    search = Search([node], [], schema, steps)
    if not search.may_exist:
        return Normalised(FALSE)
    world = _world(node, schema)
    written: dict[Variable, list[Leaf]] = {}
    for leaf in predicates:
        written.setdefault(meaning(leaf).variable, []).append(leaf)
    kept: list[Leaf] = []
    exhausted = search.exhausted
    for variable, own in written.items():
        rewritten = list(dict.fromkeys(_rewritten(variable, own, world)))
        needed = _needed(rewritten, schema, steps)
        exhausted = exhausted or needed is None
        kept += rewritten if needed is None else needed
    kept.sort(key=_sort_key)
    return Normalised(conjunction(kept), exhausted)


def _world(node: Filter, schema: Schema | None) -> World:
    """The one world of the schema in which the conjunction can be true, else that of all events."""
    possible = [
        world
        for world in worlds(schema)
        if all(
            intersect(world.domain(variable), world.restrict(variable, inside)).ordered
            for variable, inside, _ in map(meaning, leaves(node) or ())
        )
    ]
    return possible[0] if len(possible) == 1 else ALL_EVENTS


def _rewritten(variable: Variable, own: list[Leaf], world: World) -> Iterator[Leaf]:
    """The predicates on one attribute, rewritten from the set that they describe together."""
    if variable.is_residual:
        yield from map(canonical_predicate, own)
        return
    common = world.domain(variable)
    for leaf in own:
        inside = meaning(leaf).inside
        common = intersect(common, world.restrict(variable, inside))
        if inside.literals:
            yield canonical_predicate(leaf)
    ranks = {boundary[0] for leaf in own for boundary in meaning(leaf).inside.ordered}
    if common.ordered == ONLY_MISSING.ordered:
        yield IsNull(variable.name)
    elif ranks <= {ordered.OPAQUE, ordered.TIMESTAMP + 1}:
        yield IsNull(variable.name, negated=True)
    else:
        (rank,) = {boundary[0] for leaf in own for boundary in meaning(leaf).inside.ordered[:1]} - {
            ordered.OPAQUE
        }
        kind = ((rank,), (rank + 1,))
        admitted = ordered.intersect(common.ordered, kind)
        yield from _of_kind(variable.name, admitted, rank, variable in world.whole)
        if _has_open_gaps(admitted):
            yield from (canonical_predicate(leaf) for leaf in own if _leaves_out(leaf))


def _has_open_gaps(admitted: OrderedSet) -> bool:
    """True where a gap between strings has no last string, as after a prefix."""
    return any(_is_open(high) for high, _ in ordered.intervals(admitted)[1:])


def _is_open(boundary: Boundary) -> bool:
    return boundary[0] == ordered.STRING and not boundary[1].endswith("\0")


def _leaves_out(leaf: Leaf) -> bool:
    """True for a predicate that leaves something out in the middle."""
    return len(meaning(leaf).inside.ordered) > 2


def _of_kind(name: str, admitted: OrderedSet, rank: int, is_whole: bool) -> Iterator[Leaf]:
    """A set of values of one kind: as values if it has few, else by its bounds and gaps.

    Gaps between strings without a last string stay as they were written.
    """
    spans = ordered.intervals(admitted)
    values = [_only_value(span, is_whole) for span in spans]
    if None not in values:
        known = cast("tuple[Value, ...]", tuple(values))
        yield canonical_predicate(In(name, known))
        return
    (begin, _), (_, end) = spans[0], spans[-1]
    is_text = rank == ordered.STRING and len(begin) > 1
    if len(spans) == 1 and is_text and end == ordered.after_prefix(begin[1]):
        yield StringTest(name, "starts_with", begin[1])
        return
    is_bounded = False
    for boundary, operators in ((begin, (">", ">=")), (end, ("<=", "<"))):
        # Whole numbers end before the infinities, which no filter need say.
        if len(boundary) > 1 and not (is_whole and abs(boundary[1]) >= _LARGEST):
            is_bounded = True
            yield _bound(name, boundary, *operators)
    if len(spans) == 1 and not is_bounded:
        yield _any_of_kind(name, rank, is_whole)
    for (_, low), (high, _) in pairwise(spans):
        left_out = _only_value((low, high), is_whole)
        if left_out is not None:
            yield Comparison(name, "!=", left_out)
        elif not _is_open(high):
            yield Between(name, _value(low), _value_before(high, is_whole), negated=True)


def _any_of_kind(name: str, rank: int, is_whole: bool) -> Leaf:
    """Any value of one kind; of whole numbers, where there is no other kind, any value at all."""
    match rank:
        case ordered.STRING:
            return Comparison(name, ">=", "")
        case ordered.BOOLEAN:
            return In(name, (False, True))
        case ordered.TIMESTAMP:
            return Between(name, Timestamp(1), Timestamp(0), negated=True)
        case _ if is_whole:
            return IsNull(name, negated=True)
        case _:
            # Nothing lies between 1 and 0, so every number lies outside.
            return Between(name, 1, 0, negated=True)


def _only_value(span: tuple[Boundary, Boundary], is_whole: bool) -> Value | None:
    """The value of an interval that holds a single one."""
    begin, _ = span
    if len(begin) == 1 and begin[0] not in (ordered.BOOLEAN, ordered.STRING):
        return None
    value = _value(begin)
    if isinstance(value, float) and math.isinf(value):
        return None
    point = (begin, ordered.after(value))
    holds_one = (ordered.whole_numbers_only(point) if is_whole else point) == span
    return value if holds_one else None


def _value(boundary: Boundary) -> Value:
    """The value just after a boundary."""
    rank, *value = boundary
    if not value:
        return False if rank == ordered.BOOLEAN else ""
    return Timestamp(value[0]) if rank == ordered.TIMESTAMP else canonical_value(value[0])


def _value_before(boundary: Boundary, is_whole: bool = False) -> Value:
    """The value just before a boundary, where there is one."""
    rank, value = boundary
    if is_whole and abs(value) < 2**53:
        whole: int = math.ceil(value)
        return whole - 1
    if rank == ordered.STRING:
        return str(value)[:-1] if value.endswith("\0") else str(value)
    if rank == ordered.TIMESTAMP:
        return Timestamp(value - 1)
    before = math.nextafter(value, 0) if math.isinf(value) else -ordered.next_number(-value)
    return canonical_value(before)


def _bound(name: str, boundary: Boundary, of_former: str, of_following: str) -> Leaf:
    """A bound at a boundary, by the value before or after it, whichever is shorter."""
    following = _value(boundary)
    if boundary[0] == ordered.STRING and not boundary[1].endswith("\0"):
        return Comparison(name, of_following, following)  # type: ignore[arg-type]
    former = _value_before(boundary)
    is_infinite = isinstance(following, float) and math.isinf(following)
    if is_infinite or len(value_text(former)) < len(value_text(following)):
        return Comparison(name, of_former, former)  # type: ignore[arg-type]
    return Comparison(name, of_following, following)  # type: ignore[arg-type]


def _needed(own: list[Leaf], schema: Schema | None, budget: Budget) -> list[Leaf] | None:
    """The predicates on one attribute that the others and the schema do not imply.

    None past the budget. Bounds and gaps are needed as they were written, unless a schema or
    a pattern makes one of them redundant.
    """
    if schema is None and not any(meaning(leaf).inside.literals for leaf in own):
        return own
    needed = list(own)
    for leaf in reversed(own):
        others = [other for other in needed if other is not leaf]
        search = Search([conjunction(others)], [leaf], schema, budget)
        if search.exhausted:
            return None
        if not search.may_exist:
            needed = others
    return needed


def _sort_key(leaf: Leaf) -> tuple[str, int, str]:
    """Sorted by attribute, then operator, then value."""
    if isinstance(leaf, Comparison):
        rank = _OPERATOR_ORDER.index(leaf.operator)
    else:
        rank = len(_OPERATOR_ORDER) + (0 if isinstance(leaf, IsNull) else 1)
    return leaf.attribute, rank, to_text(leaf)
