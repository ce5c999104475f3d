"""The budget of a proof: how many steps it may take before it gives up."""

from typing import Final

from boolcast.model.arguments import check_argument
from boolcast.model.schemas import check_schema

DEFAULT_BUDGET: Final = 50_000
"""Steps of a few microseconds each: predicates read, sets narrowed, automaton transitions."""

SIMPLIFY_BUDGET: Final = 10 * DEFAULT_BUDGET
"""Steps for one filter, shared by all the removals that are tried."""


class BudgetExhaustedError(Exception):
    """The budget ran out. Never leaves this room: verdicts say `exhausted` instead."""


class Budget:
    """Counts steps down; raises when there are none left."""

    __slots__ = ("remaining",)

    def __init__(self, steps: int) -> None:
        self.remaining = steps

    def spend(self, steps: int) -> None:
        """Take steps. Raises BudgetExhaustedError when they are used up."""
        self.remaining -= steps
        if self.remaining < 0:
            raise BudgetExhaustedError

    def part(self, steps: int) -> "Budget":
        """A budget of at most `steps` out of this one; return what is left with `settle`."""
        granted = min(steps, self.remaining)
        self.remaining -= granted
        return Budget(granted)

    def settle(self, part: "Budget") -> None:
        """Take back what a part did not spend."""
        self.remaining += max(part.remaining, 0)


def check_question(schema: object, budget: object) -> None:
    """Check what every question takes beside filters. Raises ArgumentError."""
    check_schema(schema)
    check_argument(budget, int, "a budget is a number of steps such as 50_000")
