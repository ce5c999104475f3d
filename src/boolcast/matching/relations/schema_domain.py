"""Which values can satisfy a predicate, on the events that a schema admits?

Patterns and residual predicates count by their place in the order of values alone, so they rule
out nothing else.
"""

from boolcast.algebra import ordered_sets as ordered
from boolcast.algebra.ordered_sets import NOTHING, OrderedSet
from boolcast.algebra.value_sets import ALL_EVENTS, Variable, meaning, worlds
from boolcast.filters.canonical import to_nnf, without_constants
from boolcast.filters.expressions import FALSE, And, Filter, Leaf, Or
from boolcast.model.schemas import Schema


class SchemaDomain:
    """The values that events of a schema can have; without a schema, any events."""

    def __init__(self, schema: Schema | None) -> None:
        self._worlds = list(worlds(schema))

    def values(self, predicate: Leaf) -> tuple[Variable, OrderedSet]:
        """The values that can satisfy the predicate, patterns aside."""
        variable, inside, _ = meaning(predicate)
        if self._worlds[0] is ALL_EVENTS:
            return variable, inside.ordered
        values: OrderedSet = NOTHING
        for world in self._worlds:
            domain = world.domain(variable).ordered
            here = ordered.intersect(world.restrict(variable, inside).ordered, domain)
            values = ordered.unite(values, here)
        return variable, values

    def satisfiable(self, filter: Filter) -> Filter:
        """The filter in negation normal form, without predicates that no value satisfies."""
        node = to_nnf(filter)
        if all(self.values(leaf)[1] for leaf in node.predicates()):
            return node
        return without_constants(self._without_impossible(node))

    def _without_impossible(self, node: Filter) -> Filter:
        match node:
            case And(children):
                return And(tuple(map(self._without_impossible, children)))
            case Or(children):
                return Or(tuple(map(self._without_impossible, children)))
            case _:
                is_possible = all(self.values(leaf)[1] for leaf in node.predicates())
                return node if is_possible else FALSE
