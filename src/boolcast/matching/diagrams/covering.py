"""Covering by diagrams: which outputs cover a new filter, and which does it cover (P2-B5, B6)?

A new filter N gives each variable codes (`questions`), then diagrams are evaluated under them
(`kernels.covering`). Sound for every shape of filter:

- o covers N if o is true when the variables that a conjunction of N's disjunctive form implies
  are true and all others false, for each of these conjunctions: o is monotone.
- N covers o if o is false when the variables that imply a disjunction of N's conjunctive form
  are false and all others true, for each of these disjunctions: o cannot be true unless they are.

For conjunctions of one constraint for each attribute both are exact. P2-B5 suggests the disjunctive
form for the second question too; the conjunctive one says yes whenever that does, and more often.
"""

from collections.abc import Callable, Iterable
from itertools import chain, islice
from typing import Final, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from boolcast.matching.counting.growable_array import Growing
from boolcast.matching.diagrams.implications import Numbers
from boolcast.matching.diagrams.kernels.covering import (
    Memory,
    Outputs,
    Side,
    check,
    one_pass,
    pass_over,
    reach,
)
from boolcast.matching.diagrams.nodes import FALSE, TRUE, Nodes
from boolcast.matching.diagrams.questions import Question
from boolcast.matching.diagrams.variables import Variables

Method = Literal["search", "one pass", "two passes"]

_FEW: Final = 32
"""Up to this many outputs are checked one by one."""

_check = cast("Callable[..., int]", check)
_reach = cast("Callable[..., int]", reach)
_one_pass = cast("Callable[..., tuple[int, int]]", one_pass)
_pass_over = cast("Callable[..., int]", pass_over)


class Answer(NamedTuple):
    """Roots that cover, roots that are covered, diagrams evaluated and nodes looked at."""

    covering: list[int]
    covered: list[int]
    diagrams: int
    nodes: int


class CoveringSearch:
    """Maintains what answers need while variables and outputs come and go."""

    def __init__(self, nodes: Nodes, variables: Variables) -> None:
        self._nodes = nodes
        self._variables = variables
        self._tops: dict[int, dict[int, None]] = {}
        """The roots of each variable: they are false unless it, or another such, is true."""
        self._top_counts = Growing(np.int64)
        self._right_codes = Growing(np.uint64)
        self._left_codes = Growing(np.uint64)
        self._diagrams: dict[tuple[int, int], int] = {}
        self._empty: list[int] = []
        self._first_root = Growing(np.int32)
        self._outputs = Outputs(_none(0), _none(0), _none(2, 0))
        self._memory = _memory(0)
        self._stamp = 0

    def add_variables(self, numbers: Iterable[int]) -> None:
        """Make room for variables that are new."""
        for number in numbers:
            while number >= len(self._top_counts):
                self._top_counts.append(0)
                self._right_codes.append(0)
                self._left_codes.append(0)

    def __len__(self) -> int:
        return len(self._diagrams)

    def roots(self) -> Iterable[list[int]]:
        """The roots of each diagram."""
        self._make_room()
        first, following = self._first_root.view(), self._outputs.roots[0]
        for diagram in self._diagrams.values():
            found = []
            root = int(first[diagram])
            while root >= 0:
                found.append(root)
                root = int(following[root])
            yield found

    def add_root(self, root: int) -> None:
        """A node became an output; its diagram is that with the same nodes below (P2-B2.3)."""
        self._make_room()
        below = self._below(root)
        diagram = self._diagrams.get(below)
        if diagram is None:
            if self._empty:
                diagram = self._empty.pop()
            else:
                diagram = len(self._first_root)
                self._first_root.append(-1)
            self._diagrams[below] = diagram
        first, links = self._first_root.view(), self._outputs.roots
        after = int(first[diagram])
        links[0, root], links[1, root] = after, -1
        if after >= 0:
            links[1, after] = root
        first[diagram] = root
        self._outputs.names[root] = 1
        counts = self._top_counts.view()
        for variable in self._spine(root):
            self._tops.setdefault(variable, {})[root] = None
            counts[variable] += 1

    def remove_root(self, root: int) -> None:
        """A node, which is still there, is an output no more."""
        below = self._below(root)
        diagram = self._diagrams[below]
        first, links = self._first_root.view(), self._outputs.roots
        after, before = int(links[0, root]), int(links[1, root])
        if before >= 0:
            links[0, before] = after
        else:
            first[diagram] = after
            if after < 0:
                del self._diagrams[below]
                self._empty.append(diagram)
        if after >= 0:
            links[1, after] = before
        self._outputs.names[root] = 0
        counts = self._top_counts.view()
        for variable in self._spine(root):
            del self._tops[variable][root]
            if not self._tops[variable]:
                del self._tops[variable]
            counts[variable] -= 1

    def answer(self, question: Question, method: Method) -> Answer:
        """The evaluation; outputs that are nothing but `true` or `false` are not among them."""
        self._make_room()
        self._stamp += 1
        self._memory.counts[:] = 0
        with _Coded(self._right_codes, question.right), _Coded(self._left_codes, question.left):
            if method == "search":
                covering = self._covering(question.right, 1)
                covered = [] if covering else self._covered(question)
            else:
                many, more = self._evaluated(question, method)
                covering = self._memory.found[:many].tolist()
                covered = [] if covering else self._memory.found[many : many + more].tolist()
        diagrams, nodes = self._memory.counts.tolist()
        return Answer(covering, covered, diagrams, nodes)

    def _evaluated(self, question: Question, method: Method) -> tuple[int, int]:
        """P2's algorithms: how many roots that cover are in `found`, and that are covered next."""
        variable, memory = self._nodes.store.variable, self._memory
        outputs = self._outputs._replace(first_root=self._first_root.view())
        right = self._side(question.right, is_right=True)
        left = self._side(question.left, is_right=False)
        if method == "one pass":
            return _one_pass(variable, right, left, outputs, self._stamp, memory)
        covering = _pass_over(variable, right, outputs, self._stamp, 0, memory)
        return covering, _pass_over(variable, left, outputs, self._stamp, covering, memory)

    def relations(self, question: Question) -> Answer:
        """All roots that cover and all that are covered."""
        self._make_room()
        self._stamp += 1
        self._memory.counts[:] = 0
        with _Coded(self._right_codes, question.right), _Coded(self._left_codes, question.left):
            covering = self._covering(question.right, len(self._memory.found))
            covered = self._covered(question)
        return Answer(covering, covered, 0, int(self._memory.counts[1]))

    def _covering(self, clauses: list[Numbers] | None, wanted: int) -> list[int]:
        """Up to `wanted` roots that cover: from the top or from the bottom.

        From the top are the roots whose first variables are coded; their number is known. From
        the bottom is a race against it.
        """
        if clauses is None:
            return []
        side = self._side(clauses, is_right=True)
        if not clauses:
            return list(islice(chain.from_iterable(self.roots()), wanted))
        counts = self._top_counts.view()
        sums = [int(counts[numbers].sum()) for numbers in clauses]
        clause = sums.index(min(sums))
        if sums[clause] > _FEW:
            found = self._reached(side, clauses, clause, wanted, sums[clause])
            if found is not None:
                return found
        roots = dict.fromkeys(
            root
            for number in clauses[clause].tolist()
            if counts[number]
            for root in self._tops[number]
        )
        found_count = _check(
            np.fromiter(roots, np.int32, len(roots)),
            self._nodes.store.variable,
            side,
            wanted,
            self._memory,
        )
        return cast("list[int]", self._memory.found[:found_count].tolist())

    def _covered(self, question: Question) -> list[int]:
        """All roots that are covered, from the clause that fewest filters can imply."""
        clauses = question.left
        if clauses is None:
            return []
        if not clauses:
            return list(chain.from_iterable(self.roots()))
        uses = self._variables.uses()
        sums = [int(uses[numbers].sum()) for numbers in clauses]
        side = self._side(clauses, is_right=False)
        everything = len(self._memory.seen) * 64
        found = self._reached(side, clauses, sums.index(min(sums)), -1, everything)
        assert found is not None, "a search without a limit ends"
        return found

    def _reached(
        self, side: Side, clauses: list[Numbers], clause: int, wanted: int, patience: int
    ) -> list[int] | None:
        store = self._nodes.store
        # Another stamp for either side.
        stamp = 2 * self._stamp + side.good
        count = _reach(
            clauses[clause],
            clause,
            store.variable,
            store.first_of,
            store.of,
            side,
            self._outputs.names,
            stamp,
            wanted,
            patience,
            self._memory,
        )
        return None if count < 0 else cast("list[int]", self._memory.found[:count].tolist())

    def _side(self, clauses: list[Numbers] | None, *, is_right: bool) -> Side:
        store = self._nodes.store
        count = -1 if clauses is None else len(clauses)
        high = (store.first_by_high, store.by_high)
        low = (store.first_by_low, store.by_low)
        if is_right:
            codes = self._right_codes.view()
            return Side(store.high, store.low, TRUE, 1, *high, *low, codes, count)
        codes = self._left_codes.view()
        return Side(store.low, store.high, FALSE, 0, *low, *high, codes, count)

    def _below(self, root: int) -> tuple[int, int]:
        return int(self._nodes.store.low[root]), int(self._nodes.store.high[root])

    def _spine(self, root: int) -> list[int]:
        """The variables down the low side: where all are false the root is."""
        store = self._nodes.store
        spine = []
        while root > TRUE:
            spine.append(int(store.variable[root]))
            root = int(store.low[root])
        return spine

    def _make_room(self) -> None:
        """Grow as the nodes do."""
        size = len(self._nodes.store.variable)
        names, roots = self._outputs.names, self._outputs.roots
        if size > len(names):
            grown, links = np.zeros(size, dtype=np.int32), _none(2, size)
            grown[: len(names)] = names
            links[:, : len(names)] = roots
            self._outputs = self._outputs._replace(names=grown, roots=links)
            self._memory = _memory(size)


class _Coded:
    """Codes are set inside, and 0 again outside."""

    def __init__(self, codes: Growing[np.uint64], clauses: list[Numbers] | None) -> None:
        self._codes = codes.view()
        self._clauses = clauses or []

    def __enter__(self) -> None:
        for position, numbers in enumerate(self._clauses):
            self._codes[numbers] |= np.uint64(1 << position)

    def __exit__(self, *_: object) -> None:
        for numbers in self._clauses:
            self._codes[numbers] = 0


def _none(*shape: int) -> NDArray[np.int32]:
    return np.full(shape, -1, dtype=np.int32)


def _memory(size: int) -> Memory:
    return Memory(
        np.zeros(size, dtype=np.int64),
        np.empty(size, dtype=np.int32),
        np.empty(2 * size, dtype=np.int32),
        np.zeros((2, size), dtype=np.uint64),
        np.zeros((2, size), dtype=np.int64),
        np.zeros(2, dtype=np.int64),
    )
