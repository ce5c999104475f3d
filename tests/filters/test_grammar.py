"""The parser and a grammar of its own take and refuse the same texts."""

import re

import pytest
from hypothesis import event, example, given
from hypothesis import strategies as st

from boolcast.errors import FilterError, FilterSyntaxError
from boolcast.filters.limits import Limits
from boolcast.filters.parsing import parse
from boolcast.filters.scanning import Scanner
from tests.examples import examples
from tests.filters.fixture_files import texts_in_fixtures
from tests.filters.second_parser import is_filter
from tests.strategies import filters

WORD = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|[\w.]+|\s+|.""", re.DOTALL)
PIECES = (
    *("and", "OR", "Not", "in", "between", "liKe", "li\u212ae", "is", "null", "true", "FALSE"),
    *("a", "b.c", "a.", ".b", "escape", "timestamp", "contains", "matches", "starts_with", "if"),
    *('"a"', '"a b"', '""', '"', "'", "''", "'x'", "'%'", "'!'", "'2026-01-31'", "'('"),
    *("0", "5", "-1.5", "+.5", "5.", "1e3", "1e999", "1_000", "0x1", "٣", "-", "+", "."),
    *("=", "==", "!=", "<>", "<", "<=", ">", ">=", "!", "&&", "||", ";"),
    *("(", ")", ",", " ", "\n", "\t", "\0", "\u2003", "é", "😀", "ſ", "İ", "\ud800"),
    *("contains(a, 'x')", "matches(a, '(')", "timestamp '2026-01-31'", "a = 1", "not in (1)"),
    *("between 1 and 2", "like 'x!%' escape '!'", "is not null", "in ('a', 'b')"),
)


def is_parsed(text: str) -> bool:
    try:
        parse(text)
    except FilterError:
        return False
    return True


def assert_the_same(text: str) -> None:
    """Taken by both or refused by both, and if refused, with all the evidence."""
    taken = is_parsed(text)
    event("taken" if taken else "refused")
    assert is_filter(text) is taken, text
    if not taken:
        assert_has_evidence(text)


def assert_has_evidence(text: str) -> None:
    with pytest.raises(FilterSyntaxError) as caught:
        parse(text)
    error = caught.value
    assert error.position is not None
    assert 0 <= error.position <= len(text)
    assert error.found
    assert error.expected
    assert error.found.isprintable()
    assert error.problem.isprintable()


@given(filters(max_leaves=6))
def test_printed_filters(filter):
    assert is_filter(str(filter))


@st.composite
def mutated(draw: st.DrawFn, max_leaves: int) -> str:
    """A filter's text with a few words or characters taken out, put in or exchanged."""
    text = str(draw(filters(max_leaves=max_leaves, small=draw(st.booleans()))))
    for _ in range(draw(st.integers(1, 3))):
        by_word = draw(st.booleans())
        parts = (WORD.findall(text) if by_word else list(text)) or [" "]
        place = draw(st.integers(0, len(parts) - 1))
        end = place + draw(st.integers(0, 2))
        insertion = st.sampled_from(PIECES) if by_word else st.sampled_from("'\"()=<>,.-+5eax \0")
        put_in = draw(st.lists(insertion | st.sampled_from(parts), max_size=2))
        parts[place:end] = put_in
        text = "".join(parts)
    return text


@given(mutated(max_leaves=4))
def test_mutated_filters(text):
    assert_the_same(text)


@given(st.lists(st.sampled_from(PIECES), max_size=8), st.sampled_from(("", " ")))
@example(["a", "in", "(", "5", ",", "true", ")"], " ")
@example(['"a"', "=", '"a b"'], "")
@example(["a", "=", '"a b"'], "")
@example(["5", ">", "a"], "")
def test_words_at_random(words, space):
    assert_the_same(space.join(words))


@given(filters(max_leaves=4), st.sampled_from((str.upper, str.lower, str.swapcase, str.title)))
def test_letters_in_another_case(filter, change):
    assert_the_same(change(str(filter)))


@given(filters(max_leaves=4), st.sampled_from(("", "\n", " \t ", "\u2003")))
def test_other_spaces(filter, space):
    assert_the_same(str(filter).replace(" ", space))


@pytest.mark.parametrize("text", texts_in_fixtures())
def test_fixtures(text):
    assert is_filter(text) is is_parsed(text)


@pytest.mark.slow
@examples(600)
@given(mutated(max_leaves=6))
def test_many_mutated_filters(text):
    assert_the_same(text)


@pytest.mark.slow
@examples(3_000)
@given(st.lists(st.sampled_from(PIECES), max_size=12), st.sampled_from(("", " ")))
def test_many_words_at_random(words, space):
    assert_the_same(space.join(words))


def outcome(text: str, limits: Limits) -> tuple[str, str]:
    try:
        return "filter", repr(parse(text, limits=limits))
    except FilterError as error:
        return type(error).__name__, str(error)


@given(mutated(max_leaves=4), st.integers(1, 80) | st.just(16_384))
def test_a_comparison_is_read_the_same_in_one_step_and_in_three(text, size):
    limits = Limits(text=size)
    at_once = outcome(text, limits)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Scanner, "read_comparison", lambda scanner: None)
        assert outcome(text, limits) == at_once
