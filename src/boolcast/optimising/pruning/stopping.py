"""When to stop pruning: enough operations, enough memory, too many false positives, the cut-off.

A rule is asked before each operation, and knows how things stand before and after it. So a
budget is never overdrawn, and a target is overshot by no more than one operation. A target may be
missed, because the cheapest prunings do not lead there or another rule stops them before.

The cut-off is where pruning turns from a gain into a loss: the share of prunings done exceeds the
share of the growth of matching events by most (P1-X1). Before it, nearly all of the memory is
relieved for few events; after it, few predicates cost most events.
"""

from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import Final, Protocol

import msgspec

from boolcast.errors import LimitError, PruningTargetError

_NOISE: Final = 1e-12
"""What the sum of many logarithms may be wrong by: a free pruning stays free."""


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """How far pruning has gone.

    `operations` were done in this run. `predicates` are left, counted as often as they occur.
    `share` is the expected share of events that match one entry at least, if entries are
    independent, and `original_share` what it was when the entries were whole; where entries lead
    to several neighbours, both are sums over these.
    """

    operations: int
    predicates: int
    share: float
    original_share: float

    @property
    def spent(self) -> float:
        """What a budget counts: the expected share of events that match for nothing.

        Those are the events that match now and match no entry in its original form, counted once
        for each neighbour to which they go for nothing.
        """
        return self.share - self.original_share

    def cost(self) -> str:
        """What pruning has cost, in words."""
        return f"let an expected {self.spent:.2%} of events pass for nothing"


class RankStanding(Standing, frozen=True, kw_only=True):
    """The same of advertisements: `share` is the part of their overlapping rank that is lost."""

    def cost(self) -> str:
        return f"gave up {self.spent:.2%} of the rank"


class StoppingRule(Protocol):
    """A limit to pruning."""

    def check(self, floor: int) -> None:
        """Before the first operation: fewer predicates than `floor` are out of reach.

        Raises PruningTargetError if the rule asks for fewer.
        """

    def admits(self, before: Standing, after: Standing) -> bool:
        """True if the operation that leads from `before` to `after` may be done."""


class Operations(msgspec.Struct, frozen=True):
    """At most so many operations."""

    count: int

    def __post_init__(self) -> None:
        _check_number("operations", self.count)

    def check(self, floor: int) -> None:
        pass

    def admits(self, before: Standing, after: Standing) -> bool:
        del before
        return after.operations <= self.count


class MemoryTarget(msgspec.Struct, frozen=True):
    """Until no more than so many predicates are left, counted as often as they occur.

    A target below the floor is refused before anything is pruned: to prune all there is would
    cost the most events and still not give what was asked for. One above it may still be missed.
    """

    predicates: int

    def __post_init__(self) -> None:
        _check_number("predicates", self.predicates)

    def check(self, floor: int) -> None:
        if self.predicates < floor:
            raise PruningTargetError(self.predicates, floor)

    def admits(self, before: Standing, after: Standing) -> bool:
        del after
        return before.predicates > self.predicates


class FalsePositiveBudget(msgspec.Struct, frozen=True):
    """As long as no more than this share of all events is expected to match for nothing."""

    share: float

    def __post_init__(self) -> None:
        _check_share("events", self.share)

    def check(self, floor: int) -> None:
        pass

    def admits(self, before: Standing, after: Standing) -> bool:
        del before
        return after.spent <= self.share + _NOISE


class RankBudget(msgspec.Struct, frozen=True):
    """As long as advertisements lose no more than this share of their overlapping rank."""

    share: float

    def __post_init__(self) -> None:
        _check_share("the rank", self.share)

    def check(self, floor: int) -> None:
        pass

    def admits(self, before: Standing, after: Standing) -> bool:
        del before
        return after.spent <= self.share + _NOISE


def _check_number(things: str, number: object) -> None:
    if not (isinstance(number, Integral) and int(number) >= 0):
        raise LimitError(f"a number of {things} starts at 0, and this is {number}")


def _check_share(what: str, share: float) -> None:
    if not 0 <= share <= 1:
        raise LimitError(f"a share of {what} lies between 0 and 1, and this is {share}")


class MissedTarget(msgspec.Struct, frozen=True):
    """A memory target, how many `predicates` are left instead, and what let no fewer be left."""

    target: int
    predicates: int
    stopped_by: StoppingRule | None

    def __str__(self) -> str:
        reason = (
            "the cheapest ways lead no further"
            if self.stopped_by is None
            else f"{self.stopped_by} stopped before"
        )
        return (
            f"the target of {self.target:,} predicates is missed: {self.predicates:,} remain,"
            f" {reason}"
        )


def missed_target(
    rules: Iterable[StoppingRule], predicates: int, stopped_by: StoppingRule | None
) -> MissedTarget | None:
    """What became of the memory target among the rules of a run, if that has missed it."""
    targets = [rule.predicates for rule in rules if isinstance(rule, MemoryTarget)]
    missed = [each for each in targets if each < predicates]
    return MissedTarget(min(missed), predicates, stopped_by) if missed else None


def cut_off(matching: Sequence[float]) -> int:
    """The number of operations at the cut-off; `matching[i]` events match after i of them.

    Where nothing grows, all of them are free.

    >>> cut_off([100, 101, 102, 110, 200])
    3
    """
    operations = len(matching) - 1
    if operations < 1:
        return 0
    growth = matching[-1] - matching[0]
    if growth <= 0:
        return operations
    gains = [
        done / operations - (events - matching[0]) / growth for done, events in enumerate(matching)
    ]
    return gains.index(max(gains))
