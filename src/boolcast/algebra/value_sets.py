"""Sets of values: what a predicate says of an attribute, what a schema admits, a member of one.

An ordered set (`algebra.ordered_sets`) holds all that order, equality and prefixes can say.
Other string patterns ride along as literals: a value is in the set if the ordered set admits
it and, where it is a string, every literal holds. Whether such a set is empty is for
`algebra.strings` to find.

A proof looks into the *worlds* of a schema: what each attribute may be, as sets. Members are
chosen so that a person can read them, because they become witnesses.
"""

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple, assert_never

from boolcast.algebra import ordered_sets as ordered
from boolcast.algebra.budget import Budget
from boolcast.algebra.ordered_sets import OrderedSet
from boolcast.algebra.strings import Bounds, Literal, Row, find_string
from boolcast.filters.canonical import canonical_predicate
from boolcast.filters.canonical import complement as complement_of
from boolcast.filters.expressions import (
    AttributeComparison,
    Between,
    Comparison,
    In,
    IsNull,
    Leaf,
    Like,
    Matches,
    Operator,
    Residual,
    StringTest,
)
from boolcast.filters.patterns import ANY, LikePattern
from boolcast.filters.printing import to_text
from boolcast.model.schemas import Attribute, Schema
from boolcast.model.values import NOT_A_NUMBER, EventValue, Kind, Timestamp, Value, kind_of


class ValueSet(NamedTuple):
    """The values that `ordered` admits; of the strings among them, those that fit all literals."""

    ordered: OrderedSet
    literals: frozenset[Literal] = frozenset()


EVERY_VALUE = ValueSet(ordered.EVERYTHING)
ONLY_MISSING = ValueSet(((ordered.MISSING,), (ordered.OPAQUE,)))
_UNTRUE = ValueSet(ordered.complement(((ordered.BOOLEAN, True), (ordered.NUMBER,))))
_UNFALSE = ValueSet(ordered.complement(((ordered.BOOLEAN,), (ordered.BOOLEAN, True))))
_TRUE = ValueSet(((ordered.BOOLEAN, True), (ordered.NUMBER,)))
_FALSE = ValueSet(((ordered.BOOLEAN,), (ordered.BOOLEAN, True)))
RESIDUAL_DOMAIN = ValueSet(
    ((ordered.MISSING,), (ordered.OPAQUE,), (ordered.BOOLEAN,), (ordered.NUMBER,))
)
"""A residual is true, false, or unknown."""


class Variable(NamedTuple):
    """What a set is about: an attribute, or a residual predicate by its canonical text."""

    name: str
    is_residual: bool = False


class Meaning(NamedTuple):
    """A predicate as sets: where it is true, and where it is not (false or unknown)."""

    variable: Variable
    inside: ValueSet
    outside: ValueSet


def intersect(left: ValueSet, right: ValueSet) -> ValueSet:
    """The values in both sets."""
    admitted = ordered.intersect(left.ordered, right.ordered)
    if not left.literals and not right.literals:
        return ValueSet(admitted)
    literals = left.literals | right.literals
    if any(Literal(row, not holds) in literals for row, holds in literals):
        return ValueSet(ordered.intersect(admitted, ordered.complement(ordered.STRINGS)))
    if not ordered.intersect(admitted, ordered.STRINGS):
        return ValueSet(admitted)
    return ValueSet(admitted, literals)


@lru_cache(maxsize=65_536)
def meaning(predicate: Leaf) -> Meaning:
    """The sets of a predicate, over all values that events can carry."""
    match predicate:
        case Matches() | AttributeComparison():
            return _residual_meaning(predicate)
        case Comparison(attribute, operator, value):
            return _of_ordered(attribute, comparison_set(operator, value))
        case Between(attribute, low, high, negated):
            return _of_ordered(attribute, between_set(low, high, negated=negated))
        case In(attribute, values, negated):
            return _of_ordered(attribute, list_set(values, negated=negated))
        case IsNull(attribute, negated):
            return _of_ordered(attribute, ordered.PRESENT if negated else ONLY_MISSING.ordered)
        case Like(attribute, pattern, escape, negated):
            compiled = LikePattern.parse(pattern, escape)
            return _pattern_meaning(attribute, Row(compiled.elements, compiled.stays), negated)
        case StringTest(attribute, function, operand, negated):
            end = 1 << len(operand)
            stays = {"starts_with": end, "ends_with": 1, "contains": 1 | end}[function]
            return _pattern_meaning(attribute, Row(tuple(operand), stays), negated)
        case _:
            assert_never(predicate)


def _of_ordered(attribute: str, inside: OrderedSet) -> Meaning:
    return Meaning(Variable(attribute), ValueSet(inside), ValueSet(ordered.complement(inside)))


def _kind_set(value: Value) -> OrderedSet:
    rank = ordered.RANKS[kind_of(value)]
    return ((rank,), (rank + 1,))


def _within_kind(inside: OrderedSet, value: Value) -> OrderedSet:
    """The values of the same kind that are not in the set; NaN is none of them."""
    return ordered.intersect(_kind_set(value), ordered.complement(inside))


def comparison_set(operator: Operator, value: Value) -> OrderedSet:
    """The values that a comparison accepts."""
    begin, end = _kind_set(value)
    spans: OrderedSet
    below, above = ordered.before(value), ordered.after(value)
    match operator:
        case "=":
            spans = (below, above)
        case "!=":
            spans = (begin, below, above, end)
        case "<":
            spans = (begin, below)
        case "<=":
            spans = (begin, above)
        case ">":
            spans = (above, end)
        case ">=":
            spans = (below, end)
        case _:
            assert_never(operator)
    return _without_empty(spans)


def between_set(low: Value, high: Value, *, negated: bool) -> OrderedSet:
    """The values from one to another, both included, or all others of their kind."""
    inside = ordered.intersect(comparison_set(">=", low), comparison_set("<=", high))
    return _within_kind(inside, low) if negated else inside


def list_set(values: Sequence[Value], *, negated: bool) -> OrderedSet:
    """The values in a list, or all others of their kind."""
    spans: list[ordered.Boundary] = []
    for value in sorted(set(values)):
        spans += (ordered.before(value), ordered.after(value))
    inside = _without_empty(spans)
    return _within_kind(inside, values[0]) if negated else inside


def _without_empty(spans: Sequence[ordered.Boundary]) -> OrderedSet:
    """The row without pairs of equal boundaries: empty intervals, and intervals that touch."""
    kept: list[ordered.Boundary] = []
    for boundary in spans:
        if kept and kept[-1] == boundary:
            kept.pop()
        else:
            kept.append(boundary)
    return tuple(kept)


def _pattern_meaning(attribute: str, row: Row, negated: bool) -> Meaning:
    exact = _exact_set(row)
    if exact is not None:
        inside = ordered.intersect(ordered.STRINGS, ordered.complement(exact)) if negated else exact
        return _of_ordered(attribute, inside)
    fits = Literal(row, holds=not negated)
    misses = Literal(row, holds=negated)
    return Meaning(
        Variable(attribute),
        ValueSet(ordered.STRINGS, frozenset((fits,))),
        ValueSet(ordered.EVERYTHING, frozenset((misses,))),
    )


def _exact_set(row: Row) -> OrderedSet | None:
    """The set of a pattern that is a plain string or a prefix, else None."""
    elements, stays = row
    if ANY in elements:
        return None
    text = "".join(element for element in elements if element is not ANY)
    if stays == 0:
        return comparison_set("=", text)
    if stays == 1 << len(elements):
        return (ordered.before(text), ordered.after_prefix(text))
    return None


def _residual_meaning(predicate: Residual) -> Meaning:
    """A free variable that is true, false or unknown; the complement is the same one false."""
    positive = canonical_predicate(predicate)
    mirrored = canonical_predicate(complement_of(predicate))
    is_true = to_text(positive) <= to_text(mirrored)
    variable = Variable(min(to_text(positive), to_text(mirrored)), is_residual=True)
    if is_true:
        return Meaning(variable, _TRUE, _UNTRUE)
    return Meaning(variable, _FALSE, _UNFALSE)


class World(NamedTuple):
    """The events that a proof considers: a set for each attribute, one for all others.

    Without a schema there is a single world of all events; with event types, one a type.
    """

    sets: dict[Variable, ValueSet]
    others: ValueSet
    whole: frozenset[Variable]

    def domain(self, variable: Variable) -> ValueSet:
        """The values that the variable may take before anything is asked of it."""
        if variable.is_residual:
            return RESIDUAL_DOMAIN
        return self.sets.get(variable, self.others)

    def restrict(self, variable: Variable, values: ValueSet) -> ValueSet:
        """The set as this world sees it: whole numbers only where the schema says integer."""
        if variable not in self.whole:
            return values
        return ValueSet(ordered.whole_numbers_only(values.ordered), values.literals)


ALL_EVENTS = World({}, EVERY_VALUE, frozenset())


def worlds(schema: Schema | None) -> Iterator[World]:
    """Every world of the schema, in its order."""
    if schema is None:
        yield ALL_EVENTS
    elif schema.types:
        for name in schema.types:
            world = _world(schema.attributes_of(name))
            world.sets[Variable("type")] = meaning(Comparison("type", "=", name)).inside
            yield world
    else:
        yield _world(schema.attributes)


def _world(attributes: dict[str, Attribute]) -> World:
    whole = frozenset(Variable(name) for name, known in attributes.items() if known.integer)
    sets = {Variable(name): _domain(name, known) for name, known in attributes.items()}
    return World(sets, ONLY_MISSING, whole)


def _domain(name: str, known: Attribute) -> ValueSet:
    kind = Kind(known.kind)
    rank = ordered.RANKS[kind]
    domain = ValueSet(((rank,), (rank + 1,)))
    unbounded = known.minimum is None and known.maximum is None and known.values is None
    if known.minimum is not None:
        domain = intersect(domain, meaning(Comparison(name, ">=", known.minimum)).inside)
    if known.maximum is not None:
        domain = intersect(domain, meaning(Comparison(name, "<=", known.maximum)).inside)
    if known.values is not None:
        domain = intersect(domain, meaning(In(name, known.values)).inside)
    admitted = ordered.whole_numbers_only(domain.ordered) if known.integer else domain.ordered
    if kind is Kind.NUMBER and unbounded and not known.integer:
        admitted = ordered.unite(admitted, ((ordered.OPAQUE,), (ordered.BOOLEAN,)))
    if not known.required:
        admitted = ordered.unite(admitted, ONLY_MISSING.ordered)
    return ValueSet(admitted)


def is_empty(values: ValueSet, budget: Budget) -> bool:
    """True if no value is in the set."""
    if not values.literals or _has_other_than_strings(values.ordered):
        return not values.ordered
    return _string_member(values, budget) is None


def _has_other_than_strings(admitted: OrderedSet) -> bool:
    return bool(admitted) and (
        admitted[0] < (ordered.STRING,)
        or len(admitted) % 2 == 1
        or admitted[-1] > (ordered.STRING + 1,)
    )


def choose(values: ValueSet, budget: Budget) -> EventValue | None:
    """A value of a set that is not empty; None stands for missing.

    Kinds that a boundary mentions come first, because they are what the filters speak of; then
    missing, which a reader need not look at; then whatever there is.
    """
    mentioned = {boundary[0] for boundary in values.ordered if len(boundary) > 1}
    if values.literals:
        mentioned.add(ordered.STRING)
    for rank in sorted(mentioned):
        chosen = _member_of_kind(values, rank, budget)
        if chosen is not None:
            return chosen
    if values.ordered[0] == (ordered.MISSING,):
        return None
    for rank in (
        ordered.NUMBER,
        ordered.STRING,
        ordered.BOOLEAN,
        ordered.TIMESTAMP,
        ordered.OPAQUE,
    ):
        chosen = _member_of_kind(values, rank, budget)
        if chosen is not None:
            return chosen
    raise AssertionError("the set is empty")


def _member_of_kind(values: ValueSet, rank: int, budget: Budget) -> EventValue | None:
    within = ordered.intersect(values.ordered, ((rank,), (rank + 1,)))
    if not within:
        return None
    if rank == ordered.STRING:
        return _string_member(ValueSet(within, values.literals), budget)
    begin, end = _preferred(ordered.intervals(within))
    if rank == ordered.NUMBER:
        return _number_between(begin, end)
    if rank == ordered.BOOLEAN:
        return len(begin) > 1
    if rank == ordered.TIMESTAMP:
        return _timestamp_between(begin, end)
    return NOT_A_NUMBER


def _preferred(
    spans: list[tuple[ordered.Boundary, ordered.Boundary]],
) -> tuple[ordered.Boundary, ordered.Boundary]:
    """The first span that begins at a value: its begin is a value that somebody wrote.

    The least whole number begins a span too, but nobody wrote it.
    """
    return next((span for span in spans if span[0][1:] and span[0] != _LEAST_WHOLE), spans[0])


_LARGE: Final = 2**53
_LEAST_WHOLE: Final = (ordered.NUMBER, -math.nextafter(math.inf, 0))


def _number_between(begin: ordered.Boundary, end: ordered.Boundary) -> Value:
    """A number in an interval: a whole one where there is one, near the bounds."""
    low = begin[1] if len(begin) > 1 and begin != _LEAST_WHOLE else -math.inf
    high = end[1] if end[0] == ordered.NUMBER else math.inf
    if low == -math.inf:
        return 0 if high == math.inf else _number_below(high)
    if abs(low) > _LARGE:
        return low
    whole = math.ceil(low)
    if whole < high:
        return whole
    middle = (low + high) / 2
    return middle if low <= middle < high else low


def _number_below(high: float) -> Value:
    if abs(high) > _LARGE:
        return -ordered.next_number(-high) if high < 0 else 0
    return math.ceil(high) - 1


def _timestamp_between(begin: ordered.Boundary, end: ordered.Boundary) -> Timestamp:
    """A timestamp in an interval, on a whole second where there is one."""
    second = 1_000_000
    if len(begin) > 1:
        low = begin[1]
        rounded = -(-low // second) * second
        return Timestamp(rounded if (ordered.TIMESTAMP, rounded) < end else low)
    high = end[1] if end[0] == ordered.TIMESTAMP else 0
    rounded = (high - 1) // second * second
    return Timestamp(max(rounded, -(2**63)))


def _string_member(values: ValueSet, budget: Budget) -> str | None:
    """A string of the set, or None if there is none."""
    spans = [
        bounds
        for begin, end in ordered.intervals(values.ordered)
        if (bounds := _bounds_of(begin, end)) is not None
    ]
    if not values.literals:
        return _readable_string(spans) if spans else None
    for bounds in spans:
        budget.spend(1)
        found = find_string(bounds, values.literals, budget)
        if found is not None:
            return found
    return None


def _readable_string(spans: list[Bounds]) -> str:
    """A string of one of the spans: one that somebody wrote, a short word, or near a bound."""
    written = [bounds.low for bounds in spans if bounds.low and not bounds.low.endswith("\0")]
    near = [bounds.low.rstrip("\0") + tail for bounds in spans for tail in ("a", " ")]
    for candidate in (*written, "a", "A", *near):
        if any(bounds.admits(candidate) for bounds in spans):
            return candidate
    return spans[0].low


def _bounds_of(begin: ordered.Boundary, end: ordered.Boundary) -> Bounds | None:
    """The part of an interval that is strings; None where none of it is."""
    if begin >= (ordered.STRING + 1,) or end <= (ordered.STRING,):
        return None
    low = begin[1] if begin[0] == ordered.STRING and len(begin) > 1 else ""
    high = end[1] if end[0] == ordered.STRING else None
    return Bounds(low, high)
