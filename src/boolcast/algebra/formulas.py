"""Filters as formulas of plain, two-valued logic over sets of values.

An atom says that a variable's value lies in a set. Since the sets know of missing values
and other kinds, "the filter does not accept" is a formula like any other: it is the
two-valued negation, true also where predicates are unknown, and not the filter's own NOT.
"""

from typing import NamedTuple

from boolcast.algebra import ordered_sets as ordered
from boolcast.algebra.domains import World
from boolcast.algebra.value_sets import ValueSet, Variable, meaning
from boolcast.filters.canonical import complement
from boolcast.filters.expressions import And, Constant, Filter, Leaf, Not, Or


class Atom(NamedTuple):
    """The variable's value is in the set."""

    variable: Variable
    values: ValueSet


class All(NamedTuple):
    """All parts are true; none of them is an All."""

    parts: tuple["Formula", ...]


class Any(NamedTuple):
    """One part is true; none of them is an Any."""

    parts: tuple["Formula", ...]


Formula = Atom | All | Any

YES = All(())
NO = Any(())


def accepted(filter: Filter, world: World) -> Formula:
    """The filter accepts the event."""
    return _formula(filter, world, negated=False, wanted=True)


def refused(filter: Filter, world: World) -> Formula:
    """The filter does not accept the event."""
    return _formula(filter, world, negated=False, wanted=False)


def _formula(node: Filter, world: World, *, negated: bool, wanted: bool) -> Formula:
    """`negated` is the filter's own NOT, which swaps predicates for their complements;
    not `wanted` is the negation of the whole, which swaps sets for what lies outside them.
    """
    match node:
        case Not(child):
            return _formula(child, world, negated=not negated, wanted=wanted)
        case Constant(value):
            return YES if (value is not negated) is wanted else NO
        case And(children) | Or(children):
            parts = [_formula(part, world, negated=negated, wanted=wanted) for part in children]
            is_all = (isinstance(node, And) is not negated) is wanted
            return both(parts) if is_all else either(parts)
        case _:
            return atom(node, world, negated=negated, wanted=wanted)


def atom(leaf: Leaf, world: World, *, negated: bool, wanted: bool) -> Atom:
    """One predicate as an atom."""
    variable, inside, outside = meaning(complement(leaf) if negated else leaf)
    values = inside if wanted else outside
    return Atom(variable, world.restrict(variable, values) if world.whole else values)


def both(parts: list[Formula]) -> Formula:
    """All of the parts, flat."""
    flat: list[Formula] = []
    for part in parts:
        if isinstance(part, All):
            flat.extend(part.parts)
        elif part == NO:
            return NO
        else:
            flat.append(part)
    return flat[0] if len(flat) == 1 else All(tuple(flat))


def either(parts: list[Formula]) -> Formula:
    """One of the parts, flat; atoms on one variable become a single one by union."""
    flat: list[Formula] = []
    atoms: dict[Variable, ValueSet] = {}
    for part in parts:
        for member in part.parts if isinstance(part, Any) else (part,):
            if member == YES:
                return YES
            if isinstance(member, Atom) and not member.values.literals:
                known = atoms.get(member.variable)
                atoms[member.variable] = (
                    member.values
                    if known is None
                    else ValueSet(ordered.unite(known.cuts, member.values.cuts))
                )
            else:
                flat.append(member)
    merged: list[Formula] = [Atom(variable, values) for variable, values in atoms.items()]
    flat = merged + flat
    return flat[0] if len(flat) == 1 else Any(tuple(flat))
