"""Is there an event that makes a formula true? The search behind every proof.

A state gives each variable the set of values still possible. Atoms narrow it; a set that
becomes empty ends the branch. Disjunctions wait as clauses: under a state, alternatives that
contradict it drop out and a clause with an alternative that already holds is done; one with
a single alternative left is no choice. Where choices remain, the smallest clause is split,
and each branch also rules out the atoms tried before it, so that no event is looked at twice.
A state without clauses left holds an event in every combination of its sets.

The search is exact and exponential at worst; it spends a budget.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from boolcast.algebra import ordered_sets as ordered
from boolcast.algebra.budget import Budget
from boolcast.algebra.domains import World
from boolcast.algebra.formulas import All, Any, Atom, Formula
from boolcast.algebra.value_sets import ValueSet, Variable, intersect
from boolcast.algebra.witness_values import choose, is_empty
from boolcast.model.events import Event

State = dict[Variable, ValueSet]


class _Branch(NamedTuple):
    state: State
    todo: list[Formula]
    clauses: list[Any]


def solutions(formula: Formula, world: World, budget: Budget) -> Iterator[State]:
    """States in which every event makes the formula true; none if no event does.

    Raises BudgetExhaustedError.
    """
    branches = [_Branch(dict(world.sets), [formula], [])]
    while branches:
        branch = branches.pop()
        budget.spend(1)
        clauses = _propagate(branch, world, budget)
        if clauses is None:
            continue
        if clauses:
            branches.extend(_split(branch.state, clauses))
        else:
            yield branch.state


def _propagate(branch: _Branch, world: World, budget: Budget) -> list[Any] | None:
    """Narrow the state by what is certain; the clauses left, or None at a contradiction."""
    state, todo, clauses = branch
    while True:
        while todo:
            part = todo.pop()
            match part:
                case Atom(variable, values):
                    narrowed = _narrow(state, variable, values, world, budget)
                    if narrowed is None:
                        return None
                    state[variable] = narrowed
                case All(parts):
                    todo.extend(parts)
                case Any():
                    clauses.append(part)
        remaining: list[Any] = []
        for clause in clauses:
            open_parts = _open_parts(clause, state, world, budget)
            if open_parts is None:
                continue
            if not open_parts:
                return None
            if len(open_parts) == 1:
                todo.append(open_parts[0])
            else:
                remaining.append(Any(tuple(open_parts)))
        clauses = remaining
        if not todo:
            return clauses


def _narrow(
    state: State, variable: Variable, values: ValueSet, world: World, budget: Budget
) -> ValueSet | None:
    """The variable's set cut down to `values`; None if that leaves nothing."""
    known = state.get(variable)
    if known is None:
        known = world.domain(variable)
    budget.spend(1 + (len(known.cuts) + len(values.cuts)) // 8)
    narrowed = intersect(known, values)
    if narrowed == known:
        return known
    return None if is_empty(narrowed, budget) else narrowed


def _open_parts(clause: Any, state: State, world: World, budget: Budget) -> list[Formula] | None:
    """The alternatives that the state does not rule out; None if one holds already."""
    kept: list[Formula] = []
    for part in clause.parts:
        atoms = (part,) if isinstance(part, Atom) else part.parts
        holds = True
        for member in atoms:
            if not isinstance(member, Atom):
                holds = False
                continue
            narrowed = _narrow(state, member.variable, member.values, world, budget)
            if narrowed is None:
                break
            known = state.get(member.variable)
            holds = holds and narrowed == (
                world.domain(member.variable) if known is None else known
            )
        else:
            if holds:
                return None
            kept.append(part)
    return kept


def _split(state: State, clauses: list[Any]) -> Iterable[_Branch]:
    """A branch for each alternative of the most telling clause, the first one last."""
    chosen = min(range(len(clauses)), key=lambda index: _vagueness(clauses[index]))
    others = clauses[:chosen] + clauses[chosen + 1 :]
    tried: list[Formula] = []
    branches: list[_Branch] = []
    # Residuals last: a solution without one has a witness that needs no luck.
    for part in sorted(clauses[chosen].parts, key=_involves_residual):
        branches.append(_Branch(dict(state), [part, *tried], list(others)))
        if isinstance(part, Atom) and not part.values.literals:
            outside = ValueSet(ordered.complement(part.values.cuts))
            tried.append(Atom(part.variable, outside))
    return reversed(branches)


def _vagueness(clause: Any) -> tuple[int, int]:
    """How little a choice in the clause would say: alternatives that ask for no value, then all.

    That a filter refuses gives clauses of few alternatives, each of which leaves its attribute
    nearly everything, missing included. Split first, they multiply; split last, most of them
    are settled by then.
    """
    vague = sum(not _asks_for_a_value(part) for part in clause.parts)
    return vague, len(clause.parts)


def _asks_for_a_value(part: Formula) -> bool:
    match part:
        case Atom(_, values):
            return values.cuts[:1] != ordered.EVERYTHING
        case All(parts):
            return any(map(_asks_for_a_value, parts))
        case Any(parts):
            return all(map(_asks_for_a_value, parts))


def _involves_residual(part: Formula) -> bool:
    match part:
        case Atom(variable):
            return variable.is_residual
        case All(parts) | Any(parts):
            return any(map(_involves_residual, parts))


def event_of(state: State, budget: Budget) -> Event:
    """An event of a state that `solutions` found; residuals have no value to give."""
    event = Event()
    for variable, values in state.items():
        if not variable.is_residual:
            value = choose(values, budget)
            if value is not None:
                event[variable.name] = value
    return event
