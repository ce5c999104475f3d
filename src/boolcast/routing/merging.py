"""Which entries of one neighbour are to be one: none, or those that pruning makes alike.

A policy proposes, and `reviewing` carries it out: the merger is told before its constituents are
withdrawn, they are kept, and told again before the merger goes (P2-B10, P2-B12, R5). Policies of
other engines fit in here: whatever covers its constituents will do.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Protocol

from boolcast.errors import FilterLimitError
from boolcast.filters.expressions import And, Filter, Leaf, Predicate
from boolcast.model.identifiers import BrokerId, SubscriptionId
from boolcast.optimising.mergers import Merger, merged
from boolcast.optimising.selectivities import Selectivities
from boolcast.optimising.trees import prepared
from boolcast.routing.configuration import Configuration

Entries = Mapping[SubscriptionId, Filter]


class MergingPolicy(Protocol):
    """Proposes mergers."""

    def propose(
        self,
        link: BrokerId,
        entries: Entries,
        selectivities: Selectivities,
        new_id: Callable[[], str],
    ) -> Iterator[Merger]:
        """Mergers among entries of one neighbour that are in none yet, each entry in one at most.

        A merger covers its constituents. `new_id` gives ids that are new in the whole network.
        """


class NoMerging:
    """Every entry stays what it is."""

    def __init__(self, configuration: Configuration) -> None:
        pass

    def propose(
        self,
        link: BrokerId,  # noqa: ARG002
        entries: Entries,  # noqa: ARG002
        selectivities: Selectivities,  # noqa: ARG002
        new_id: Callable[[], str],  # noqa: ARG002
    ) -> Iterator[Merger]:
        return iter(())


class MergingByPruning:
    """Entries with the same rarest predicate become their OR, pruned (P1-B9).

    At worst all that is left is that predicate. A merger is made if it has fewer predicates than
    its constituents have together, for an expected share of `imperfection` of all events at
    most that pass for nothing. What did not merge is tried again when another entry has come.
    """

    def __init__(self, configuration: Configuration) -> None:
        self._imperfection = configuration.imperfection
        self._size = configuration.merger_size
        self._in_vain: dict[BrokerId, set[tuple[SubscriptionId, ...]]] = {}

    def propose(
        self,
        link: BrokerId,
        entries: Entries,
        selectivities: Selectivities,
        new_id: Callable[[], str],
    ) -> Iterator[Merger]:
        groups: dict[Leaf, list[SubscriptionId]] = {}
        for subscription, filter in entries.items():
            rarest = _rarest(filter, selectivities)
            if rarest is not None:
                groups.setdefault(rarest, []).append(subscription)
        formerly = self._in_vain.get(link, set())
        in_vain = self._in_vain[link] = set()
        for group in groups.values():
            for start in range(0, len(group) - 1, self._size):
                names = tuple(group[start : start + self._size])
                merger = None
                if len(names) > 1 and names not in formerly:
                    constituents = {name: entries[name] for name in names}
                    merger = self._merged(constituents, selectivities, new_id)
                if merger is None:
                    in_vain.add(names)
                else:
                    yield merger

    def _merged(
        self,
        constituents: dict[SubscriptionId, Filter],
        selectivities: Selectivities,
        new_id: Callable[[], str],
    ) -> Merger | None:
        try:
            merger = merged(
                SubscriptionId(new_id()),
                constituents,
                selectivities,
                imperfection=self._imperfection,
            )
        except FilterLimitError:
            # Too much for one filter: they stay what they are.
            return None
        separately = sum(map(_occurrences, constituents.values()))
        return merger if _occurrences(merger.filter) < separately else None


def _rarest(filter: Filter, selectivities: Selectivities) -> Leaf | None:
    """The predicate that an event must satisfy and fewest do; None if there is no AND at the top.

    Without one a filter has nothing that pruning could remove to make it like another.
    """
    node = prepared(filter)
    if not isinstance(node, And):
        return None
    leaves = [each for each in node.children if isinstance(each, Predicate)]
    return min(leaves, key=lambda leaf: (selectivities.share(leaf), str(leaf)), default=None)


def _occurrences(filter: Filter) -> int:
    return sum(1 for _ in filter.predicates())
