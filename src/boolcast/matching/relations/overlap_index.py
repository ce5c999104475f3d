"""Which of many filters overlap with a given one? Found by violated predicates (P3-B4).

Registered filters are stored as in the counting engine (P3-B1): predicates with the filters that
use them, and trees. A filter in question violates predicates: a set for each way to satisfy it
(`relations.violations`). For each set we count the leaves that it makes false in every registered
tree, as often as they occur (P3-E8). A tree that can stand that many is a candidate. It overlaps if
it is true with those leaves false and all others true.

An overlap is never missed: an event that both filters accept satisfies some branch, hence none of
the predicates that this branch rules out, and the tree, which is monotone, is true with all others
true. One too many may be found, where only several predicates together leave no value. Patterns and
residual predicates rule out only what the order of values rules out.

Filters come and go one by one. New associations stay unsorted until there are many, and removed
filters are skipped until they are half of all. So sorting and compacting cost little per change.
"""

from collections.abc import Callable, Sequence, Sized
from itertools import accumulate
from typing import Any, Final, NamedTuple, TypeVar, cast

import msgspec
import numpy as np
from numpy.typing import NDArray

from boolcast.algebra.value_sets import Variable
from boolcast.filters.expressions import Filter, Leaf
from boolcast.matching.counting.forests import Forest, associations, jump_code, minimum_count
from boolcast.matching.counting.growable_array import Growing
from boolcast.matching.relations.kernels.overlapping import (
    BLOCK,
    Latest,
    Registered,
    Scratch,
    Violations,
    overlapping,
)
from boolcast.matching.relations.schema_domain import SchemaDomain
from boolcast.matching.relations.violations import (
    DEFAULT_SETS,
    UNSATISFIABLE,
    VIOLATES_NOTHING,
    TooManySetsError,
    ViolatingSets,
    violating_sets,
)
from boolcast.matching.values.disjointness import Disjointness, Numbers
from boolcast.model.schemas import Schema

_FEW: Final = 1_024
"""How many associations may always be unsorted, and how many filters dead."""

_LARGEST: Final = np.iinfo(np.int16).max

_NONE: Final[Numbers] = np.zeros(0, dtype=np.uint32)

T = TypeVar("T")

_overlapping = cast("Callable[..., None]", overlapping)


class OverlapWork(msgspec.Struct, frozen=True):
    """What an answer took, independent of the machine (P3-X6).

    `sets` of violated predicates, `associations` counted for them, `candidates`, once for each
    set, and `leaves` of the candidates whose tree was evaluated: where nothing is violated, the
    tree need not be.
    """

    sets: int = 0
    associations: int = 0
    candidates: int = 0
    leaves: int = 0


class Overlap(msgspec.Struct, frozen=True):
    """The names of overlapping filters, in the order they were added; true if there are any.

    `exhausted`: there were too many ways to satisfy the filter, so every satisfiable filter is
    said to overlap.
    """

    names: list[str]
    exhausted: bool = False
    work: OverlapWork = OverlapWork()

    def __bool__(self) -> bool:
        return bool(self.names)


class _Answer(NamedTuple):
    slots: NDArray[np.int64]
    exhausted: bool
    work: OverlapWork


class OverlapIndex:
    """Filters by name, asked which overlap with another one.

    With a schema, values outside its domains do not count: between the integers 10 and 11 lies
    nothing. Not thread-safe.
    """

    def __init__(self, *, schema: Schema | None = None, sets: int = DEFAULT_SETS) -> None:
        self._domain = SchemaDomain(schema)
        self._limit = sets
        self._version = 0
        self._forest = Forest()
        self._attributes: dict[Variable, Disjointness] = {}
        self._slot_of: dict[str, int] = {}
        self._names: list[str] = []
        self._is_alive = Growing(np.bool_)
        self._spares = Growing(np.int16)
        self._shapes = Growing(np.uint32)
        self._leaf_starts = Growing(np.uint32, [0])
        self._leaves = Growing(np.uint32)
        self._occurrences = Growing(np.int64)
        self._minimums: list[int] = []
        self._code = (Growing(np.uint32, [0]), *(Growing(np.uint32) for _ in range(3)))
        self._latest = (Growing(np.uint32), Growing(np.uint32), Growing(np.int16))
        self._sorted = self._associated(0)
        self._hits = Growing(np.int16)
        self._may_hold = Growing(np.bool_)
        self._candidates = np.empty(BLOCK, dtype=np.uint32)

    def __len__(self) -> int:
        return len(self._slot_of)

    @property
    def version(self) -> int:
        """Changes with every change of the index."""
        return self._version

    @property
    def predicates(self) -> list[Leaf]:
        """The distinct predicates by number, perhaps with some of removed filters."""
        return self._forest.leaves

    @property
    def occurrences(self) -> NDArray[np.int64]:
        """How often each predicate is a leaf of a registered filter (P3-E8)."""
        return self._occurrences.view()

    def add(self, name: str, filter: Filter) -> None:
        """Register a filter under a name that is not in use."""
        assert name not in self._slot_of, "a name stands for one filter"
        shape, row = self._forest.plant(self._domain.satisfiable(filter))
        self._index_predicates()
        self._index_shapes()
        self._version += 1
        slot = self._slot_of[name] = len(self._names)
        spare = len(row) - self._minimums[shape]
        self._names.append(name)
        # An OR of nothing needs a leaf and has none.
        self._is_alive.append(spare >= 0)
        self._spares.append(min(spare, _LARGEST))
        self._shapes.append(shape)
        self._leaves.extend(row)
        self._leaf_starts.append(len(self._leaves))
        counts: dict[int, int] = {}
        for predicate in row:
            counts[predicate] = counts.get(predicate, 0) + 1
        for predicate, count in counts.items():
            self._occurrences.view()[predicate] += count
        self._latest[0].extend(list(counts))
        self._latest[1].extend([slot] * len(counts))
        self._latest[2].extend([min(count, _LARGEST) for count in counts.values()])
        self._hits.append(0)

    def remove(self, name: str) -> None:
        """Forget a filter that was registered."""
        self._version += 1
        slot = self._slot_of.pop(name)
        self._is_alive.view()[slot] = False
        starts = self._leaf_starts.view()
        row = self._leaves.view()[starts[slot] : starts[slot + 1]]
        np.subtract.at(self._occurrences.view(), row, 1)
        if len(self._names) > 2 * len(self._slot_of) + _FEW:
            self._compact()

    def first(self, filter: Filter) -> Overlap:
        """One overlapping filter, if there is any; stops when it is found (scenario First)."""
        return self._named(self._ask(filter, 1))

    def all(self, filter: Filter) -> Overlap:
        """All overlapping filters (scenario All)."""
        return self._named(self._ask(filter, len(self._names)))

    def count(self, filter: Filter) -> tuple[int, OverlapWork]:
        """How many overlap, and the work: `all` without the names, which take longest."""
        slots, _, work = self._ask(filter, len(self._names))
        return len(slots), work

    def _named(self, answer: _Answer) -> Overlap:
        slots, exhausted, work = answer
        return Overlap([self._names[slot] for slot in slots.tolist()], exhausted, work)

    def violating(self, predicate: Leaf) -> Numbers:
        """The numbers of the predicates that exclude this one: no value satisfies both (P3-B2).

        A predicate that no value satisfies excludes all.
        """
        variable, values = self._domain.values(predicate)
        if not values:
            return np.arange(len(self._forest.leaves), dtype=np.uint32)
        known = self._attributes.get(variable)
        return _NONE if known is None else known.missing(values)

    def _ask(self, filter: Filter, wanted: int) -> _Answer:
        groups: list[Numbers] = []
        known: dict[Leaf, ViolatingSets] = {}

        def leaf_sets(leaf: Leaf) -> ViolatingSets:
            if leaf not in known:
                known[leaf] = self._leaf_sets(leaf, groups)
            return known[leaf]

        try:
            sets = violating_sets(filter, leaf_sets, self._limit)
        except TooManySetsError:
            return _Answer(np.flatnonzero(self._is_alive.view())[:wanted], True, OverlapWork())
        return self._search(groups, sets, wanted)

    def _leaf_sets(self, leaf: Leaf, groups: list[Numbers]) -> ViolatingSets:
        """The sets of a leaf; what it rules out becomes a group, unless it already is one."""
        variable, values = self._domain.values(leaf)
        if not values:
            return UNSATISFIABLE
        attribute = self._attributes.get(variable)
        found = _NONE if attribute is None else attribute.missing(values)
        if not len(found):
            return VIOLATES_NOTHING
        for number, each in enumerate(groups):
            if len(each) == len(found) and np.array_equal(each, found):
                return [frozenset((number,))]
        groups.append(found)
        return [frozenset((len(groups) - 1,))]

    def _search(self, groups: list[Numbers], sets: ViolatingSets, wanted: int) -> _Answer:
        if len(self._latest[0]) > _FEW + len(self._sorted.slots) // 8:
            self._sorted = self._associated(len(self._forest.leaves))
            self._latest = (Growing(np.uint32), Growing(np.uint32), Growing(np.int16))
        violations = Violations(
            _starts(groups),
            np.concatenate([_NONE, *groups]),
            _starts(sets),
            np.array([group for each in sets for group in sorted(each)], dtype=np.int64),
        )
        trees: tuple[Growing[Any], ...]
        trees = (self._spares, self._shapes, self._leaf_starts, self._leaves, *self._code)
        is_open = self._is_alive.view().copy()
        work = np.zeros(3, dtype=np.int64)
        _overlapping(
            violations,
            self._sorted,
            _views(Latest, self._latest),
            _views(Registered, trees),
            Scratch(self._hits.view(), self._may_hold.view(), is_open, self._candidates),
            wanted,
            work,
        )
        found = np.flatnonzero(self._is_alive.view() != is_open)
        return _Answer(found, False, OverlapWork(len(sets), *work.tolist()))

    def _index_predicates(self) -> None:
        for number in range(len(self._occurrences), len(self._forest.leaves)):
            variable, values = self._domain.values(self._forest.leaves[number])
            self._attributes.setdefault(variable, Disjointness()).add(values, number)
            self._occurrences.append(0)
            self._may_hold.append(True)

    def _index_shapes(self) -> None:
        known = len(self._minimums)
        if known == len(self._forest.shapes):
            return
        for shape in list(self._forest.shapes)[known:]:
            self._minimums.append(minimum_count(shape))
            starts, *columns = jump_code([shape])
            self._code[0].append(len(self._code[1]) + int(starts[1]))
            for mine, column in zip(self._code[1:], columns, strict=True):
                mine.extend(column)

    def _associated(self, predicates: int) -> Any:
        sizes = self._sizes()
        slots = np.repeat(np.arange(len(sizes)), sizes)
        return associations(self._leaves.view(), slots, predicates, np.dtype(np.int16))

    def _sizes(self) -> NDArray[np.int64]:
        """How many leaves each slot has."""
        ends = self._leaf_starts.view().astype(np.int64)
        return ends[1:] - ends[:-1]

    def _compact(self) -> None:
        """Drop dead slots, their leaves, and predicates that occur nowhere else."""
        slots = np.array(list(self._slot_of.values()), dtype=np.int64)
        kept = np.zeros(len(self._names), dtype=np.bool_)
        kept[slots] = True
        used = self._occurrences.view() > 0
        numbers = np.where(used, np.cumsum(used) - 1, -1)
        self._forest.renumber(numbers.tolist())
        for each in self._attributes.values():
            each.renumber(numbers)
        sizes = self._sizes()
        leaves = numbers[self._leaves.view()[np.repeat(kept, sizes)]]
        self._names = [self._names[slot] for slot in slots.tolist()]
        self._slot_of = {name: slot for slot, name in enumerate(self._names)}
        self._is_alive = Growing(np.bool_, self._is_alive.view()[kept])
        self._spares = Growing(np.int16, self._spares.view()[kept])
        self._shapes = Growing(np.uint32, self._shapes.view()[kept])
        self._leaf_starts = Growing(np.uint32, [0, *np.cumsum(sizes[kept]).tolist()])
        self._leaves = Growing(np.uint32, leaves)
        self._occurrences = Growing(np.int64, self._occurrences.view()[used])
        self._may_hold = Growing(np.bool_, np.ones(int(used.sum()), dtype=np.bool_))
        self._hits = Growing(np.int16, np.zeros(len(self._names), dtype=np.int16))
        self._sorted = self._associated(len(self._forest.leaves))
        self._latest = (Growing(np.uint32), Growing(np.uint32), Growing(np.int16))


def _views(kind: Callable[..., T], arrays: Sequence[Growing[Any]]) -> T:
    """The contents of growing arrays, as a tuple of that kind."""
    return kind(*(each.view() for each in arrays))


def _starts(rows: Sequence[Sized]) -> NDArray[np.int64]:
    """Where each row begins, and the end of the last."""
    return np.array([0, *accumulate(map(len, rows))], dtype=np.int64)
