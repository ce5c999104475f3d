"""The reference semantics: what every engine, broker and Spark task must agree with.

A predicate is true, false, or unknown: unknown where the attribute is missing or its value
of another kind (P1-A5). A filter is evaluated in negation normal form, which is the same as
SQL's three-valued logic read as "is true": NOT is carried down to the predicates as the
outcome that is wanted of them, and an unknown predicate gives neither.

`explain` says why a filter accepts or refuses an event, as data and as a printed tree. A
predicate *decides* if the outcome rests on it: all children of a true AND and of a false OR,
and each true child of an OR or false child of an AND, since one of these is enough.
"""

import operator
from collections.abc import Callable, Iterator
from typing import Any, Final, Literal, assert_never

import msgspec

from boolcast.filters.expressions import (
    And,
    AttributeComparison,
    Between,
    Comparison,
    Constant,
    Filter,
    FilterLike,
    In,
    IsNull,
    Leaf,
    Like,
    Matches,
    Not,
    Operator,
    Or,
    Predicate,
    StringTest,
    as_filter,
)
from boolcast.filters.patterns import LikePattern
from boolcast.filters.regexes import compile_regex
from boolcast.filters.spelling import nearest
from boolcast.filters.words import escaped, name_text, value_text
from boolcast.model.events import Event
from boolcast.model.values import EventValue, Kind, Opaque, Value, kind_of

COMPARE: Final[dict[Operator, Callable[[Any, Any], bool]]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def accepts(node: Filter, event: object) -> bool:
    """True if the filter is true on the event, which is converted first."""
    return evaluate(node, Event.from_python(event), True)


def evaluate(node: Filter, event: Event, wanted: bool) -> bool:
    """True if the filter (or, where not `wanted`, its negation) is true on the event."""
    match node:
        case And(children):
            every = all if wanted else any
            return every(evaluate(child, event, wanted) for child in children)
        case Or(children):
            some = any if wanted else all
            return some(evaluate(child, event, wanted) for child in children)
        case Not(child):
            return evaluate(child, event, not wanted)
        case Constant(value):
            return value is wanted
        case _:
            return truth(node, event) is wanted


def truth(predicate: Leaf, event: Event) -> bool | None:
    """True, false, or None for unknown."""
    match predicate:
        case IsNull(attribute, negated):
            return (attribute in event) is negated
        case AttributeComparison(attribute, comparison, other):
            return _compare(event.get(attribute), comparison, event.get(other))
        case _:
            value = event.get(predicate.attribute)
            return None if value is None else _truth_of_value(predicate, value)


def _truth_of_value(
    predicate: Comparison | Between | In | Like | StringTest | Matches, value: EventValue
) -> bool | None:
    match predicate:
        case Comparison(_, comparison, operand):
            return _compare(value, comparison, operand)
        case Between(_, low, high, negated):
            return _is_within(value, low, high, negated)
        case In(_, values, negated):
            if kind_of(value) is not kind_of(values[0]):
                return None
            return (value in values) is not negated
    if not isinstance(value, str):
        return None
    match predicate:
        case Like(_, pattern, escape, negated):
            return LikePattern.parse(pattern, escape).matches(value) is not negated
        case StringTest(_, function, text, negated):
            return STRING_TESTS[function](value, text) is not negated
        case Matches(_, pattern, negated):
            return (compile_regex(pattern).search(value) is not None) is not negated
        case _:
            assert_never(predicate)


STRING_TESTS: Final[dict[str, Callable[[str, str], bool]]] = {
    "starts_with": str.startswith,
    "ends_with": str.endswith,
    "contains": str.__contains__,
}


def _compare(
    left: EventValue | None, comparison: Operator, right: EventValue | None
) -> bool | None:
    if left is None or right is None:
        return None
    kind = kind_of(left)
    if kind is not kind_of(right) or kind is Kind.OPAQUE:
        return None
    return COMPARE[comparison](left, right)


def _is_within(value: EventValue, low: Value, high: Value, negated: bool) -> bool | None:
    if kind_of(value) is not kind_of(low):
        return None
    inside: Any = value
    return (low <= inside <= high) is not negated


Outcome = Literal["true", "false", "unknown"]


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """One node of a filter on one event; the root is the whole filter.

    True in a condition if it accepts the event, so `if explain(…)` is `if ….accepted`.

    `text` is the node as written, `outcome` what it came to: a predicate is `unknown` where
    an attribute is missing or of another kind, which then `note` says, and an AND, OR or NOT
    where it rests on such a one. `values` are the event's values of the attributes that a
    predicate looks at, null for missing ones. `suggestions` gives, for a missing attribute, a
    similar one of the event: it may be misspelt in one of the two.
    """

    text: str
    outcome: Outcome
    decides: bool
    operator: Literal["and", "or", "not"] | None = None
    children: tuple["Explanation", ...] = ()
    values: dict[str, EventValue | None] = {}
    suggestions: dict[str, str] = {}
    note: str | None = None

    @property
    def accepted(self) -> bool:
        """True if the filter accepts the event."""
        return self.outcome == "true"

    def __bool__(self) -> bool:
        return self.accepted

    def deciding(self) -> list["Explanation"]:
        """The predicates that decided, from left to right."""
        if not self.decides:
            return []
        if not self.children:
            return [self]
        return [leaf for child in self.children for leaf in child.deciding()]

    def __str__(self) -> str:
        """A tree with one line for each node; unprintable characters are escaped."""
        head = "accepted" if self.accepted else "refused"
        return "\n".join([head, *_lines(self, "", "")])


def explain(filter: FilterLike, event: object) -> Explanation:
    """Say which predicates of the filter decided about the event, with the actual values.

    >>> print(explain("price < 25 and ending < 24", {"price": 21.0}))
    refused
    ? and
    ├─ ✓ price < 25: price is 21.0
    └─ ? ending < 24: ending is missing  ← decides
    """
    root, converted = as_filter(filter), Event.from_python(event)
    similar = _similar_names(root.attributes(), converted)
    return _explain(root, converted, similar, wanted=True, decides=True)


_MOST_NAMES: Final = 32
_MOST_MEMBERS: Final = 256
_LONGEST_NAME: Final = 64
_LIKENESS: Final = 0.75


def _similar_names(asked: frozenset[str], event: Event) -> dict[str, str]:
    """For attributes that the event lacks, others that it has and the filter does not ask for.

    Bounded, since a comparison of names takes 10 µs and both sides may be hostile.
    """
    missing = sorted(asked.difference(event))[:_MOST_NAMES]
    others = [each for each in event if each not in asked and len(each) <= _LONGEST_NAME]
    if not missing or len(others) > _MOST_MEMBERS:
        return {}
    found = {
        name: nearest(name, others, likeness=_LIKENESS)
        for name in missing
        if len(name) <= _LONGEST_NAME
    }
    return {name: near for name, near in found.items() if near is not None}


def _explain(
    node: Filter, event: Event, similar: dict[str, str], *, wanted: bool, decides: bool
) -> Explanation:
    """Explain a node; not `wanted` means its negation, under an odd number of NOTs."""
    is_met = evaluate(node, event, wanted)
    match node:
        case And(children) | Or(children):
            # The children that agree: all of a met AND and of an unmet OR.
            parts = tuple(
                _explain(
                    child,
                    event,
                    similar,
                    wanted=wanted,
                    decides=decides and evaluate(child, event, wanted) == is_met,
                )
                for child in children
            )
            operator: Literal["and", "or"] = "and" if isinstance(node, And) else "or"
            return Explanation(
                text=str(node),
                outcome=_outcome(node, event),
                decides=decides,
                operator=operator,
                children=parts,
            )
        case Not(child):
            part = _explain(child, event, similar, wanted=not wanted, decides=decides)
            return Explanation(
                text=str(node),
                outcome=_outcome(node, event),
                decides=decides,
                operator="not",
                children=(part,),
            )
        case _:
            names = node.names() if isinstance(node, Predicate) else ()
            values = {name: event.get(name) for name in names}
            suggestions = {name: similar[name] for name in names if name in similar}
            outcome = _outcome(node, event)
            return Explanation(
                text=str(node),
                outcome=outcome,
                decides=decides,
                values=values,
                suggestions=suggestions,
                note=_note(values, suggestions, outcome) if values else None,
            )


def _outcome(node: Filter, event: Event) -> Outcome:
    if evaluate(node, event, True):
        return "true"
    return "false" if evaluate(node, event, False) else "unknown"


def _note(
    values: dict[str, EventValue | None], suggestions: dict[str, str], outcome: Outcome
) -> str:
    """The values of the attributes, with their kind if that alone made the outcome unknown."""
    by_kind = outcome == "unknown" and None not in values.values()
    return "; ".join(
        f"{name_text(name)} is {_shown(value, by_kind=by_kind)}"
        + (f"; did you mean `{name_text(suggestions[name])}`?" if name in suggestions else "")
        for name, value in values.items()
    )


def _shown(value: EventValue | None, *, by_kind: bool) -> str:
    match value:
        case None:
            return "missing"
        case Opaque():
            return f"<{value}>, which never compares" if by_kind else f"<{value}>"
        case _:
            return value_text(value) + (f", a {kind_of(value)}" if by_kind else "")


_MARKS = {"true": "✓", "false": "✗", "unknown": "?"}


def _lines(node: Explanation, lead: str, below: str) -> Iterator[str]:
    text = node.operator or node.text
    note = f": {node.note}" if node.note else ""
    pointer = "  ← decides" if node.decides and not node.children else ""
    yield f"{lead}{_MARKS[node.outcome]} {escaped(text + note)}{pointer}"
    for index, child in enumerate(node.children):
        is_last = index == len(node.children) - 1
        yield from _lines(
            child,
            below + ("└─ " if is_last else "├─ "),
            below + ("   " if is_last else "│  "),
        )
