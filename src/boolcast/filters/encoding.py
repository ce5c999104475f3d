"""Filters as JSON, for the wire and for storage.

It is the tree itself: each node an object whose `type` names it. It keeps every filter
exactly, the kinds of its values included. The limits are those of the text: what `parse`
takes can be encoded and decoded.
"""

import msgspec

from boolcast.errors import FilterSchemaError, FilterSyntaxError
from boolcast.filters.expressions import Filter
from boolcast.filters.limits import DEFAULT_LIMITS, Limits
from boolcast.filters.schema_check import find_problem
from boolcast.filters.size_check import check_depth
from boolcast.model.json_faults import fault
from boolcast.model.schemas import Schema


def encode(filter: Filter) -> bytes:
    """The filter as JSON.

    >>> from boolcast.filters.parsing import parse
    >>> encode(parse("price < 25"))
    b'{"type":"comparison","attribute":"price","operator":"<","value":25}'
    """
    return msgspec.json.encode(filter)


def decode(
    data: bytes | str, *, schema: Schema | None = None, limits: Limits = DEFAULT_LIMITS
) -> Filter:
    """Read a filter from JSON. Raises the same errors as `parse`, without a position."""
    try:
        plain = msgspec.json.decode(data)
        # Before the predicates are made, because to make one may be costly (`matches`).
        check_size(plain, limits)
        node: Filter = msgspec.convert(plain, Filter)
    except RecursionError:
        raise limits.error("depth") from None
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise FilterSyntaxError(f"not the JSON form of a filter: {fault(error, data)}") from None
    check_depth(node, limits)
    if schema is not None:
        for predicate in node.predicates():
            if problem := find_problem(predicate, schema):
                raise FilterSchemaError(problem.text, hint=problem.hint)
    return node


def check_size(root: object, limits: Limits) -> None:
    """Raise if decoded JSON exceeds a limit other than the one on depth, whatever it holds."""
    text = predicates = regexes = 0
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if not isinstance(node, dict):
            continue
        for name, member in node.items():
            if name in ("child", "children"):
                waiting += member if isinstance(member, list) else [member]
            elif name == "values" and isinstance(member, list):
                longest = max((len(value) for value in member if isinstance(value, str)), default=0)
                if longest > limits.text:
                    raise limits.error("text")
                if len(member) > limits.values:
                    raise limits.error("values")
            elif name != "type" and isinstance(member, str):
                text += len(member)
        # In the text a node takes a character at least.
        text += 1
        predicates += "attribute" in node
        regexes += node.get("type") == "matches"
        if text > limits.text:
            raise limits.error("text")
        if predicates > limits.predicates:
            raise limits.error("predicates")
        if regexes > limits.regexes:
            raise limits.error("regexes")
