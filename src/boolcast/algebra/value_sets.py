"""What a predicate says about one attribute: a set of values.

OrderedSet (see `algebra.ordered_sets`) hold all that order, equality and prefixes can say. Other
string patterns ride along as literals: a value is in the set if the cuts admit it and, where it is
a string, every literal holds. Whether such a set is empty is for `algebra.strings` to find.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple, assert_never

from boolcast.algebra import ordered_sets as ordered
from boolcast.algebra.ordered_sets import OrderedSet
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
from boolcast.model.values import Value, kind_of


class Row(NamedTuple):
    """A LIKE pattern as a hashable row: its elements, and before which of them `%` stands."""

    elements: tuple[str | None, ...]
    stays: int


class Literal(NamedTuple):
    """A pattern that a string must fit, or must not."""

    row: Row
    holds: bool


class ValueSet(NamedTuple):
    """The values that `cuts` admit and, of the strings among them, those that fit all literals."""

    cuts: OrderedSet
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
    cuts = ordered.intersect(left.cuts, right.cuts)
    if not left.literals and not right.literals:
        return ValueSet(cuts)
    literals = left.literals | right.literals
    if any(Literal(row, not holds) in literals for row, holds in literals):
        return ValueSet(ordered.intersect(cuts, ordered.complement(ordered.STRINGS)))
    if not ordered.intersect(cuts, ordered.STRINGS):
        return ValueSet(cuts)
    return ValueSet(cuts, literals)


@lru_cache(maxsize=65_536)
def meaning(predicate: Leaf) -> Meaning:
    """The sets of a predicate, over all values that events can carry."""
    match predicate:
        case Matches() | AttributeComparison():
            return _residual_meaning(predicate)
        case Comparison(attribute, operator, value):
            return _of_cuts(attribute, comparison_cuts(operator, value))
        case Between(attribute, low, high, negated):
            return _of_cuts(attribute, between_cuts(low, high, negated=negated))
        case In(attribute, values, negated):
            return _of_cuts(attribute, list_cuts(values, negated=negated))
        case IsNull(attribute, negated):
            return _of_cuts(attribute, ordered.PRESENT if negated else ONLY_MISSING.cuts)
        case Like(attribute, pattern, escape, negated):
            compiled = LikePattern.parse(pattern, escape)
            return _pattern_meaning(attribute, Row(compiled.elements, compiled.stays), negated)
        case StringTest(attribute, function, operand, negated):
            end = 1 << len(operand)
            stays = {"starts_with": end, "ends_with": 1, "contains": 1 | end}[function]
            return _pattern_meaning(attribute, Row(tuple(operand), stays), negated)
        case _:
            assert_never(predicate)


def _of_cuts(attribute: str, inside: OrderedSet) -> Meaning:
    return Meaning(Variable(attribute), ValueSet(inside), ValueSet(ordered.complement(inside)))


def _kind_cuts(value: Value) -> OrderedSet:
    rank = ordered.RANKS[kind_of(value)]
    return ((rank,), (rank + 1,))


def _within_kind(inside: OrderedSet, value: Value) -> OrderedSet:
    """The values of the same kind that are not in the set; NaN is none of them."""
    return ordered.intersect(_kind_cuts(value), ordered.complement(inside))


def comparison_cuts(operator: Operator, value: Value) -> OrderedSet:
    """The values that a comparison accepts."""
    begin, end = _kind_cuts(value)
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


def between_cuts(low: Value, high: Value, *, negated: bool) -> OrderedSet:
    """The values from one to another, both included, or all others of their kind."""
    inside = ordered.intersect(comparison_cuts(">=", low), comparison_cuts("<=", high))
    return _within_kind(inside, low) if negated else inside


def list_cuts(values: Sequence[Value], *, negated: bool) -> OrderedSet:
    """The values in a list, or all others of their kind."""
    spans: list[ordered.Boundary] = []
    for value in sorted(set(values)):
        spans += (ordered.before(value), ordered.after(value))
    inside = _without_empty(spans)
    return _within_kind(inside, values[0]) if negated else inside


def _without_empty(spans: Sequence[ordered.Boundary]) -> OrderedSet:
    """The row without pairs of equal cuts: empty intervals, and intervals that touch."""
    kept: list[ordered.Boundary] = []
    for cut in spans:
        if kept and kept[-1] == cut:
            kept.pop()
        else:
            kept.append(cut)
    return tuple(kept)


def _pattern_meaning(attribute: str, row: Row, negated: bool) -> Meaning:
    exact = _exact_cuts(row)
    if exact is not None:
        inside = ordered.intersect(ordered.STRINGS, ordered.complement(exact)) if negated else exact
        return _of_cuts(attribute, inside)
    fits = Literal(row, holds=not negated)
    misses = Literal(row, holds=negated)
    return Meaning(
        Variable(attribute),
        ValueSet(ordered.STRINGS, frozenset((fits,))),
        ValueSet(ordered.EVERYTHING, frozenset((misses,))),
    )


def _exact_cuts(row: Row) -> OrderedSet | None:
    """The cuts of a pattern that is a plain string or a prefix, else None."""
    elements, stays = row
    if ANY in elements:
        return None
    text = "".join(element for element in elements if element is not ANY)
    if stays == 0:
        return comparison_cuts("=", text)
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
