"""All values that an attribute can have, in one order, and sets of them as rows of boundaries.

The order runs through *missing*, opaque values, booleans, numbers, strings and timestamps,
one kind after the other. A boundary lies just before a value. A set is a sorted row of
boundaries at which membership changes, beginning outside. So `price < 25` is two boundaries,
the begin of the numbers and the one before 25; complement adds or removes the very first
boundary, and intersection is one merge.

The boundary just *after* a value is the one before the next value that an event can carry:
after 25 comes 25.000000000000004, after 2⁵³ comes 2⁵³+1, after 'ab' comes 'ab' and NUL. So
equal sets have equal boundaries, and a set is empty only if it has none: an interval without
any integer or float vanishes. Where a schema says integer, boundaries move up to the next whole
number, to the same effect.
"""

import math
from typing import Any, Final

from boolcast.model.values import INTEGER_MAX, INTEGER_MIN, Kind, Timestamp, Value, kind_of

MISSING: Final = 0
OPAQUE: Final = 1
BOOLEAN: Final = 2
NUMBER: Final = 3
STRING: Final = 4
TIMESTAMP: Final = 5

RANKS: Final = {
    Kind.OPAQUE: OPAQUE,
    Kind.BOOLEAN: BOOLEAN,
    Kind.NUMBER: NUMBER,
    Kind.STRING: STRING,
    Kind.TIMESTAMP: TIMESTAMP,
}

Boundary = tuple[Any, ...]
"""`(rank,)` where a kind begins, `(rank, value)` just before a value."""

OrderedSet = tuple[Boundary, ...]

NOTHING: Final[OrderedSet] = ()
EVERYTHING: Final[OrderedSet] = ((MISSING,),)
PRESENT: Final[OrderedSet] = ((OPAQUE,),)
STRINGS: Final[OrderedSet] = ((STRING,), (STRING + 1,))


def before(value: Value) -> Boundary:
    """The boundary just before a value."""
    if isinstance(value, Timestamp):
        if value.microseconds == INTEGER_MIN:
            return (TIMESTAMP,)
        return (TIMESTAMP, value.microseconds)
    rank = RANKS[kind_of(value)]
    if value is False or value == "":
        return (rank,)
    return (rank, value)


def after(value: Value) -> Boundary:
    """The boundary just before the next value that an event can carry."""
    match value:
        case bool():
            return (NUMBER,) if value else (BOOLEAN, True)
        case int() | float():
            return (NUMBER, next_number(value))
        case str():
            return (STRING, value + "\0")
        case Timestamp(microseconds):
            if microseconds == INTEGER_MAX:
                return (TIMESTAMP + 1,)
            return (TIMESTAMP, microseconds + 1)


def after_prefix(prefix: str) -> Boundary:
    """The boundary after all strings that begin with the prefix."""
    stem = prefix.rstrip("\U0010ffff")
    if not stem:
        return (STRING + 1,)
    following = ord(stem[-1]) + 1
    # Surrogates are not characters: U+E000 follows U+D7FF.
    last = "\ue000" if following == 0xD800 else chr(following)
    return (STRING, stem[:-1] + last)


def next_number(value: int | float) -> int | float:
    """The least number above a finite one that is a 64-bit integer or a float64."""
    above = float(value)
    if above <= value:
        above = math.nextafter(above, math.inf)
    whole = math.floor(value) + 1
    if INTEGER_MIN <= whole <= INTEGER_MAX and whole < above:
        return whole
    return above


def complement(boundaries: OrderedSet) -> OrderedSet:
    """All values that are not in the set."""
    return (
        boundaries[1:] if boundaries and boundaries[0] == (MISSING,) else (*EVERYTHING, *boundaries)
    )


def intersect(left: OrderedSet, right: OrderedSet) -> OrderedSet:
    """The values in both sets, in time linear in their boundaries."""
    if left == EVERYTHING or left is right:
        return right
    if right == EVERYTHING:
        return left
    result: list[Boundary] = []
    i = j = 0
    end_left, end_right = len(left), len(right)
    # An odd number of boundaries passed means inside.
    while i < end_left and j < end_right:
        at_left, at_right = left[i], right[j]
        if at_left < at_right:
            i += 1
            if j & 1:
                result.append(at_left)
        elif at_right < at_left:
            j += 1
            if i & 1:
                result.append(at_right)
        else:
            was_inside = i & j & 1
            i += 1
            j += 1
            if was_inside != i & j & 1:
                result.append(at_left)
    if i == end_left and i & 1:
        result.extend(right[j:])
    elif j == end_right and j & 1:
        result.extend(left[i:])
    return tuple(result)


def unite(left: OrderedSet, right: OrderedSet) -> OrderedSet:
    """The values in one set or the other."""
    return complement(intersect(complement(left), complement(right)))


def intervals(boundaries: OrderedSet) -> list[tuple[Boundary, Boundary]]:
    """The set as half-open intervals, in order."""
    end = (TIMESTAMP + 1,)
    if len(boundaries) % 2:
        # An interval that begins after the last timestamp is empty.
        boundaries = boundaries[:-1] if boundaries[-1] == end else (*boundaries, end)
    return list(zip(boundaries[::2], boundaries[1::2], strict=True))


def is_point(low: Boundary, high: Boundary) -> bool:
    """True if the interval holds one value only, or only *missing*."""
    kind = low[0]
    if kind == MISSING:
        return high == (OPAQUE,)
    if kind == BOOLEAN:
        return high == ((NUMBER,) if len(low) == 2 else (BOOLEAN, True))
    if kind == STRING:
        return high == (STRING, "".join(low[1:]) + "\0")
    if len(low) == 1:
        return False
    if kind == NUMBER:
        return low[1] != math.inf and high == (NUMBER, next_number(low[1]))
    return high == (kind, low[1] + 1)


def whole_numbers_only(boundaries: OrderedSet) -> OrderedSet:
    """The set without its numbers that are not whole."""
    raised: list[Boundary] = []
    for boundary in boundaries:
        moved = (
            (NUMBER, _ceiling(boundary[1]))
            if boundary[0] == NUMBER and len(boundary) > 1
            else boundary
        )
        # Two boundaries that meet enclose nothing: both vanish.
        if raised and raised[-1] == moved:
            raised.pop()
        else:
            raised.append(moved)
    return intersect(tuple(raised), _NOT_FRACTIONAL)


def _ceiling(value: int | float) -> int | float:
    if isinstance(value, int) or math.isinf(value):
        return value
    whole = math.ceil(value)
    return whole if INTEGER_MIN <= whole <= INTEGER_MAX else value


_NOT_FRACTIONAL: Final[OrderedSet] = (
    (MISSING,),
    (NUMBER,),
    (NUMBER, -math.nextafter(math.inf, 0)),
    (NUMBER, math.inf),
    (STRING,),
)
"""Everything but the infinities, which are not whole numbers."""
