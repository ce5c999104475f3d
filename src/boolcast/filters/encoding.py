"""The JSON form of a filter, for the wire and for storage.

It is the tree itself: each node an object whose `type` names it. It keeps every filter
exactly, the kinds of its values included.
"""

from typing import Final

import msgspec

from boolcast.errors import FilterLimitError, FilterSchemaError, FilterSyntaxError
from boolcast.filters.expressions import And, Filter, In, Node, Not, Or
from boolcast.filters.limits import DEFAULT_LIMITS, Limits
from boolcast.filters.schema_check import find_problem
from boolcast.model.schemas import Schema

_DECODER: Final = msgspec.json.Decoder(Node)


def encode(filter: Filter) -> bytes:
    """The filter's JSON form.

    >>> from boolcast.filters.parsing import parse
    >>> encode(parse("price < 25"))
    b'{"type":"comparison","attribute":"price","operator":"<","value":25}'
    """
    return msgspec.json.encode(filter)


def decode(
    data: bytes | str, *, schema: Schema | None = None, limits: Limits = DEFAULT_LIMITS
) -> Filter:
    """Read a filter's JSON form. Raises the same errors as `parse`, without a position."""
    try:
        node = _DECODER.decode(data)
    except RecursionError:
        raise _too_deep(limits) from None
    except (msgspec.DecodeError, UnicodeError) as error:
        raise FilterSyntaxError(f"not the JSON form of a filter: {error}") from None
    _check_limits(node, limits)
    if schema is not None:
        for predicate in node.predicates():
            if problem := find_problem(predicate, schema):  # type: ignore[arg-type]
                raise FilterSchemaError(problem.text, hint=problem.hint)
    return node


def _check_limits(node: Node, limits: Limits) -> None:
    """Raise where the tree is past a limit; the levels are walked without recursion."""
    level = [node]
    predicates = 0
    # The leaves are a level of the tree, but no nesting of the text.
    for _ in range(limits.depth + 1):
        below: list[Node] = []
        for member in level:
            match member:
                case And(children) | Or(children):
                    below.extend(children)
                case Not(child):
                    below.append(child)
                case _:
                    predicates += 1
                    if isinstance(member, In) and len(member.values) > limits.values:
                        raise FilterLimitError(
                            f"a list has more than {limits.values:,} values",
                            limit="values",
                            allowed=limits.values,
                        )
        if predicates > limits.predicates:
            raise FilterLimitError(
                f"the filter has more than {limits.predicates:,} predicates",
                limit="predicates",
                allowed=limits.predicates,
            )
        if not below:
            return
        level = below
    raise _too_deep(limits)


def _too_deep(limits: Limits) -> FilterLimitError:
    return FilterLimitError(
        f"the filter nests deeper than {limits.depth} levels", limit="depth", allowed=limits.depth
    )
