"""How many events a tree lets pass, from the shares of its children (P1-B5, P1-B6).

An estimate has three parts. The least and the greatest share hold whatever the events have in
common; the average is right if the children are independent. All three only grow when a child
becomes more general, so a pruned tree is never estimated below the original. And they may be
put together in any order and grouping: AND within AND is as flat.
"""

import math
from collections.abc import Callable, Iterable
from functools import reduce
from typing import Final, NamedTuple


class Estimate(NamedTuple):
    """The share of events that match: at least, on average, and at most."""

    minimum: float
    average: float
    maximum: float

    def degradation_to(self, other: "Estimate") -> float:
        """The largest growth among the three parts (P1-B6): absolute, and smaller is better."""
        return max(
            other.minimum - self.minimum,
            other.average - self.average,
            other.maximum - self.maximum,
        )


ALWAYS: Final = Estimate(1.0, 1.0, 1.0)
NEVER: Final = Estimate(0.0, 0.0, 0.0)


def both(left: Estimate, right: Estimate) -> Estimate:
    """The estimate of an AND of two."""
    return Estimate(max(left[0] + right[0] - 1.0, 0.0), left[1] * right[1], min(left[2], right[2]))


def either(left: Estimate, right: Estimate) -> Estimate:
    """The estimate of an OR of two."""
    return Estimate(
        max(left[0], right[0]),
        left[1] + right[1] - left[1] * right[1],
        min(left[2] + right[2], 1.0),
    )


class Rules(NamedTuple):
    """How estimates are put together, and what it costs if one becomes another.

    `always` and `never` are those of `true` and `false`, and change nothing in an AND and an OR.
    `further` is what the average of a pruned form is taken for, of what is estimated of the
    original and of that form: pruning can move it in one direction only, and where a repeated
    part became one, the estimates may say otherwise.
    """

    always: Estimate
    never: Estimate
    both: Callable[[Estimate, Estimate], Estimate]
    either: Callable[[Estimate, Estimate], Estimate]
    degradation: Callable[[Estimate, Estimate], float]
    further: Callable[[float, float], float]

    def joined(self, is_and: bool, children: Iterable[Estimate]) -> Estimate:
        """The estimate of an AND or OR (P1-B5, algorithms 1 and 2).

        >>> SHARES.joined(True, [Estimate(0.5, 0.5, 0.5), Estimate(0.75, 0.75, 0.75)])
        Estimate(minimum=0.25, average=0.375, maximum=0.5)
        """
        if is_and:
            return reduce(self.both, children, self.always)
        return reduce(self.either, children, self.never)


SHARES: Final = Rules(ALWAYS, NEVER, both, either, Estimate.degradation_to, max)
"""The rules for shares of events (P1-B5, P1-B6)."""


class AnyOf:
    """The share of events that match one of many entries at least, if they are independent.

    Kept as the logarithm of the share that match none; entries that match every event have no
    such logarithm and are counted.
    """

    def __init__(self) -> None:
        self._logarithm = 0.0
        self._certain = 0

    def add(self, average: float, count: int) -> None:
        """Take up an entry with that average, or with a count of -1 take it out."""
        if average >= 1.0:
            self._certain += count
        else:
            self._logarithm += count * math.log1p(-average)

    def share(self) -> float:
        """Between 0 and 1."""
        return 1.0 if self._certain else max(-math.expm1(self._logarithm), 0.0)
