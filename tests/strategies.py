"""Hypothesis strategies for values, events, predicates and filters, over everything there is.

With `small`, attributes and constants come from a few, so that the parts of a tree bear on each
other and `SMALL_DOMAIN` holds a value for every case that a small filter can tell apart by order
and equality: brute force over it is meaningful.
"""

import math
from functools import cache
from typing import Final

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy, sampled_from

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
    StringTest,
)
from boolcast.filters.words import StringFunction
from boolcast.model.values import EventValue, Kind, Opaque, Timestamp, Value

OPERATORS: Final[tuple[Operator, ...]] = ("=", "!=", "<", "<=", ">", ">=")
FUNCTIONS: Final[tuple[StringFunction, ...]] = ("starts_with", "ends_with", "contains")
KINDS: Final = (Kind.BOOLEAN, Kind.NUMBER, Kind.STRING, Kind.TIMESTAMP)

INTEGER_EDGES: Final = (
    *(0, 1, -1, 2),
    *(2**53 - 1, 2**53, 2**53 + 1),
    *(-(2**53) - 1, -(2**53), -(2**53) + 1),
    *(2**63 - 1, 2**63 - 2, -(2**63) + 1, -(2**63)),
)
FLOAT_EDGES: Final = (
    -0.0,
    0.1,
    19.99,
    5e-324,
    -5e-324,
    2.2250738585072014e-308,
    1e-7,
    1e16,
    1e22,
    2.0**53,
    2.0**53 + 2,
    -(2.0**53),
    2.0**63,
    -(2.0**63),
    1.7976931348623157e308,
    -1.7976931348623157e308,
)
AWKWARD: Final = "ab'\"%_\\\0é\u0301😀\U0010ffff"
STRINGS: Final = (
    "",
    "a",
    "ab",
    "abc",
    "Harry Potter",
    "harry",
    "it's",
    "''",
    '"',
    "%",
    "_",
    "100%_",
    "\\",
    "\0",
    "\n",
    "é",
    "e\u0301",
    "ﬁ",
    "Straße",
    "😀",
    "\uffff",
    "\U00010000",
    "\U0010ffff",
)
NAMES: Final = (
    "a",
    "b",
    "price",
    "item.price",
    "büch_2",
    "type",
    "timestamp",
    "escape",
    "contains",
    "matches",
    "and",
    "Not",
    "NULL",
    "order by",
    "1st",
    "a-b",
    "a..b",
    ".",
    'say "hi"',
    "it's",
    "\0",
    "\U0010ffff",
)
TIMESTAMPS: Final = (
    Timestamp(0),
    Timestamp(-1),
    Timestamp.parse("0001-01-01"),
    Timestamp.parse("9999-12-31T23:59:59.999999Z"),
    Timestamp.parse("2026-01-31T12:00:00Z"),
    Timestamp.parse("2026-01-31T12:00:00.000001Z"),
)
REGEXES: Final = ("^a", "b$", "a.*b", "[a-c]+", "(?i)harry", r"\d{2,3}", "a|b", "", r"\pL", "it's")

SMALL_NAMES: Final = ("a", "b", "c")
SMALL_VALUES: Final[dict[Kind, tuple[Value, ...]]] = {
    Kind.BOOLEAN: (False, True),
    Kind.NUMBER: (0, 1, 1.5, 2),
    Kind.STRING: ("", "a", "ab", "b"),
    Kind.TIMESTAMP: (Timestamp(0), Timestamp(1_000_000)),
}
SMALL_DOMAIN: Final[tuple[EventValue | None, ...]] = (
    None,
    Opaque("list"),
    *(False, True),
    *(-math.inf, -1, 0, 0.5, 1, 1.25, 1.5, 1.75, 2, 3, math.inf),
    *("", "A", "a", "aa", "ab", "aba", "ac", "b", "ba", "c"),
    *(Timestamp(-1), Timestamp(0), Timestamp(1), Timestamp(1_000_000), Timestamp(1_000_001)),
)
"""Missing (None), a value of no known kind, and values at, between and around the small ones."""


# Made once: to make a strategy takes longer than to draw from it.
_BOOLEAN: Final = st.booleans()
_KIND: Final = sampled_from(KINDS)
_OPERATOR: Final = sampled_from(OPERATORS)
_FUNCTION: Final = sampled_from(FUNCTIONS)
_JUNCTION: Final[SearchStrategy[type[And | Or]]] = sampled_from((And, Or))
_NEGATE: Final = sampled_from((False, False, False, False, True))


@cache
def texts(max_size: int = 6) -> SearchStrategy[str]:
    """Strings without lone surrogates, often awkward ones."""
    awkward = st.text(AWKWARD, max_size=max_size)
    anything = st.text(st.characters(codec="utf-8"), max_size=max_size)
    return st.one_of(sampled_from(STRINGS), awkward, anything)


@cache
def values(kind: Kind | None = None, *, small: bool = False) -> SearchStrategy[Value]:
    """Values that a filter can be written with, of one kind or of any."""
    if kind is None:
        return st.one_of(*(values(kind, small=small) for kind in KINDS))
    if small:
        return sampled_from(SMALL_VALUES[kind])
    match kind:
        case Kind.BOOLEAN:
            return st.booleans()
        case Kind.NUMBER:
            return st.one_of(
                sampled_from(INTEGER_EDGES),
                sampled_from(FLOAT_EDGES),
                st.integers(-(2**63), 2**63 - 1),
                st.integers(-3, 3),
                st.floats(allow_nan=False, allow_infinity=False),
            )
        case Kind.STRING:
            return texts()
        case _:
            first, last = TIMESTAMPS[2].microseconds, TIMESTAMPS[3].microseconds
            return st.one_of(sampled_from(TIMESTAMPS), st.integers(first, last).map(Timestamp))


@cache
def event_values(*, small: bool = False) -> SearchStrategy[object]:
    """What an event's member can be, before conversion: values, and what filters cannot hold."""
    if small:
        return sampled_from(SMALL_DOMAIN)
    odd = (None, math.nan, math.inf, -math.inf, [1], b"a", Timestamp(2**63 - 1))
    return st.one_of(values(), values(), values(), sampled_from(odd))


@cache
def names(*, small: bool = False) -> SearchStrategy[str]:
    """Names of attributes, some of which need quoting."""
    if small:
        return sampled_from(SMALL_NAMES)
    return st.one_of(
        sampled_from(NAMES), sampled_from(NAMES), st.text(AWKWARD, min_size=1, max_size=4)
    )


@cache
def events(*, small: bool = False) -> SearchStrategy[dict[str, object]]:
    """Events as flat mappings of Python values, with the names that filters use."""
    name = sampled_from(SMALL_NAMES if small else NAMES)
    return st.dictionaries(name, event_values(small=small), max_size=3 if small else 12)


@cache
def predicates(*, small: bool = False, residuals: bool = True) -> SearchStrategy[Leaf]:
    """Predicates and their complements, of every form; residual ones can be left out."""
    forms = (*_FORMS, *_RESIDUAL_FORMS) if residuals else _FORMS
    return st.one_of(*(form(small) for form in forms))


@st.composite
def comparisons(draw: st.DrawFn, small: bool) -> Comparison:
    return Comparison(draw(names(small=small)), draw(_OPERATOR), draw(values(small=small)))


@st.composite
def betweens(draw: st.DrawFn, small: bool) -> Between:
    value = values(draw(_KIND), small=small)
    return Between(draw(names(small=small)), draw(value), draw(value), draw(_BOOLEAN))


@st.composite
def ins(draw: st.DrawFn, small: bool) -> In:
    several = st.lists(values(draw(_KIND), small=small), min_size=1, max_size=4)
    return In(draw(names(small=small)), tuple(draw(several)), draw(_BOOLEAN))


@st.composite
def null_tests(draw: st.DrawFn, small: bool) -> IsNull:
    return IsNull(draw(names(small=small)), draw(_BOOLEAN))


@st.composite
def likes(draw: st.DrawFn, small: bool) -> Like:
    pattern, escape = draw(like_patterns(small=small))
    return Like(draw(names(small=small)), pattern, escape, draw(_BOOLEAN))


@st.composite
def like_patterns(draw: st.DrawFn, *, small: bool = False) -> tuple[str, str]:
    """A pattern of LIKE and its escape character, or the empty string for none."""
    escape = draw(sampled_from(("", "!") if small else ("", "", "\\", "!", "'", "a", "%", "_")))
    characters = "ab" if small else "abé'\\\0\U0010ffff!"
    pieces = [piece for piece in (*characters, "%", "%", "_", "_") if piece != escape]
    if escape:
        pieces += [escape + "%", escape + "_", escape + escape]
    return "".join(draw(st.lists(sampled_from(pieces), max_size=3 if small else 8))), escape


@st.composite
def string_tests(draw: st.DrawFn, small: bool) -> StringTest:
    operand = str(draw(values(Kind.STRING, small=small)))
    name = draw(names(small=small))
    return StringTest(name, draw(_FUNCTION), operand, draw(_BOOLEAN))


@st.composite
def regex_tests(draw: st.DrawFn, small: bool) -> Matches:
    text = st.text("abc123 '\"éß😀", max_size=5)
    regex = sampled_from(("a", "^b")) if small else st.one_of(sampled_from(REGEXES), text)
    return Matches(draw(names(small=small)), draw(regex), draw(_BOOLEAN))


@st.composite
def attribute_comparisons(draw: st.DrawFn, small: bool) -> AttributeComparison:
    name = names(small=small)
    return AttributeComparison(draw(name), draw(_OPERATOR), draw(name))


_FORMS: Final = (comparisons, betweens, ins, null_tests, likes, string_tests)
_RESIDUAL_FORMS: Final = (regex_tests, attribute_comparisons)


@cache
def filters(
    *, max_leaves: int = 8, small: bool = False, residuals: bool = True
) -> SearchStrategy[Filter]:
    """Trees of AND, OR and NOT over predicates, `true` and `false`."""
    leaf: SearchStrategy[Filter] = predicates(small=small, residuals=residuals)
    # Half of the trees without constants, because one of them often decides a small tree.
    leaves = st.one_of(*[leaf] * 9, st.builds(Constant, st.booleans()))
    return st.one_of(_trees(leaf, max_leaves), _trees(leaves, max_leaves))


@st.composite
def _trees(draw: st.DrawFn, leaves: SearchStrategy[Filter], max_leaves: int) -> Filter:
    return _tree(draw, leaves, draw(st.integers(1, max_leaves)))


def _tree(draw: st.DrawFn, leaves: SearchStrategy[Filter], size: int) -> Filter:
    """A tree with so many leaves."""
    node: Filter
    if size == 1:
        node = draw(leaves)
    else:
        sizes: list[int] = []
        while (rest := size - sum(sizes)) > 0:
            sizes.append(draw(st.integers(1, rest if sizes else rest - 1)))
        node = draw(_JUNCTION)(tuple(_tree(draw, leaves, part) for part in sizes))
    return Not(node) if draw(_NEGATE) else node
