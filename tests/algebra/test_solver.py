"""The algebra against an SMT solver that knows nothing of boundaries and automata.

Each attribute becomes a kind and one variable a kind; strings and patterns go to the solver's
own theory of strings. Residuals are left out: the solver would see into them.
"""

from typing import Any, assert_never

import pytest
import z3
from hypothesis import given

from boolcast.algebra import covers, equivalent, overlaps
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
    Residual,
    StringTest,
)
from boolcast.model.values import Kind, Timestamp, Value, kind_of
from tests.algebra.pairs import pairs
from tests.examples import examples
from tests.strategies import filters

KINDS = {Kind.BOOLEAN: 2, Kind.NUMBER: 3, Kind.STRING: 4, Kind.TIMESTAMP: 5}
MISSING = 0
TIMEOUT_MS = 5_000
FILTERS = filters(max_leaves=5, small=True, residuals=False)


def variable(attribute: str, kind: Kind) -> Any:
    name = f"{attribute} {kind}"
    match kind:
        case Kind.BOOLEAN | Kind.TIMESTAMP:
            return z3.Int(name)
        case Kind.NUMBER:
            return z3.Real(name)
        case _:
            return z3.String(name)


def literal(value: Value) -> Any:
    match value:
        case bool():
            return z3.IntVal(int(value))
        case int():
            return z3.RealVal(value)
        case float():
            numerator, denominator = value.as_integer_ratio()
            return z3.Q(numerator, denominator)
        case str():
            return z3.StringVal(value)
        case Timestamp(microseconds):
            return z3.IntVal(microseconds)


def compare(left: Any, operator: Operator, right: Any) -> Any:
    match operator:
        case "=":
            return left == right
        case "!=":
            return left != right
        case "<":
            return left < right
        case "<=":
            return left <= right
        case ">":
            return right < left
        case ">=":
            return right <= left


def has_kind(attribute: str, kind: Kind) -> Any:
    return z3.Int(f"{attribute} kind") == KINDS[kind]


def condition(leaf: Leaf) -> tuple[Kind, Any]:
    """The kind that the predicate asks for, and what it asks of a value of that kind."""
    match leaf:
        case Comparison(attribute, operator, value):
            kind = kind_of(value)
            return kind, compare(variable(attribute, kind), operator, literal(value))
        case Between(attribute, low, high, negated):
            kind = kind_of(low)
            value = variable(attribute, kind)
            inside = z3.And(compare(value, ">=", literal(low)), compare(value, "<=", literal(high)))
            return kind, z3.Not(inside) if negated else inside
        case In(attribute, values, negated):
            kind = kind_of(values[0])
            one = z3.Or([variable(attribute, kind) == literal(value) for value in values])
            return kind, z3.Not(one) if negated else one
        case Like(attribute, pattern, escape, negated):
            fits = z3.InRe(variable(attribute, Kind.STRING), like_expression(pattern, escape))
            return Kind.STRING, z3.Not(fits) if negated else fits
        case StringTest(attribute, function, operand, negated):
            value, text = variable(attribute, Kind.STRING), z3.StringVal(operand)
            test = {
                "starts_with": z3.PrefixOf(text, value),
                "ends_with": z3.SuffixOf(text, value),
                "contains": z3.Contains(value, text),
            }[function]
            return Kind.STRING, z3.Not(test) if negated else test
        case IsNull() | Matches() | AttributeComparison():
            raise AssertionError
        case _:
            assert_never(leaf)


def like_expression(pattern: str, escape: str) -> Any:
    parts: list[Any] = [z3.Re("")]
    characters = iter(pattern)
    for character in characters:
        if character == escape:
            parts.append(z3.Re(z3.StringVal(next(characters))))
        elif character == "%":
            parts.append(z3.Full(z3.ReSort(z3.StringSort())))
        elif character == "_":
            parts.append(z3.AllChar(z3.ReSort(z3.StringSort())))
        else:
            parts.append(z3.Re(z3.StringVal(character)))
    return z3.Concat(*parts) if len(parts) > 1 else parts[0]


def formula(node: Filter, *, wanted: bool = True) -> Any:
    """The filter is true (or, where not wanted, its own negation is)."""
    match node:
        case And(children) | Or(children):
            parts = [formula(child, wanted=wanted) for child in children]
            return z3.And(parts) if isinstance(node, And) == wanted else z3.Or(parts)
        case Not(child):
            return formula(child, wanted=not wanted)
        case Constant(value):
            return z3.BoolVal(value == wanted)
        case IsNull(attribute, negated):
            is_missing = z3.Int(f"{attribute} kind") == MISSING
            return z3.Not(is_missing) if negated == wanted else is_missing
        case _:
            kind, holds = condition(node)
            return z3.And(has_kind(node.attribute, kind), holds if wanted else z3.Not(holds))


def is_satisfiable(claim: Any, *nodes: Filter) -> bool | None:
    solver = z3.Solver()
    solver.set("timeout", TIMEOUT_MS)
    for name in {name for node in nodes for name in node.attributes()}:
        kind, flag = z3.Int(f"{name} kind"), z3.Int(f"{name} boolean")
        solver.add(kind >= MISSING, kind <= KINDS[Kind.TIMESTAMP], flag >= 0, flag <= 1)
    solver.add(claim)
    answer = solver.check()
    return None if answer == z3.unknown else answer == z3.sat


def check(left: Filter, right: Filter) -> int:
    """Compare all answers about a pair; how many of them the solver could give."""
    accepts_left, accepts_right = formula(left), formula(right)
    known = 0
    for may_exist, claim in (
        (overlaps(left, right).holds, z3.And(accepts_left, accepts_right)),
        (not covers(left, right), z3.And(accepts_right, z3.Not(accepts_left))),
    ):
        expected = is_satisfiable(claim, left, right)
        if expected is not None:
            known += 1
            assert may_exist == expected, (str(left), str(right))
    return known


@pytest.mark.slow
@given(FILTERS, FILTERS)
@examples(500)
def test_answers_agree_with_the_solver(left: Filter, right: Filter):
    check(left, right)


@pytest.mark.slow
def test_answers_agree_with_the_solver_on_larger_pairs():
    known = asked = 0
    for left, right in pairs(1_500, leaves=10, seed=11):
        leaves = [*left.predicates(), *right.predicates()]
        if any(isinstance(leaf, Residual) for leaf in leaves):
            continue
        asked += 2
        known += check(left, right)
    assert asked > 400
    assert known > 0.9 * asked


def test_the_solver_sees_a_difference():
    """The oracle can say no: it is not fooled into agreeing."""
    left, right = Comparison("a", "<", 5), Comparison("a", ">", 5)
    assert is_satisfiable(z3.And(formula(left), formula(right)), left, right) is False
    assert is_satisfiable(formula(left), left) is True
    assert equivalent(left, left)
