"""Conjunctions of predicates: the fast path of the proofs."""

from collections.abc import Iterator, Sequence

from boolcast.algebra.budget import Budget
from boolcast.algebra.domains import ALL_EVENTS
from boolcast.algebra.satisfaction import State
from boolcast.algebra.value_sets import ValueSet, Variable, intersect, meaning
from boolcast.algebra.witness_values import is_empty
from boolcast.filters.expressions import And, Filter, Leaf, Predicate


def leaves(node: Filter) -> tuple[Leaf, ...] | None:
    """The predicates of a conjunction, or None if the filter is not one as it stands."""
    if isinstance(node, Predicate):
        return (node,)
    if not isinstance(node, And):
        return None
    found = tuple(child for child in node.children if isinstance(child, Predicate))
    return found if len(found) == len(node.children) else None


def is_simple(accepting: Sequence[Filter], refusing: Sequence[Filter]) -> bool:
    """True if `solutions` can answer: conjunctions, of which at most one is to be refused."""
    return len(refusing) <= 1 and all(
        leaves(filter) is not None for filter in (*accepting, *refusing)
    )


def solutions(
    accepting: Sequence[Filter], refusing: Sequence[Filter], budget: Budget
) -> Iterator[State]:
    """What `satisfaction.solutions` finds, attribute by attribute.

    A conjunction is refused where one of its predicates fails, and each predicate looks at
    one attribute only, so one intersection for each of them settles it.
    """
    state: State = {}
    for node in accepting:
        for leaf in leaves(node) or ():
            variable, inside, _ = meaning(leaf)
            state[variable] = _narrow(state, variable, inside, budget)
    if any(is_empty(values, budget) for values in state.values()):
        return
    if not refusing:
        yield state
        return
    for leaf in leaves(refusing[0]) or ():
        variable, _, outside = meaning(leaf)
        rest = _narrow(state, variable, outside, budget)
        if not is_empty(rest, budget):
            yield {**state, variable: rest}


def _narrow(state: State, variable: Variable, values: ValueSet, budget: Budget) -> ValueSet:
    known = state.get(variable)
    if known is None:
        known = ALL_EVENTS.domain(variable)
    budget.spend(1 + (len(known.cuts) + len(values.cuts)) // 8)
    return intersect(known, values)
