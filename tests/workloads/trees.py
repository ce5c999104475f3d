"""Plain readings of a filter's tree, to count shapes and overlaps with."""

from itertools import product

from boolcast.filters.expressions import And, Comparison, Filter, Or

Conjunction = tuple[Comparison, ...]


def nodes(tree: Filter) -> list[Filter]:
    """All nodes in level order: the first is P3's n1."""
    found = [tree]
    for node in found:
        if isinstance(node, And | Or):
            found += node.children
    return found


def dnf(tree: Filter) -> list[Conjunction]:
    """The conjunctions, one for each way to choose among all ORs."""
    match tree:
        case Comparison():
            return [(tree,)]
        case Or(children):
            return [conjunction for child in children for conjunction in dnf(child)]
        case And(children):
            return [sum(choice, ()) for choice in product(*map(dnf, children))]
    raise AssertionError(tree)


def p_min(tree: Filter) -> int:
    """The least number of leaves that must be true (P1-B2)."""
    match tree:
        case And(children):
            return sum(map(p_min, children))
        case Or(children):
            return min(map(p_min, children))
    return 1


def overlap(one: list[Conjunction], other: list[Conjunction]) -> bool:
    """True if a book satisfies a conjunction of each; numbers are whole."""
    return any(_possible(left + right) for left, right in product(one, other))


def _possible(conjunction: Conjunction) -> bool:
    values: dict[str, object] = {}
    low: dict[str, int] = {}
    high: dict[str, int] = {}
    for leaf in conjunction:
        name, value = leaf.attribute, leaf.value
        match leaf.operator:
            case "=":
                if values.setdefault(name, value) != value:
                    return False
            case "<":
                assert isinstance(value, int)
                high[name] = min(value, high.get(name, value))
            case ">":
                assert isinstance(value, int)
                low[name] = max(value, low.get(name, value))
    assert not values.keys() & (low.keys() | high.keys())
    return all(low[name] + 1 < high[name] for name in low.keys() & high.keys())
