"""How much an advertisement rules out: its overlapping rank (P3-B6, P3-B7).

A predicate of an advertisement excludes predicates of subscriptions. Its rank is the share of their
associations, each weighted less the more events matched it. An AND rules out what any child rules
out, an OR only what all alternatives rule out. So pruning an advertisement lowers its rank, and the
lower the rank, the more subscriptions are sent towards it. Ranks only decide what is pruned first;
they never lose an overlap.
"""

from collections.abc import Iterable, Sequence
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from boolcast.filters.expressions import Filter, Leaf
from boolcast.optimising.statistics.estimates import Estimate, EstimateRules
from boolcast.optimising.statistics.selectivities import Knowledge, Selectivities


def both(left: Estimate, right: Estimate) -> Estimate:
    """The rank of the AND of two."""
    return Estimate(max(left[0], right[0]), *_average_and_maximum(left, right))


def either(left: Estimate, right: Estimate) -> Estimate:
    """The rank of the OR of two; in the paper, average and maximum are the same as for AND."""
    return Estimate(min(left[0], right[0]), *_average_and_maximum(left, right))


def _average_and_maximum(left: Estimate, right: Estimate) -> tuple[float, float]:
    return left[1] + right[1] - left[1] * right[1], min(left[2] + right[2], 1.0)


def degradation(before: Estimate, after: Estimate) -> float:
    """The largest relative loss among the three numbers; a number of 0 has nothing to lose."""
    return max(
        (was - now) / was if was > 0 else 0.0 for was, now in zip(before, after, strict=True)
    )


RANK_RULES: Final = EstimateRules(
    Estimate(0.0, 0.0, 0.0), Estimate(1.0, 0.0, 0.0), both, either, degradation, min
)
"""How overlapping ranks are combined."""


class SubscriptionPredicates(Protocol):
    """The predicates of all subscriptions, as in `matching.relations.overlap_index`."""

    @property
    def version(self) -> int:
        """Changes with every change of the subscriptions."""

    @property
    def predicates(self) -> Sequence[Leaf]: ...

    @property
    def occurrences(self) -> NDArray[np.int64]:
        """How often each is a leaf: its associations."""

    def violating(self, predicate: Leaf) -> NDArray[np.uint32]:
        """The numbers of the predicates that exclude this one."""


class OverlapRanks:
    """The rank of every predicate of an advertisement, frozen when it is first asked for (P3-B8).

    Make a new object to take later changes into account. The first new rank after a change of
    the subscriptions costs a pass over all their predicates.
    """

    rules: EstimateRules = RANK_RULES

    def __init__(self, subscriptions: SubscriptionPredicates, selectivities: Selectivities) -> None:
        self._subscriptions = subscriptions
        self.selectivities = selectivities
        self._version: int | None = None
        self._weights: NDArray[np.float64] = np.zeros(0)
        self._known: dict[Leaf, Estimate] = {}

    def estimate(self, predicate: Leaf) -> Estimate:
        """The rank, as an estimate without uncertainty."""
        known = self._known.get(predicate)
        if known is None:
            rank = self._rank(predicate)
            known = self._known[predicate] = Estimate(rank, rank, rank)
        return known

    def knowledge(self, filters: Iterable[Filter]) -> Knowledge:
        """How well the predicates of the subscriptions are known, whatever the advertisements."""
        del filters
        subscriptions = self._subscriptions
        in_use = zip(subscriptions.predicates, subscriptions.occurrences.tolist(), strict=True)
        return self.selectivities.knowledge([leaf for leaf, count in in_use if count])

    def _rank(self, predicate: Leaf) -> float:
        if self._version != self._subscriptions.version:
            self._version = self._subscriptions.version
            self._weights = self._weigh()
        return float(self._weights[self._subscriptions.violating(predicate)].sum())

    def _weigh(self) -> NDArray[np.float64]:
        """For each predicate its share of the associations, divided by the root of its matches."""
        occurrences = self._subscriptions.occurrences
        matches = [self.selectivities.matches(leaf) for leaf in self._subscriptions.predicates]
        total = max(int(occurrences.sum()), 1)
        weights: NDArray[np.float64] = occurrences / np.sqrt(np.array(matches) + 1.0) / total
        return weights
