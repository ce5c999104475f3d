"""The selectivity of every predicate, from statistics, and how well it is known (P1-B5).

Statistics come from the counting engine, which counts what it matches, or from Spark, which
counts history; both are `model.statistics`. A predicate that was counted has its share. One that
was not is estimated by the spread of its attribute's values, else by predicates of the same form
on the same attribute, else it is taken to hold for every second event. What no event satisfied
counts as half an event: with a share of 0 for a rare title, all else in its filter would seem
worthless, and the rest would be pruned in an order that means nothing. None of that can lose an
event: it decides only which rewrite comes first. But who prunes by statistics of other data
prunes blindly, so `Knowledge` says how each predicate came to its share.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import Final, Literal, NamedTuple, get_args

import msgspec

from boolcast.errors import FilterError, StatisticsError
from boolcast.filters.canonical import canonical_predicate, to_nnf
from boolcast.filters.expressions import Comparison, Filter, Leaf, Predicate
from boolcast.filters.limits import Limits
from boolcast.filters.parsing import parse
from boolcast.filters.printing import to_text
from boolcast.model.sort_keys import sort_key
from boolcast.model.statistics import Statistics
from boolcast.model.values import Kind, Timestamp, Value, kind_of
from boolcast.optimising.statistics.distributions import share_by_values
from boolcast.optimising.statistics.estimates import SHARES, Estimate, Rules

Source = Literal["counted", "values", "neighbours", "guess"]
"""Where a share comes from, the best first."""

UNKNOWN_SHARE: Final = 0.5
"""What is assumed of a predicate that nothing is known of (P1-B5)."""

_EXAMPLES: Final = 5
"""How many predicates `Knowledge` names."""

REMEMBERED: Final = 100_000
"""Of how many predicates the share is kept at most, of which it can be told again any time."""

# Statistics hold predicates that were read within limits once, in canonical writing.
_LIMITS: Final = Limits(text=2**30, predicates=2**20, values=2**20, regexes=2**20)


class Knowledge(msgspec.Struct, frozen=True, kw_only=True):
    """Of how many distinct predicates the share was counted, derived, or guessed.

    `values` were estimated by the spread of the attribute's values, `neighbours` by predicates
    of the same form; `examples` are some of the guessed ones.
    """

    counted: int = 0
    values: int = 0
    neighbours: int = 0
    guess: int = 0
    examples: tuple[str, ...] = ()

    @property
    def predicates(self) -> int:
        """All of them."""
        return self.counted + self.values + self.neighbours + self.guess

    @property
    def is_foreign(self) -> bool:
        """True if nothing at all was known: the statistics are empty, or of other data."""
        return self.guess > 0 and self.guess == self.predicates

    def __str__(self) -> str:
        if self.predicates == self.counted:
            return f"all {self.counted:,} predicates were counted"
        if self.is_foreign:
            return (
                f"none of the {self.predicates:,} predicates is known to the statistics, for"
                f" example {self.examples[0]}: they are empty or of other data, and what is"
                " pruned first is chosen blindly"
            )
        derived = self.values + self.neighbours
        guessed = "none guessed"
        if self.guess:
            share = self.guess / self.predicates
            guessed = f"{self.guess:,} ({share:.0%}) guessed, for example {self.examples[0]}"
        return (
            f"of {self.predicates:,} predicates {self.counted:,} were counted, {derived:,}"
            f" estimated by others, {guessed}"
        )


class _Known(NamedTuple):
    share: float
    source: Source


class Selectivities:
    """The share of events that satisfy each predicate; much of what is asked for is remembered.

    Raises StatisticsError if the statistics contradict themselves.
    """

    rules: Rules = SHARES

    def __init__(self, statistics: Statistics) -> None:
        _check(statistics)
        self._statistics = statistics
        self._least = 0.5 / max(statistics.events, 1)
        self._known: dict[Leaf, _Known] = {}
        self._neighbours: Neighbours | None = None

    @property
    def statistics(self) -> Statistics:
        """What all is known from."""
        return self._statistics

    def estimate(self, predicate: Leaf) -> Estimate:
        """The share as an estimate, which is known exactly."""
        share = self.share(predicate)
        return Estimate(share, share, share)

    def matches(self, predicate: Leaf) -> float:
        """How many events satisfied the predicate; of one that was not counted, an estimate."""
        known = self._look_up(predicate)
        if known.source != "counted":
            return known.share * self._statistics.events
        return self._statistics.predicates[to_text(canonical_predicate(predicate))]

    def share(self, predicate: Leaf) -> float:
        """The share of events that satisfy the predicate, between 0 and 1."""
        return self._look_up(predicate).share

    def source(self, predicate: Leaf) -> Source:
        """Where that share comes from."""
        return self._look_up(predicate).source

    def knowledge(self, filters: Iterable[Filter]) -> Knowledge:
        """How well the predicates of some filters are known."""
        leaves: dict[Leaf, None] = {}
        for filter in filters:
            leaves.update(dict.fromkeys(to_nnf(filter).predicates()))
        sources = {leaf: self.source(leaf) for leaf in leaves}
        guessed = [str(leaf) for leaf, source in sources.items() if source == "guess"]
        counts = list(sources.values())
        return Knowledge(
            **{source: counts.count(source) for source in get_args(Source)},
            examples=tuple(guessed[:_EXAMPLES]),
        )

    def _look_up(self, predicate: Leaf) -> _Known:
        known = self._known.get(predicate)
        if known is None:
            if len(self._known) >= REMEMBERED:
                # Whoever still asks is told again; a broker's predicates come and go.
                self._known.clear()
            known = self._known[predicate] = self._learn(canonical_predicate(predicate))
        return known

    def _learn(self, predicate: Leaf) -> _Known:
        counted = self._statistics.selectivity(to_text(predicate))
        if counted is not None:
            return _Known(max(counted, self._least), "counted")
        by_values = share_by_values(predicate, self._statistics)
        if by_values is not None:
            return _Known(max(by_values, self._least), "values")
        if self._neighbours is None:
            self._neighbours = Neighbours(self._statistics)
        by_neighbours = self._neighbours.share(predicate)
        if by_neighbours is not None:
            return _Known(max(by_neighbours, self._least), "neighbours")
        return _Known(UNKNOWN_SHARE, "guess")


class Neighbours:
    """Counted predicates by attribute and form, to estimate others of the same form.

    A comparison lies between its two neighbours in the order of their values; numbers and
    timestamps by their distance to either, others in the middle. Where there is no order to go
    by, as with equality, the mean of all stands in.
    """

    def __init__(self, statistics: Statistics) -> None:
        self._families: dict[tuple[object, ...], list[tuple[bytes, float, float]]] = {}
        for leaf, share in counted_predicates(statistics):
            key, place = _place(leaf)
            self._families.setdefault(_family(leaf), []).append((key, place, share))
        for rows in self._families.values():
            rows.sort()

    def share(self, predicate: Leaf) -> float | None:
        """The estimate, or None if no predicate of the same form was counted."""
        rows = self._families.get(_family(predicate))
        if rows is None:
            return None
        if not isinstance(predicate, Comparison) or predicate.operator in ("=", "!="):
            return sum(row[2] for row in rows) / len(rows)
        key, place = _place(predicate)
        above = bisect_left(rows, (key,))
        if above in (0, len(rows)):
            return rows[min(above, len(rows) - 1)][2]
        (_, low, low_share), (_, high, high_share) = rows[above - 1 : above + 1]
        # Halves, because the distance of two finite numbers may be infinite.
        weight = (place / 2 - low / 2) / (high / 2 - low / 2) if low < high else 0.5
        return low_share + weight * (high_share - low_share)


def counted_predicates(statistics: Statistics) -> Iterator[tuple[Leaf, float]]:
    """The predicates that were counted, and their shares. Raises StatisticsError."""
    for text in statistics.predicates:
        share = statistics.selectivity(text)
        if share is not None:
            yield _read(text), share


def _family(predicate: Leaf) -> tuple[object, ...]:
    if isinstance(predicate, Comparison):
        return predicate.attribute, predicate.operator, kind_of(predicate.value)
    is_negated = getattr(predicate, "negated", False)
    return (*predicate.names(), type(predicate), getattr(predicate, "operator", is_negated))


def _place(predicate: Leaf) -> tuple[bytes, float]:
    """Where a comparison stands among others: in their order, and as a number."""
    if not isinstance(predicate, Comparison):
        return b"", 0.0
    return sort_key(predicate.value), _number(predicate.value)


def _number(value: Value) -> float:
    if isinstance(value, Timestamp):
        return float(value.microseconds)
    return float(value) if kind_of(value) is Kind.NUMBER else 0.0


def _read(text: str) -> Leaf:
    try:
        leaf = parse(text, limits=_LIMITS)
    except FilterError as error:
        raise StatisticsError(f"these are no statistics of predicates: {error}") from error
    if not isinstance(leaf, Predicate):
        raise StatisticsError(f"these are no statistics of predicates: {text} is none")
    return leaf


def _check(statistics: Statistics) -> None:
    if not statistics.events >= 0:
        raise StatisticsError(f"statistics are of 0 events or more, not of {statistics.events}")
    for name, each in statistics.attributes.items():
        for bins in each.bins.values():
            if any(not part.events >= 0 for part in bins) or not (
                sum(part.events for part in bins) <= each.events
            ):
                raise StatisticsError(
                    f"the bins of the attribute {name} hold others than its {each.events:,} events,"
                    " which cannot be"
                )
    counts = [
        *((f"the predicate {text}", count) for text, count in statistics.predicates.items()),
        *((f"the attribute {name}", each.events) for name, each in statistics.attributes.items()),
    ]
    for what, count in counts:
        if not 0 <= count <= statistics.events:
            raise StatisticsError(
                f"{what} is counted for {count:,} of {statistics.events:,} events, which cannot"
                " be: the counts are of different events"
            )
