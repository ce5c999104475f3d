"""Questions about two filters: does one cover the other, can both be true, …

Each is a search for an event that settles it (`algebra.satisfaction`), in every world of the
schema. R13 holds throughout: `covers` never says yes wrongly and `overlaps` never no.
"""

from typing import Literal

import msgspec

from boolcast.algebra.budget import DEFAULT_BUDGET, check_question
from boolcast.algebra.satisfaction import Search
from boolcast.filters.expressions import FilterLike, as_filter
from boolcast.model.events import Event
from boolcast.model.schemas import Schema


class Verdict(msgspec.Struct, frozen=True):
    """Yes or no, with the evidence; true or false in a condition.

    `witness` is an event that shows why: one that both filters accept (`overlaps`), one that
    contradicts (`covers`, `equivalent`, `disjoint`). `exhausted` says that the budget ran out
    and the answer is the safe one: not covered, may overlap. A `no` of `covers` without
    witness or exhaustion hangs on a residual predicate, which the algebra cannot see into.
    """

    holds: bool
    witness: Event | None = None
    exhausted: bool = False

    def __bool__(self) -> bool:
        return self.holds


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
    check_question(schema, budget)
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
    check_question(schema, budget)
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
    check_question(schema, budget)
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
