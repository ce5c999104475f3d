"""LIKE, against a translation to `re`, and as an automaton."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boolcast.filters.patterns import LikePattern
from tests.filters.oracle import like_to_re
from tests.strategies import like_patterns, texts


def oracle(pattern: str, escape: str, text: str) -> bool:
    return re.fullmatch(like_to_re(pattern, escape), text, re.DOTALL) is not None


def run_automaton(like: LikePattern, text: str) -> bool:
    state = like.start
    for character in text:
        state = like.step(state, character)
    return like.accepts(state)


@given(like_patterns(), st.data())
def test_patterns_match_as_their_regular_expressions(parts, data):
    pattern, escape = parts
    like = LikePattern.parse(pattern, escape)
    fitting = st.from_regex(re.compile(like_to_re(pattern, escape), re.DOTALL), fullmatch=True)
    text = data.draw(texts() | fitting)
    assert like.matches(text) is oracle(pattern, escape, text)
    assert run_automaton(like, text) is oracle(pattern, escape, text)


@given(st.text("ab%_", max_size=8), st.text("ab", max_size=10))
def test_patterns_of_two_letters(pattern, text):
    like = LikePattern.parse(pattern)
    assert like.matches(text) is run_automaton(like, text) is oracle(pattern, "", text)


@given(st.text("ab%_", max_size=8), st.text("abc", max_size=6), st.text("abc", max_size=6))
def test_a_state_that_always_accepts_does(pattern, text, more):
    like = LikePattern.parse(pattern)
    state = like.start
    for character in text:
        state = like.step(state, character)
    if like.accepts_always(state):
        assert like.matches(text + more)
    if state == 0:
        assert not like.matches(text + more)


def test_a_short_pattern_is_read_once():
    assert LikePattern.parse("Harry!%%", "!") is LikePattern.parse("Harry!%%", "!")
    assert LikePattern.parse("a!%", "!") != LikePattern.parse("a!%")


def test_a_long_pattern_is_not_kept():
    assert LikePattern.parse("%a" * 500) is not LikePattern.parse("%a" * 500)
    assert LikePattern.parse("%a" * 500) == LikePattern.parse("%a" * 500)


@pytest.mark.parametrize(
    ("pattern", "escape", "problem"),
    [
        ("a!", "!", "followed by"),
        ("!a", "!", "followed by"),
        ("%a", "%", "followed by"),
        ("a", "!!", "single character"),
    ],
)
def test_a_misused_escape_is_refused(pattern, escape, problem):
    with pytest.raises(ValueError, match=problem):
        LikePattern.parse(pattern, escape)


@pytest.mark.parametrize(
    ("pattern", "text", "matches"),
    [
        ("aa%a", "aa", False),
        ("a%a", "a", False),
        ("a%a", "aa", True),
        ("%ab%b%", "abab", True),
        ("%ab%ab%", "aab", False),
        ("", "", True),
        ("", "a", False),
        ("%", "", True),
        ("%%", "x", True),
        ("_%_", "x", False),
        ("_%_", "xy", True),
    ],
)
def test_by_hand(pattern, text, matches):
    assert LikePattern.parse(pattern).matches(text) is matches
