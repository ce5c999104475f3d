"""Filters as an index holds them: each analysed once, and asked in pairs what covers or overlaps.

Most questions about two filters are settled by what analysis sees at once:

* The *ranges* of both (`relations.ranges`). Filters with disjoint ranges do not overlap. A filter
  without negation, disjunction, pattern or residual predicate *is* its ranges (`is_exact`), so
  between two of these the ranges decide.
* *Witnesses*: events that a filter accepts. A filter that refuses one of them does not cover it.
  The first are found on demand; every failed proof adds one.

The algebra proves the rest, once for each pair. Ranges that are too wide may hide a covering. That
costs traffic, never a delivery (R13).
"""

from itertools import islice, zip_longest
from typing import Final
from weakref import WeakValueDictionary

from boolcast.algebra import ordered_sets as ordered
from boolcast.algebra.relations import covers, overlaps
from boolcast.algebra.value_sets import meaning
from boolcast.filters.evaluation import evaluate
from boolcast.filters.expressions import TRUE, Filter, Not, leaves
from boolcast.matching.relations.ranges import (
    Bounds,
    Ranges,
    RangeUnion,
    bounding_intervals,
    range_unions,
    ranges_of,
    ranges_share,
    required_substring,
)
from boolcast.model.events import Event

PROOF_BUDGET: Final = 5_000
"""Steps of one proof. A broker asks often, and forwards a filter that takes longer."""

_MOST_ANSWERS: Final = 1_000_000
"""How many answers are remembered; then all are forgotten."""

_ANYWHERE: Final[tuple[Filter, ...]] = (TRUE,)
"""Where to look for witnesses by default; one shared object, since there are many filters."""

_FIRST_WITNESSES: Final = 3
"""How many witnesses are looked for at first, in different alternatives."""

_MOST_WITNESSES: Final = 6


class AnalysedFilter(Bounds):
    """A filter with its bounds and a number of its own.

    `is_never`: no event can be accepted. `is_exact`: the filter is its ranges. `unions`: each
    holds every accepted event; empty where the ranges say as much. `substring`: an attribute and
    a text it must contain, if nothing else tells more.
    """

    __slots__ = (
        "__weakref__",
        "_counterexamples",
        "_witness_sources",
        "_witnesses",
        "filter",
        "is_exact",
        "is_never",
        "number",
        "ranges",
        "substring",
        "unions",
    )

    def __init__(self, filter: Filter, number: int) -> None:
        ranges = ranges_of(filter)
        self.ranges: Ranges = ranges or {}
        super().__init__(bounding_intervals(self.ranges))
        self.filter = filter
        self.number = number
        self.is_never = ranges is None
        self.is_exact = _is_exact(filter)
        self.unions: tuple[tuple[Bounds, ...], ...] = ()
        self.substring = None if self.is_exact or self.points else required_substring(filter)
        self._witness_sources = _ANYWHERE
        if not self.is_exact and ranges is not None and (found := _useful_unions(filter, ranges)):
            self.unions = tuple(
                tuple(Bounds.of_ranges(alternative.ranges) for alternative in union)
                for union in found
            )
            self._witness_sources = _some_sources(found)
        self._witnesses: list[Event] | None = None
        self._counterexamples: list[Event] | None = None

    @property
    def witnesses(self) -> list[Event]:
        """Some events that the filter accepts, from different alternatives; may be empty."""
        if self._witnesses is None:
            found = (
                overlaps(self.filter, source, budget=PROOF_BUDGET)
                for source in self._witness_sources
            )
            self._witnesses = [each.witness for each in found if each.witness is not None]
        return self._witnesses

    @property
    def counterexamples(self) -> list[Event]:
        """An event that the negation of the filter accepts, if one was found."""
        if self._counterexamples is None:
            found = overlaps(Not(self.filter), TRUE, budget=PROOF_BUDGET).witness
            self._counterexamples = [] if found is None else [found]
        return self._counterexamples


class FilterAnalyser:
    """Analyses filters, and remembers what it found about pairs of them.

    Brokers in one process may share it: what it remembers is true for all of them.
    """

    def __init__(self) -> None:
        self._analysed: WeakValueDictionary[Filter, AnalysedFilter] = WeakValueDictionary()
        self._next = 0
        self._covers: dict[tuple[int, int], bool] = {}
        self._overlaps: dict[tuple[int, int], bool] = {}
        self.proofs = 0

    def analyse(self, filter: Filter) -> AnalysedFilter:
        """The analysed filter: the same object for equal filters, as long as anyone uses it."""
        analysed = self._analysed.get(filter)
        if analysed is None:
            self._next += 1
            analysed = self._analysed[filter] = AnalysedFilter(filter, self._next)
        return analysed

    def is_empty(self, analysed: AnalysedFilter) -> bool:
        """True only if no event is accepted."""
        return analysed.is_never or not overlaps(analysed.filter, TRUE, budget=PROOF_BUDGET).holds

    def covers(self, general: AnalysedFilter, specific: AnalysedFilter) -> bool:
        """True only if every event that `specific` accepts is accepted by `general`."""
        if general is specific or specific.is_never:
            return True
        if general.is_never:
            return False
        intervals = specific.intervals
        for name, (low, high) in general.intervals.items():
            inner = intervals.get(name)
            if inner is None or inner[0] < low or high < inner[1]:
                return False
        if general.is_exact and specific.is_exact:
            ranges = specific.ranges
            return all(
                # A range of one interval was compared above.
                len(values) <= 2 or ordered.intersect(values, ranges[name]) == ranges[name]
                for name, values in general.ranges.items()
            )
        key = (general.number, specific.number)
        answer = self._covers.get(key)
        if answer is None:
            answer = self._covers[key] = self._prove_covering(general, specific)
            _limit(self._covers)
        return answer

    def _prove_covering(self, general: AnalysedFilter, specific: AnalysedFilter) -> bool:
        if not may_cover(general, specific):
            return False
        witnesses = specific.witnesses
        self.proofs += 1
        verdict = covers(general.filter, specific.filter, budget=PROOF_BUDGET)
        if verdict.witness is not None and len(witnesses) < _MOST_WITNESSES:
            witnesses.append(verdict.witness)
        return verdict.holds

    def overlaps(self, left: AnalysedFilter, right: AnalysedFilter) -> bool:
        """False only if no event is accepted by both."""
        if left.is_never or right.is_never:
            return False
        for name, values in left.ranges.items():
            others = right.ranges.get(name)
            if others is not None and not ordered.intersect(values, others):
                return False
        if left.is_exact and right.is_exact:
            return True
        key = (left.number, right.number)
        answer = self._overlaps.get(key)
        if answer is None:
            self.proofs += 1
            answer = overlaps(left.filter, right.filter, budget=PROOF_BUDGET).holds
            self._overlaps[key] = answer
            _limit(self._overlaps)
        return answer


def may_cover(general: AnalysedFilter, specific: AnalysedFilter) -> bool:
    """False only if a known event is accepted by `specific` and not by `general`."""
    return all(evaluate(general.filter, event, True) for event in specific.witnesses) and not any(
        evaluate(specific.filter, event, True) for event in general.counterexamples
    )


def _limit(answers: dict[tuple[int, int], bool]) -> None:
    if len(answers) > _MOST_ANSWERS:
        answers.clear()


def _useful_unions(filter: Filter, ranges: Ranges) -> list[RangeUnion]:
    """The unions that describe a filter at least twice as well as its ranges do."""
    most = ranges_share(ranges) / 2
    return [
        union
        for union in range_unions(filter)
        if all(_has_bounds(each.ranges) for each in union)
        and sum(ranges_share(each.ranges) for each in union) < most
    ]


def _some_sources(unions: list[RangeUnion]) -> tuple[Filter, ...]:
    """Subfilters to look for witnesses in: some of each union."""
    rows = zip_longest(*([each.source for each in union] for union in unions))
    sources = dict.fromkeys(source for row in rows for source in row if source is not None)
    return tuple(islice(sources, _FIRST_WITNESSES))


def _has_bounds(ranges: Ranges) -> bool:
    """True if every event within the ranges has one of their attributes."""
    return any(values[0] != (ordered.MISSING,) for values in ranges.values())


def _is_exact(filter: Filter) -> bool:
    found = leaves(filter)
    if found is None:
        return False
    meanings = [meaning(leaf) for leaf in found]
    return not any(each.variable.is_residual or each.inside.literals for each in meanings)
