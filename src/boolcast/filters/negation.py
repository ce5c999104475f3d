"""Negation normal form: NOT pushed down until only predicates and their complements are left.

The complement of a predicate is a predicate (P1-A4); it is true where the value is there, of
the right kind, and the predicate false.
"""

from typing import Final

from msgspec.structs import replace

from boolcast.filters.expressions import (
    FALSE,
    TRUE,
    And,
    AttributeComparison,
    Comparison,
    Constant,
    Filter,
    Leaf,
    Not,
    Operator,
    Or,
    conjunction,
    disjunction,
)

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
