"""How much an advertisement rules out: its overlapping rank (P3-B6, P3-B7).

A predicate of an advertisement excludes predicates of subscriptions. Its rank is the share of
their associations, each counted the less the more events matched it. An AND rules out what any
child does, an OR only what all alternatives do. So the rank falls when an advertisement is pruned,
and the smaller the rank, the more subscriptions are sent towards it. Ranks only decide what is
pruned first: no overlap is ever lost by them.
"""

from collections.abc import Iterable, Sequence
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from boolcast.filters.expressions import Filter, Leaf
from boolcast.optimising.statistics.estimates import Estimate, Rules
from boolcast.optimising.statistics.selectivities import Knowledge, Selectivities


def both(left: Estimate, right: Estimate) -> Estimate:
    """The rank of an AND of two."""
    return Estimate(max(left[0], right[0]), *_either_part(left, right))


def either(left: Estimate, right: Estimate) -> Estimate:
    """The rank of an OR of two: of average and maximum as the paper has it, the same as of AND."""
    return Estimate(min(left[0], right[0]), *_either_part(left, right))


def _either_part(left: Estimate, right: Estimate) -> tuple[float, float]:
    return left[1] + right[1] - left[1] * right[1], min(left[2] + right[2], 1.0)


def degradation(before: Estimate, after: Estimate) -> float:
    """The largest relative loss among the three parts; one that is 0 has nothing to lose."""
    return max(
        (was - now) / was if was > 0 else 0.0 for was, now in zip(before, after, strict=True)
    )


RANKS: Final = Rules(
    Estimate(0.0, 0.0, 0.0), Estimate(1.0, 0.0, 0.0), both, either, degradation, min
)
"""The rules for overlapping ranks."""


class Subscriptions(Protocol):
    """The predicates of subscriptions; `matching.relations.overlap_index.OverlapIndex` has them."""

    @property
    def version(self) -> int:
        """Another one after every change."""

    @property
    def predicates(self) -> Sequence[Leaf]: ...

    @property
    def occurrences(self) -> NDArray[np.int64]:
        """How often each is a leaf: its associations."""

    def violating(self, predicate: Leaf) -> NDArray[np.uint32]:
        """The numbers of the predicates that exclude this one."""


class Ranks:
    """The rank of every predicate of an advertisement; what is asked for is remembered.

    So ranks are frozen as they are first asked for (P3-B8); make a new object to learn what has
    changed since. To ask for a new one after a change of the subscriptions costs a pass over all
    their predicates.
    """

    rules: Rules = RANKS

    def __init__(self, subscriptions: Subscriptions, selectivities: Selectivities) -> None:
        self._subscriptions = subscriptions
        self.selectivities = selectivities
        self._version: int | None = None
        self._weights: NDArray[np.float64] = np.zeros(0)
        self._known: dict[Leaf, Estimate] = {}

    def estimate(self, predicate: Leaf) -> Estimate:
        """Three times the rank: of a predicate all parts are the same."""
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
        """For each predicate its associations by the root of its matches, as parts of one."""
        occurrences = self._subscriptions.occurrences
        matches = [self.selectivities.matches(leaf) for leaf in self._subscriptions.predicates]
        total = max(int(occurrences.sum()), 1)
        weights: NDArray[np.float64] = occurrences / np.sqrt(np.array(matches) + 1.0) / total
        return weights
