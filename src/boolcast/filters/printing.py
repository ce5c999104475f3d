"""Filters as text: one spacing, one keyword case, parentheses only where they are needed.

`parse(to_text(filter)) == filter` for every filter.
"""

import re
from functools import lru_cache
from typing import Final, assert_never, get_args

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
    StringFunction,
    StringTest,
)
from boolcast.model.values import Timestamp, Value

KEYWORDS: Final = frozenset(
    ("and", "or", "not", "in", "between", "like", "is", "null", "true", "false")
)
"""The words that are no attribute's name unless quoted."""

FUNCTIONS: Final = (*get_args(StringFunction), "matches")
"""The words that are functions before a parenthesis, and names elsewhere."""

PLAIN_NAME: Final = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")


def to_text(node: Filter) -> str:
    """The filter's text."""
    match node:
        case Comparison():
            # By far the most frequent; its parts by name, which is sooner than by a pattern.
            value = node.value
            literal = _quoted(value) if type(value) is str else value_text(value)
            return f"{name_text(node.attribute)} {node.operator} {literal}"
        case And():
            return " and ".join(
                [
                    f"({to_text(child)})" if type(child) is Or else to_text(child)
                    for child in node.children
                ]
            )
        case Or():
            return " or ".join([to_text(child) for child in node.children])
        case Not(child):
            return f"not {_part(node, child)}"
        case Constant(value):
            return "true" if value else "false"
        case Between(attribute, low, high, negated):
            word = "not between" if negated else "between"
            return f"{name_text(attribute)} {word} {value_text(low)} and {value_text(high)}"
        case In(attribute, values, negated):
            word = "not in" if negated else "in"
            return f"{name_text(attribute)} {word} ({', '.join(map(value_text, values))})"
        case IsNull(attribute, negated):
            return f"{name_text(attribute)} is {'not ' if negated else ''}null"
        case Like(attribute, pattern, escape, negated):
            word = "not like" if negated else "like"
            tail = f" escape {_quoted(escape)}" if escape else ""
            return f"{name_text(attribute)} {word} {_quoted(pattern)}{tail}"
        case StringTest(attribute, function, operand, negated):
            call = f"{function}({name_text(attribute)}, {_quoted(operand)})"
            return f"not {call}" if negated else call
        case Matches(attribute, pattern, negated):
            call = f"matches({name_text(attribute)}, {_quoted(pattern)})"
            return f"not {call}" if negated else call
        case AttributeComparison(attribute, operator, other):
            return _attributes_text(attribute, operator, other)
        case _:
            assert_never(node)


def _attributes_text(attribute: str, operator: str, other: str) -> str:
    """Both names quoted where the right one needs it: alone it would look like a string."""
    right = name_text(other)
    left = _double_quoted(attribute) if right.startswith('"') else name_text(attribute)
    return f"{left} {operator} {right}"


@lru_cache(maxsize=4_096)
def name_text(name: str) -> str:
    """The attribute's name, in double quotes where it is not plain."""
    if PLAIN_NAME.fullmatch(name) and name.lower() not in KEYWORDS:
        return name
    return _double_quoted(name)


def value_text(value: Value) -> str:
    """The value as a literal that reads back as an equal value of the same kind."""
    match value:
        case str():
            return _quoted(value)
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
        case Timestamp():
            return f"timestamp '{value}'"
        case _:
            assert_never(value)


def escaped(text: str) -> str:
    """The text on one line, harmless to a terminal: what is not printable as Python's escapes.

    For people to look at; a filter with such an escape would read as another one.
    """
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else character.encode("unicode-escape").decode()
        for character in text
    )


def is_enclosed(parent: Filter, child: Filter) -> bool:
    """True if the child stands in parentheses within its parent."""
    match parent, child:
        case (And(), Or()) | (Not(), And() | Or()):
            return True
        case Not(), StringTest() | Matches():
            # `not contains(…)` is the complement, a predicate of its own.
            return not child.negated
        case _:
            return False


def _part(parent: Filter, child: Filter) -> str:
    return f"({to_text(child)})" if is_enclosed(parent, child) else to_text(child)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _double_quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'
