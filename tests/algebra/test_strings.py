"""The search for a string between two bounds that fits some patterns and misses others."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boolcast.algebra.budget import Budget, BudgetExhaustedError
from boolcast.algebra.strings import Bounds, Literal, Row, _search, find_string
from boolcast.filters.patterns import LikePattern

LETTERS = "Aabcd"
WORDS = ["".join(word) for length in range(5) for word in product(LETTERS, repeat=length)]

BOUNDS = st.builds(Bounds, st.text("abc", max_size=2), st.none() | st.text("abc", max_size=3))


def row(pattern: str) -> Row:
    compiled = LikePattern.parse(pattern)
    return Row(compiled.elements, compiled.stays)


LITERALS = st.frozensets(
    st.builds(Literal, st.text("abc%%_", max_size=4).map(row), st.booleans()), max_size=4
)


def fits(text: str, bounds: Bounds, literals: frozenset[Literal]) -> bool:
    return bounds.admits(text) and all(
        LikePattern.compile(list(each.elements), each.stays).matches(text) is holds
        for each, holds in literals
    )


@given(BOUNDS, LITERALS)
def test_a_string_is_found_if_there_is_one(bounds: Bounds, literals: frozenset[Literal]):
    """Against all words of up to four letters, two of which no bound or pattern mentions."""
    for found in (
        find_string(bounds, literals, Budget(100_000)),
        _search(bounds, tuple(literals), Budget(100_000)),
    ):
        if found is None:
            assert not any(fits(word, bounds, literals) for word in WORDS)
        else:
            assert fits(found, bounds, literals)


@pytest.mark.parametrize(
    ("low", "high", "wanted", "unwanted", "exists"),
    [
        ("a", "b", ["_"], ["a"], False),
        ("a", "c", ["_"], ["a", "b"], False),
        ("a", "d", ["_"], ["a", "b"], True),
        ("a", "c", ["_"], ["a"], True),
        ("b", None, ["_"], ["b"], True),
        ("", "b", ["_"], ["a"], True),
        ("a\0", "a\0\0", ["%"], ["%b"], True),
        ("\ud7ff", "\ue000", ["_"], ["\ud7ff"], False),
        ("\U0010ffff", None, ["_"], ["\U0010ffff"], False),
        ("", None, ["%a%", "%b%", "%c%"], ["%a%b%", "%b%a%"], False),
        ("", None, ["%a%", "%b%", "%c%"], ["%a%b%c%"], True),
    ],
)
def test_gaps_between_characters(
    low: str, high: str | None, wanted: list[str], unwanted: list[str], exists: bool
):
    literals = frozenset(
        [Literal(row(text), True) for text in wanted]
        + [Literal(row(text), False) for text in unwanted]
    )
    bounds = Bounds(low, high)
    found = _search(bounds, tuple(literals), Budget(100_000))
    assert (found is not None) == exists
    assert (find_string(bounds, literals, Budget(100_000)) is not None) == exists
    assert found is None or fits(found, bounds, literals)


def test_the_search_spends_its_budget():
    literals = tuple(Literal(row(f"%{letter}_{letter}%"), True) for letter in "abcdef")
    with pytest.raises(BudgetExhaustedError):
        _search(Bounds("", None), literals, Budget(100))
