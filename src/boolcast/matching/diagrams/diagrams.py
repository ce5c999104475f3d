"""Shared ordered decision diagrams with several outputs: routing and covering in one structure.

P2's MBD. A filter is the root of a diagram over the global predicate index (`variables`), and all
diagrams share their nodes (`nodes`), which lie in arrays. P2 has only conjunctions; here every
Boolean filter has a diagram: a predicate and its complement are two variables, so every filter
is monotone. A filter whose diagram needs too many nodes stays outside: the reference evaluator
matches it, and covering leaves it out.

In P2 an *MBD* is a set of outputs with the same nodes below their roots (P2-B2.3); here that is
a *diagram*. Those of its outputs that have the same attribute at the top differ in one predicate
and can be merged (P2-B2.4); `optimising.merging.by_rules` finds the same ones without diagrams.
"""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from boolcast.algebra.value_sets import ALL_EVENTS, World, worlds
from boolcast.filters.expressions import Filter
from boolcast.matching.diagrams.constraints import formula_of
from boolcast.matching.diagrams.covering import Answer, CoveringSearch, Method
from boolcast.matching.diagrams.implications import Way
from boolcast.matching.diagrams.matching import DiagramIndex
from boolcast.matching.diagrams.nodes import DEFAULT_NODES, FALSE, TRUE, Nodes
from boolcast.matching.diagrams.questions import Question, Questions
from boolcast.matching.diagrams.variables import Variables
from boolcast.matching.values.selectivity import Selectivity
from boolcast.model.schemas import Schema


class Figures(msgspec.Struct, frozen=True):
    """Sizes: `outside` are the filters without a diagram."""

    filters: int
    outputs: int
    diagrams: int
    nodes: int
    variables: int
    outside: int


class Covering(msgspec.Struct, frozen=True):
    """What covers a filter, and what it covers, by name.

    `covered_by` is one output, or those of one diagram, that cover the filter; then `covers` is
    empty, because in a table without redundancy it would be (P2-B6). `exhausted`: the filter has
    too many clauses, and answers may be missing. `diagrams` and `nodes` count those visited.
    """

    covered_by: list[str] = []
    covers: list[str] = []
    exhausted: bool = False
    diagrams: int = 0
    nodes: int = 0


class _Held(NamedTuple):
    root: int
    variables: tuple[int, ...]


class Diagrams:
    """Filters by name as outputs of shared diagrams.

    `order` lists attributes from the top of the diagrams to the bottom (`variable_order`); others
    come above them. With a schema without event types, predicates are compared by the values
    that it admits: `x > 9` and `x >= 10` are one variable if x is an integer. Answers then hold
    for events that conform. A filter gets at most `limit` new nodes. `way` chooses how implied
    variables are found (`implications`); answers are the same. Not thread-safe.
    """

    def __init__(
        self,
        order: Sequence[str] = (),
        *,
        schema: Schema | None = None,
        limit: int = DEFAULT_NODES,
        way: Way = "ranges",
    ) -> None:
        self._world = _world(schema)
        self.nodes = Nodes(limit)
        self.variables = Variables(order, self.nodes.set_level)
        self._held: dict[str, _Held] = {}
        self._outside: dict[str, Filter] = {}
        self._names: dict[int, dict[str, None]] = {}
        self._questions = Questions(self.variables, self._world, way)
        self._covering = CoveringSearch(self.nodes, self.variables)

    def __len__(self) -> int:
        return len(self._held) + len(self._outside)

    def __contains__(self, name: object) -> bool:
        return name in self._held or name in self._outside

    @property
    def outside(self) -> dict[str, Filter]:
        """The filters that would have taken too many nodes."""
        return self._outside

    def add(self, name: str, filter: Filter) -> None:
        """Add a filter under a name that is not in use.

        A conjunction is a chain, built from the bottom in microseconds.
        """
        assert name not in self, "a name has one filter"
        formula = formula_of(filter, self._world)
        tree, held, new = self.variables.hold(formula)
        root = self.nodes.build(tree)
        if root is None:
            self.variables.release(held)
            self._outside[name] = filter
            return
        self._questions.add(new)
        self._covering.add_variables(new)
        self._held[name] = _Held(root, held)
        if root not in self._names:
            self._names[root] = {}
            if root > TRUE:
                self._covering.add_root(root)
        self._names[root][name] = None

    def remove(self, name: str) -> None:
        """Forget a filter that was added."""
        if self._outside.pop(name, None) is not None:
            return
        root, held = self._held.pop(name)
        names = self._names[root]
        del names[name]
        if not names:
            del self._names[root]
            if root > TRUE:
                self._covering.remove_root(root)
        self.nodes.release(root)
        self._questions.remove(self.variables.release(held))

    def question(self, filter: Filter) -> Question:
        """The predicate phase of `covering` alone: which variables the filter bears on."""
        return self._questions.question(filter)

    def covering(self, filter: Filter | Question, method: Method = "search") -> Covering:
        """What covers a filter, which need not be here, and what it covers.

        Never a wrong yes. A yes may be missed where several predicates prove it only together,
        past 64 clauses, for filters outside, and between a pattern and values, ranges or prefixes
        (`contains(b, 'x')` over `b = 'xy'`). `search` goes to what the filter bears on;
        `one pass` (P2-B6) and `two passes` evaluate all diagrams, for comparison. Where the
        filters here do not cover each other, all three agree, up to which of several is
        `covered_by`.
        """
        question = filter if isinstance(filter, Question) else self.question(filter)
        found = self._named(question, self._covering.answer(question, method))
        return msgspec.structs.replace(found, covers=[]) if found.covered_by else found

    def relations(self, filter: Filter) -> Covering:
        """All filters here that cover a filter, and all that it covers.

        As `covering`, but for tables in which filters may cover each other.
        """
        question = self.question(filter)
        return self._named(question, self._covering.relations(question))

    def _named(self, question: Question, answer: Answer) -> Covering:
        """The answer with the filters that are nothing but `true` or `false`, by name."""
        right, left = question
        # What nothing satisfies is covered by all, and what everything does covers all.
        always = [] if right is None else [TRUE] if right else [TRUE, FALSE]
        never = [] if left is None else [FALSE] if left else [FALSE, TRUE]
        return Covering(
            self._at([*always, *answer.covering]),
            self._at([*never, *answer.covered]),
            right is None or left is None,
            answer.diagrams,
            answer.nodes,
        )

    def _at(self, roots: Sequence[int]) -> list[str]:
        return [name for root in roots for name in self._names.get(root, ())]

    def root(self, name: str) -> int | None:
        """The node of a filter; equal nodes mean equal filters. None for one outside."""
        held = self._held.get(name)
        return None if held is None else held.root

    def outputs(self) -> dict[int, dict[str, None]]:
        """The names at each root."""
        return self._names

    def figures(self) -> Figures:
        """How large it all is."""
        return Figures(
            len(self),
            len(self._names),
            len(self._covering),
            len(self.nodes),
            len(self.variables),
            len(self._outside),
        )

    def index(self, selectivity: Selectivity) -> tuple[DiagramIndex, list[list[str]]]:
        """An index to match events with, and the names of its outputs, as they are now."""
        index = DiagramIndex(self.nodes, self.variables, list(self._names), selectivity)
        return index, [list(names) for names in self._names.values()]


def _world(schema: Schema | None) -> World:
    found = list(worlds(schema))
    return found[0] if len(found) == 1 and not (schema and schema.types) else ALL_EVENTS
