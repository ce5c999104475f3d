"""Why a filter accepts or refuses an event, as data and as a printed tree.

A predicate *decides* if it is among those that the outcome rests on: all parts of a true
AND and of a false OR, and each true part of an OR or false part of an AND, since one of
these is enough.
"""

from collections.abc import Iterator
from typing import Literal

import msgspec

from boolcast.filters.evaluation import evaluate
from boolcast.filters.expressions import And, Filter, FilterLike, Not, Or, Predicate
from boolcast.filters.parsing import as_filter
from boolcast.filters.printing import escaped, name_text, to_text, value_text
from boolcast.model.events import Event
from boolcast.model.values import EventValue, Opaque, kind_of

Outcome = Literal["true", "false", "unknown"]


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """One node of a filter on one event; the root stands for the filter.

    `text` is the node as written, `outcome` what it came to: a predicate is `unknown` where
    an attribute is missing or of another kind, which then `note` says, and an AND, OR or NOT
    where it rests on such a one. `values` are the event's values of the attributes that a
    predicate looks at, null for missing ones.
    """

    text: str
    outcome: Outcome
    decides: bool
    operator: Literal["and", "or", "not"] | None = None
    children: tuple["Explanation", ...] = ()
    values: dict[str, EventValue | None] = {}
    note: str | None = None

    @property
    def accepted(self) -> bool:
        """True if the filter accepts the event."""
        return self.outcome == "true"

    def deciding(self) -> list["Explanation"]:
        """The predicates that decided, from left to right."""
        if not self.decides:
            return []
        if not self.children:
            return [self]
        return [leaf for child in self.children for leaf in child.deciding()]

    def __str__(self) -> str:
        """A tree of one line for each node; what is not printable stands in it as an escape."""
        head = "accepted" if self.accepted else "refused"
        return "\n".join([head, *_lines(self, "", "")])


def explain(filter: FilterLike, event: object) -> Explanation:
    """Tell which predicates of the filter decided about the event, with the actual values.

    >>> print(explain("price < 25 and ending < 24", {"price": 21.0}))
    refused
    ? and
    ├─ ✓ price < 25: price is 21.0
    └─ ? ending < 24: ending is missing  ← decides
    """
    return _explain(as_filter(filter), Event.from_python(event), wanted=True, decides=True)


def _explain(node: Filter, event: Event, *, wanted: bool, decides: bool) -> Explanation:
    """Explain a node of which `wanted` is asked: under an odd number of NOTs, its negation."""
    is_met = evaluate(node, event, wanted)
    match node:
        case And(children) | Or(children):
            # The children that agree: all of a met AND and of an unmet OR.
            parts = tuple(
                _explain(
                    child,
                    event,
                    wanted=wanted,
                    decides=decides and evaluate(child, event, wanted) == is_met,
                )
                for child in children
            )
            operator: Literal["and", "or"] = "and" if isinstance(node, And) else "or"
            return Explanation(
                text=to_text(node),
                outcome=_outcome(node, event),
                decides=decides,
                operator=operator,
                children=parts,
            )
        case Not(child):
            part = _explain(child, event, wanted=not wanted, decides=decides)
            return Explanation(
                text=to_text(node),
                outcome=_outcome(node, event),
                decides=decides,
                operator="not",
                children=(part,),
            )
        case _:
            names = node.names() if isinstance(node, Predicate) else ()
            values = {name: event.get(name) for name in names}
            outcome = _outcome(node, event)
            return Explanation(
                text=to_text(node),
                outcome=outcome,
                decides=decides,
                values=values,
                note=_note(values, outcome) if values else None,
            )


def _outcome(node: Filter, event: Event) -> Outcome:
    if evaluate(node, event, True):
        return "true"
    return "false" if evaluate(node, event, False) else "unknown"


def _note(values: dict[str, EventValue | None], outcome: Outcome) -> str:
    """What the attributes are, and of which kind where nothing but that made it unknown."""
    by_kind = outcome == "unknown" and None not in values.values()
    return "; ".join(
        f"{name_text(name)} is {_shown(value, by_kind=by_kind)}" for name, value in values.items()
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
