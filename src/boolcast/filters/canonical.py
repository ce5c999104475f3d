"""Filters rewritten to one shape: negation normal form, and one text for equal predicates.

In negation normal form NOT is pushed down until only predicates and their complements are
left. The complement of a predicate is a predicate (P1-A4): it is true where the value is
present, of the right kind, and the predicate false.

`price < 25.0` and `price < 25` are the same predicate, and so are `bid > reserve` and
`reserve < bid`. Statistics count predicates by this text, and the algebra names its free
variables by it. Deeper equivalences are left to the algebra.
"""

from typing import Final, assert_never

from msgspec.structs import replace

from boolcast.filters.expressions import (
    FALSE,
    TRUE,
    And,
    AttributeComparison,
    Between,
    Comparison,
    Constant,
    Filter,
    In,
    IsNull,
    Leaf,
    Like,
    Matches,
    Not,
    Operator,
    Or,
    Predicate,
    StringTest,
    conjunction,
    disjunction,
)
from boolcast.model.values import INTEGER_MAX, INTEGER_MIN, Value

FLIPPED: Final[dict[Operator, Operator]] = {
    "=": "=",
    "!=": "!=",
    "<": ">",
    ">": "<",
    "<=": ">=",
    ">=": "<=",
}
"""The operator that says the same with its sides exchanged."""


OPPOSITE: Final[dict[Operator, Operator]] = {
    "=": "!=",
    "!=": "=",
    "<": ">=",
    ">=": "<",
    ">": "<=",
    "<=": ">",
}


def complement(predicate: Leaf) -> Leaf:
    """The predicate that is true where this one is false (and not where it is unknown)."""
    match predicate:
        case Comparison() | AttributeComparison():
            return replace(predicate, operator=OPPOSITE[predicate.operator])
        case _:
            return replace(predicate, negated=not predicate.negated)


def to_nnf(node: Filter, *, negate: bool = False) -> Filter:
    """The filter (or its negation) without NOT, by De Morgan's laws."""
    match node:
        case And(children):
            parts = tuple(to_nnf(child, negate=negate) for child in children)
            return Or(parts) if negate else And(parts)
        case Or(children):
            parts = tuple(to_nnf(child, negate=negate) for child in children)
            return And(parts) if negate else Or(parts)
        case Not(child):
            return to_nnf(child, negate=not negate)
        case Constant(value):
            return Constant(value is not negate)
        case _:
            return complement(node) if negate else node


def without_constants(node: Filter) -> Filter:
    """A filter in negation normal form without `true` and `false` inside."""
    match node:
        case And(children):
            parts = [without_constants(child) for child in children]
            return FALSE if FALSE in parts else conjunction(p for p in parts if p != TRUE)
        case Or(children):
            parts = [without_constants(child) for child in children]
            return TRUE if TRUE in parts else disjunction(p for p in parts if p != FALSE)
        case _:
            return node


def canonical(filter: Filter) -> Filter:
    """The filter in negation normal form, its predicates canonical, repeated siblings dropped."""
    return canonical_node(to_nnf(filter))


def canonical_node(node: Filter) -> Filter:
    """The same for a filter that is already in negation normal form."""
    match node:
        case And(children):
            return conjunction(_distinct(And, children))
        case Or(children):
            return disjunction(_distinct(Or, children))
        case Constant():
            return node
        case _:
            assert isinstance(node, Predicate)
            return canonical_predicate(node)


def _distinct(kind: type[And] | type[Or], children: tuple[Filter, ...]) -> dict[Filter, None]:
    """The canonical children, each once; a child that came down to `kind` gives its own."""
    parts: dict[Filter, None] = {}
    for child in map(canonical_node, children):
        parts.update(dict.fromkeys(child.children if isinstance(child, kind) else (child,)))
    return parts


def canonical_predicate(predicate: Leaf) -> Leaf:
    """The predicate in its one canonical writing."""
    match predicate:
        case Comparison(_, _, value):
            return replace(predicate, value=canonical_value(value))
        case Between(_, low, high, _):
            return replace(predicate, low=canonical_value(low), high=canonical_value(high))
        case In(attribute, values, negated):
            distinct = sorted({canonical_value(value) for value in values})
            if len(distinct) == 1:
                return Comparison(attribute, "!=" if negated else "=", distinct[0])
            return replace(predicate, values=tuple(distinct))
        case AttributeComparison(attribute, operator, other):
            if other < attribute:
                return AttributeComparison(other, FLIPPED[operator], attribute)
            return predicate
        case IsNull() | Like() | StringTest() | Matches():
            return predicate
        case _:
            assert_never(predicate)


def canonical_value(value: Value) -> Value:
    """Whole floats that fit 64 bits as integers."""
    if type(value) is float and value.is_integer() and INTEGER_MIN <= value <= INTEGER_MAX:
        return int(value)
    return value
