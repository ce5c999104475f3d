"""Hypothesis strategies for values, events, predicates and filters, over everything there is.

With `small`, attributes and constants come from a few, so that the parts of a tree bear on each
other and `SMALL_DOMAIN` holds a value for every case that a small filter can tell apart by order
and equality: brute force over it is meaningful.
"""

import math
from collections.abc import Sequence
from typing import Final

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from boolcast.filters.expressions import (
    And,
    AttributeComparison,
    Between,
    Comparison,
    Constant,
    In,
    IsNull,
    Leaf,
    Like,
    Matches,
    Node,
    Not,
    Operator,
    Or,
    StringFunction,
    StringTest,
)
from boolcast.model.values import EventValue, Kind, Opaque, Timestamp, Value

OPERATORS: Final[tuple[Operator, ...]] = ("=", "!=", "<", "<=", ">", ">=")
FUNCTIONS: Final[tuple[StringFunction, ...]] = ("starts_with", "ends_with", "contains")
KINDS: Final = (Kind.BOOLEAN, Kind.NUMBER, Kind.STRING, Kind.TIMESTAMP)

INTEGER_EDGES: Final = tuple(
    sign * (edge + step)
    for edge in (0, 1, 2**53, 2**63 - 2)
    for step in (-1, 0, 1)
    for sign in (1, -1)
) + (-(2**63),)
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


def texts(max_size: int = 6) -> SearchStrategy[str]:
    """Strings without lone surrogates, often awkward ones."""
    awkward = st.text(st.sampled_from("ab'\"%_\\\0é\u0301😀\U0010ffff"), max_size=max_size)
    anything = st.text(st.characters(exclude_categories=("Cs",)), max_size=max_size)
    return st.sampled_from(STRINGS) | awkward | anything


def values(kind: Kind | None = None, *, small: bool = False) -> SearchStrategy[Value]:
    """Values that a filter can be written with, of one kind or of any."""
    if kind is None:
        return st.sampled_from(KINDS).flatmap(lambda kind: values(kind, small=small))
    if small:
        return st.sampled_from(SMALL_VALUES[kind])
    match kind:
        case Kind.BOOLEAN:
            return st.booleans()
        case Kind.NUMBER:
            return (
                st.sampled_from(INTEGER_EDGES + FLOAT_EDGES)
                | st.integers(-(2**63), 2**63 - 1)
                | st.integers(-3, 3)
                | st.floats(allow_nan=False, allow_infinity=False)
            )
        case Kind.STRING:
            return texts()
        case _:
            first, last = TIMESTAMPS[2].microseconds, TIMESTAMPS[3].microseconds
            anywhere = st.integers(first, last).map(Timestamp)
            return st.sampled_from(TIMESTAMPS) | anywhere


def event_values(*, small: bool = False) -> SearchStrategy[object]:
    """What an event's member can be, before conversion: values, and what filters cannot hold."""
    if small:
        return st.sampled_from(SMALL_DOMAIN)
    odd = st.sampled_from([None, math.nan, math.inf, -math.inf, [1], b"a", Timestamp(2**63 - 1)])
    return st.one_of(values(), values(), values(), odd)


def names(*, small: bool = False) -> SearchStrategy[str]:
    """Names of attributes, some of which need quoting."""
    if small:
        return st.sampled_from(SMALL_NAMES)
    return st.sampled_from(NAMES) | texts().filter(bool)


def events(*, small: bool = False) -> SearchStrategy[dict[str, object]]:
    """Events as flat mappings of Python values, with the names that filters use."""
    name = st.sampled_from(SMALL_NAMES if small else NAMES)
    return st.dictionaries(name, event_values(small=small), max_size=3 if small else 12)


def predicates(*, small: bool = False, residuals: bool = True) -> SearchStrategy[Leaf]:
    """Predicates and their complements, of every form; residual ones can be left out."""
    name = names(small=small)
    one_kind = st.sampled_from(KINDS)
    string = values(Kind.STRING, small=small).map(str)
    negated = st.booleans()

    def several(kind: Kind) -> SearchStrategy[tuple[Value, ...]]:
        return st.lists(values(kind, small=small), min_size=1, max_size=4).map(tuple)

    def two(kind: Kind) -> SearchStrategy[tuple[Value, Value]]:
        return st.tuples(values(kind, small=small), values(kind, small=small))

    forms: list[SearchStrategy[Leaf]] = [
        st.builds(Comparison, name, st.sampled_from(OPERATORS), values(small=small)),
        st.builds(
            lambda name, bounds, negated: Between(name, *bounds, negated),
            name,
            one_kind.flatmap(two),
            negated,
        ),
        st.builds(In, name, one_kind.flatmap(several), negated),
        st.builds(IsNull, name, negated),
        st.builds(
            lambda name, pattern, negated: Like(name, *pattern, negated),
            name,
            like_patterns(small=small),
            negated,
        ),
        st.builds(StringTest, name, st.sampled_from(FUNCTIONS), string, negated),
    ]
    if residuals:
        regex = st.sampled_from(("a", "^b")) if small else regexes()
        forms += [
            st.builds(Matches, name, regex, negated),
            st.builds(AttributeComparison, name, st.sampled_from(OPERATORS), name),
        ]
    return st.one_of(forms)


@st.composite
def like_patterns(draw: st.DrawFn, *, small: bool = False) -> tuple[str, str]:
    """A pattern of LIKE and its escape character, or the empty string for none."""
    escape = draw(st.sampled_from(("", "!") if small else ("", "", "\\", "!", "'", "a", "%", "_")))
    characters = "ab" if small else "abé'\\\0\U0010ffff!"
    pieces = [piece for piece in (*characters, "%", "%", "_", "_") if piece != escape]
    if escape:
        pieces += [escape + "%", escape + "_", escape + escape]
    parts: Sequence[str] = draw(st.lists(st.sampled_from(pieces), max_size=3 if small else 8))
    return "".join(parts), escape


def regexes() -> SearchStrategy[str]:
    """Regular expressions that RE2 takes."""
    return st.sampled_from(REGEXES) | st.text("abc123 '\"éß😀", max_size=5)


def filters(
    *, max_leaves: int = 8, small: bool = False, residuals: bool = True
) -> SearchStrategy[Node]:
    """Trees of AND, OR and NOT over predicates, `true` and `false`."""
    leaf: SearchStrategy[Node] = predicates(small=small, residuals=residuals)
    leaves = st.one_of(leaf, leaf, leaf, leaf, leaf, leaf, leaf, st.builds(Constant, st.booleans()))

    def grow(children: SearchStrategy[Node]) -> SearchStrategy[Node]:
        several = st.lists(children, min_size=2, max_size=4).map(tuple)
        return st.builds(And, several) | st.builds(Or, several) | st.builds(Not, children)

    return st.recursive(leaves, grow, max_leaves=max_leaves)
