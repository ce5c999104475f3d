"""The predicate phase of covering: which variables does a filter bear on (P2-B5)?

For each conjunction of its disjunctive normal form: the variables that it implies. For each
disjunction of its conjunctive normal form: those that imply it (decision 33). A plain conjunction
is both at once.
"""

from collections.abc import Iterable
from typing import Final, NamedTuple

import numpy as np

from boolcast.algebra.normal_forms import to_cnf, to_dnf
from boolcast.algebra.value_sets import World
from boolcast.filters.expressions import Filter, conjunction, disjunction
from boolcast.matching.diagrams.constraints import Constraint, Formula, Junction, formula_of
from boolcast.matching.diagrams.implications import WAYS, Implications, Numbers, Way
from boolcast.matching.diagrams.variables import Variables

_CLAUSES: Final = 64
"""Filters with more clauses get no codes."""

_VACUOUS: Final[list[Constraint]] = []


class Question(NamedTuple):
    """The codes of a filter: coded variables by clause; None if there are too many clauses."""

    right: list[Numbers] | None
    left: list[Numbers] | None


class Questions:
    """Maintains which variables imply each other."""

    def __init__(self, variables: Variables, world: World, way: Way) -> None:
        self._variables = variables
        self._world = world
        self._implications: Implications = WAYS[way]()

    def add(self, numbers: Iterable[int]) -> None:
        """Add new variables."""
        for number in numbers:
            self._implications.add(number, self._variables[number])

    def remove(self, gone: Iterable[tuple[int, Constraint]]) -> None:
        """Forget variables that no filter holds any more."""
        for number, constraint in gone:
            self._implications.remove(number, constraint)

    def question(self, filter: Filter) -> Question:
        """The variables that clauses of a filter imply, and those that imply clauses."""
        formula = formula_of(filter, self._world)
        plain = _constraints(formula, is_and=True)
        if plain is not None:
            is_short = len(plain) <= _CLAUSES
            left = [self._implying([constraint]) for constraint in plain] if is_short else None
            return Question([self._implied(plain)], left)
        right = to_dnf(filter, budget=_CLAUSES)
        wide = to_cnf(filter, budget=_CLAUSES)
        return Question(
            None
            if right.exhausted
            else [
                self._implied(found)
                for clause in right.clauses
                if (found := self._clause(conjunction(clause), is_and=True)) is not _VACUOUS
            ],
            None
            if wide.exhausted
            else [
                self._implying(found)
                for clause in wide.clauses
                if (found := self._clause(disjunction(clause), is_and=False)) is not _VACUOUS
            ],
        )

    def _clause(self, node: Filter, *, is_and: bool) -> list[Constraint]:
        """The constraints of a clause.

        A conjunction for no event, and a disjunction for every event, is vacuous: it adds
        nothing to its normal form.
        """
        formula = formula_of(node, self._world)
        if isinstance(formula, bool) and formula is not is_and:
            return _VACUOUS
        found = _constraints(formula, is_and=is_and)
        assert found is not None, "a clause is plain"
        return found

    def _implied(self, constraints: list[Constraint]) -> Numbers:
        known = self._variables.number
        return _joined([self._implications.implied(each, known(each)) for each in constraints])

    def _implying(self, constraints: list[Constraint]) -> Numbers:
        known = self._variables.number
        return _joined([self._implications.implying(each, known(each)) for each in constraints])


def _constraints(formula: Formula, *, is_and: bool) -> list[Constraint] | None:
    """The constraints of a plain AND or OR; None where the formula is something else."""
    match formula:
        case bool():
            return [] if formula is is_and else None
        case Constraint():
            return [formula]
        case Junction(kind, children) if kind is is_and:
            plain = [child for child in children if isinstance(child, Constraint)]
            return plain if len(plain) == len(children) else None
        case _:
            return None


def _joined(rows: list[Numbers]) -> Numbers:
    return np.concatenate(rows) if rows else np.zeros(0, dtype=np.int64)
