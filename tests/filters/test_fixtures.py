"""Printing, negation normal form and error messages, by the text files in `fixtures/`."""

import pytest

from boolcast.errors import FilterSyntaxError
from boolcast.filters.negation import to_nnf
from boolcast.filters.parsing import parse
from tests.filters.fixture_files import Case, read, unescaped


def cases(name: str) -> list[object]:
    return [pytest.param(case, id=f"{name}:{case.line}") for case in read(name)]


@pytest.mark.parametrize("case", cases("printing.txt"))
def test_printing(case: Case):
    expected = unescaped(case.expected)
    assert str(parse(case.text)) == expected
    assert str(parse(expected)) == expected


@pytest.mark.parametrize("case", cases("negation.txt"))
def test_negation_normal_form(case: Case):
    assert str(to_nnf(parse(case.text))) == case.expected  # type: ignore[arg-type]


@pytest.mark.parametrize("case", cases("errors.txt"))
def test_errors(case: Case):
    with pytest.raises(FilterSyntaxError) as caught:
        parse(case.text)
    assert str(caught.value) == case.expected


@pytest.mark.parametrize(
    ("text", "position", "found", "expected"),
    [
        ("price < ", 8, "the end of the filter", "a value or an attribute"),
        ("price lik 'x'", 6, "`lik`", "an operator such as =, <, in, like or is null"),
        ("a = 1\n  b = 2", 8, "`b`", "`and`, `or` or the end"),
        ("(a = 1 b = 2)", 7, "`b`", "`and`, `or` or `)`"),
        ("price == 25", 6, "==", None),
        ("a = 'x", 4, "'", None),
    ],
)
def test_an_error_carries_its_evidence(text, position, found, expected):
    with pytest.raises(FilterSyntaxError) as caught:
        parse(text)
    error = caught.value
    assert (error.text, error.position) == (text, position)
    assert (error.found, error.expected) == (found, expected)
    line_start = text.rfind("\n", 0, position) + 1
    assert (error.line, error.column) == (
        text.count("\n", 0, position) + 1,
        position - line_start + 1,
    )


@pytest.mark.parametrize("tail", ["x" * 20_000, "'" + "x" * 10_000 + "' y"])
def test_a_long_line_is_shown_in_part(tail):
    with pytest.raises(FilterSyntaxError) as caught:
        parse("a = 1 and b == " + tail)
    shown = str(caught.value)
    assert len(shown) < 400
    message, excerpt, caret, *_ = shown.splitlines()
    assert "==" in message
    assert excerpt[caret.index("^") :].startswith("==")
    assert excerpt.endswith("…")
