"""Disjunctive and conjunctive normal form, within a budget of clauses.

Over predicates and their complements a filter is monotone, so the distributive laws are all
that is needed. Repeated predicates in a clause, repeated clauses, and clauses that contain
another one are dropped on the way.
"""

from itertools import product
from typing import Final

from boolcast.filters.canonical import to_nnf
from boolcast.filters.expressions import (
    And,
    Constant,
    Filter,
    FilterLike,
    Leaf,
    Or,
    Predicate,
    RewrittenFilter,
    as_filter,
    conjunction,
    disjunction,
)

DEFAULT_CLAUSES: Final = 4_096

_Clause = tuple[Leaf, ...]


class NormalForm(RewrittenFilter, frozen=True):
    """The clauses, and the filter that they make up.

    In disjunctive form each clause is a conjunction, in conjunctive form a disjunction. Where
    the budget is `exhausted` there are no clauses, and the filter is only in negation normal
    form: it means the same.
    """

    clauses: tuple[tuple[Leaf, ...], ...]
    exhausted: bool = False


class _TooManyError(Exception):
    """More clauses than the budget allows."""


def to_dnf(filter: FilterLike, *, budget: int = DEFAULT_CLAUSES) -> NormalForm:
    """The filter as a disjunction of conjunctions of predicates.

    >>> str(to_dnf("a = 1 and (b = 2 or c = 3)").filter)
    'a = 1 and b = 2 or a = 1 and c = 3'
    """
    node = to_nnf(as_filter(filter))
    try:
        clauses = _clauses(node, Or, budget)
    except _TooManyError:
        return NormalForm(node, (), exhausted=True)
    return NormalForm(disjunction(conjunction(clause) for clause in clauses), tuple(clauses))


def to_cnf(filter: FilterLike, *, budget: int = DEFAULT_CLAUSES) -> NormalForm:
    """The filter as a conjunction of disjunctions of predicates.

    >>> str(to_cnf("a = 1 and b = 2 or c = 3").filter)
    '(a = 1 or c = 3) and (b = 2 or c = 3)'
    """
    node = to_nnf(as_filter(filter))
    try:
        clauses = _clauses(node, And, budget)
    except _TooManyError:
        return NormalForm(node, (), exhausted=True)
    return NormalForm(conjunction(disjunction(clause) for clause in clauses), tuple(clauses))


def _clauses(node: Filter, outer: type[And] | type[Or], budget: int) -> list[_Clause]:
    """The clauses of a normal form whose outer operator is `outer`."""
    match node:
        case Constant(value):
            # In disjunctive form `true` is one empty clause and `false` none, and vice versa.
            return [()] if value is (outer is Or) else []
        case And(children) | Or(children):
            parts = [_clauses(child, outer, budget) for child in children]
            if isinstance(node, outer):
                return _minimal([clause for part in parts for clause in part], budget)
            return _multiplied(parts, budget)
        case _:
            assert isinstance(node, Predicate)
            return [(node,)]


def _multiplied(parts: list[list[_Clause]], budget: int) -> list[_Clause]:
    result: list[_Clause] = [()]
    for part in parts:
        if len(result) * len(part) > budget:
            raise _TooManyError
        result = _minimal(
            [tuple(dict.fromkeys((*left, *right))) for left, right in product(result, part)], budget
        )
    return result


def _minimal(clauses: list[_Clause], budget: int) -> list[_Clause]:
    """The clauses that contain no other one, in their order, the first of equal ones."""
    if len(clauses) > budget:
        raise _TooManyError
    kept: list[tuple[frozenset[Leaf], _Clause]] = []
    for clause in sorted(clauses, key=len):
        members = frozenset(clause)
        if not any(smaller <= members for smaller, _ in kept):
            kept.append((members, clause))
    chosen = {members for members, _ in kept}
    ordered: list[_Clause] = []
    for clause in clauses:
        members = frozenset(clause)
        if members in chosen:
            chosen.remove(members)
            ordered.append(clause)
    return ordered
