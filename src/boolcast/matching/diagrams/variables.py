"""The global predicate index (P2-B1): every distinct constraint is one variable, for all filters.

A predicate and its complement are two variables: where the attribute is missing both are false,
so every filter is monotone in its variables and a diagram needs no negation. Variables are
ordered by attribute first (P2-B3); among those of one attribute the order hardly matters, and
is that of their numbers.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from boolcast.algebra.value_sets import ValueSet, Variable
from boolcast.matching.counting.growable_array import Growing
from boolcast.matching.diagrams.constraints import Constraint, Formula, Junction
from boolcast.matching.values.shapes import Inner

_ATTRIBUTE_BITS: Final = 32


class Variables:
    """Constraints by number, with how many filters hold them; numbers are used again.

    `attributes` are ordered from the top of the diagrams. Another attribute goes above all
    others when it first occurs. `set_level` gets each new variable and its level.
    """

    def __init__(self, attributes: Sequence[str], set_level: Callable[[int, int], None]) -> None:
        self._positions = {name: position for position, name in enumerate(attributes)}
        self._above = 0
        self._set_level = set_level
        self._numbers: dict[tuple[Variable, ValueSet], int] = {}
        self._constraints: list[Constraint | None] = []
        self._uses = Growing(np.int64)
        self._free: list[int] = []

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, number: int) -> Constraint:
        constraint = self._constraints[number]
        assert constraint is not None, "a variable that no filter holds"
        return constraint

    def items(self) -> Iterator[tuple[int, Constraint]]:
        """All variables."""
        return ((number, self[number]) for number in self._numbers.values())

    def number(self, constraint: Constraint) -> int | None:
        """The variable of a constraint, if it has one."""
        return self._numbers.get((constraint.variable, constraint.inside))

    def uses(self) -> NDArray[np.int64]:
        """For each number, how many filters hold the variable."""
        return self._uses.view()

    def attribute_order(self) -> list[str]:
        """The attributes from the top of the diagrams."""
        return sorted(self._positions, key=self._positions.__getitem__)

    def position(self, number: int) -> int:
        """The position of a variable's attribute in the order."""
        return self._positions[self[number].attribute]

    def hold(self, formula: Formula) -> tuple[Inner | int | bool, tuple[int, ...], list[int]]:
        """The formula over numbers, the variables that it now holds, and those that are new."""
        held: dict[int, None] = {}
        new: list[int] = []
        tree = self._tree(formula, held, new)
        uses = self._uses.view()
        for number in held:
            uses[number] += 1
        return tree, tuple(held), new

    def release(self, held: Sequence[int]) -> list[tuple[int, Constraint]]:
        """A filter no longer holds these variables; returns those that no other filter holds."""
        uses = self._uses.view()
        gone: list[tuple[int, Constraint]] = []
        for number in held:
            uses[number] -= 1
            if not uses[number]:
                constraint = self[number]
                gone.append((number, constraint))
                del self._numbers[constraint.variable, constraint.inside]
                self._constraints[number] = None
                self._free.append(number)
        return gone

    def _tree(self, formula: Formula, held: dict[int, None], new: list[int]) -> Inner | int | bool:
        if isinstance(formula, bool):
            return formula
        if isinstance(formula, Junction):
            # Two spellings of one constraint are one variable, and must not follow each other.
            children = tuple(
                dict.fromkeys(self._tree(child, held, new) for child in formula.children)
            )
            return children[0] if len(children) == 1 else Inner(formula.is_and, children)
        key = (formula.variable, formula.inside)
        number = self._numbers.get(key)
        if number is None:
            number = self._new(formula)
            self._numbers[key] = number
            new.append(number)
        held[number] = None
        return number

    def _new(self, constraint: Constraint) -> int:
        if self._free:
            number = self._free.pop()
            self._constraints[number] = constraint
        else:
            number = len(self._constraints)
            self._constraints.append(constraint)
            self._uses.append(0)
        position = self._positions.get(constraint.attribute)
        if position is None:
            self._above -= 1
            position = self._positions[constraint.attribute] = self._above
        self._set_level(number, (position << _ATTRIBUTE_BITS) + number)
        return number
