"""The selectivity of every predicate, from statistics, and how well it is known (P1-B5).

Statistics come from the counting engine, which counts what it matches, or from Spark, which counts
history; both are `model.statistics`. A counted predicate has its share. Any other is estimated
from the distribution of its attribute's values, else from predicates of the same kind on the same
attribute, else it is assumed to hold for every second event. A predicate that no event satisfied
counts as half an event: with a share of 0, everything else in its filter would seem worthless and
would be pruned in a meaningless order. None of this can lose an event; it only decides which
rewrite comes first. Statistics of other data give poor pruning, so `Knowledge` reports how the
shares were found.
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
from boolcast.optimising.statistics.estimates import SHARE_RULES, Estimate, EstimateRules
from boolcast.optimising.statistics.value_bins import share_by_values

Source = Literal["counted", "values", "neighbours", "guess"]
"""Where a share comes from, the best source first."""

UNKNOWN_SHARE: Final = 0.5
"""The share of a predicate about which nothing is known (P1-B5)."""

_EXAMPLES: Final = 5
"""How many guessed predicates `Knowledge` names."""

REMEMBERED: Final = 100_000
"""How many shares are cached."""

# Statistics hold predicates that were within limits when they were first parsed.
_LIMITS: Final = Limits(text=2**30, predicates=2**20, values=2**20, regexes=2**20)


class Knowledge(msgspec.Struct, frozen=True, kw_only=True):
    """How many distinct predicates have a share that was counted, estimated, or guessed.

    `values` were estimated from the distribution of values, `neighbours` from predicates of the
    same kind; `examples` are some of the guessed ones.
    """

    counted: int = 0
    values: int = 0
    neighbours: int = 0
    guess: int = 0
    examples: tuple[str, ...] = ()

    @property
    def predicates(self) -> int:
        """How many there are in all."""
        return self.counted + self.values + self.neighbours + self.guess

    @property
    def is_foreign(self) -> bool:
        """True if every predicate was guessed: the statistics are empty or of other data."""
        return self.guess > 0 and self.guess == self.predicates

    def __str__(self) -> str:
        if self.predicates == self.counted:
            return f"all {self.counted:,} predicates were counted"
        if self.is_foreign:
            return (
                f"the statistics know none of the {self.predicates:,} predicates, for example"
                f" {self.examples[0]}: they are empty or of other data, so what is pruned first"
                " is a guess"
            )
        derived = self.values + self.neighbours
        guessed = "none guessed"
        if self.guess:
            share = self.guess / self.predicates
            guessed = f"{self.guess:,} ({share:.0%}) guessed, for example {self.examples[0]}"
        return (
            f"of {self.predicates:,} predicates {self.counted:,} were counted, {derived:,}"
            f" estimated, {guessed}"
        )


class _Known(NamedTuple):
    share: float
    source: Source


class Selectivities:
    """The share of events that satisfies each predicate, with a cache.

    Raises StatisticsError if the statistics contradict themselves.
    """

    rules: EstimateRules = SHARE_RULES

    def __init__(self, statistics: Statistics) -> None:
        _check(statistics)
        self._statistics = statistics
        self._least = 0.5 / max(statistics.events, 1)
        self._known: dict[Leaf, _Known] = {}
        self._neighbours: Neighbours | None = None

    @property
    def statistics(self) -> Statistics:
        """The statistics that the shares come from."""
        return self._statistics

    def estimate(self, predicate: Leaf) -> Estimate:
        """The share, as an estimate without uncertainty."""
        share = self.share(predicate)
        return Estimate(share, share, share)

    def matches(self, predicate: Leaf) -> float:
        """How many events satisfied the predicate; an estimate if it was not counted."""
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
        """How well the predicates of the filters are known."""
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
                # A broker's predicates come and go; those still in use are looked up again.
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
    """Counted predicates by attribute and kind, to estimate others of the same kind.

    A comparison is interpolated between its two neighbours in the order of values: by distance
    for numbers and timestamps, in the middle for others. Without an order, as for equality, the
    mean of all is taken.
    """

    def __init__(self, statistics: Statistics) -> None:
        self._families: dict[tuple[object, ...], list[tuple[bytes, float, float]]] = {}
        for leaf, share in counted_predicates(statistics):
            key, number = _position(leaf)
            self._families.setdefault(_family(leaf), []).append((key, number, share))
        for rows in self._families.values():
            rows.sort()

    def share(self, predicate: Leaf) -> float | None:
        """The estimate, or None if no predicate of the same kind was counted."""
        rows = self._families.get(_family(predicate))
        if rows is None:
            return None
        if not isinstance(predicate, Comparison) or predicate.operator in ("=", "!="):
            return sum(row[2] for row in rows) / len(rows)
        key, number = _position(predicate)
        above = bisect_left(rows, (key,))
        if above in (0, len(rows)):
            return rows[min(above, len(rows) - 1)][2]
        (_, low, low_share), (_, high, high_share) = rows[above - 1 : above + 1]
        # Halves, because the distance of two finite numbers may be infinite.
        weight = (number / 2 - low / 2) / (high / 2 - low / 2) if low < high else 0.5
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


def _position(predicate: Leaf) -> tuple[bytes, float]:
    """The position of a comparison among others: as a sort key, and as a number."""
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
        raise StatisticsError(
            f"statistics of predicates hold a text that does not parse: {error}"
        ) from error
    if not isinstance(leaf, Predicate):
        raise StatisticsError(f"statistics of predicates hold {text}, which is no predicate")
    return leaf


def _check(statistics: Statistics) -> None:
    if not statistics.events >= 0:
        raise StatisticsError(f"statistics cannot be of {statistics.events} events")
    for name, each in statistics.attributes.items():
        for bins in each.bins.values():
            if any(not each_bin.events >= 0 for each_bin in bins) or not (
                sum(each_bin.events for each_bin in bins) <= each.events
            ):
                raise StatisticsError(
                    f"the bins of the attribute {name} cannot hold more events than the"
                    f" {each.events:,} that have it, or fewer than none"
                )
    counts = [
        *((f"the predicate {text}", count) for text, count in statistics.predicates.items()),
        *((f"the attribute {name}", each.events) for name, each in statistics.attributes.items()),
    ]
    for what, count in counts:
        if not 0 <= count <= statistics.events:
            raise StatisticsError(
                f"{what} cannot be counted for {count:,} of {statistics.events:,} events: the"
                " counts come from different events"
            )
