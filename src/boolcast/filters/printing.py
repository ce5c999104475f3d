"""Filters as text: one spacing, one keyword case, parentheses only where they are needed.

`parse(to_text(filter)) == filter` for every filter.
"""

from typing import assert_never

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
    is_enclosed,
)
from boolcast.filters.words import double_quoted, name_text, quoted, value_text


def to_text(node: Filter) -> str:
    """The filter's text."""
    match node:
        case Comparison():
            # By far the most frequent; its parts by name, which is sooner than by a pattern.
            value = node.value
            literal = quoted(value) if type(value) is str else value_text(value)
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
            tail = f" escape {quoted(escape)}" if escape else ""
            return f"{name_text(attribute)} {word} {quoted(pattern)}{tail}"
        case StringTest(attribute, function, operand, negated):
            call = f"{function}({name_text(attribute)}, {quoted(operand)})"
            return f"not {call}" if negated else call
        case Matches(attribute, pattern, negated):
            call = f"matches({name_text(attribute)}, {quoted(pattern)})"
            return f"not {call}" if negated else call
        case AttributeComparison(attribute, operator, other):
            return _attributes_text(attribute, operator, other)
        case _:
            assert_never(node)


def _attributes_text(attribute: str, operator: str, other: str) -> str:
    """Both names quoted where the right one needs it: alone it would look like a string."""
    right = name_text(other)
    left = double_quoted(attribute) if right.startswith('"') else name_text(attribute)
    return f"{left} {operator} {right}"


def _part(parent: Filter, child: Filter) -> str:
    return f"({to_text(child)})" if is_enclosed(parent, child) else to_text(child)
