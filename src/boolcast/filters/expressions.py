"""The filter as a tree: AND, OR and NOT over predicates, frozen and comparable.

The types are msgspec Structs in one tagged union, so the tree is at the same time its own
JSON form (see `filters.encoding`). AND within AND and OR within OR are flattened as they are
built; nothing else is changed, so that a filter prints as it was written.

`negated` on a predicate is its complement (`not in`, `is not null`), which is a predicate of
its own and not the Boolean negation: both are false where the attribute is missing (P1-A5).
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Literal, cast

import msgspec
from msgspec.structs import force_setattr

from boolcast.filters.patterns import LikePattern
from boolcast.model.values import (
    INTEGER_MAX,
    INTEGER_MIN,
    Timestamp,
    Value,
    is_well_formed,
    kind_of,
)

Operator = Literal["=", "!=", "<", "<=", ">", ">="]
StringFunction = Literal["starts_with", "ends_with", "contains"]


class Filter(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A Boolean filter. Make one with `boolcast.parse`, combine with `&`, `|` and `~`."""

    def accepts(self, event: Mapping[str, object]) -> bool:
        """True if the event satisfies the filter, by the reference semantics.

        The event may be any mapping; its values are converted as the documentation's table
        of conversions says. Raises EventError if it is malformed.
        """
        return evaluation.accepts(cast("Node", self), event)

    def predicates(self) -> Iterator["Predicate"]:
        """The leaves that are predicates, from left to right, as often as they occur."""
        return iter(())

    def attributes(self) -> frozenset[str]:
        """The attributes that the filter looks at."""
        return frozenset(name for leaf in self.predicates() for name in leaf.names())

    def __and__(self, other: "Filter") -> "Filter":
        if not isinstance(other, Filter):
            return NotImplemented
        return And(cast("tuple[Node, ...]", (self, other)))

    def __or__(self, other: "Filter") -> "Filter":
        if not isinstance(other, Filter):
            return NotImplemented
        return Or(cast("tuple[Node, ...]", (self, other)))

    def __invert__(self) -> "Filter":
        return Not(cast("Node", self))

    def __str__(self) -> str:
        return printing.to_text(cast("Node", self))


class And(Filter, frozen=True, tag="and"):
    """True where all children are; at least two of them, none of them an AND."""

    children: tuple["Node", ...]

    def __post_init__(self) -> None:
        _flatten(self, And)

    def predicates(self) -> Iterator["Predicate"]:
        for child in self.children:
            yield from child.predicates()


class Or(Filter, frozen=True, tag="or"):
    """True where one child is; at least two of them, none of them an OR."""

    children: tuple["Node", ...]

    def __post_init__(self) -> None:
        _flatten(self, Or)

    def predicates(self) -> Iterator["Predicate"]:
        for child in self.children:
            yield from child.predicates()


class Not(Filter, frozen=True, tag="not"):
    """The negation, pushed down to the predicates when the filter is evaluated."""

    child: "Node"

    def predicates(self) -> Iterator["Predicate"]:
        return self.child.predicates()


class Constant(Filter, frozen=True, tag="constant"):
    """`true` or `false`."""

    value: bool


class Predicate(Filter, frozen=True):
    """A leaf that looks at an attribute."""

    attribute: str

    def predicates(self) -> Iterator["Predicate"]:
        yield self

    def names(self) -> tuple[str, ...]:
        """The attributes that it looks at."""
        return (self.attribute,)


class Comparison(Predicate, frozen=True, tag="comparison"):
    """An attribute against a value: `price < 25`."""

    operator: Operator
    value: Value

    def __post_init__(self) -> None:
        _check_name(self.attribute)
        if (value := _checked(self.value)) is not self.value:
            force_setattr(self, "value", value)

    def __eq__(self, other: object) -> bool:
        # `True == 1` in Python, but the filters `a = true` and `a = 1` differ.
        return (
            isinstance(other, Comparison)
            and self.attribute == other.attribute
            and self.operator == other.operator
            and _same(self.value, other.value)
        )

    def __hash__(self) -> int:
        return hash((self.attribute, self.operator, self.value))


class Between(Predicate, frozen=True, tag="between"):
    """An attribute within two values, both included: `price between 5 and 10`."""

    low: Value
    high: Value
    negated: bool = False

    def __post_init__(self) -> None:
        _check_name(self.attribute)
        force_setattr(self, "low", _checked(self.low))
        force_setattr(self, "high", _checked(self.high))
        _check_one_kind((self.low, self.high))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Between)
            and self.attribute == other.attribute
            and self.negated == other.negated
            and _same(self.low, other.low)
            and _same(self.high, other.high)
        )

    def __hash__(self) -> int:
        return hash((self.attribute, self.low, self.high, self.negated))


class In(Predicate, frozen=True, tag="in"):
    """An attribute among values of one kind: `category in ('fantasy', 'crime')`."""

    values: tuple[Value, ...]
    negated: bool = False

    def __post_init__(self) -> None:
        _check_name(self.attribute)
        if not self.values:
            raise ValueError("a list of values needs at least one")
        force_setattr(self, "values", tuple(map(_checked, self.values)))
        _check_one_kind(self.values)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, In)
            and self.attribute == other.attribute
            and self.negated == other.negated
            and kind_of(self.values[0]) == kind_of(other.values[0])
            and self.values == other.values
        )

    def __hash__(self) -> int:
        return hash((self.attribute, self.values, self.negated))


class IsNull(Predicate, frozen=True, tag="null"):
    """`is null` holds where the attribute is missing, `is not null` for any value at all."""

    negated: bool = False

    def __post_init__(self) -> None:
        _check_name(self.attribute)


class Like(Predicate, frozen=True, tag="like"):
    """The whole string against a pattern: `%` is any text, `_` any one character."""

    pattern: str
    escape: str = ""
    negated: bool = False

    def __post_init__(self) -> None:
        _check_name(self.attribute)
        _checked(self.pattern)
        _checked(self.escape)
        LikePattern.parse(self.pattern, self.escape)


class StringTest(Predicate, frozen=True, tag="string"):
    """`starts_with(title, 'Harry')`, `ends_with` and `contains`."""

    function: StringFunction
    operand: str
    negated: bool = False

    def __post_init__(self) -> None:
        _check_name(self.attribute)
        _checked(self.operand)


class Matches(Predicate, frozen=True, tag="matches"):
    """A regular expression in RE2's syntax found anywhere in the string. A residual."""

    pattern: str
    negated: bool = False

    def __post_init__(self) -> None:
        _check_name(self.attribute)
        _checked(self.pattern)
        regexes.compile_regex(self.pattern)


class AttributeComparison(Predicate, frozen=True, tag="attributes"):
    """One attribute against another: `bid > reserve`. A residual."""

    operator: Operator
    other: str

    def __post_init__(self) -> None:
        _check_name(self.attribute)
        _check_name(self.other)

    def names(self) -> tuple[str, ...]:
        return (self.attribute, self.other)


Leaf = Comparison | Between | In | IsNull | Like | StringTest | Matches | AttributeComparison
"""Every predicate there is."""

Residual = Matches | AttributeComparison
"""The predicates that the algebra cannot see into."""

Node = And | Or | Not | Constant | Leaf
"""Every filter there is: take one apart with `match` and close with `assert_never`."""

TRUE: Final = Constant(True)
FALSE: Final = Constant(False)


def conjunction(children: Iterable[Node]) -> Node:
    """The AND of any number of filters; `true` for none."""
    parts = tuple(children)
    if len(parts) > 1:
        return And(parts)
    return parts[0] if parts else TRUE


def disjunction(children: Iterable[Node]) -> Node:
    """The OR of any number of filters; `false` for none."""
    parts = tuple(children)
    if len(parts) > 1:
        return Or(parts)
    return parts[0] if parts else FALSE


def _flatten(node: And | Or, kind: type[And] | type[Or]) -> None:
    if len(node.children) < 2:
        raise ValueError("an AND or OR needs at least two children")
    for child in node.children:
        if type(child) is kind:
            break
    else:
        return
    flat: list[Node] = []
    for child in node.children:
        flat.extend(child.children if type(child) is kind else (child,))
    force_setattr(node, "children", tuple(flat))


def _check_name(name: str) -> None:
    if not name:
        raise ValueError("an attribute's name must not be empty")
    if not name.isascii() and not is_well_formed(name):
        raise ValueError("an attribute's name holds a lone surrogate")


def _checked(value: Value) -> Value:
    """The value in the one form that filters hold it in. Raises ValueError."""
    kind = type(value)
    if kind is str:
        if not is_well_formed(cast("str", value)):
            raise ValueError("a string holds a lone surrogate, which is not a character")
    elif kind is int:
        if not INTEGER_MIN <= cast("int", value) <= INTEGER_MAX:
            return _nearest_float(cast("int", value))
    elif kind is float:
        if not math.isfinite(cast("float", value)):
            raise ValueError("a number must be finite as float64")
    elif kind is Timestamp:
        if not cast("Timestamp", value).has_text:
            raise ValueError("a timestamp's year must lie between 0001 and 9999")
    elif kind is not bool:
        raise ValueError(f"a filter holds no value of type {kind.__name__}")
    return value


def _nearest_float(value: int) -> float:
    try:
        return float(value)
    except OverflowError:
        raise ValueError("a number must be finite as float64") from None


def _check_one_kind(values: tuple[Value, ...]) -> None:
    kinds = {kind_of(value) for value in values}
    if len(kinds) > 1:
        raise ValueError(f"the values must be of one kind, not {' and '.join(sorted(kinds))}")


def _same(left: Value, right: Value) -> bool:
    return left == right and kind_of(left) is kind_of(right)


# At the end: these modules take the classes above apart.
from boolcast.filters import evaluation, printing, regexes  # noqa: E402
