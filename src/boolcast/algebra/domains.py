"""What a schema lets each attribute be, as sets: the worlds that a proof looks into."""

from collections.abc import Iterator
from typing import NamedTuple

from boolcast.algebra import ordered_sets as ordered
from boolcast.algebra.value_sets import (
    EVERY_VALUE,
    ONLY_MISSING,
    RESIDUAL_DOMAIN,
    ValueSet,
    Variable,
    intersect,
    meaning,
)
from boolcast.filters.expressions import Comparison, In
from boolcast.model.schemas import Attribute, Schema
from boolcast.model.values import Kind


class World(NamedTuple):
    """The events that a proof considers: a set for each attribute, one for all others.

    Without a schema there is a single world of all events; with event types, one a type.
    """

    sets: dict[Variable, ValueSet]
    others: ValueSet
    whole: frozenset[Variable]

    def domain(self, variable: Variable) -> ValueSet:
        """The values that the variable may take before anything is asked of it."""
        if variable.is_residual:
            return RESIDUAL_DOMAIN
        return self.sets.get(variable, self.others)

    def restrict(self, variable: Variable, values: ValueSet) -> ValueSet:
        """The set as this world sees it: whole numbers only where the schema says integer."""
        if variable not in self.whole:
            return values
        return ValueSet(ordered.whole_numbers_only(values.cuts), values.literals)


ALL_EVENTS = World({}, EVERY_VALUE, frozenset())


def worlds(schema: Schema | None) -> Iterator[World]:
    """Every world of the schema, in its order."""
    if schema is None:
        yield ALL_EVENTS
    elif schema.types:
        for name in schema.types:
            world = _world(schema.attributes_of(name))
            world.sets[Variable("type")] = meaning(Comparison("type", "=", name)).inside
            yield world
    else:
        yield _world(schema.attributes)


def _world(attributes: dict[str, Attribute]) -> World:
    whole = frozenset(Variable(name) for name, known in attributes.items() if known.integer)
    sets = {Variable(name): _domain(name, known) for name, known in attributes.items()}
    return World(sets, ONLY_MISSING, whole)


def _domain(name: str, known: Attribute) -> ValueSet:
    kind = Kind(known.kind)
    rank = ordered.RANKS[kind]
    domain = ValueSet(((rank,), (rank + 1,)))
    unbounded = known.minimum is None and known.maximum is None and known.values is None
    if known.minimum is not None:
        domain = intersect(domain, meaning(Comparison(name, ">=", known.minimum)).inside)
    if known.maximum is not None:
        domain = intersect(domain, meaning(Comparison(name, "<=", known.maximum)).inside)
    if known.values is not None:
        domain = intersect(domain, meaning(In(name, known.values)).inside)
    cuts = ordered.whole_numbers_only(domain.cuts) if known.integer else domain.cuts
    if kind is Kind.NUMBER and unbounded and not known.integer:
        cuts = ordered.unite(cuts, ((ordered.OPAQUE,), (ordered.BOOLEAN,)))
    if not known.required:
        cuts = ordered.unite(cuts, ONLY_MISSING.cuts)
    return ValueSet(cuts)
