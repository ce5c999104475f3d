"""What the predicates of events can be, within a schema: the values that satisfy one, if any.

Patterns and residuals are seen by what order says of them, so they rule out nothing else.
"""

from typing import cast

from boolcast.algebra import ordered_sets as ordered
from boolcast.algebra.ordered_sets import NOTHING, OrderedSet
from boolcast.algebra.value_sets import ALL_EVENTS, Variable, meaning, worlds
from boolcast.filters.canonical import to_nnf, without_constants
from boolcast.filters.expressions import FALSE, And, Filter, Leaf, Or
from boolcast.model.schemas import Schema


class Possible:
    """The values and filters that events of a schema admit; without one, of any events."""

    def __init__(self, schema: Schema | None) -> None:
        self._worlds = list(worlds(schema))

    def values(self, predicate: Leaf) -> tuple[Variable, OrderedSet]:
        """The values of events with which the predicate is true, patterns aside."""
        variable, inside, _ = meaning(predicate)
        if self._worlds[0] is ALL_EVENTS:
            return variable, inside.ordered
        cuts: OrderedSet = NOTHING
        for world in self._worlds:
            domain = world.domain(variable).ordered
            there = ordered.intersect(world.restrict(variable, inside).ordered, domain)
            cuts = ordered.unite(cuts, there)
        return variable, cuts

    def part(self, filter: Filter) -> Filter:
        """The filter in negation normal form, `false` for predicates that no value satisfies."""
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
                is_possible = not list(node.predicates()) or self.values(cast("Leaf", node))[1]
                return node if is_possible else FALSE
