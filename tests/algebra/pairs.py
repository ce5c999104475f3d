"""Seeded random pairs of filters over all operators, related enough that proofs are hard.

Few attributes and a small vocabulary, so that most pairs share attributes and constants.
"""

import random
from collections.abc import Callable, Iterator
from typing import Final

from boolcast.filters.expressions import (
    And,
    AttributeComparison,
    Between,
    Comparison,
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
from boolcast.model.values import Timestamp, Value

ATTRIBUTES: Final = ("a", "b", "c", "d", "e")
OPERATORS: Final[tuple[Operator, ...]] = ("=", "!=", "<", "<=", ">", ">=")
FUNCTIONS: Final[tuple[StringFunction, ...]] = ("starts_with", "ends_with", "contains")
KINDS: Final[tuple[tuple[Value, ...], ...]] = (
    (False, True),
    (-1, 0, 0.5, 1, 2, 3, 10, 2**53, 2**53 + 1, 1e300),
    ("", "a", "b", "ab", "ba", "aba", "Harry", "Harry Potter", "potter", "é"),
    (Timestamp(0), Timestamp(1), Timestamp(1_000_000)),
)
TEXTS: Final = ("a", "b", "ab", "ba", "aba", "bb", "Harry", "ter", "é", "")
PATTERNS: Final = ("a%", "%a", "%a%", "_", "__%", "%a_b%", "a%b", "%ab%ba%", "_a%", "%_b", "a_a")


def pairs(count: int, *, leaves: int = 12, seed: int = 0) -> Iterator[tuple[Filter, Filter]]:
    """Pairs of filters of up to so many leaves each; the same for the same seed."""
    chance = random.Random(seed)
    for _ in range(count):
        yield tree(chance, chance.randint(1, leaves)), tree(chance, chance.randint(1, leaves))


def tree(chance: random.Random, leaves: int) -> Filter:
    """A tree with exactly so many leaves."""
    if leaves == 1:
        node: Filter = chance.choice(FORMS)(chance)
    else:
        left = chance.randint(1, leaves - 1)
        operator = chance.choice((And, Or))
        node = operator((tree(chance, left), tree(chance, leaves - left)))
    return Not(node) if chance.random() < 0.15 else node


def _comparison(chance: random.Random) -> Leaf:
    value = chance.choice(chance.choice(KINDS))
    return Comparison(chance.choice(ATTRIBUTES), chance.choice(OPERATORS), value)


def _between(chance: random.Random) -> Leaf:
    kind = chance.choice(KINDS)
    low, high = sorted((chance.choice(kind), chance.choice(kind)))
    return Between(chance.choice(ATTRIBUTES), low, high, chance.random() < 0.5)


def _in(chance: random.Random) -> Leaf:
    kind = chance.choice(KINDS)
    values = tuple(chance.choice(kind) for _ in range(chance.randint(1, 4)))
    return In(chance.choice(ATTRIBUTES), values, chance.random() < 0.5)


def _null(chance: random.Random) -> Leaf:
    return IsNull(chance.choice(ATTRIBUTES), chance.random() < 0.5)


def _like(chance: random.Random) -> Leaf:
    return Like(chance.choice(ATTRIBUTES), chance.choice(PATTERNS), negated=chance.random() < 0.5)


def _string(chance: random.Random) -> Leaf:
    function = chance.choice(FUNCTIONS)
    return StringTest(
        chance.choice(ATTRIBUTES), function, chance.choice(TEXTS), chance.random() < 0.5
    )


def _matches(chance: random.Random) -> Leaf:
    return Matches(chance.choice(ATTRIBUTES), chance.choice(("a+", "^b")), chance.random() < 0.5)


def _attributes(chance: random.Random) -> Leaf:
    left, right = chance.sample(ATTRIBUTES, 2)
    return AttributeComparison(left, chance.choice(OPERATORS), right)


FORMS: Final[tuple[Callable[[random.Random], Leaf], ...]] = (
    _comparison,
    _comparison,
    _between,
    _in,
    _null,
    _like,
    _string,
    _string,
    _matches,
    _attributes,
)
