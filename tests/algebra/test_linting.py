"""Lint says what is never true, always true, without effect, or about a missing attribute."""

import pytest
from hypothesis import given

from boolcast.algebra import equivalent, lint
from boolcast.filters.expressions import Filter
from boolcast.filters.parsing import parse
from boolcast.model.schemas import Attribute, Schema
from tests.strategies import filters

SCHEMA = Schema(
    attributes={"price": Attribute("number", minimum=0)},
    types={
        "book": {"title": Attribute("string")},
        "car": {"wheels": Attribute("number", integer=True)},
        "boat": {},
    },
)


def found(text: str, schema: Schema | None = None) -> list[tuple[str, str]]:
    return [(each.code, each.text) for each in lint(parse(text), schema=schema).findings]


@pytest.mark.parametrize(
    ("text", "findings"),
    [
        ("price < 25", []),
        ("price < 25 and title = 'Emma' or price < 5", []),
        ("a = 1 and a = 2", [("contradiction", "a = 1 and a = 2")]),
        ("a between 5 and 3", [("contradiction", "a between 5 and 3")]),
        ("b = 1 or a = 1 and a = 2", [("contradiction", "a = 1 and a = 2")]),
        ("a is null or a is not null", [("tautology", "a is null or a is not null")]),
        ("b = 1 and (a is null or a is not null)", [("tautology", "a is null or a is not null")]),
        ("not (b = 1 and not (a = 1 and a = 2))", [("contradiction", "a = 1 and a = 2")]),
        ("price < 25 and price < 30", [("redundant", "price < 30")]),
        ("price < 25 or price < 5", [("redundant", "price < 5")]),
        ("a = 1 and (a = 1 or b = 2)", [("redundant", "a = 1 or b = 2")]),
        ("true", [("tautology", "true")]),
        ("false", [("contradiction", "false")]),
        ("a = 1 and true", [("tautology", "true")]),
        ("not (a > 1 and a > 2)", [("redundant", "a <= 1")]),
    ],
)
def test_findings(text: str, findings: list[tuple[str, str]]):
    assert found(text) == findings


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("type = 'book' and wheels = 4", ["always-missing", "contradiction"]),
        ("type in ('book', 'car') and wheels = 4", ["redundant"]),
        ("type in ('book', 'car') and price = 4", []),
        ("type = 'book' and title = 'x' or type = 'car' and title = 'y'",
         ["always-missing", "contradiction"]),
        ("wheels = 4", []),
        ("price >= 0", []),
        ("price >= 0 or price is null", ["tautology"]),
        ("price < 0", ["contradiction"]),
        ("price >= 0 and type = 'book'", []),
    ],
)  # fmt: skip
def test_findings_under_a_schema(text: str, codes: list[str]):
    assert [code for code, _ in found(text, SCHEMA)] == codes


def test_a_finding_says_what_to_do():
    (finding,) = lint(parse("price < 25 and price < 30")).findings
    assert finding.message == "`price < 30` makes no difference and can be left out"
    (missing, _) = lint(parse("type = 'book' and wheels = 4"), schema=SCHEMA).findings
    assert missing.message == (
        "`wheels` is always missing in events of type `book`, so `wheels = 4` is never true"
    )
    (missing,) = lint(
        parse("type = 'book' and (wheels is null or title = 'x')"), schema=SCHEMA
    ).findings[:1]
    assert missing.message.endswith("`wheels is null` is always true")


def test_a_contradiction_names_its_core():
    (finding,) = lint(parse("b = 3 and a = 1 and c < 5 and a = 2")).findings
    assert finding.message.endswith(": `a = 1 and a = 2` is never true")
    (finding,) = lint(parse("a = 1 and a = 2")).findings
    assert finding.message == "no event can satisfy `a = 1 and a = 2`"


def test_a_part_that_nobody_wrote_is_explained():
    (finding,) = lint(parse("not (a > 1 and a > 2)")).findings
    assert finding.message.endswith("(with `not` carried inwards)")


def test_lint_says_when_its_budget_ran_out():
    node = parse("a < 5 and b < 5 and c < 5 and (a < 9 or b < 3)")
    assert lint(node, budget=3).exhausted
    assert not lint(node).exhausted


@given(filters(max_leaves=6, small=True))
def test_constant_findings_are_true(node: Filter):
    for finding in lint(node).findings:
        if finding.code in ("contradiction", "tautology"):
            expected = parse("false" if finding.code == "contradiction" else "true")
            assert equivalent(parse(finding.text), expected)
