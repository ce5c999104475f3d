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
from typing import Final, assert_never, cast
from weakref import WeakValueDictionary

from boolcast.algebra import covers, overlaps
from boolcast.algebra import cuts as ordered
from boolcast.algebra.conjunctions import leaves
from boolcast.algebra.cuts import Cut, Cuts
from boolcast.algebra.value_sets import meaning
from boolcast.filters.evaluation import is_so
from boolcast.filters.expressions import TRUE, And, Constant, Filter, Leaf, Node, Not, Or
from boolcast.filters.negation import complement
from boolcast.model.events import Event
from boolcast.model.values import Opaque

PROOF_BUDGET: Final = 5_000
"""Steps of one proof. A broker asks often, and a filter that takes longer is just forwarded."""

_PROOFS_KEPT: Final = 1_000_000
"""How many answers are remembered; then all are forgotten."""

_SAMPLES: Final = 4
"""How many events a form remembers at most."""

_END: Final[Cut] = (ordered.TIMESTAMP + 1,)

Ranges = dict[str, Cuts]


class Bounds:
    """The least and the last cut of ranges, and the `points`: those that leave one value only."""

    __slots__ = ("points", "spans")

    def __init__(self, spans: dict[str, tuple[Cut, Cut]]) -> None:
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


class Form(Bounds):
    """A filter, what is quickly seen of it, and a number that it alone has.

    `is_never`: no event can be accepted. `is_exact`: the filter is its ranges. `alternatives`: a
    filter without ranges accepts only what lies within one of these; there may be none of them.
    """

    __slots__ = (
        "__weakref__",
        "_samples",
        "alternatives",
        "filter",
        "is_exact",
        "is_never",
        "number",
        "ranges",
    )

    def __init__(self, filter: Node, number: int) -> None:
        ranges = _ranges(filter, negated=False)
        super().__init__({name: _span(cuts) for name, cuts in (ranges or {}).items()})
        self.filter = filter
        self.number = number
        self.is_never = ranges is None
        self.ranges: Ranges = ranges or {}
        self.is_exact = _is_exact(filter)
        self.alternatives = () if ranges or ranges is None else _alternatives(filter)
        self._samples: list[Event] | None = None

    @property
    def samples(self) -> list[Event]:
        """Some events that the filter accepts; none if none was found in time."""
        if self._samples is None:
            found = overlaps(self.filter, TRUE, budget=PROOF_BUDGET).witness
            self._samples = [] if found is None else [found]
        return self._samples


class Forms:
    """All forms in use, and the answers about pairs of them.

    Brokers in one process may share it: it only remembers what is true anyway.
    """

    def __init__(self) -> None:
        self._forms: WeakValueDictionary[Filter, Form] = WeakValueDictionary()
        self._next = 0
        self._covers: dict[tuple[int, int], bool] = {}
        self._overlaps: dict[tuple[int, int], bool] = {}
        self.proofs = 0

    def of(self, filter: Filter) -> Form:
        """The form of a filter, always the same while somebody holds it."""
        form = self._forms.get(filter)
        if form is None:
            self._next += 1
            form = self._forms[filter] = Form(cast("Node", filter), self._next)
        return form

    def is_empty(self, form: Form) -> bool:
        """True only if no event is accepted."""
        return form.is_never or not overlaps(form.filter, TRUE, budget=PROOF_BUDGET).holds

    def covers(self, general: Form, specific: Form) -> bool:
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

    def _prove_covering(self, general: Form, specific: Form) -> bool:
        samples = specific.samples
        if not all(is_so(general.filter, event, True) for event in samples):
            return False
        self.proofs += 1
        verdict = covers(general.filter, specific.filter, budget=PROOF_BUDGET)
        if verdict.witness is not None and len(samples) < _SAMPLES:
            samples.append(verdict.witness)
        return verdict.holds

    def overlaps(self, left: Form, right: Form) -> bool:
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


def _limit(answers: dict[tuple[int, int], bool]) -> None:
    if len(answers) > _PROOFS_KEPT:
        answers.clear()


def _alternatives(filter: Node) -> tuple[Bounds, ...]:
    """The bounds of the parts of an OR; none if there is a part without bounds."""
    if not isinstance(filter, Or):
        return ()
    parts = [_ranges(child, negated=False) for child in filter.children]
    if any(part == {} for part in parts):
        return ()
    return tuple(
        Bounds({name: _span(cuts) for name, cuts in part.items()})
        for part in parts
        if part is not None
    )


def _is_exact(filter: Filter) -> bool:
    found = leaves(filter)
    if found is None:
        return False
    meanings = [meaning(leaf) for leaf in found]
    return not any(each.variable.is_residual or each.inside.literals for each in meanings)


def _ranges(node: Node, *, negated: bool) -> Ranges | None:
    """The ranges of the filter or of its negation; None if no event can be accepted."""
    match node:
        case Constant(value):
            return {} if value is not negated else None
        case Not(child):
            return _ranges(child, negated=not negated)
        case And(children) | Or(children):
            parts = [_ranges(child, negated=negated) for child in children]
            return _within_all(parts) if isinstance(node, And) is not negated else _spanned(parts)
        case _:
            return _of_leaf(complement(node) if negated else node)
    assert_never(node)


def _of_leaf(leaf: Leaf) -> Ranges | None:
    variable, inside, _ = meaning(leaf)
    if variable.is_residual:
        return {}
    return {variable.name: inside.cuts} if inside.cuts else None


def _within_all(parts: list[Ranges | None]) -> Ranges | None:
    result: Ranges = {}
    for part in parts:
        if part is None:
            return None
        for name, cuts in part.items():
            known = result.get(name)
            narrowed = cuts if known is None else ordered.intersect(known, cuts)
            if not narrowed:
                return None
            result[name] = narrowed
    return result


def _spanned(parts: list[Ranges | None]) -> Ranges | None:
    possible = [part for part in parts if part is not None]
    if not possible:
        return None
    result = possible[0]
    for part in possible[1:]:
        result = {
            name: ordered.unite(cuts, part[name]) for name, cuts in result.items() if name in part
        }
    return result


def _span(cuts: Cuts) -> tuple[Cut, Cut]:
    return cuts[0], (cuts[-1] if len(cuts) % 2 == 0 else _END)
