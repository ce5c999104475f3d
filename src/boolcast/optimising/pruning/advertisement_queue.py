"""The advertisement degradation queue: what rules out least is pruned first (P3-B8).

A pruned advertisement covers the original, so it overlaps with all that the original did and
perhaps with more: subscriptions travel too far, and no event is lost. Give it advertisements of
neighbours (P3-B9): the publisher's broker keeps the original, by which it checks events.
"""

from boolcast.errors import UnknownAdvertisementError
from boolcast.model.identifiers import AdvertisementId
from boolcast.optimising.pruning.changes import ChangePolicy
from boolcast.optimising.pruning.overlap_ranks import Ranks
from boolcast.optimising.pruning.queue import PruningQueue
from boolcast.optimising.pruning.stopping import RankStanding


class LostRank:
    """The part of the overlapping rank of all entries that pruning has cost."""

    def __init__(self) -> None:
        self._original = 0.0
        self._now = 0.0

    def add(self, way: str, original: float, average: float, count: int) -> None:
        del way  # rank is rank wherever an advertisement came from
        self._original += count * original
        self._now += count * average

    def standing(self, operations: int, predicates: int) -> RankStanding:
        lost = 1.0 - self._now / self._original if self._original > 0 else 0.0
        return RankStanding(
            operations=operations,
            predicates=predicates,
            share=min(max(lost, 0.0), 1.0),
            original_share=0.0,
        )


class AdvertisementQueue(PruningQueue[AdvertisementId, Ranks]):
    """Advertisements by id, pruned where the least of the overlapping rank is lost.

    An unknown id is an UnknownAdvertisementError.
    """

    def __init__(self, ranks: Ranks, change: ChangePolicy | None = None) -> None:
        super().__init__(ranks, change, tally=LostRank, unknown=UnknownAdvertisementError)
