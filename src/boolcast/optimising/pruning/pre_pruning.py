"""Pre-pruning: shorten one filter before it is forwarded to a neighbour (P1-B8).

Unlike a queue, this looks at one filter alone and prunes as far as it can; a target out of reach
is no error. From then on the pruned filter is what the neighbour knows (R3), so the caller must
keep it with the id.
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
    """Prune the filter, the cheapest child first, until it has at most `predicates`.

    Stops before its degradation from the original would exceed `degradation`, and where nothing
    is left to prune. If nothing was pruned, returns the filter as it was written.

    >>> from boolcast.filters.parsing import parse
    >>> from boolcast.model.statistics import Statistics
    >>> counted = Statistics(events=100, predicates={"price < 25": 90, "title = 'Emma'": 1})
    >>> wanted = parse("price < 25 and title = 'Emma'")
    >>> str(pre_prune(wanted, Selectivities(counted), degradation=0.1))
    "title = 'Emma'"
    >>> str(pre_prune(wanted, Selectivities(counted), degradation=0.001))
    "price < 25 and title = 'Emma'"
    """
    if predicates < 0 or not 0 <= degradation <= 1:
        raise LimitError("predicates must be at least 0, and degradation between 0 and 1")
    original = tree = Tree.of(prepared(filter), selectivities)
    while tree.predicates > predicates and (best := best_pruning(tree)) is not None:
        shorter = pruned(tree, best)
        if original.estimate.degradation_to(shorter.estimate) > degradation:
            break
        tree = shorter
    return filter if tree is original else tree.node
