"""What overlaps are tested with: advertisements of neighbours as they came, or pruned (P3).

A pruned advertisement overlaps with more subscriptions and never with fewer, so a subscription may
go to a neighbour for nothing (R8). What the table holds and passes on are the advertisements as
they came. Those of local clients never come here: by them events are checked (P3-B9).
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from boolcast.filters.expressions import Filter
from boolcast.matching.relations.analysed_filters import AnalysedFilter
from boolcast.model.identifiers import AdvertisementId
from boolcast.optimising.pruning.overlap_ranks import OverlapRanks, SubscriptionPredicates
from boolcast.optimising.pruning.queues import AdvertisementQueue
from boolcast.optimising.pruning.stopping import MemoryTarget, RankBudget, StoppingRule
from boolcast.optimising.statistics.selectivities import Knowledge, Selectivities
from boolcast.routing.protocol.configuration import AdvertisementRewritingSettings, Policies
from boolcast.routing.rewriting.post_pruning import PostPruning, Rewritten
from boolcast.routing.tables.entries import Entry


class SubscriptionIndex(SubscriptionPredicates, Protocol):
    """What `matching.relations.overlap_index.OverlapIndex` is to this."""

    def add(self, name: str, filter: Filter) -> None: ...

    def remove(self, name: str) -> None: ...


class AdvertisementRewritingPolicy(Protocol):
    """Holds the advertisements of neighbours as they came, and says which filters to test."""

    @property
    def rewritten(self) -> Mapping[AdvertisementId, Filter]:
        """Those that are tested by another filter than their own."""

    def add(self, name: AdvertisementId, filter: Filter) -> None:
        """One came; it is asked as it is until the next review."""

    def resume(self, name: AdvertisementId, filter: Filter) -> None:
        """One was tested by this filter before a restart, and is until the next review."""

    def remove(self, name: AdvertisementId) -> None:
        """One is gone."""

    def note_subscriptions(self) -> None:
        """Subscriptions have come or gone."""

    @property
    def has_news(self) -> bool:
        """True if what has come or gone since the last review may call for another."""

    def is_due(self, subscriptions: Iterable[Entry], selectivities: Selectivities) -> bool:
        """True if it does, or if more is lost by now than was allowed."""

    def review(
        self, subscriptions: Iterable[Entry], selectivities: Selectivities
    ) -> Rewritten[AdvertisementId]:
        """Review them, some of which have come or gone since the last time."""

    def lost(self, subscriptions: Iterable[Entry], selectivities: Selectivities) -> float:
        """The part of the overlapping rank that rewriting has cost, by what is known now."""

    def removed(self) -> int:
        """How many predicates rewriting has saved."""


class AsAdvertised:
    """They are asked as they came."""

    has_news = False

    def __init__(self, policies: Policies) -> None:  # noqa: ARG002 - nothing to set
        self.rewritten: dict[AdvertisementId, Filter] = {}

    def add(self, name: AdvertisementId, filter: Filter) -> None:
        pass

    def resume(self, name: AdvertisementId, filter: Filter) -> None:
        # Under another policy before: it calls for more than it should for as long as it is there.
        self.rewritten[name] = filter

    def remove(self, name: AdvertisementId) -> None:
        self.rewritten.pop(name, None)

    def note_subscriptions(self) -> None:
        pass

    def is_due(self, subscriptions: Iterable[Entry], selectivities: Selectivities) -> bool:  # noqa: ARG002
        return False

    def review(
        self,
        subscriptions: Iterable[Entry],  # noqa: ARG002
        selectivities: Selectivities,  # noqa: ARG002
    ) -> Rewritten[AdvertisementId]:
        return Rewritten({}, Knowledge())

    def lost(self, subscriptions: Iterable[Entry], selectivities: Selectivities) -> float:  # noqa: ARG002
        return 0.0

    def removed(self) -> int:
        return 0


class AdvertisementPruning(PostPruning[AdvertisementId, OverlapRanks]):
    """They are pruned after they came, where the least of the overlapping rank is lost (P3-B8).

    Ranks are those of the subscriptions at the time of a review. So an index of these is kept,
    which is brought up to date then, and only where it is asked for.
    """

    def __init__(self, policies: Policies, index: Callable[[], SubscriptionIndex]) -> None:
        super().__init__(
            AdvertisementQueue,
            policies.reviews,
            _stopping_rules(policies.advertisement_rewriting),
            stops_at_cut_off=policies.advertisement_rewriting.stops_at_cut_off,
        )
        self._index = index()
        self._indexed: dict[str, AnalysedFilter] = {}
        self._ranks: OverlapRanks | None = None
        self._has_other_subscriptions = False

    def note_subscriptions(self) -> None:
        self._has_other_subscriptions = True

    @property
    def has_news(self) -> bool:
        return not self.is_reviewed or (self._has_other_subscriptions and bool(self._originals))

    def is_due(self, subscriptions: Iterable[Entry], selectivities: Selectivities) -> bool:
        if not self.is_reviewed:
            return True
        if not self._originals:
            return False
        former = self._ranks
        ranks = self._latest(subscriptions, selectivities)
        return self.is_overspent(ranks) or (self._stops_at_cut_off and ranks is not former)

    def review(
        self, subscriptions: Iterable[Entry], selectivities: Selectivities
    ) -> Rewritten[AdvertisementId]:
        return self.rewrite(self._latest(subscriptions, selectivities))

    def lost(self, subscriptions: Iterable[Entry], selectivities: Selectivities) -> float:
        if not self.rewritten:
            return 0.0
        return self.spent(self._latest(subscriptions, selectivities))

    def _latest(self, subscriptions: Iterable[Entry], selectivities: Selectivities) -> OverlapRanks:
        """The ranks of now: the same object as before if nothing has changed."""
        if self._ranks is None or self._has_other_subscriptions:
            self._bring_up_to_date({entry.id: entry.analysed for entry in subscriptions})
            self._has_other_subscriptions = False
            self._ranks = None
        if self._ranks is None or self._ranks.selectivities is not selectivities:
            self._ranks = OverlapRanks(self._index, selectivities)
        return self._ranks

    def _bring_up_to_date(self, current: dict[str, AnalysedFilter]) -> None:
        for name, analysed in list(self._indexed.items()):
            if current.get(name) is not analysed:
                self._index.remove(name)
                del self._indexed[name]
        for name, analysed in current.items():
            if name not in self._indexed:
                self._index.add(name, analysed.filter)
                self._indexed[name] = analysed


def _stopping_rules(settings: AdvertisementRewritingSettings) -> tuple[StoppingRule, ...]:
    rules: list[StoppingRule] = []
    if settings.memory_target is not None:
        rules.append(MemoryTarget(settings.memory_target))
    if settings.rank_budget is not None:
        rules.append(RankBudget(settings.rank_budget))
    return tuple(rules)
