"""P5-B1: the one writing of a conjunction that equal conjunctions share, as far as order goes.

Per attribute what is implied goes, what leaves a single value becomes an equality, and the
rest is sorted. So at most a lower and an upper bound, or one equality, remain of all that is
said about the order of an attribute's values; `!=` and string tests may remain several times.
"""

import math
from collections.abc import Iterator
from typing import Final, cast

from msgspec.structs import replace

from boolcast.algebra import cuts as ordered
from boolcast.algebra.budget import DEFAULT_BUDGET
from boolcast.algebra.conjunctions import leaves
from boolcast.algebra.domains import World, worlds
from boolcast.algebra.relations import Search
from boolcast.algebra.value_sets import ValueSet, Variable, intersect, meaning
from boolcast.errors import UsageError
from boolcast.filters.canonical import canonical_predicate
from boolcast.filters.expressions import (
    FALSE,
    Between,
    Comparison,
    Constant,
    Filter,
    In,
    IsNull,
    Leaf,
    Node,
    conjunction,
)
from boolcast.filters.negation import to_nnf
from boolcast.filters.printing import to_text
from boolcast.model.schemas import Schema
from boolcast.model.values import Timestamp, Value

_OPERATOR_ORDER: Final = ("=", "<", "<=", ">", ">=", "!=")


def normalise_conjunction(filter: Filter, *, schema: Schema | None = None) -> Filter:
    """The conjunction in normal form; `false` if no event can satisfy it.

    Raises UsageError for a filter that is not a conjunction of predicates.

    >>> from boolcast.filters.parsing import parse
    >>> str(normalise_conjunction(parse("z = 9 and z < 10 and z > 2 and y > 3")))
    'y > 3 and z = 9'
    """
    node = to_nnf(cast("Node", filter))
    if isinstance(node, Constant):
        return node
    predicates = leaves(node)
    if predicates is None:
        raise UsageError(f"only a conjunction of predicates can be normalised, not: {filter}")
    if not Search([node], [], schema, DEFAULT_BUDGET).may_exist:
        return FALSE
    kept = list(dict.fromkeys(part for leaf in predicates for part in _split(leaf)))
    kept = [leaf for attribute in _attributes(kept) for leaf in _narrowed(attribute, kept, schema)]
    kept.sort(key=_place)
    for leaf in reversed(list(kept)):
        others = [other for other in kept if other is not leaf]
        if others and not Search([conjunction(others)], [leaf], schema, DEFAULT_BUDGET).may_exist:
            kept = others
    return conjunction(cast("list[Node]", kept))


def _split(leaf: Leaf) -> Iterator[Leaf]:
    """A range as its two bounds; everything in its canonical writing."""
    if isinstance(leaf, Between) and not leaf.negated:
        yield canonical_predicate(Comparison(leaf.attribute, ">=", leaf.low))
        yield canonical_predicate(Comparison(leaf.attribute, "<=", leaf.high))
    else:
        yield canonical_predicate(leaf)


def _attributes(predicates: list[Leaf]) -> list[Variable]:
    return list(dict.fromkeys(meaning(leaf).variable for leaf in predicates))


def _narrowed(variable: Variable, predicates: list[Leaf], schema: Schema | None) -> Iterator[Leaf]:
    """The predicates on one attribute, with lists cut down and a single value as an equality."""
    own = [leaf for leaf in predicates if meaning(leaf).variable == variable]
    if variable.is_residual:
        yield from own
        return
    possible = [
        (world, values)
        for world in worlds(schema)
        if (values := _common(variable, own, world)).cuts
    ]
    only = {_single_value(variable, values, world) for world, values in possible}
    if len(only) == 1 and None not in only:
        yield Comparison(variable.name, "=", cast("Value", only.pop()))
        return
    for leaf in own:
        if isinstance(leaf, In) and not leaf.negated:
            inside = [
                value
                for value in leaf.values
                for point in [meaning(Comparison(variable.name, "=", value)).inside]
                if any(intersect(values, point).cuts for _, values in possible)
            ]
            yield canonical_predicate(replace(leaf, values=tuple(inside)))
        else:
            yield leaf


def _common(variable: Variable, predicates: list[Leaf], world: World) -> ValueSet:
    common = world.domain(variable)
    for leaf in predicates:
        common = intersect(common, world.restrict(variable, meaning(leaf).inside))
    return common


def _single_value(variable: Variable, values: ValueSet, world: World) -> Value | None:
    """The value of a set that holds only one; in a world of whole numbers 5 alone lies in 4…6."""
    if values.literals or len(values.cuts) != 2:
        return None
    (rank, *begin), _ = values.cuts
    value: Value
    if begin:
        value = Timestamp(begin[0]) if rank == ordered.TIMESTAMP else begin[0]
    elif rank in (ordered.BOOLEAN, ordered.STRING):
        value = False if rank == ordered.BOOLEAN else ""
    else:
        return None
    if isinstance(value, float) and math.isinf(value):
        return None
    point = meaning(Comparison(variable.name, "=", value)).inside
    return value if world.restrict(variable, point) == values else None


def _place(leaf: Leaf) -> tuple[str, int, str]:
    """Sorted by attribute, then operator, then value."""
    if isinstance(leaf, Comparison):
        rank = _OPERATOR_ORDER.index(leaf.operator)
    else:
        rank = len(_OPERATOR_ORDER) + (0 if isinstance(leaf, IsNull) else 1)
    return leaf.attribute, rank, to_text(leaf)
