"""What is odd about a filter: parts that are never true, always true, or do not matter.

`simplify` gives an equivalent filter from which no leaf can be removed; `lint` lists findings.

Removing a child of an AND can only make a filter accept more, removing a child of an OR only
less; so one search for an event in the difference tells whether a removal is free. Whole
subtrees are tried before single leaves, later ones before earlier ones, until nothing gives.
"""

from collections.abc import Iterator
from typing import Literal

import msgspec

from boolcast.algebra.budget import SIMPLIFY_BUDGET, check_question
from boolcast.algebra.satisfaction import Prover
from boolcast.filters.canonical import to_nnf, without_constants
from boolcast.filters.expressions import (
    FALSE,
    TRUE,
    And,
    Comparison,
    Constant,
    Filter,
    FilterLike,
    In,
    IsNull,
    Not,
    Or,
    Predicate,
    RewrittenFilter,
    as_filter,
    conjunction,
    disjunction,
)
from boolcast.model.events import Event
from boolcast.model.schemas import Schema

_Path = tuple[int, ...]


class Simplified(RewrittenFilter, frozen=True):
    """The simpler filter, in negation normal form, and the parts that were removed from it.

    `exhausted` says that the budget ran out, so that some leaf might still be removable.
    """

    removed: tuple[Filter, ...] = ()
    exhausted: bool = False


def simplify(
    filter: FilterLike, *, schema: Schema | None = None, budget: int = SIMPLIFY_BUDGET
) -> Simplified:
    """Remove redundant parts; the result accepts exactly the same events (of the schema).

    Residual predicates are free variables here: one is removed only where it cannot matter
    whatever it says.

    >>> str(simplify("price < 25 and (price < 30 or title = 'Emma')"))
    'price < 25'
    """
    check_question(schema, budget)
    return _Simplifier(schema, budget).run(without_constants(to_nnf(as_filter(filter))))


class _Simplifier(Prover):
    def run(self, node: Filter) -> Simplified:
        if isinstance(node, Constant):
            return Simplified(node)
        if not self.may_exist([node], []):
            return Simplified(FALSE, (node,), self.exhausted)
        if not self.may_exist([], [node]):
            return Simplified(TRUE, (node,), self.exhausted)
        removed: list[Filter] = []
        while (shorter := self._pass(node, removed)) != node:
            node = shorter
        return Simplified(node, tuple(removed), self.exhausted)

    def _pass(self, node: Filter, removed: list[Filter]) -> Filter:
        """The filter without what can be removed from it in one go through its parts."""
        position = 0
        while position < len(parts := _parts(node)) and self.budget.remaining > 0:
            path, part, parent = parts[position]
            shorter = _without(node, path)
            if isinstance(parent, And):
                changes = self.may_exist([shorter], [node])
            else:
                changes = self.may_exist([node], [shorter])
            if changes:
                position += 1
            else:
                node = shorter
                removed.append(part)
        self.exhausted = self.exhausted or self.budget.remaining <= 0
        return node


def _parts(node: Filter) -> list[tuple[_Path, Filter, And | Or]]:
    """Every node below the root with its path and parent: subtrees first, later ones first."""
    parts = list(_below(node, ()))
    parts.sort(key=lambda item: isinstance(item[1], Predicate))
    return parts


def _below(node: Filter, path: _Path) -> Iterator[tuple[_Path, Filter, And | Or]]:
    if isinstance(node, And | Or):
        for index in reversed(range(len(node.children))):
            child = node.children[index]
            yield (*path, index), child, node
            yield from _below(child, (*path, index))


def _without(node: Filter, path: _Path) -> Filter:
    """The filter without the part at the path; an operator left with one child dissolves."""
    assert isinstance(node, And | Or)
    first, *rest = path
    children = list(node.children)
    if rest:
        children[first] = _without(children[first], tuple(rest))
    else:
        del children[first]
    return conjunction(children) if isinstance(node, And) else disjunction(children)


Code = Literal["contradiction", "tautology", "redundant", "always-missing"]


class Finding(msgspec.Struct, frozen=True):
    """One thing that a person should look at; `text` is the part of the filter concerned."""

    code: Code
    text: str
    message: str


class Lint(msgspec.Struct, frozen=True):
    """All findings; `exhausted` says that the budget ran out and there may be more."""

    findings: tuple[Finding, ...]
    exhausted: bool = False


def lint(
    filter: FilterLike, *, schema: Schema | None = None, budget: int = SIMPLIFY_BUDGET
) -> Lint:
    """Find what the author of the filter probably did not intend.

    >>> [finding.message for finding in lint("price < 25 and price < 30").findings]
    ['`price < 30` makes no difference and can be left out']
    """
    check_question(schema, budget)
    return _Linter(schema, budget).run(as_filter(filter))


class _Linter(Prover):
    def __init__(self, schema: Schema | None, steps: int) -> None:
        super().__init__(schema, steps)
        self.findings: list[Finding] = []

    def run(self, node: Filter) -> Lint:
        if self.schema is not None:
            self.findings.extend(_always_missing(node, self.schema))
        self._constant_parts(node)
        if not self.findings:
            self._redundant_parts(node)
        return Lint(tuple(self.findings), self.exhausted)

    def _constant_parts(self, node: Filter) -> None:
        """Report the topmost parts that are never or always true."""
        if not self.may_exist([node], []):
            core = self._core(node)
            message = f"no event can satisfy `{node}`"
            if core != node:
                message += f": `{core}` is never true"
            self.findings.append(Finding("contradiction", str(node), message))
        elif not self.may_exist([], [node]):
            message = f"every event satisfies `{node}`"
            self.findings.append(Finding("tautology", str(node), message))
        elif isinstance(node, And | Or):
            for child in node.children:
                self._constant_parts(child)
        elif isinstance(node, Not):
            # The parts of the negated filter, each as it is evaluated.
            pushed = to_nnf(node)
            if isinstance(pushed, And | Or):
                self._constant_parts(pushed)

    def _core(self, node: Filter) -> Filter:
        """A smallest part that is a contradiction without the rest."""
        if not isinstance(node, And):
            return node
        children = list(node.children)
        for child in node.children:
            others = [other for other in children if other is not child]
            if others and not self.may_exist([conjunction(others)], []):
                children = others
        return conjunction(children) if len(children) > 1 else self._core(children[0])

    def _redundant_parts(self, node: Filter) -> None:
        simplified = simplify(node, schema=self.schema, budget=self.budget.remaining)
        self.exhausted = self.exhausted or simplified.exhausted
        written = {str(part) for part in _all_parts(node)}
        for removed in simplified.removed:
            message = f"`{removed}` makes no difference and can be left out"
            if str(removed) not in written:
                message += " (with `not` carried inwards)"
            self.findings.append(Finding("redundant", str(removed), message))


def _all_parts(node: Filter) -> Iterator[Filter]:
    yield node
    match node:
        case And(children) | Or(children):
            for child in children:
                yield from _all_parts(child)
        case Not(child):
            yield from _all_parts(child)


def _always_missing(node: Filter, schema: Schema) -> Iterator[Finding]:
    """Predicates on attributes that no event of the filter's own types carries."""
    seen: set[tuple[str, str]] = set()
    types = frozenset(schema.types)
    for leaf, possible in _leaves_with_types(to_nnf(node), types):
        for name in leaf.names():
            known = any(name in schema.attributes_of(each) for each in possible or [None])
            if known or (name == "type" and schema.types) or (name, str(leaf)) in seen:
                continue
            seen.add((name, str(leaf)))
            among = (
                " and ".join(f"`{each}`" for each in sorted(possible)) if types else "the schema"
            )
            where = f"events of type {among}" if types else "events of the schema"
            outcome = "always" if leaf == IsNull(name) else "never"
            message = f"`{name}` is always missing in {where}, so `{leaf}` is {outcome} true"
            yield Finding("always-missing", str(leaf), message)


def _leaves_with_types(
    node: Filter, types: frozenset[str]
) -> Iterator[tuple[Predicate, frozenset[str]]]:
    """Every predicate with the event types that the ANDs above it leave possible."""
    match node:
        case And(children):
            for child in children:
                if isinstance(child, Comparison | In) and child.attribute == "type":
                    types = frozenset(t for t in types if child.accepts(Event(type=t)))
            for child in children:
                yield from _leaves_with_types(child, types)
        case Or(children):
            for child in children:
                yield from _leaves_with_types(child, types)
        case Predicate():
            yield node, types
        case _:
            return
