"""Filters as the routing tables hold them: each once, with what is quickly seen of it.

Quickly seen are its *ranges*: for each attribute that it constrains, a set that holds every value
which an accepted event can have there. They are what an AND of its parts leaves and an OR of them
spans, so they may be too wide, never too narrow. Two filters with disjoint ranges do not overlap,
and a filter without negation, disjunction, pattern or residual *is* its ranges. Whatever the
ranges do not settle is proven by the algebra, once for each pair of filters.

A range that is too wide may hide a covering from us. That costs traffic and no delivery (R13).

Most questions are answered no, so each form also has *samples*: events that it accepts. Whoever
refuses one of them does not cover it. The first is found when it is asked for, and each proof that
fails brings another.
"""

import math
from itertools import islice, zip_longest
from typing import Final
from weakref import WeakValueDictionary

from boolcast.algebra import ordered_sets as ordered
from boolcast.algebra.ordered_sets import Boundary
from boolcast.algebra.relations import covers, overlaps
from boolcast.algebra.value_sets import meaning
from boolcast.filters.evaluation import evaluate
from boolcast.filters.expressions import TRUE, Filter, Not, leaves
from boolcast.matching.relations.range_unions import (
    Alternative,
    Ranges,
    needle_of,
    options,
    ranges_of,
    share,
    span_of,
)
from boolcast.model.events import Event
from boolcast.model.values import Opaque

PROOF_BUDGET: Final = 5_000
"""Steps of one proof. A broker asks often, and a filter that takes longer is just forwarded."""

_PROOFS_KEPT: Final = 1_000_000
"""How many answers are remembered; then all are forgotten."""

_ANYWHERE: Final[tuple[Filter, ...]] = (TRUE,)
"""Where samples are looked for; one object for all, since there are many forms to collect."""

_FIRST_SAMPLES: Final = 3
"""How many events are looked for at first, in different alternatives."""

_SAMPLES: Final = 6
"""How many events a form remembers at most."""


class Bounds:
    """The least and the last cut of ranges, and the `points`: those that leave one value only."""

    __slots__ = ("points", "spans")

    def __init__(self, spans: dict[str, tuple[Boundary, Boundary]]) -> None:
        self.spans = spans
        self.points = {name: span[0] for name, span in spans.items() if ordered.is_point(*span)}

    @classmethod
    def of_event(cls, event: Event) -> "Bounds":
        """The values of an event; those without a place in the order are left out."""
        return cls(
            {
                name: (ordered.before(value), ordered.after(value))
                for name, value in event.items()
                if not isinstance(value, Opaque) and value not in (math.inf, -math.inf)
            }
        )


class AnalysedFilter(Bounds):
    """A filter, what is quickly seen of it, and a number that it alone has.

    `is_never`: no event can be accepted. `is_exact`: the filter is its ranges. `options`: of
    each the filter accepts only what lies within one of its bounds. There are none where the ranges
    say as much. `needle`: an attribute and a text that it must contain, if nothing tells more.
    """

    __slots__ = (
        "__weakref__",
        "_parts",
        "_refused",
        "_samples",
        "filter",
        "is_exact",
        "is_never",
        "needle",
        "number",
        "options",
        "ranges",
    )

    def __init__(self, filter: Filter, number: int) -> None:
        ranges = ranges_of(filter)
        super().__init__(_spans(ranges or {}))
        self.filter = filter
        self.number = number
        self.is_never = ranges is None
        self.ranges: Ranges = ranges or {}
        self.is_exact = _is_exact(filter)
        self.options: tuple[tuple[Bounds, ...], ...] = ()
        self.needle = None if self.is_exact or self.points else needle_of(filter)
        self._parts = _ANYWHERE
        if not self.is_exact and ranges is not None and (found := _useful(filter, ranges)):
            self.options = tuple(
                tuple(Bounds(_spans(each.ranges)) for each in option) for option in found
            )
            self._parts = _parts(found)
        self._samples: list[Event] | None = None
        self._refused: list[Event] | None = None

    @property
    def samples(self) -> list[Event]:
        """Some events that the filter accepts, as different as may be; none if none was found."""
        if self._samples is None:
            found = (overlaps(self.filter, part, budget=PROOF_BUDGET) for part in self._parts)
            self._samples = [each.witness for each in found if each.witness is not None]
        return self._samples

    @property
    def refused(self) -> list[Event]:
        """An event that the negation of the filter accepts, if there is one."""
        if self._refused is None:
            found = overlaps(Not(self.filter), TRUE, budget=PROOF_BUDGET).witness
            self._refused = [] if found is None else [found]
        return self._refused


class FilterAnalyser:
    """All forms in use, and the answers about pairs of them.

    Brokers in one process may share it: it only remembers what is true anyway.
    """

    def __init__(self) -> None:
        self._forms: WeakValueDictionary[Filter, AnalysedFilter] = WeakValueDictionary()
        self._next = 0
        self._covers: dict[tuple[int, int], bool] = {}
        self._overlaps: dict[tuple[int, int], bool] = {}
        self.proofs = 0

    def analyse(self, filter: Filter) -> AnalysedFilter:
        """The form of a filter, always the same while somebody holds it."""
        form = self._forms.get(filter)
        if form is None:
            self._next += 1
            form = self._forms[filter] = AnalysedFilter(filter, self._next)
        return form

    def is_empty(self, form: AnalysedFilter) -> bool:
        """True only if no event is accepted."""
        return form.is_never or not overlaps(form.filter, TRUE, budget=PROOF_BUDGET).holds

    def covers(self, general: AnalysedFilter, specific: AnalysedFilter) -> bool:
        """True only if every event that `specific` accepts is accepted by `general`."""
        if general is specific or specific.is_never:
            return True
        if general.is_never:
            return False
        spans = specific.spans
        for name, (low, high) in general.spans.items():
            span = spans.get(name)
            if span is None or span[0] < low or high < span[1]:
                return False
        if general.is_exact and specific.is_exact:
            ranges = specific.ranges
            return all(
                # Of one interval the span has said it all.
                len(cuts) <= 2 or ordered.intersect(cuts, ranges[name]) == ranges[name]
                for name, cuts in general.ranges.items()
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
        samples = specific.samples
        self.proofs += 1
        verdict = covers(general.filter, specific.filter, budget=PROOF_BUDGET)
        if verdict.witness is not None and len(samples) < _SAMPLES:
            samples.append(verdict.witness)
        return verdict.holds

    def overlaps(self, left: AnalysedFilter, right: AnalysedFilter) -> bool:
        """False only if no event is accepted by both."""
        if left.is_never or right.is_never:
            return False
        for name, cuts in left.ranges.items():
            others = right.ranges.get(name)
            if others is not None and not ordered.intersect(cuts, others):
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
    """False only if an event is known that `specific` accepts and `general` does not."""
    return all(evaluate(general.filter, event, True) for event in specific.samples) and not any(
        evaluate(specific.filter, event, True) for event in general.refused
    )


def _limit(answers: dict[tuple[int, int], bool]) -> None:
    if len(answers) > _PROOFS_KEPT:
        answers.clear()


def _useful(filter: Filter, ranges: Ranges) -> list[list[Alternative]]:
    """The options of a filter by which it may be better known than by its ranges."""
    most = share(ranges) / 2
    return [
        option
        for option in options(filter)
        if all(_has_bounds(each.ranges) for each in option)
        and sum(share(each.ranges) for each in option) < most
    ]


def _parts(found: list[list[Alternative]]) -> tuple[Filter, ...]:
    """Parts of the filter to look for samples in: some of each option."""
    rows = zip_longest(*([each.part for each in option] for option in found))
    parts = dict.fromkeys(part for row in rows for part in row if part is not None)
    return tuple(islice(parts, _FIRST_SAMPLES))


def _has_bounds(ranges: Ranges) -> bool:
    """True if an attribute is there in every event within the ranges."""
    return any(cuts[0] != (ordered.MISSING,) for cuts in ranges.values())


def _spans(ranges: Ranges) -> dict[str, tuple[Boundary, Boundary]]:
    return {name: span_of(cuts) for name, cuts in ranges.items()}


def _is_exact(filter: Filter) -> bool:
    found = leaves(filter)
    if found is None:
        return False
    meanings = [meaning(leaf) for leaf in found]
    return not any(each.variable.is_residual or each.inside.literals for each in meanings)
