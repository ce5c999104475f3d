"""Shared ordered decision diagrams with several outputs: routing and covering in one structure.

P2's MBD. A filter is the root of a diagram over the global predicate index (`diagram_variables`),
and all diagrams share their nodes (`diagram_nodes`), which lie in arrays. P2 writes conjunctions
only; here every Boolean filter has a diagram, because a predicate and its complement are two
variables and so every filter is monotone. One whose diagram would take too many nodes stays
outside: it is matched by the reference evaluator and takes no part in covering.

In P2 an *MBD* is a set of outputs with the same nodes below their roots (P2-B2.3); here that is
a *diagram*, and `groups` are the outputs of a diagram with the same attribute at the top, those
that differ in one predicate and can be merged (P2-B2.4).
"""

from collections.abc import Iterator, Sequence
from typing import Generic, NamedTuple, TypeVar, cast

import msgspec

from boolcast.algebra.domains import ALL_EVENTS, World, worlds
from boolcast.filters.expressions import Filter, Node
from boolcast.matching.constraints import formula_of
from boolcast.matching.diagram_matching import DiagramIndex
from boolcast.matching.diagram_nodes import DEFAULT_NODES, TRUE, Nodes
from boolcast.matching.diagram_variables import Variables
from boolcast.matching.selectivity import Selectivity
from boolcast.model.schemas import Schema

N = TypeVar("N", bound=str)


class Figures(msgspec.Struct, frozen=True):
    """Sizes: `outside` are the filters without a diagram."""

    filters: int
    outputs: int
    diagrams: int
    nodes: int
    variables: int
    outside: int


class _Held(NamedTuple):
    root: int
    variables: tuple[int, ...]


class Diagrams(Generic[N]):
    """Filters by name as outputs of shared diagrams.

    `order` are attributes from the top of the diagrams to the bottom (`diagram_order`); others
    come above them. With a schema without event types, predicates are compared by the values
    that it admits, so that `x > 9` and `x >= 10` are one variable where x is an integer; what is
    then said holds for events that conform. A filter gets at most `limit` new nodes.
    Not for several threads at once.
    """

    def __init__(
        self,
        order: Sequence[str] = (),
        *,
        schema: Schema | None = None,
        limit: int = DEFAULT_NODES,
    ) -> None:
        self._world = _world(schema)
        self.nodes = Nodes(limit)
        self.variables = Variables(order, self.nodes.place)
        self._held: dict[N, _Held] = {}
        self._outside: dict[N, Filter] = {}
        self._names: dict[int, dict[N, None]] = {}
        self._diagrams: dict[tuple[int, int], dict[int, None]] = {}

    def __len__(self) -> int:
        return len(self._held) + len(self._outside)

    def __contains__(self, name: object) -> bool:
        return name in self._held or name in self._outside

    @property
    def outside(self) -> dict[N, Filter]:
        """The filters that would have taken too many nodes."""
        return self._outside

    def add(self, name: N, filter: Filter) -> None:
        """Add a filter under a name that is not in use.

        A conjunction is a chain, built from the bottom in microseconds.
        """
        assert name not in self, "a name stands for one filter"
        tree, held, _ = self.variables.hold(formula_of(cast("Node", filter), self._world))
        root = self.nodes.build(tree)
        if root is None:
            self.variables.let_go(held)
            self._outside[name] = filter
            return
        self._held[name] = _Held(root, held)
        names = self._names.get(root)
        if names is None:
            names = self._names[root] = {}
            if root > TRUE:
                self._diagrams.setdefault(self._below(root), {})[root] = None
        names[name] = None

    def remove(self, name: N) -> None:
        """Forget a filter that was added."""
        if self._outside.pop(name, None) is not None:
            return
        root, held = self._held.pop(name)
        names = self._names[root]
        del names[name]
        if not names:
            del self._names[root]
            if root > TRUE:
                below = self._below(root)
                del self._diagrams[below][root]
                if not self._diagrams[below]:
                    del self._diagrams[below]
        self.nodes.release(root)
        self.variables.let_go(held)

    def root(self, name: N) -> int | None:
        """The node of a filter; equal nodes mean equal filters. None for one outside."""
        held = self._held.get(name)
        return None if held is None else held.root

    def outputs(self) -> dict[int, dict[N, None]]:
        """The names at each root."""
        return self._names

    def groups(self) -> Iterator[list[N]]:
        """Several filters each that differ in the predicate at the top alone (P2-B2.4).

        They share the attribute there and both nodes below. Filters that are equal are in one
        group as well.
        """
        for roots in self._diagrams.values():
            by_position: dict[int, list[N]] = {}
            for root in roots:
                position = self.variables.position(int(self.nodes.store.variable[root]))
                by_position.setdefault(position, []).extend(self._names[root])
            yield from (names for names in by_position.values() if len(names) > 1)

    def figures(self) -> Figures:
        """How large it all is."""
        return Figures(
            len(self),
            len(self._names),
            len(self._diagrams),
            len(self.nodes),
            len(self.variables),
            len(self._outside),
        )

    def index(self, selectivity: Selectivity) -> tuple[DiagramIndex, list[list[N]]]:
        """An index to match events with, and the names of its outputs, as they are now."""
        index = DiagramIndex(self.nodes, self.variables, list(self._names), selectivity)
        return index, [list(names) for names in self._names.values()]

    def _below(self, root: int) -> tuple[int, int]:
        return int(self.nodes.store.low[root]), int(self.nodes.store.high[root])


def _world(schema: Schema | None) -> World:
    found = list(worlds(schema))
    return found[0] if len(found) == 1 and not (schema and schema.types) else ALL_EVENTS
