"""Post-pruning: subscriptions of neighbours, the cheapest pruning first (P1-B7).

Give it entries that came from neighbours and no others (R1). A pruned form is private to the
broker that made it: it must not keep other subscriptions from being forwarded.
"""

from collections import defaultdict
from collections.abc import Mapping

from boolcast.errors import UnknownSubscriptionError
from boolcast.filters.expressions import Filter
from boolcast.model.identifiers import SubscriptionId
from boolcast.optimising.pruning.changes import ChangePolicy
from boolcast.optimising.pruning.queue import PruningQueue
from boolcast.optimising.pruning.stopping import Standing
from boolcast.optimising.pruning.trees import estimated, prepared
from boolcast.optimising.statistics.estimates import AnyOf
from boolcast.optimising.statistics.selectivities import Selectivities


class MatchingShare:
    """How many ways an event is expected to go, now and when the entries were whole.

    It goes a way if it matches any of the entries there; so with one way it is the share of
    events that match. What one neighbour gets anyway is no excuse for sending it to another.
    """

    def __init__(self) -> None:
        self._now: defaultdict[str, AnyOf] = defaultdict(AnyOf)
        self._originally: defaultdict[str, AnyOf] = defaultdict(AnyOf)

    def add(self, way: str, original: float, average: float, count: int) -> None:
        self._now[way].add(average, count)
        self._originally[way].add(original, count)

    def standing(self, operations: int, predicates: int) -> Standing:
        return Standing(
            operations=operations,
            predicates=predicates,
            share=sum(each.share() for each in self._now.values()),
            original_share=sum(each.share() for each in self._originally.values()),
        )


def matching_share(
    originals: Mapping[SubscriptionId, Filter],
    rewritten: Mapping[SubscriptionId, Filter],
    selectivities: Selectivities,
    ways: Mapping[SubscriptionId, str],
) -> Standing:
    """How things stand with entries of which some are rewritten. Costs a pass over all."""
    tally = MatchingShare()
    for name, filter in originals.items():
        original = now = estimated(prepared(filter), selectivities).average
        if name in rewritten:
            now = estimated(prepared(rewritten[name]), selectivities).average
        tally.add(ways[name], original, max(original, now), +1)
    forms = {**originals, **rewritten}.values()
    return tally.standing(0, sum(1 for each in forms for _ in each.predicates()))


class SelectivityQueue(PruningQueue[SubscriptionId, Selectivities]):
    """Subscriptions by id, pruned where the fewest further events are expected to pass.

    An unknown id is an UnknownSubscriptionError.
    """

    def __init__(self, selectivities: Selectivities, change: ChangePolicy | None = None) -> None:
        super().__init__(
            selectivities, change, tally=MatchingShare, unknown=UnknownSubscriptionError
        )
