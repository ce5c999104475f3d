"""Filters as trees over constraints, each a set of values of one attribute.

A predicate is a constraint. Siblings in an AND or OR on one attribute become one constraint if
they are sets of intervals (P2-E7): `a > 3 and a < 9` is one interval, and one comparison finds what
covers it. Patterns and residuals stay single: only a test can decide them.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

from boolcast.algebra import ordered_sets as ordered
from boolcast.algebra.budget import Budget, BudgetExhaustedError
from boolcast.algebra.ordered_sets import NOTHING
from boolcast.algebra.value_sets import ValueSet, Variable, World, intersect, is_empty, meaning
from boolcast.filters.canonical import complement
from boolcast.filters.expressions import And, Constant, Filter, Leaf, Not, Or

_STEPS: Final = 1_000
"""What the comparison of two patterns may cost."""


class Constraint(NamedTuple):
    """A set of values, what lies outside, and the predicate to test where order is not enough.

    Two constraints of the same variable and the same inside are one.
    """

    variable: Variable
    inside: ValueSet
    outside: ValueSet
    attribute: str
    leaf: Leaf | None = None


class Junction(NamedTuple):
    """An AND or OR of constraints and further junctions, two at least."""

    is_and: bool
    children: tuple["Junction | Constraint", ...]


Formula = Junction | Constraint | bool


def constraint_of(leaf: Leaf, world: World) -> Constraint:
    """A predicate as the world sees it."""
    variable, inside, outside = meaning(leaf)
    if world.sets:
        domain = world.domain(variable)
        inside = intersect(domain, world.restrict(variable, inside))
        outside = intersect(domain, world.restrict(variable, outside))
    is_tested = variable.is_residual or inside.literals
    return Constraint(variable, inside, outside, leaf.attribute, leaf if is_tested else None)


def misses(values: ValueSet, others: ValueSet) -> bool:
    """True only if two sets have no value in common.

    Sound, not complete: where only one of them has a pattern, it is taken for all strings.
    """
    both = intersect(values, others)
    if not both.ordered:
        return True
    if not values.literals or not others.literals:
        return False
    try:
        return is_empty(both, Budget(_STEPS))
    except BudgetExhaustedError:
        return False


def formula_of(node: Filter, world: World, *, wanted: bool = True) -> Formula:
    """A filter, or its negation, in negation normal form."""
    match node:
        case Not(child):
            return formula_of(child, world, wanted=not wanted)
        case And() | Or():
            return _junction(node, world, wanted)
        case Constant(value):
            return value is wanted
        case _:
            return _settled(constraint_of(node if wanted else complement(node), world), world)


def _junction(node: And | Or, world: World, wanted: bool) -> Formula:
    is_and = isinstance(node, And) is wanted
    parts: dict[Junction | Constraint, None] = {}
    sets: dict[Variable, Constraint] = {}
    for part, is_wanted in _siblings(node, wanted, is_and):
        found = formula_of(part, world, wanted=is_wanted)
        if isinstance(found, bool):
            if found is not is_and:
                return found
        elif isinstance(found, Junction) or found.leaf is not None:
            # What was another junction may have come down to one of this kind.
            same = isinstance(found, Junction) and found.is_and is is_and
            parts.update(dict.fromkeys(found.children if same else (found,)))  # type: ignore[union-attr]
        else:
            known = sets.get(found.variable)
            sets[found.variable] = found if known is None else _both(known, found, is_and, world)
    for each in sets.values():
        one = _settled(each, world)
        if isinstance(one, bool):
            if one is not is_and:
                return one
        else:
            parts[one] = None
    if len(parts) > 1:
        return Junction(is_and, tuple(parts))
    return next(iter(parts)) if parts else is_and


def _siblings(node: Filter, wanted: bool, is_and: bool) -> Iterator[tuple[Filter, bool]]:
    """The parts of an AND or OR, through NOT and through junctions of the same kind."""
    match node:
        case Not(child):
            yield from _siblings(child, not wanted, is_and)
        case And(children) | Or(children) if (isinstance(node, And) is wanted) is is_and:
            for child in children:
                yield from _siblings(child, wanted, is_and)
        case _:
            yield node, wanted


def _both(one: Constraint, other: Constraint, is_and: bool, world: World) -> Constraint:
    """The AND or OR of two constraints on one attribute that order decides."""
    join = ordered.intersect if is_and else ordered.unite
    union = join(one.inside.ordered, other.inside.ordered)
    outside = ordered.intersect(world.domain(one.variable).ordered, ordered.complement(union))
    return Constraint(one.variable, ValueSet(union), ValueSet(outside), one.attribute)


def _settled(constraint: Constraint, world: World) -> Constraint | bool:
    """The constraint, unless every event satisfies it, or none."""
    if constraint.inside.ordered == NOTHING:
        return False
    if constraint.inside == world.domain(constraint.variable):
        return True
    return constraint
