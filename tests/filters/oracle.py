"""A second evaluator, as SQL has it: three truth values, NOT evaluated where it stands.

It shares nothing with `boolcast.filters.evaluation` but the tree: numbers compare as fractions,
LIKE is translated to `re`, kinds are told by hand.
"""

import math
import re
from collections.abc import Mapping
from fractions import Fraction
from typing import assert_never

import re2

from boolcast.filters.expressions import (
    And,
    AttributeComparison,
    Between,
    Comparison,
    Constant,
    Filter,
    In,
    IsNull,
    Like,
    Matches,
    Not,
    Or,
    StringTest,
)
from boolcast.model.values import Timestamp

Truth = bool | None
Comparable = tuple[str, object]


def evaluate(node: Filter, event: Mapping[str, object]) -> Truth:
    """True, false or unknown for a flat event of Python values."""
    match node:
        case And(children):
            return conjunction([evaluate(child, event) for child in children])
        case Or(children):
            return negation(conjunction([negation(evaluate(child, event)) for child in children]))
        case Not(child):
            return negation(evaluate(child, event))
        case Constant(value):
            return value
        case IsNull(name, negated):
            return (event.get(name) is None) != negated
        case Comparison(name, operator, value):
            return compare(event.get(name), operator, value)
        case AttributeComparison(name, operator, other):
            return compare(event.get(name), operator, event.get(other))
        case Between(name, low, high, negated):
            held = event.get(name)
            inside = conjunction([compare(held, ">=", low), compare(held, "<=", high)])
            return negation(inside) if negated else inside
        case In(name, values, negated):
            held = event.get(name)
            missed = conjunction([compare(held, "!=", member) for member in values])
            return missed if negated else negation(missed)
        case Like(name, pattern, escape, negated):
            test = re.compile(like_to_re(pattern, escape), re.DOTALL).fullmatch
        case StringTest(name, function, operand, negated):
            quoted = re.escape(operand)
            form = {"starts_with": r"\A{}", "ends_with": r"{}\Z", "contains": "{}"}[function]
            test = re.compile(form.format(quoted)).search
        case Matches(name, pattern, negated):
            test = re2.compile(pattern).search
        case _:
            assert_never(node)
    text = event.get(name)
    return (test(text) is not None) != negated if isinstance(text, str) else None


def conjunction(parts: list[Truth]) -> Truth:
    if False in parts:
        return False
    return None if None in parts else True


def negation(part: Truth) -> Truth:
    return None if part is None else not part


def compare(left: object, operator: str, right: object) -> Truth:
    """Both sides as (kind, something that orders); unknown unless the kinds are the same."""
    one, other = comparable(left), comparable(right)
    if one is None or other is None or one[0] != other[0]:
        return None
    is_less, is_equal = one < other, one == other
    return {
        "=": is_equal,
        "!=": not is_equal,
        "<": is_less,
        "<=": is_less or is_equal,
        ">": not (is_less or is_equal),
        ">=": not is_less,
    }[operator]


def comparable(value: object) -> Comparable | None:
    if isinstance(value, bool):
        return "boolean", int(value)
    if isinstance(value, int | float):
        if math.isnan(value):
            return None
        return "number", value if math.isinf(value) else Fraction(value)
    if isinstance(value, str):
        return "string", [ord(character) for character in value]
    if isinstance(value, Timestamp):
        return "timestamp", value.microseconds
    return None


def like_to_re(pattern: str, escape: str) -> str:
    """The regular expression that the pattern stands for, to be matched in full."""
    part = "(?P<escaped>" + re.escape(escape) + "(.))|(?P<other>.)" if escape else "(?P<other>.)"

    def translate(found: re.Match[str]) -> str:
        if escape and found["escaped"]:
            return re.escape(found["escaped"][1])
        return {"%": ".*", "_": "."}.get(found["other"], re.escape(found["other"]))

    return re.sub(part, translate, pattern, flags=re.DOTALL)
