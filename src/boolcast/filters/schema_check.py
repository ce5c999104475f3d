"""Whether a predicate fits a schema: known attributes, compared with values of their kind."""

from typing import assert_never

import msgspec

from boolcast.filters.expressions import (
    AttributeComparison,
    Between,
    Comparison,
    In,
    IsNull,
    Leaf,
    Like,
    Matches,
    StringTest,
)
from boolcast.filters.spelling import suggest
from boolcast.model.schemas import Schema
from boolcast.model.values import Kind, kind_of


class SchemaProblem(msgspec.Struct, frozen=True):
    """What is wrong; `is_operand` if the fault lies in the value, not in the attribute."""

    text: str
    hint: str | None
    is_operand: bool


def find_problem(predicate: Leaf, schema: Schema) -> SchemaProblem | None:
    """The first reason why no event of the schema can satisfy the predicate."""
    for name in predicate.names():
        if not schema.kinds(name):
            is_operand = name != predicate.attribute
            hint = suggest(name, schema.names()) or _known_names(schema)
            return SchemaProblem(f"the schema has no attribute `{name}`", hint, is_operand)
    return _kind_problem(predicate, schema)


def _kind_problem(predicate: Leaf, schema: Schema) -> SchemaProblem | None:
    kinds = schema.kinds(predicate.attribute)
    match predicate:
        case IsNull():
            return None
        case AttributeComparison(_, _, other):
            others = schema.kinds(other)
            if kinds & others:
                return None
            text = (
                f"`{predicate.attribute}` is a {_listed(kinds)} and `{other}` a {_listed(others)}:"
                " they never compare"
            )
            return SchemaProblem(text, None, True)
        case Comparison(value=value) | Between(low=value):
            operand = kind_of(value)
        case In(values=values):
            operand = kind_of(values[0])
        case Like() | StringTest() | Matches():
            operand = Kind.STRING
        case _:
            assert_never(predicate)
    if operand in kinds:
        return None
    text = f"`{predicate.attribute}` is a {_listed(kinds)}, which never compares with a {operand}"
    return SchemaProblem(text, _kind_hint(kinds, operand), True)


def _kind_hint(kinds: frozenset[Kind], operand: Kind) -> str | None:
    if operand is Kind.STRING and Kind.NUMBER in kinds:
        return "write numbers without quotes"
    if operand is Kind.STRING and Kind.TIMESTAMP in kinds:
        return "write timestamp '2026-01-31T12:00:00Z'"
    if Kind.BOOLEAN in kinds:
        return "a boolean compares with true and false"
    if Kind.STRING in kinds:
        return "strings take single quotes"
    return None


def _listed(kinds: frozenset[Kind]) -> str:
    return " or ".join(sorted(kinds))


def _known_names(schema: Schema) -> str:
    names = list(schema.names())
    return "it has " + ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
