"""Conjunctions of predicates: the fast path of the proofs, and their normal form P5-B1."""

from collections.abc import Sequence
from typing import cast

from boolcast.algebra.budget import Budget
from boolcast.algebra.domains import ALL_EVENTS
from boolcast.algebra.members import is_empty
from boolcast.algebra.satisfaction import State
from boolcast.algebra.value_sets import intersect, meaning
from boolcast.filters.expressions import And, Filter, Leaf, Node, Predicate


def leaves(node: Filter) -> tuple[Leaf, ...] | None:
    """The predicates of a conjunction, or None if the filter is not one as it stands."""
    if isinstance(node, Predicate):
        return (cast("Leaf", node),)
    if isinstance(node, And) and all(isinstance(child, Predicate) for child in node.children):
        return cast("tuple[Leaf, ...]", node.children)
    return None


def is_simple(accepting: Sequence[Filter], refusing: Sequence[Filter]) -> bool:
    """True if `satisfy` can answer: conjunctions, of which at most one is to be refused."""
    return len(refusing) <= 1 and all(
        leaves(filter) is not None for filter in (*accepting, *refusing)
    )


def satisfy(accepting: Sequence[Node], refusing: Sequence[Node], budget: Budget) -> State | None:
    """What `satisfaction.satisfy` finds, attribute by attribute.

    A conjunction is refused where one of its predicates fails, and each predicate looks at
    one attribute only, so one intersection for each of them settles it.
    """
    state: State = {}
    for node in accepting:
        for leaf in leaves(node) or ():
            variable, inside, _ = meaning(leaf)
            known = state.get(variable, ALL_EVENTS.domain(variable))
            budget.spend(1 + (len(known.cuts) + len(inside.cuts)) // 8)
            state[variable] = intersect(known, inside)
    for values in state.values():
        if is_empty(values, budget):
            return None
    if not refusing:
        return state
    for leaf in leaves(refusing[0]) or ():
        variable, _, outside = meaning(leaf)
        known = state.get(variable, ALL_EVENTS.domain(variable))
        budget.spend(1 + (len(known.cuts) + len(outside.cuts)) // 8)
        rest = intersect(known, outside)
        if not is_empty(rest, budget):
            return {**state, variable: rest}
    return None
