"""The filter as a tree: AND, OR and NOT over predicates, frozen and comparable.

The types are msgspec Structs in one tagged union, so the tree is at the same time its own
JSON (see `filters.encoding`). AND within AND and OR within OR are flattened as they are
built; nothing else is changed, so that a filter prints as it was written.

`negated` on a predicate is its complement (`not in`, `is not null`), which is a predicate of
its own and not the Boolean negation: both are false where the attribute is missing (P1-A5).
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, Literal, NamedTuple, Protocol, get_args

import msgspec
from msgspec.structs import force_setattr

from boolcast.errors import ArgumentError, FilterTruthError
from boolcast.filters import regexes
from boolcast.filters.limits import DEFAULT_LIMITS, Limits
from boolcast.filters.patterns import LikePattern
from boolcast.filters.words import StringFunction
from boolcast.model.schemas import Schema
from boolcast.model.values import Value, is_well_formed, kind_of, written

Operator = Literal["=", "!=", "<", "<=", ">", ">="]

_OPERATORS: Final = frozenset(get_args(Operator))
_STRING_FUNCTIONS: Final = frozenset(get_args(StringFunction))


class Expression(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A Boolean filter. Make one with `boolcast.parse`, combine with `&`, `|` and `~`."""

    def accepts(self, event: object) -> bool:
        """True if the event satisfies the filter, by the reference semantics.

        The event may be a mapping, a dataclass, a msgspec Struct, a pydantic model or a named
        tuple; its values are converted as the documentation's table of conversions says.
        Raises EventError for anything else, and if a member is malformed.
        """
        return _functions().accepts(_closed(self), event)

    def predicates(self) -> Iterator["Leaf"]:
        """The leaves that are predicates, from left to right, as often as they occur."""
        return iter(())

    def attributes(self) -> frozenset[str]:
        """The attributes that the filter looks at."""
        return frozenset(name for leaf in self.predicates() for name in leaf.names())

    def __and__(self, other: "FilterLike") -> "Filter":
        return And((_closed(self), as_filter(other)))

    def __rand__(self, other: "FilterLike") -> "Filter":
        return And((as_filter(other), _closed(self)))

    def __or__(self, other: "FilterLike") -> "Filter":
        return Or((_closed(self), as_filter(other)))

    def __ror__(self, other: "FilterLike") -> "Filter":
        return Or((as_filter(other), _closed(self)))

    def __invert__(self) -> "Filter":
        return Not(_closed(self))

    def __bool__(self) -> bool:
        raise FilterTruthError

    def __str__(self) -> str:
        return _functions().to_text(_closed(self))


class Functions(NamedTuple):
    """The functions over whole filters that the methods of a filter call."""

    accepts: Callable[["Filter", object], bool]
    to_text: Callable[["Filter"], str]
    parse: "Parse"


class Parse(Protocol):
    """How a text becomes a filter."""

    def __call__(self, text: str, *, schema: Schema | None, limits: Limits) -> "Filter": ...


_connected: list[Functions] = []


def connect(functions: Functions) -> None:
    """Give the methods of filters their functions, once.

    Those take filters apart, so their modules import this one; `boolcast.filters` connects
    them when it is imported, which is before any of its modules.
    """
    _connected[:] = [functions]


def _functions() -> Functions:
    return _connected[0]


def _closed(node: Expression) -> Any:
    """The node as one of the closed union `Filter`, and a predicate as one of `Leaf`.

    Every class that objects are made of is a member, which a base class cannot know.
    """
    return node


class Junction(Expression, frozen=True):
    """The base of AND and OR: at least two children, none of them of the same class."""

    children: tuple["Filter", ...]

    def __post_init__(self) -> None:
        if len(self.children) < 2:
            raise ValueError("an AND or OR needs at least two children")
        kind = type(self)
        for child in self.children:
            if type(child) is kind:
                break
        else:
            return
        flat: list[Filter] = []
        for child in self.children:
            flat.extend(child.children if isinstance(child, kind) else (child,))
        force_setattr(self, "children", tuple(flat))

    def predicates(self) -> Iterator["Leaf"]:
        for child in self.children:
            yield from child.predicates()


class And(Junction, frozen=True, tag="and"):
    """True where all children are."""


class Or(Junction, frozen=True, tag="or"):
    """True where one child is."""


class Not(Expression, frozen=True, tag="not"):
    """The negation, pushed down to the predicates when the filter is evaluated."""

    child: "Filter"

    def predicates(self) -> Iterator["Leaf"]:
        return self.child.predicates()


class Constant(Expression, frozen=True, tag="constant"):
    """`true` or `false`."""

    value: bool


class Predicate(Expression, frozen=True):
    """A leaf that looks at an attribute."""

    attribute: str

    def predicates(self) -> Iterator["Leaf"]:
        yield _closed(self)

    def names(self) -> tuple[str, ...]:
        """The attributes that it looks at."""
        return (self.attribute,)


class Comparison(Predicate, frozen=True, tag="comparison"):
    """An attribute against a value: `price < 25`."""

    operator: Operator
    value: Value

    def __post_init__(self) -> None:
        _check_name(self.attribute)
        if self.operator not in _OPERATORS:
            raise _unknown_operator(self.operator)
        if (value := written(self.value)) is not self.value:
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
        force_setattr(self, "low", written(self.low))
        force_setattr(self, "high", written(self.high))
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
        force_setattr(self, "values", tuple(map(written, self.values)))
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
        written(self.pattern)
        written(self.escape)
        LikePattern.parse(self.pattern, self.escape)


class StringTest(Predicate, frozen=True, tag="string"):
    """`starts_with(title, 'Harry')`, `ends_with` and `contains`."""

    function: StringFunction
    operand: str
    negated: bool = False

    def __post_init__(self) -> None:
        _check_name(self.attribute)
        if self.function not in _STRING_FUNCTIONS:
            raise ValueError(f"there is no test of strings {self.function!r}")
        written(self.operand)


class Matches(Predicate, frozen=True, tag="matches"):
    """A regular expression in RE2's syntax found anywhere in the string. A residual."""

    pattern: str
    negated: bool = False

    def __post_init__(self) -> None:
        _check_name(self.attribute)
        written(self.pattern)
        regexes.compile_regex(self.pattern)


class AttributeComparison(Predicate, frozen=True, tag="attributes"):
    """One attribute against another: `bid > reserve`. A residual."""

    operator: Operator
    other: str

    def __post_init__(self) -> None:
        _check_name(self.attribute)
        if self.operator not in _OPERATORS:
            raise _unknown_operator(self.operator)
        _check_name(self.other)

    def names(self) -> tuple[str, ...]:
        return (self.attribute, self.other)


Leaf = Comparison | Between | In | IsNull | Like | StringTest | Matches | AttributeComparison
"""Every predicate there is."""

Residual = Matches | AttributeComparison
"""The predicates that the algebra cannot see into."""

Filter = And | Or | Not | Constant | Leaf
"""Every filter there is: take one apart with `match` and close with `assert_never`."""


class RewrittenFilter(msgspec.Struct, frozen=True):
    """The result of rewriting a filter; accepted and combined wherever a filter is."""

    filter: Filter

    def accepts(self, event: object) -> bool:
        """True if the event satisfies the filter. Raises EventError if it is malformed."""
        return self.filter.accepts(event)

    def __and__(self, other: "FilterLike") -> Filter:
        return self.filter & other

    def __rand__(self, other: "FilterLike") -> Filter:
        return other & self.filter

    def __or__(self, other: "FilterLike") -> Filter:
        return self.filter | other

    def __ror__(self, other: "FilterLike") -> Filter:
        return other | self.filter

    def __invert__(self) -> Filter:
        return ~self.filter

    def __bool__(self) -> bool:
        raise FilterTruthError

    def __str__(self) -> str:
        return str(self.filter)


FilterLike = str | Filter | RewrittenFilter
"""What a caller may give for a filter: its text, the filter, or the result of `simplify`."""

TRUE: Final = Constant(True)
FALSE: Final = Constant(False)


def conjunction(children: Iterable[Filter]) -> Filter:
    """The AND of any number of filters; `true` for none."""
    parts = tuple(children)
    if len(parts) > 1:
        return And(parts)
    return parts[0] if parts else TRUE


def disjunction(children: Iterable[Filter]) -> Filter:
    """The OR of any number of filters; `false` for none."""
    parts = tuple(children)
    if len(parts) > 1:
        return Or(parts)
    return parts[0] if parts else FALSE


def as_filter(
    given: FilterLike, *, schema: Schema | None = None, limits: Limits = DEFAULT_LIMITS
) -> Filter:
    """The filter that a caller means by a text, a `Filter`, or the result of `simplify`.

    `schema` and `limits` concern texts only: a Filter is taken as it is. Raises ArgumentError
    for anything else, and what `parse` raises for a text that is not a filter.
    """
    if isinstance(given, Expression):
        return given
    if isinstance(given, RewrittenFilter):
        return given.filter
    if isinstance(given, str):
        return _functions().parse(given, schema=schema, limits=limits)
    raise ArgumentError(
        "a filter is a text such as 'price < 25', a Filter, or the result of `simplify`", given
    )


def leaves(node: Filter) -> tuple[Leaf, ...] | None:
    """The predicates of a conjunction, or None if the filter is not one as it stands."""
    if isinstance(node, Predicate):
        return (node,)
    if not isinstance(node, And):
        return None
    found = tuple(child for child in node.children if isinstance(child, Predicate))
    return found if len(found) == len(node.children) else None


def is_enclosed(parent: Filter, child: Filter) -> bool:
    """True if the child needs parentheses within its parent."""
    match parent, child:
        case (And(), Or()) | (Not(), And() | Or()):
            return True
        case Not(), StringTest() | Matches():
            # `not contains(…)` is the complement, a predicate of its own.
            return not child.negated
        case _:
            return False


def _check_name(name: str) -> None:
    if not name:
        raise ValueError("an attribute's name must not be empty")
    if not name.isascii() and not is_well_formed(name):
        raise ValueError("an attribute's name holds a lone surrogate")


def _unknown_operator(operator: object) -> ValueError:
    return ValueError(f"there is no operator {operator!r}; there are = != < <= > >=")


def _check_one_kind(values: tuple[Value, ...]) -> None:
    kinds = {kind_of(value) for value in values}
    if len(kinds) > 1:
        raise ValueError(f"the values must be of one kind, not {' and '.join(sorted(kinds))}")


def _same(left: Value, right: Value) -> bool:
    return left == right and kind_of(left) is kind_of(right)
