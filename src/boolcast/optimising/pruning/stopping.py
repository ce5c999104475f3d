"""How far pruning has gone, and when to stop: operations, memory, false positives, the cut-off.

A rule is asked before each operation and sees the standing before and after it. So a budget is
never overdrawn, and a target is overshot by at most one operation. A target may be missed, because
the cheapest prunings do not lead there or another rule stops earlier.

The cut-off is where pruning turns from a gain into a loss: where the share of prunings done exceeds
the share of the growth in matching events by most (P1-X1). Before it, few events pay for most of
the memory; after it, the last predicates cost most events.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import ClassVar, Final, Protocol

import msgspec

from boolcast.errors import LimitError, PruningTargetError
from boolcast.optimising.statistics.estimates import AnyOf

_NOISE: Final = 1e-12
"""The error of a sum of many logarithms: a free pruning stays free."""


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """How far pruning has gone.

    `operations` were done in this run. `predicates` are left, counted as often as they occur.
    `share` is the expected share of events that match at least one entry, if entries are
    independent; `original_share` is that of the original entries. If entries have several
    destinations, both are sums over these.
    """

    operations: int
    predicates: int
    share: float
    original_share: float

    @property
    def spent(self) -> float:
        """What a budget limits: the expected share of events that match for nothing.

        These match now and match no original entry. They count once for each destination to
        which they go for nothing.
        """
        return self.share - self.original_share

    def cost(self) -> str:
        """What pruning has cost, in words."""
        return f"let an expected {self.spent:.2%} of events pass for nothing"


class RankStanding(Standing, frozen=True, kw_only=True):
    """The same for advertisements: `share` is the share of their overlapping rank that is lost."""

    def cost(self) -> str:
        return f"gave up {self.spent:.2%} of the rank"


class Tally(Protocol):
    """Adds up all entries of a table."""

    def add(self, destination: str, original: float, average: float, count: int) -> None:
        """Add an entry with its averages, as it came and now; a count of -1 removes it."""

    def standing(self, operations: int, predicates: int) -> Standing:
        """The standing after these operations, with this number of predicates left."""


class MatchingShare:
    """The expected number of destinations of an event, now and with the original entries.

    An event goes to a destination if it matches any of the entries there. With one destination
    this is the share of events that match. Sending an event to one neighbour for nothing is not
    excused by another that gets it anyway.
    """

    def __init__(self) -> None:
        self._now: defaultdict[str, AnyOf] = defaultdict(AnyOf)
        self._originally: defaultdict[str, AnyOf] = defaultdict(AnyOf)

    def add(self, destination: str, original: float, average: float, count: int) -> None:
        self._now[destination].add(average, count)
        self._originally[destination].add(original, count)

    def standing(self, operations: int, predicates: int) -> Standing:
        return Standing(
            operations=operations,
            predicates=predicates,
            share=sum(each.share() for each in self._now.values()),
            original_share=sum(each.share() for each in self._originally.values()),
        )


class LostRank:
    """The share of the overlapping rank of all entries that pruning has cost."""

    def __init__(self) -> None:
        self._original = 0.0
        self._now = 0.0

    def add(self, destination: str, original: float, average: float, count: int) -> None:
        del destination  # it does not matter where an advertisement came from
        self._original += count * original
        self._now += count * average

    def standing(self, operations: int, predicates: int) -> RankStanding:
        lost = 1.0 - self._now / self._original if self._original > 0 else 0.0
        return RankStanding(
            operations=operations,
            predicates=predicates,
            share=min(max(lost, 0.0), 1.0),
            original_share=0.0,
        )


class StoppingRule(Protocol):
    """A limit to pruning."""

    def check(self, floor: int) -> None:
        """Called before the first operation, with the fewest predicates that can be reached.

        Raises PruningTargetError if the rule asks for fewer.
        """

    def admits(self, before: Standing, after: Standing) -> bool:
        """True if the operation that leads from `before` to `after` may be done."""


class Operations(msgspec.Struct, frozen=True):
    """Stop after this number of operations."""

    count: int

    def __post_init__(self) -> None:
        _check_number("operations", self.count)

    def check(self, floor: int) -> None:
        pass

    def admits(self, before: Standing, after: Standing) -> bool:
        del before
        return after.operations <= self.count


class MemoryTarget(msgspec.Struct, frozen=True):
    """Stop when at most this many predicates are left, counted as often as they occur.

    A target below the floor is refused before anything is pruned: pruning everything would cost
    the most events and still miss the target. A target above the floor may still be missed.
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


class _Budget(msgspec.Struct, frozen=True):
    share: float

    limits: ClassVar[str]

    def __post_init__(self) -> None:
        if not 0 <= self.share <= 1:
            raise LimitError(f"a share of {self.limits} must be from 0 to 1, not {self.share}")

    def check(self, floor: int) -> None:
        pass

    def admits(self, before: Standing, after: Standing) -> bool:
        del before
        return after.spent <= self.share + _NOISE


class FalsePositiveBudget(_Budget, frozen=True):
    """Stop before more than this share of all events is expected to match for nothing."""

    limits: ClassVar[str] = "events"


class RankBudget(_Budget, frozen=True):
    """Stop before advertisements lose more than this share of their overlapping rank."""

    limits: ClassVar[str] = "the rank"


def _check_number(things: str, number: object) -> None:
    if not (isinstance(number, Integral) and int(number) >= 0):
        raise LimitError(f"a number of {things} must be at least 0, not {number}")


class MissedTarget(msgspec.Struct, frozen=True):
    """A memory target, how many `predicates` are left instead, and the rule that ended the run."""

    target: int
    predicates: int
    stopped_by: StoppingRule | None

    def __str__(self) -> str:
        reason = (
            "the cheapest steps lead no further"
            if self.stopped_by is None
            else f"{self.stopped_by} stopped the run"
        )
        return (
            f"the target of {self.target:,} predicates is missed: {self.predicates:,} remain,"
            f" {reason}"
        )


def missed_target(
    rules: Iterable[StoppingRule], predicates: int, stopped_by: StoppingRule | None
) -> MissedTarget | None:
    """The memory target among the rules of a run, if the run missed it."""
    targets = [rule.predicates for rule in rules if isinstance(rule, MemoryTarget)]
    missed = [each for each in targets if each < predicates]
    return MissedTarget(min(missed), predicates, stopped_by) if missed else None


def cut_off(matching: Sequence[float]) -> int:
    """The number of operations at the cut-off; `matching[i]` events match after i of them.

    If the number of matching events does not grow, all operations are free.

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
