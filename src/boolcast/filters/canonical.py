"""One text for predicates that are written differently and mean the same at first sight.

`price < 25.0` and `price < 25` are one predicate, and so are `bid > reserve` and
`reserve < bid`. Statistics count predicates by this text, and the algebra names its free
variables by it. Deeper equivalences are for the algebra to prove.
"""

from typing import Final, assert_never

from msgspec.structs import replace

from boolcast.filters.expressions import (
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
    Operator,
    Or,
    Predicate,
    StringTest,
    conjunction,
    disjunction,
)
from boolcast.filters.negation import to_nnf
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


def canonical(filter: Filter) -> Filter:
    """The filter in negation normal form, its predicates canonical, repeated siblings dropped."""
    return canonical_node(to_nnf(filter))


def canonical_node(node: Filter) -> Filter:
    """The same of a filter that is in negation normal form already."""
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
