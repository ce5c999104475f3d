"""Trees checked against the limits for texts: a tree may be built by code and never parsed."""

from boolcast.errors import FilterLimitError
from boolcast.filters.expressions import (
    And,
    AttributeComparison,
    Comparison,
    Filter,
    In,
    Junction,
    Leaf,
    Like,
    Matches,
    Not,
    Or,
    Predicate,
    StringTest,
    is_enclosed,
)
from boolcast.filters.limits import DEEPEST, Limits
from boolcast.model.values import Value


def check_limits(filter: Filter, limits: Limits) -> None:
    """Raise FilterLimitError for a filter that is past a limit, or nests deeper than `DEEPEST`.

    A filter that `parse` accepts under the limits passes, unless it is deeper than that. The
    length of the text is a lower bound: names, strings, and one character for each node.
    """
    text = nodes = predicates = regexes = 0
    waiting: list[Filter] = [filter]
    while waiting:
        node = waiting.pop()
        nodes += 1
        # Not by a `match`, which is slower: a matcher does this for every filter that is added.
        if isinstance(node, Comparison):
            predicates += 1
            text += len(node.attribute)
            if isinstance(node.value, str):
                text += len(node.value)
        elif isinstance(node, Junction):
            waiting += node.children
        elif isinstance(node, Not):
            waiting.append(node.child)
        elif isinstance(node, Predicate):
            predicates += 1
            regexes += isinstance(node, Matches)
            text += len(node.attribute) + _operand_length(node, limits)
        if text + nodes > limits.text:
            raise limits.error("text")
        if predicates > limits.predicates:
            raise limits.error("predicates")
        if regexes > limits.regexes:
            raise limits.error("regexes")
    # A node adds two levels at most, a NOT before a parenthesis.
    if 2 * nodes > min(limits.depth, DEEPEST):
        check_depth(filter, limits)
        if limits.depth > DEEPEST:
            _check_deepest(filter)


def _operand_length(leaf: Leaf, limits: Limits) -> int:
    match leaf:
        case In(_, values, _):
            if len(values) > limits.values:
                raise limits.error("values")
            if max(map(_length, values)) > limits.text:
                raise limits.error("text")
            return 0
        case AttributeComparison(_, _, operand) | StringTest(_, _, operand, _):
            return len(operand)
        case Like(_, operand, _, _) | Matches(_, operand, _):
            return len(operand)
        case _:
            return 0


def _length(value: Value) -> int:
    return len(value) if isinstance(value, str) else 0


def check_depth(root: Filter, limits: Limits) -> None:
    """Raise where the filter's text would nest deeper than the limit."""
    if _is_deeper(root, limits.depth):
        raise limits.error("depth")


def _check_deepest(root: Filter) -> None:
    if _is_deeper(root, DEEPEST):
        problem = f"the filter nests deeper than {DEEPEST:,} levels"
        hint = "a matcher cannot go deeper, whatever the limit"
        raise FilterLimitError(problem, limit="depth", allowed=DEEPEST, hint=hint)


def _is_deeper(root: Filter, allowed: int) -> bool:
    waiting = [(root, 0)]
    while waiting:
        node, depth = waiting.pop()
        if depth > allowed:
            return True
        match node:
            case And(children) | Or(children):
                waiting += [(child, depth + is_enclosed(node, child)) for child in children]
            case Not(child):
                waiting.append((child, depth + 1 + is_enclosed(node, child)))
            case StringTest() | Matches() if node.negated and depth == allowed:
                # Its text begins with `not`.
                return True
    return False
