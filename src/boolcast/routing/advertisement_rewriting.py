"""In which form advertisements of neighbours are asked for overlaps: as they came, or pruned (P3).

A pruned advertisement overlaps with more subscriptions and never with fewer, so a subscription may
go to a neighbour for nothing (R8). What the table holds and passes on are the advertisements as
they came. Those of local clients never come here: by them events are checked (P3-B9).
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from boolcast.filters.expressions import Filter
from boolcast.model.identifiers import AdvertisementId
from boolcast.optimising.advertisement_queue import AdvertisementQueue
from boolcast.optimising.ranks import Ranks, Subscriptions
from boolcast.optimising.selectivities import Knowledge, Selectivities
from boolcast.optimising.stopping import MemoryTarget, RankBudget, StoppingRule
from boolcast.routing.configuration import Configuration
from boolcast.routing.post_pruning import PostPruning, Rewriting
from boolcast.routing.tables import Entry


class SubscriptionIndex(Subscriptions, Protocol):
    """What `matching.overlapping.OverlapIndex` is to this."""

    def add(self, name: str, filter: Filter) -> None: ...


class AdvertisementRewritingPolicy(Protocol):
    """Holds the advertisements of neighbours as they came, and says in which form to ask them."""

    @property
    def rewritten(self) -> Mapping[AdvertisementId, Filter]:
        """Those that are asked in another form than they came in."""

    @property
    def is_reviewed(self) -> bool:
        """True if there is nothing to review."""

    def add(self, name: AdvertisementId, filter: Filter) -> None:
        """One came; it is asked as it is until the next review."""

    def resume(self, name: AdvertisementId, filter: Filter) -> None:
        """One that came was asked in this form before a restart, and is until the next review."""

    def remove(self, name: AdvertisementId) -> None:
        """One is gone."""

    def review(
        self, subscriptions: Iterable[Entry], selectivities: Selectivities
    ) -> Rewriting[AdvertisementId]:
        """Review them, some of which have come or gone since the last time."""

    def removed(self) -> int:
        """How many predicates rewriting has saved."""


class AsAdvertised:
    """They are asked as they came."""

    is_reviewed = True

    def __init__(self, configuration: Configuration) -> None:  # noqa: ARG002 - nothing to set
        self.rewritten: dict[AdvertisementId, Filter] = {}

    def add(self, name: AdvertisementId, filter: Filter) -> None:
        pass

    def resume(self, name: AdvertisementId, filter: Filter) -> None:
        # Under another policy before: it calls for more than it should for as long as it is there.
        self.rewritten[name] = filter

    def remove(self, name: AdvertisementId) -> None:
        self.rewritten.pop(name, None)

    def review(
        self,
        subscriptions: Iterable[Entry],  # noqa: ARG002
        selectivities: Selectivities,  # noqa: ARG002
    ) -> Rewriting[AdvertisementId]:
        return Rewriting({}, 0.0, Knowledge())

    def removed(self) -> int:
        return 0


class AdvertisementPruning(PostPruning[AdvertisementId, Ranks]):
    """They are pruned after they came, where the least of the overlapping rank is lost (P3-B8).

    Ranks are those of the subscriptions at the time of a review, which costs a pass over these.
    """

    def __init__(
        self, configuration: Configuration, index: Callable[[], SubscriptionIndex]
    ) -> None:
        super().__init__(
            AdvertisementQueue,
            configuration,
            _stopping_rules(configuration),
            stops_at_cut_off=configuration.advertisements_stop_at_cut_off,
        )
        self._index = index

    def review(
        self, subscriptions: Iterable[Entry], selectivities: Selectivities
    ) -> Rewriting[AdvertisementId]:
        index = self._index()
        for entry in subscriptions:
            index.add(entry.id, entry.form.filter)
        return self.rewrite(Ranks(index, selectivities))


def _stopping_rules(configuration: Configuration) -> tuple[StoppingRule, ...]:
    rules: list[StoppingRule] = []
    if configuration.advertisement_memory_target is not None:
        rules.append(MemoryTarget(configuration.advertisement_memory_target))
    if configuration.rank_budget is not None:
        rules.append(RankBudget(configuration.rank_budget))
    return tuple(rules)
