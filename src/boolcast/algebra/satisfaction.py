"""Is there an event that some filters accept and others refuse? The search behind every proof.

**Formulas.** A filter becomes a formula of plain, two-valued logic. An atom says that a
variable's value lies in a set. Since the sets know of missing values and other kinds, "the
filter does not accept" is a formula like any other: it is the two-valued negation, true also
where predicates are unknown, and not the filter's own NOT.

**States.** A state gives each variable the set of values still possible. Atoms narrow it; a
set that becomes empty ends the branch. Disjunctions wait as clauses: under a state,
alternatives that contradict it drop out and a clause with an alternative that already holds
is done; one with a single alternative left is no choice. Where choices remain, the smallest
clause is split, and each branch also rules out the atoms tried before it, so that no event is
looked at twice. A state without clauses left holds an event in every combination of its sets.

The search is exact and exponential at worst; it spends a budget. Conjunctions of predicates
take a shorter way, attribute by attribute.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final, NamedTuple

from boolcast.algebra import ordered_sets as ordered
from boolcast.algebra.budget import DEFAULT_BUDGET, Budget, BudgetExhaustedError
from boolcast.algebra.value_sets import (
    ALL_EVENTS,
    ValueSet,
    Variable,
    World,
    choose,
    intersect,
    is_empty,
    meaning,
    worlds,
)
from boolcast.filters.canonical import complement
from boolcast.filters.expressions import And, Constant, Filter, Leaf, Not, Or, leaves
from boolcast.model.events import Event
from boolcast.model.schemas import Schema


class Atom(NamedTuple):
    """The variable's value is in the set."""

    variable: Variable
    values: ValueSet


class All(NamedTuple):
    """All parts are true; none of them is an All."""

    parts: tuple["Formula", ...]


class Any(NamedTuple):
    """One part is true; none of them is an Any."""

    parts: tuple["Formula", ...]


Formula = Atom | All | Any

YES = All(())
NO = Any(())


def accepted(filter: Filter, world: World) -> Formula:
    """The filter accepts the event."""
    return _formula(filter, world, negated=False, wanted=True)


def refused(filter: Filter, world: World) -> Formula:
    """The filter does not accept the event."""
    return _formula(filter, world, negated=False, wanted=False)


def _formula(node: Filter, world: World, *, negated: bool, wanted: bool) -> Formula:
    """`negated` is the filter's own NOT, which swaps predicates for their complements;
    not `wanted` is the negation of the whole, which swaps sets for what lies outside them.
    """
    match node:
        case Not(child):
            return _formula(child, world, negated=not negated, wanted=wanted)
        case Constant(value):
            return YES if (value is not negated) is wanted else NO
        case And(children) | Or(children):
            parts = [_formula(part, world, negated=negated, wanted=wanted) for part in children]
            is_all = (isinstance(node, And) is not negated) is wanted
            return both(parts) if is_all else either(parts)
        case _:
            return atom(node, world, negated=negated, wanted=wanted)


def atom(leaf: Leaf, world: World, *, negated: bool, wanted: bool) -> Atom:
    """One predicate as an atom."""
    variable, inside, outside = meaning(complement(leaf) if negated else leaf)
    values = inside if wanted else outside
    return Atom(variable, world.restrict(variable, values) if world.whole else values)


def both(parts: list[Formula]) -> Formula:
    """All of the parts, flat."""
    flat: list[Formula] = []
    for part in parts:
        if isinstance(part, All):
            flat.extend(part.parts)
        elif part == NO:
            return NO
        else:
            flat.append(part)
    return flat[0] if len(flat) == 1 else All(tuple(flat))


def either(parts: list[Formula]) -> Formula:
    """One of the parts, flat; atoms on one variable become a single one by union."""
    flat: list[Formula] = []
    atoms: dict[Variable, ValueSet] = {}
    for part in parts:
        for member in part.parts if isinstance(part, Any) else (part,):
            if member == YES:
                return YES
            if isinstance(member, Atom) and not member.values.literals:
                known = atoms.get(member.variable)
                atoms[member.variable] = (
                    member.values
                    if known is None
                    else ValueSet(ordered.unite(known.ordered, member.values.ordered))
                )
            else:
                flat.append(member)
    merged: list[Formula] = [Atom(variable, values) for variable, values in atoms.items()]
    flat = merged + flat
    return flat[0] if len(flat) == 1 else Any(tuple(flat))


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
    """The variable's set narrowed to `values`; None if that leaves nothing."""
    known = state.get(variable)
    if known is None:
        known = world.domain(variable)
    budget.spend(1 + (len(known.ordered) + len(values.ordered)) // 8)
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
    # Residuals last: only a solution without one is sure to have a witness.
    for part in sorted(clauses[chosen].parts, key=_involves_residual):
        branches.append(_Branch(dict(state), [part, *tried], list(others)))
        if isinstance(part, Atom) and not part.values.literals:
            outside = ValueSet(ordered.complement(part.values.ordered))
            tried.append(Atom(part.variable, outside))
    return reversed(branches)


def _vagueness(clause: Any) -> tuple[int, int]:
    """How little a choice in the clause would say: alternatives that ask for no value, then all.

    A filter that must refuse gives clauses of few alternatives, each of which leaves its attribute
    nearly everything, missing included. Split first, they multiply; split last, most of them
    are settled by then.
    """
    vague = sum(not _asks_for_a_value(part) for part in clause.parts)
    return vague, len(clause.parts)


def _asks_for_a_value(part: Formula) -> bool:
    match part:
        case Atom(_, values):
            return values.ordered[:1] != ordered.EVERYTHING
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


def is_conjunctive(accepting: Sequence[Filter], refusing: Sequence[Filter]) -> bool:
    """True for conjunctions of predicates, at most one of them to be refused."""
    return len(refusing) <= 1 and all(
        leaves(filter) is not None for filter in (*accepting, *refusing)
    )


def conjunctive_solutions(
    accepting: Sequence[Filter], refusing: Sequence[Filter], budget: Budget
) -> Iterator[State]:
    """What `solutions` finds, attribute by attribute.

    A conjunction is refused where one of its predicates fails, and each predicate looks at
    one attribute only, so one intersection for each of them settles it.
    """
    state: State = {}
    for node in accepting:
        for leaf in leaves(node) or ():
            variable, inside, _ = meaning(leaf)
            state[variable] = _intersected(state, variable, inside, budget)
    if any(is_empty(values, budget) for values in state.values()):
        return
    if not refusing:
        yield state
        return
    for leaf in leaves(refusing[0]) or ():
        variable, _, outside = meaning(leaf)
        rest = _intersected(state, variable, outside, budget)
        if not is_empty(rest, budget):
            yield {**state, variable: rest}


def _intersected(state: State, variable: Variable, values: ValueSet, budget: Budget) -> ValueSet:
    known = state.get(variable)
    if known is None:
        known = ALL_EVENTS.domain(variable)
    budget.spend(1 + (len(known.ordered) + len(values.ordered)) // 8)
    return intersect(known, values)


_STATES_TRIED: Final = 16
"""How many solutions are looked at for a witness where residuals are in the way."""


class Search:
    """The search for an event that some filters accept and others refuse.

    `may_exist` is False only if it was proven that there is none. `witness` is such an event,
    withheld where a residual predicate turns out to be in the way.
    """

    def __init__(
        self,
        accepting: Sequence[Filter],
        refusing: Sequence[Filter],
        schema: Schema | None,
        budget: int | Budget,
    ) -> None:
        self.accepting = accepting
        self.refusing = refusing
        self.budget = budget if isinstance(budget, Budget) else Budget(budget)
        self.witness: Event | None = None
        self.may_exist = False
        self.exhausted = False
        try:
            self._run(schema)
        except BudgetExhaustedError:
            # Once a solution is found the answer stands, with or without a witness.
            self.exhausted = not self.may_exist
            self.may_exist = True

    def _run(self, schema: Schema | None) -> None:
        size = sum(len(list(filter.predicates())) for filter in (*self.accepting, *self.refusing))
        for world in worlds(schema):
            self.budget.spend(size)
            for state in islice(self._states(world), _STATES_TRIED):
                self.may_exist = True
                if self._take_witness(state):
                    return

    def _states(self, world: World) -> Iterator[State]:
        if world is ALL_EVENTS and is_conjunctive(self.accepting, self.refusing):
            return conjunctive_solutions(self.accepting, self.refusing, self.budget)
        parts = [accepted(filter, world) for filter in self.accepting]
        parts += [refused(filter, world) for filter in self.refusing]
        return solutions(both(parts), world, self.budget)

    def _take_witness(self, state: State) -> bool:
        """Keep the state's event if it is a witness: it always is without residuals."""
        event = event_of(state, self.budget)
        if any(variable.is_residual for variable in state) and not self._is_witness(event):
            return False
        self.witness = event
        return True

    def _is_witness(self, event: Event) -> bool:
        return all(filter.accepts(event) for filter in self.accepting) and not any(
            filter.accepts(event) for filter in self.refusing
        )


class Prover:
    """Asks many questions out of one budget; `exhausted` once one was given up."""

    def __init__(self, schema: Schema | None, steps: int) -> None:
        self.schema = schema
        self.budget = Budget(steps)
        self.exhausted = False

    def may_exist(self, accepting: Sequence[Filter], refusing: Sequence[Filter]) -> bool:
        """False only if there is no such event; a single question has the default budget."""
        part = self.budget.part(DEFAULT_BUDGET)
        search = Search(accepting, refusing, self.schema, part)
        self.budget.settle(part)
        self.exhausted = self.exhausted or search.exhausted
        return search.may_exist
