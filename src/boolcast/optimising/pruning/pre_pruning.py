"""Pre-pruning: one filter, before it is forwarded to a neighbour (P1-B8).

Unlike the queue this looks at one filter alone, goes as far as it can, and asks for nothing
impossible. What was sent is what counts towards that neighbour from then on (R3), so the caller
keeps it with the id.
"""

from boolcast.errors import LimitError
from boolcast.filters.expressions import Filter
from boolcast.optimising.pruning.trees import Tree, best_pruning, prepared, pruned
from boolcast.optimising.statistics.selectivities import Selectivities


def pre_prune(
    filter: Filter,
    selectivities: Selectivities,
    *,
    predicates: int = 0,
    degradation: float = 1.0,
) -> Filter:
    """The filter pruned, the cheapest part first, until it has no more than so many predicates.

    It stops before its degradation, from the original, would be more than was allowed; and
    where nothing is left to prune. If nothing is pruned it comes back as it was written.

    >>> from boolcast.filters.parsing import parse
    >>> from boolcast.model.statistics import Statistics
    >>> learnt = Statistics(events=100, predicates={"price < 25": 90, "title = 'Emma'": 1})
    >>> wanted = parse("price < 25 and title = 'Emma'")
    >>> str(pre_prune(wanted, Selectivities(learnt), degradation=0.1))
    "title = 'Emma'"
    >>> str(pre_prune(wanted, Selectivities(learnt), degradation=0.001))
    "price < 25 and title = 'Emma'"
    """
    if predicates < 0 or not 0 <= degradation <= 1:
        raise LimitError("a number of predicates starts at 0, a degradation lies between 0 and 1")
    original = tree = Tree.of(prepared(filter), selectivities)
    while tree.predicates > predicates and (best := best_pruning(tree)) is not None:
        shorter = pruned(tree, best)
        if original.estimate.degradation_to(shorter.estimate) > degradation:
            break
        tree = shorter
    return filter if tree is original else tree.node
