"""Printing, negation normal form and error messages, by the text files in `fixtures/`."""

import pytest

from boolcast.errors import FilterSyntaxError
from boolcast.filters.canonical import to_nnf
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
    assert str(to_nnf(parse(case.text))) == case.expected


@pytest.mark.parametrize("case", cases("errors.txt"))
def test_errors(case: Case):
    with pytest.raises(FilterSyntaxError) as caught:
        parse(case.text)
    error = caught.value
    assert str(error) == case.expected
    assert error.position is not None
    assert error.found
    assert error.expected


@pytest.mark.parametrize(
    ("text", "position", "found", "expected"),
    [
        ("price < ", 8, "the end of the filter", "a value or an attribute"),
        ("price lik 'x'", 6, "`lik`", "an operator such as =, <, in, like or is null"),
        ("a = 1\n  b = 2", 8, "`b`", "`and`, `or` or the end"),
        ("(a = 1 b = 2)", 7, "`b`", "`and`, `or` or `)`"),
        ("price == 25", 6, "`==`", "`=`"),
        ("a = 1 && b = 2", 6, "`&&`", "`and`"),
        ("a = 'x", 4, "`'`", "a string in single quotes"),
        ('"a', 0, '`"`', "a name in double quotes"),
        ("a < 1_000", 4, "`1_000`", "a number"),
        ("a < 1e999", 4, "`1e999`", "a finite number"),
        ("a = 5\0", 5, "the character U+0000", "a name, a value, an operator or a parenthesis"),
        ('a = "new"', 4, '`"new"`', "a value or an attribute"),
        ('a like "x"', 7, '`"x"`', "a pattern in single quotes"),
        ('"" = 5', 0, '`""`', "a name"),
        ("a = '\ud800'", 4, r"'\ud800'", "a text of characters"),
        ("a in (1, 'x' , 2)", 9, "'x'", "a number"),
        ("a in (1, timestamp  '2026-01-31' )", 9, "`timestamp  '2026-01-31'`", "a number"),
        ("a between 'x' and  5 and b = 1", 19, "`5`", "a string"),
        ("lower ( a ) = 'x'", 0, "`lower`", "one of starts_with, ends_with, contains, matches"),
        ("matches(a, '(' )", 11, "'('", "a regular expression that RE2 takes"),
        ("a = timestamp 'now'", 14, "'now'", "a string such as '2026-01-31T12:00:00Z'"),
        ("a like 'x' escape '!!'", 18, "'!!'", "a single character in single quotes"),
        (
            "a like 'x!' escape '!'",
            7,
            "'x!'",
            "a pattern in which each escape stands before %, _ or itself",
        ),
        ("a = 1 '" + "x" * 50 + "'", 6, "'" + "x" * 38 + "…", "`and`, `or` or the end"),
        ("a = 1 'x\x1b\n'", 6, r"'x\x1b\n'", "`and`, `or` or the end"),
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


@pytest.mark.parametrize(
    "tail", ["x" * 20_000, "'" + "x" * 10_000 + "' y"], ids=["a name", "a string"]
)
def test_a_long_line_is_shown_in_part(tail):
    with pytest.raises(FilterSyntaxError) as caught:
        parse("a = 1 and b == " + tail)
    shown = str(caught.value)
    assert len(shown) < 400
    message, excerpt, caret, *_ = shown.splitlines()
    assert "==" in message
    assert excerpt[caret.index("^") :].startswith("==")
    assert excerpt.endswith("…")
