"""Parse, evaluate, covers and overlaps on the papers' subscription classes (W2).

`make bench` measures; each group holds Boolcast beside a named alternative, so that the
column in parentheses is the ratio in one run. One round handles `COUNT` filters or pairs.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, cast

import lark
import pytest
import z3

from boolcast.algebra import covers, overlaps
from boolcast.filters.expressions import And, Comparison, Filter, Or
from boolcast.filters.parsing import parse
from boolcast.model.events import Event
from boolcast.workloads import Auction, AuctionParameters
from tests.algebra.test_solver import formula, is_satisfiable

pytestmark = pytest.mark.slow

COUNT: Final = 300
CLASSES: Final = ("S1", "S2", "S3")

Benchmark = Callable[..., Any]


def auction(name: str) -> Auction:
    """Few titles, authors and categories, so that pairs of filters have something in common."""
    parameters = AuctionParameters(
        subscription_classes=CLASSES if name == "mixed" else (cast("Any", name),),
        titles=3,
        authors=3,
        categories=3,
    )
    return Auction(parameters, seed=1)


@pytest.fixture(params=[*CLASSES, "mixed"])
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def texts(name: str) -> list[str]:
    return [str(filter) for filter in auction(name).subscription_filters(0, COUNT)]


def pairs(name: str) -> list[tuple[Any, Any]]:
    filters = list(auction(name).subscription_filters(0, 2 * COUNT))
    return list(zip(filters[:COUNT], filters[COUNT:], strict=True))


def repeat(call: Callable[..., object], arguments: list[tuple[Any, ...]]) -> Callable[[], None]:
    def run() -> None:
        for each in arguments:
            call(*each)

    return run


class TestParse:
    def test_boolcast(self, benchmark: Any, name: str):
        benchmark.group = f"parse {COUNT} filters, {name}"
        benchmark(repeat(parse, [(text,) for text in texts(name)]))

    def test_lark(self, benchmark: Any, name: str):
        """The second grammar of the tests, as a LALR or Earley parser without a tree to build."""
        grammar = Path(__file__).parent.parent / "tests" / "filters" / "grammar.lark"
        parser = lark.Lark(grammar.read_text(), parser="lalr")
        benchmark.group = f"parse {COUNT} filters, {name}"
        benchmark(repeat(parser.parse, [(text,) for text in texts(name)]))


class TestEvaluate:
    def test_boolcast(self, benchmark: Any, name: str):
        filters = list(auction(name).subscription_filters(0, COUNT))
        event = auction(name).event(0)
        benchmark.group = f"evaluate {COUNT} filters, {name}"
        benchmark(repeat(lambda filter: filter.accepts(event), [(each,) for each in filters]))

    def test_compiled_lambda(self, benchmark: Any, name: str):
        """What a Python user would write by hand, without missing attributes or kinds."""
        event = auction(name).event(0)
        functions = [compiled(each) for each in auction(name).subscription_filters(0, COUNT)]
        benchmark.group = f"evaluate {COUNT} filters, {name}"
        benchmark(repeat(lambda function: function(event), [(each,) for each in functions]))


def compiled(node: Filter) -> Callable[[Event], bool]:
    function: Callable[[Event], bool] = eval(f"lambda event: {source(node)}")
    return function


def source(node: Filter) -> str:
    match node:
        case And(children):
            return "(" + " and ".join(map(source, children)) + ")"
        case Or(children):
            return "(" + " or ".join(map(source, children)) + ")"
        case Comparison(attribute, operator, value):
            return f"event[{attribute!r}] {'==' if operator == '=' else operator} {value!r}"
        case _:
            raise AssertionError(node)


@pytest.mark.parametrize("question", [covers, overlaps])
class TestProve:
    def test_boolcast(self, benchmark: Any, name: str, question: Callable[..., object]):
        benchmark.group = f"{question.__name__} of {COUNT} pairs, {name}"
        benchmark(repeat(question, pairs(name)))

    def test_z3(self, benchmark: Any, name: str, question: Callable[..., object]):
        """The same question put to an SMT solver."""
        benchmark.group = f"{question.__name__} of {COUNT} pairs, {name}"
        claims = [(*claim(question, left, right), left, right) for left, right in pairs(name)]
        benchmark.pedantic(repeat(is_satisfiable, claims), rounds=1)


def claim(question: Callable[..., object], left: Filter, right: Filter) -> tuple[Any]:
    if question is overlaps:
        return (z3.And(formula(left), formula(right)),)
    return (z3.And(formula(right), z3.Not(formula(left))),)
