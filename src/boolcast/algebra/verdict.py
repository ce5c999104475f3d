"""The answer to a question about filters."""

import msgspec

from boolcast.model.events import Event


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
