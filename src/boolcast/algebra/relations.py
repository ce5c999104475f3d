"""The questions one asks of filters: does one cover the other, can both be true, …

Each is a search for an event that settles it (`algebra.satisfaction`), in every world of the
schema. R13 holds throughout: `covers` never says yes wrongly and `overlaps` never no.
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final, Literal

from boolcast.algebra import conjunctions
from boolcast.algebra.budget import DEFAULT_BUDGET, Budget, BudgetExhaustedError
from boolcast.algebra.domains import ALL_EVENTS, World, worlds
from boolcast.algebra.formulas import accepted, both, refused
from boolcast.algebra.satisfaction import State, event_of, solutions
from boolcast.algebra.verdict import Verdict
from boolcast.filters.expressions import Filter, FilterLike, as_filter
from boolcast.model.events import Event
from boolcast.model.schemas import Schema


def covers(
    general: FilterLike,
    specific: FilterLike,
    *,
    schema: Schema | None = None,
    budget: int = DEFAULT_BUDGET,
) -> Verdict:
    """True only if every event that `specific` accepts is accepted by `general`.

    Exact within the budget, residual predicates aside; past it the answer is no, which costs
    traffic and never a delivery. The witness of a no is an event that only `specific` accepts.

    >>> covers("price < 20", "price < 25").witness
    {'price': 20}
    """
    search = Search([as_filter(specific)], [as_filter(general)], schema, budget)
    return Verdict(not search.may_exist, search.witness, search.exhausted)


def overlaps(
    left: FilterLike,
    right: FilterLike,
    *,
    schema: Schema | None = None,
    budget: int = DEFAULT_BUDGET,
) -> Verdict:
    """False only if no event is accepted by both filters.

    Exact within the budget, residual predicates aside; past it the answer is yes. The witness
    of a yes is an event that both accept.

    >>> overlaps("price > 20", "price < 25 and title = 'Emma'").witness
    {'price': 21, 'title': 'Emma'}
    """
    search = Search([as_filter(left), as_filter(right)], [], schema, budget)
    return Verdict(search.may_exist, search.witness, search.exhausted)


def disjoint(
    left: FilterLike,
    right: FilterLike,
    *,
    schema: Schema | None = None,
    budget: int = DEFAULT_BUDGET,
) -> Verdict:
    """True only if no event is accepted by both filters; the witness of a no is such an event."""
    overlap = overlaps(left, right, schema=schema, budget=budget)
    return Verdict(not overlap.holds, overlap.witness, overlap.exhausted)


def equivalent(
    left: FilterLike,
    right: FilterLike,
    *,
    schema: Schema | None = None,
    budget: int = DEFAULT_BUDGET,
) -> Verdict:
    """True only if both filters accept the same events; the witness of a no tells them apart."""
    left, right = as_filter(left), as_filter(right)
    if left == right:
        return Verdict(True)
    there = covers(left, right, schema=schema, budget=budget)
    if not there and there.witness is not None:
        return there
    back = covers(right, left, schema=schema, budget=budget)
    if not back and back.witness is not None:
        return back
    return Verdict(there.holds and back.holds, None, there.exhausted or back.exhausted)


Relation = Literal["equal", "covers", "covered", "intersects", "disjoint"]


def relate(left: FilterLike, right: FilterLike, *, schema: Schema | None = None) -> Relation:
    """How the events of two filters lie to each other (P5-B2), within the default budget.

    `intersects` excludes covering: both have events of their own and some in common. Past the
    budget, and where residuals leave it open, it is the answer as well.
    """
    left, right = as_filter(left), as_filter(right)
    left_covers = covers(left, right, schema=schema).holds
    right_covers = covers(right, left, schema=schema).holds
    if left_covers and right_covers:
        return "equal"
    if left_covers:
        return "covers"
    if right_covers:
        return "covered"
    return "intersects" if overlaps(left, right, schema=schema) else "disjoint"


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
        if world is ALL_EVENTS and conjunctions.is_simple(self.accepting, self.refusing):
            return conjunctions.solutions(self.accepting, self.refusing, self.budget)
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
