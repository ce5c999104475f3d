"""How many events a tree accepts, from the shares of its children (P1-B5, P1-B6).

An estimate has three numbers. The minimum and the maximum hold however the children are correlated;
the average is right if they are independent. None of them shrinks when a child becomes more
general, so a pruned tree is never estimated below the original. Combining them is associative and
commutative, so nested ANDs count like flat ones.
"""

import math
from collections.abc import Callable, Iterable
from functools import reduce
from typing import Final, NamedTuple


class Estimate(NamedTuple):
    """The share of events that match."""

    minimum: float
    average: float
    maximum: float

    def degradation_to(self, other: "Estimate") -> float:
        """The largest absolute growth among the three numbers; smaller is better (P1-B6)."""
        return max(
            other.minimum - self.minimum,
            other.average - self.average,
            other.maximum - self.maximum,
        )


ALWAYS: Final = Estimate(1.0, 1.0, 1.0)
NEVER: Final = Estimate(0.0, 0.0, 0.0)


def both(left: Estimate, right: Estimate) -> Estimate:
    """The estimate of the AND of two."""
    return Estimate(max(left[0] + right[0] - 1.0, 0.0), left[1] * right[1], min(left[2], right[2]))


def either(left: Estimate, right: Estimate) -> Estimate:
    """The estimate of the OR of two."""
    return Estimate(
        max(left[0], right[0]),
        left[1] + right[1] - left[1] * right[1],
        min(left[2] + right[2], 1.0),
    )


class EstimateRules(NamedTuple):
    """How estimates are combined, and what it costs if one becomes another.

    `always` and `never` are the estimates of `true` and `false`, the neutral elements of AND and
    OR. `further` picks between the averages of the original and of the pruned filter: pruning
    moves the average in one direction only, but where repeated subfilters became one the
    estimates may say otherwise.
    """

    always: Estimate
    never: Estimate
    both: Callable[[Estimate, Estimate], Estimate]
    either: Callable[[Estimate, Estimate], Estimate]
    degradation: Callable[[Estimate, Estimate], float]
    further: Callable[[float, float], float]

    def joined(self, is_and: bool, children: Iterable[Estimate]) -> Estimate:
        """The estimate of an AND or OR (P1-B5, algorithms 1 and 2).

        >>> SHARE_RULES.joined(True, [Estimate(0.5, 0.5, 0.5), Estimate(0.75, 0.75, 0.75)])
        Estimate(minimum=0.25, average=0.375, maximum=0.5)
        """
        if is_and:
            return reduce(self.both, children, self.always)
        return reduce(self.either, children, self.never)


SHARE_RULES: Final = EstimateRules(ALWAYS, NEVER, both, either, Estimate.degradation_to, max)
"""The rules for shares of events (P1-B5, P1-B6)."""


class AnyOf:
    """The share of events that match at least one of many entries, if these are independent.

    Stored as the logarithm of the share that matches none. Entries that match every event have
    no such logarithm and are counted.
    """

    def __init__(self) -> None:
        self._logarithm = 0.0
        self._certain = 0

    def add(self, average: float, count: int) -> None:
        """Add an entry with that average; a count of -1 removes it."""
        if average >= 1.0:
            self._certain += count
        else:
            self._logarithm += count * math.log1p(-average)

    def share(self) -> float:
        """Between 0 and 1."""
        return 1.0 if self._certain else max(-math.expm1(self._logarithm), 0.0)
