"""The reference semantics: what every engine, broker and Spark task must agree with.

A predicate is true, false, or unknown: unknown where the attribute is missing or its value
of another kind (P1-A5). A filter is evaluated in negation normal form, which is the same as
SQL's three-valued logic read as "is true": NOT is carried down to the predicates as the
outcome that is wanted of them, and an unknown predicate gives neither.
"""

import operator
from collections.abc import Callable
from typing import Any, Final, assert_never

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
    Not,
    Operator,
    Or,
    StringTest,
)
from boolcast.filters.patterns import LikePattern
from boolcast.filters.regexes import compile_regex
from boolcast.model.events import Event
from boolcast.model.values import EventValue, Kind, Value, kind_of

COMPARE: Final[dict[Operator, Callable[[Any, Any], bool]]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def accepts(node: Filter, event: object) -> bool:
    """True if the filter is true on the event, which is converted first."""
    return evaluate(node, Event.from_python(event), True)


def evaluate(node: Filter, event: Event, wanted: bool) -> bool:
    """True if the filter (or, where not `wanted`, its negation) is true on the event."""
    match node:
        case And(children):
            every = all if wanted else any
            return every(evaluate(child, event, wanted) for child in children)
        case Or(children):
            some = any if wanted else all
            return some(evaluate(child, event, wanted) for child in children)
        case Not(child):
            return evaluate(child, event, not wanted)
        case Constant(value):
            return value is wanted
        case _:
            return truth(node, event) is wanted


def truth(predicate: Leaf, event: Event) -> bool | None:
    """True, false, or None for unknown."""
    match predicate:
        case IsNull(attribute, negated):
            return (attribute in event) is negated
        case AttributeComparison(attribute, comparison, other):
            return _compare(event.get(attribute), comparison, event.get(other))
        case _:
            value = event.get(predicate.attribute)
            return None if value is None else _truth_of_value(predicate, value)


def _truth_of_value(
    predicate: Comparison | Between | In | Like | StringTest | Matches, value: EventValue
) -> bool | None:
    match predicate:
        case Comparison(_, comparison, operand):
            return _compare(value, comparison, operand)
        case Between(_, low, high, negated):
            return _is_within(value, low, high, negated)
        case In(_, values, negated):
            if kind_of(value) is not kind_of(values[0]):
                return None
            return (value in values) is not negated
    if not isinstance(value, str):
        return None
    match predicate:
        case Like(_, pattern, escape, negated):
            return LikePattern.parse(pattern, escape).matches(value) is not negated
        case StringTest(_, function, text, negated):
            return STRING_TESTS[function](value, text) is not negated
        case Matches(_, pattern, negated):
            return (compile_regex(pattern).search(value) is not None) is not negated
        case _:
            assert_never(predicate)


STRING_TESTS: Final[dict[str, Callable[[str, str], bool]]] = {
    "starts_with": str.startswith,
    "ends_with": str.endswith,
    "contains": str.__contains__,
}


def _compare(
    left: EventValue | None, comparison: Operator, right: EventValue | None
) -> bool | None:
    if left is None or right is None:
        return None
    kind = kind_of(left)
    if kind is not kind_of(right) or kind is Kind.OPAQUE:
        return None
    return COMPARE[comparison](left, right)


def _is_within(value: EventValue, low: Value, high: Value, negated: bool) -> bool | None:
    if kind_of(value) is not kind_of(low):
        return None
    inside: Any = value
    return (low <= inside <= high) is not negated
