"""Mergers: one entry in the place of several that came from the same neighbour (P1-B9, P2-B10).

A merger is the OR of its constituents, pruned: as it is it lets pass exactly what they do, and
each pruning makes it smaller and lets more pass. That works for any filters.

A merger travels under an id of its own. The broker that made it keeps the constituents as they
came (R5), because it has to tell them again when the merger goes: when one of them is
unsubscribed (P2-B12). Whatever is told goes before what is withdrawn (R2). Merge what came from
one neighbour only, and never what clients of this broker asked for (R1).
"""

from collections.abc import Iterator, Mapping

import msgspec

from boolcast.algebra.budget import DEFAULT_BUDGET
from boolcast.algebra.simplification import simplify
from boolcast.errors import LimitError, UnknownSubscriptionError
from boolcast.filters.expressions import Filter, Or
from boolcast.filters.limits import DEFAULT_LIMITS, Limits
from boolcast.filters.size_check import check_limits
from boolcast.model.identifiers import SubscriptionId
from boolcast.optimising.pruning.trees import Tree, best_pruning, prepared, pruned
from boolcast.optimising.statistics.selectivities import Selectivities


class Merger(msgspec.Struct, frozen=True, kw_only=True):
    """A filter that covers its constituents.

    `imperfection` is the share of events that it is expected to let pass and none of them would
    (P2-B11's IMT, by the estimates of pruning); `operations` prunings brought it about.
    """

    id: SubscriptionId
    filter: Filter
    constituents: dict[SubscriptionId, Filter]
    imperfection: float
    operations: int


class Exchange(msgspec.Struct, frozen=True, kw_only=True):
    """What neighbours must be told, in this order: first all of `forward`, then `withdraw` (R2)."""

    forward: dict[SubscriptionId, Filter]
    withdraw: tuple[SubscriptionId, ...]


def merged(
    identifier: SubscriptionId,
    constituents: Mapping[SubscriptionId, Filter],
    selectivities: Selectivities,
    *,
    imperfection: float = 0.0,
    predicates: int = 0,
    limits: Limits = DEFAULT_LIMITS,
) -> Merger:
    """The merger of two filters or more, pruned until it has no more than so many predicates.

    It is pruned no further than an expected share of `imperfection` of all events would pass for
    nothing; with 0 only what is free is pruned. The id must be new in the whole network. Raises
    FilterLimitError for a merger that is too large for a neighbour to take.
    """
    if len(constituents) < 2:
        raise ValueError("a merger needs two constituents at least")
    if not 0 <= imperfection <= 1:
        raise LimitError(f"an imperfection lies between 0 and 1, and this is {imperfection}")
    union = Or(tuple(map(prepared, constituents.values())))
    tree = Tree.of(_simplified(union), selectivities)
    perfect = tree.estimate.average
    operations = 0
    while tree.predicates > predicates and (best := best_pruning(tree)) is not None:
        shorter = pruned(tree, best)
        if shorter.estimate.average - perfect > imperfection:
            break
        tree = shorter
        operations += 1
    filter = _simplified(tree.node)
    check_limits(filter, limits)
    return Merger(
        id=identifier,
        filter=filter,
        constituents=dict(constituents),
        # Less than nothing where a repeated part became one: the OR was overestimated.
        imperfection=max(tree.estimate.average - perfect, 0.0),
        operations=operations,
    )


def _simplified(node: Filter) -> Filter:
    """The same without what another alternative makes redundant, as far as the budget goes."""
    return prepared(simplify(node, budget=DEFAULT_BUDGET).filter)


class Mergers:
    """The mergers among the entries of one neighbour, and what becomes of them."""

    def __init__(self) -> None:
        self._mergers: dict[SubscriptionId, Merger] = {}
        self._merged_into: dict[SubscriptionId, SubscriptionId] = {}

    def __len__(self) -> int:
        return len(self._mergers)

    def __iter__(self) -> Iterator[Merger]:
        return iter(self._mergers.values())

    def __contains__(self, identifier: object) -> bool:
        return identifier in self._mergers

    def constituents(self, identifier: SubscriptionId) -> tuple[SubscriptionId, ...]:
        """What a merger stands for; of an entry that is no merger, nothing."""
        merger = self._mergers.get(identifier)
        return () if merger is None else tuple(merger.constituents)

    def add(self, merger: Merger) -> Exchange:
        """Put a merger in the place of its constituents, and of the mergers that held them.

        Of those, all constituents must be in the new one: none may be left without a merger
        that stands for it. Under the id of one of those it has the same filter, and so is told
        already: it only stands for more.
        """
        same = self._mergers.get(merger.id)
        assert same is None or same.filter == merger.filter, "an id stands for one filter"
        former = dict.fromkeys(
            self._merged_into[each] for each in merger.constituents if each in self._merged_into
        )
        for identifier in former:
            left_out = self._mergers[identifier].constituents.keys() - merger.constituents.keys()
            if left_out:
                raise ValueError(
                    f"{min(left_out)!r} is merged into {identifier!r} with some of these: merge"
                    " all of its constituents, or cancel it first"
                )
        alone = [each for each in merger.constituents if each not in self._merged_into]
        for identifier in former:
            self._forget(identifier)
        self._mergers[merger.id] = merger
        self._merged_into.update(dict.fromkeys(merger.constituents, merger.id))
        return Exchange(
            forward={merger.id: merger.filter} if same is None else {},
            withdraw=(*(each for each in former if each != merger.id), *alone),
        )

    def unsubscribe(self, subscription: SubscriptionId) -> Exchange:
        """A constituent is gone: its merger is cancelled, the others are told again (P2-B12).

        A subscription that is in no merger is simply withdrawn. The withdrawal of the merger
        stands for that of the constituent, which neighbours have not heard of (R6).
        """
        identifier = self._merged_into.get(subscription)
        if identifier is None:
            return Exchange(forward={}, withdraw=(subscription,))
        remaining = dict(self._forget(identifier).constituents)
        del remaining[subscription]
        return Exchange(forward=remaining, withdraw=(identifier,))

    def cancel(self, identifier: SubscriptionId) -> Exchange:
        """Tell all constituents of a merger again. Raises UnknownSubscriptionError."""
        return Exchange(forward=dict(self._forget(identifier).constituents), withdraw=(identifier,))

    def _forget(self, identifier: SubscriptionId) -> Merger:
        merger = self._mergers.pop(identifier, None)
        if merger is None:
            raise UnknownSubscriptionError(identifier)
        for each in merger.constituents:
            del self._merged_into[each]
        return merger
