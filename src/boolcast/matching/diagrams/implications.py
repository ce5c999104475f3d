"""Which variables does a constraint imply, and which imply it? Three ways to the same answer.

`Comparisons` compares a constraint with every variable of its attribute, which P2 calls covering
without a cache. `DependencyCache` (P2-B7) keeps a minimal set of dependencies between variables;
a constraint that is already a variable follows them. `Ranges`, the default, searches sorted bounds:
the intervals that imply `x < 9` are those that end at 9 or before.
"""

from typing import Final, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from boolcast.algebra.ordered_sets import OrderedSet
from boolcast.algebra.value_sets import ValueSet, Variable
from boolcast.matching.counting.growable_array import Growing
from boolcast.matching.diagrams.constraints import Constraint, misses
from boolcast.matching.values.disjointness import Disjointness

Numbers = NDArray[np.int64]

Way = Literal["compared", "cached", "ranges"]

_NONE: Final = np.zeros(0, dtype=np.int64)
_MANY: Final = 1_024
"""Fewer dead variables are not worth cleaning up."""

_ANSWERS: Final = 1_024
"""How many answers are kept for an attribute; then all are forgotten."""


class Implications(Protocol):
    """Numbered constraints, and which of them a given constraint implies or is implied by."""

    def add(self, number: int, constraint: Constraint) -> None:
        """Add a variable."""

    def remove(self, number: int, constraint: Constraint) -> None:
        """Forget a variable."""

    def implied(self, constraint: Constraint, number: int | None) -> Numbers:
        """The variables that are true wherever the constraint is; `number` is its own."""

    def implying(self, constraint: Constraint, number: int | None) -> Numbers:
        """The variables that are true only where the constraint is."""


class Comparisons:
    """Every variable of an attribute is compared, each time."""

    def __init__(self) -> None:
        self._by_subject: dict[Variable, dict[int, Constraint]] = {}

    def add(self, number: int, constraint: Constraint) -> None:
        self._by_subject.setdefault(constraint.variable, {})[number] = constraint

    def remove(self, number: int, constraint: Constraint) -> None:
        del self._by_subject[constraint.variable][number]

    def implied(self, constraint: Constraint, number: int | None) -> Numbers:  # noqa: ARG002 - for all alike
        known = self._by_subject.get(constraint.variable, {})
        found = [other for other, each in known.items() if misses(constraint.inside, each.outside)]
        return np.array(found, dtype=np.int64)

    def implying(self, constraint: Constraint, number: int | None) -> Numbers:  # noqa: ARG002 - for all alike
        known = self._by_subject.get(constraint.variable, {})
        found = [other for other, each in known.items() if misses(each.inside, constraint.outside)]
        return np.array(found, dtype=np.int64)


class DependencyCache:
    """Dependencies "x is true, so y is true" without those that others imply (P2-B7).

    That is the transitive reduction, so it does not matter in which order variables came. A new
    variable is compared with all of its attribute, once; later it is found by following.
    """

    def __init__(self) -> None:
        self._compared = Comparisons()
        self._up: dict[int, set[int]] = {}
        self._down: dict[int, set[int]] = {}
        self._constraints: dict[int, Constraint] = {}

    def add(self, number: int, constraint: Constraint) -> None:
        above = set(self._compared.implied(constraint, None).tolist())
        below = set(self._compared.implying(constraint, None).tolist())
        least = above.difference(*(self._up[each] for each in above))
        greatest = below.difference(*(self._down[each] for each in below))
        for one in greatest:
            for other in self._up[one] & least:
                self._up[one].discard(other)
                self._down[other].discard(one)
            self._up[one].add(number)
        for other in least:
            self._down[other].add(number)
        self._up[number], self._down[number] = least, greatest
        self._constraints[number] = constraint
        self._compared.add(number, constraint)

    def remove(self, number: int, constraint: Constraint) -> None:
        self._compared.remove(number, constraint)
        del self._constraints[number]
        above, below = self._up.pop(number), self._down.pop(number)
        for other in above:
            self._down[other].discard(number)
        for one in below:
            self._up[one].discard(number)
        for one in below:
            for other in above:
                if not any(self._implies(each, other) for each in self._up[one]):
                    self._up[one].add(other)
                    self._down[other].add(one)

    def implied(self, constraint: Constraint, number: int | None) -> Numbers:
        if number is None:
            return self._compared.implied(constraint, None)
        return _followed(number, self._up)

    def implying(self, constraint: Constraint, number: int | None) -> Numbers:
        if number is None:
            return self._compared.implying(constraint, None)
        return _followed(number, self._down)

    def _implies(self, one: int, other: int) -> bool:
        return misses(self._constraints[one].inside, self._constraints[other].outside)


def _followed(number: int, edges: dict[int, set[int]]) -> Numbers:
    found = {number}
    waiting = [number]
    while waiting:
        new = edges[waiting.pop()] - found
        found |= new
        waiting += new
    return np.fromiter(found, np.int64, len(found))


class Ranges:
    """The variables of an attribute by their bounds, asked as `matching.values.disjointness` is.

    A set implies another if it misses what lies outside of that. Patterns are compared.
    """

    def __init__(self) -> None:
        self._attributes: dict[Variable, _Sets] = {}
        self._patterns = Comparisons()

    def add(self, number: int, constraint: Constraint) -> None:
        if constraint.leaf is not None:
            self._patterns.add(number, constraint)
        else:
            self._attributes.setdefault(constraint.variable, _Sets()).add(number, constraint)

    def remove(self, number: int, constraint: Constraint) -> None:
        if constraint.leaf is not None:
            self._patterns.remove(number, constraint)
        else:
            self._attributes[constraint.variable].remove(number)

    def implied(self, constraint: Constraint, number: int | None) -> Numbers:
        sets = self._attributes.get(constraint.variable)
        found = _NONE if sets is None else sets.around(constraint.inside)
        others = self._patterns.implied(constraint, number)
        return np.concatenate([found, others]) if len(others) else found

    def implying(self, constraint: Constraint, number: int | None) -> Numbers:
        sets = self._attributes.get(constraint.variable)
        found = _NONE if sets is None else sets.within(constraint.outside)
        others = self._patterns.implying(constraint, number)
        return np.concatenate([found, others]) if len(others) else found


class _Sets:
    """Sets of one attribute, each an entry with its variable; -1 says that it is gone."""

    def __init__(self) -> None:
        self._insides = Disjointness()
        self._outsides = Disjointness()
        self._variables = Growing(np.int64)
        self._entries: dict[int, int] = {}
        self._answers: dict[tuple[Disjointness, OrderedSet], Numbers] = {}
        """Some since the last change: predicates are often asked for again."""

    def add(self, number: int, constraint: Constraint) -> None:
        self._answers.clear()
        entry = self._entries[number] = len(self._variables)
        self._variables.append(number)
        self._insides.add(constraint.inside.ordered, entry)
        self._outsides.add(constraint.outside.ordered, entry)

    def remove(self, number: int) -> None:
        self._answers.clear()
        self._variables.view()[self._entries.pop(number)] = -1
        if len(self._variables) > 2 * len(self._entries) + _MANY:
            self._tidy_up()

    def around(self, values: ValueSet) -> Numbers:
        """The sets that hold all of some values."""
        return self._missing(self._outsides, values.ordered)

    def within(self, others: ValueSet) -> Numbers:
        """The sets that hold none of some values."""
        return self._missing(self._insides, others.ordered)

    def _missing(self, sets: Disjointness, boundaries: OrderedSet) -> Numbers:
        found = self._answers.get((sets, boundaries))
        if found is None:
            found = self._variables.view()[sets.missing(boundaries)]
            if len(self._answers) == _ANSWERS:
                self._answers.clear()
            found = self._answers[sets, boundaries] = found[found >= 0]
        return found

    def _tidy_up(self) -> None:
        variables = self._variables.view()
        kept = variables >= 0
        moved = np.where(kept, np.cumsum(kept) - 1, -1)
        self._insides.renumber(moved)
        self._outsides.renumber(moved)
        self._variables = Growing(np.int64, variables[kept])
        self._entries = {number: int(moved[entry]) for number, entry in self._entries.items()}


WAYS: Final[dict[Way, type[Implications]]] = {
    "compared": Comparisons,
    "cached": DependencyCache,
    "ranges": Ranges,
}
