"""Mergers: one entry in place of several that came from the same neighbour (P1-B9, P2-B10).

`merged` makes a merger of any filters: their OR, pruned. The OR accepts exactly what they do, and
each pruning makes it smaller and more general.

A merger is forwarded under an id of its own. The broker that made it keeps the constituents as they
came (R5), because it must forward them again when the merger goes: when one of them is unsubscribed
(P2-B12). Forward first, then withdraw (R2). Merge only what came from one neighbour, never what
clients of this broker asked for (R1).
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

    `imperfection` is the expected share of events that it accepts and none of them does (P2-B11's
    IMT, by the estimates of pruning); `operations` counts the prunings.
    """

    id: SubscriptionId
    filter: Filter
    constituents: dict[SubscriptionId, Filter]
    imperfection: float
    operations: int


class Exchange(msgspec.Struct, frozen=True, kw_only=True):
    """What to send to neighbours: first all of `forward`, then all of `withdraw` (R2)."""

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
    """Merge two or more filters, and prune the merger until it has at most `predicates`.

    Pruning stops before more than the share `imperfection` of all events is expected to be
    accepted for nothing; with 0 only free prunings are done. The id must be new in the network.
    Raises FilterLimitError if the merger is too large for a neighbour to accept.
    """
    if len(constituents) < 2:
        raise ValueError("a merger needs at least two constituents")
    if not 0 <= imperfection <= 1:
        raise LimitError(f"an imperfection lies between 0 and 1, not at {imperfection}")
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
        # Negative where repeated subfilters became one: the OR was overestimated.
        imperfection=max(tree.estimate.average - perfect, 0.0),
        operations=operations,
    )


def _simplified(node: Filter) -> Filter:
    """Without alternatives that another one makes redundant, as far as the budget goes."""
    return prepared(simplify(node, budget=DEFAULT_BUDGET).filter)


class Mergers:
    """The mergers among the entries of one neighbour."""

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
        """The constituents of a merger; empty for an entry that is not a merger."""
        merger = self._mergers.get(identifier)
        return () if merger is None else tuple(merger.constituents)

    def add(self, merger: Merger) -> Exchange:
        """Put a merger in place of its constituents, and of the mergers that held them.

        All constituents of those mergers must be in the new one: none may be left without a
        merger that stands for it. A merger under the id of an earlier one must have the same
        filter. Neighbours know it already; it only stands for more.
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
                    f"{min(left_out)!r} is merged into {identifier!r} together with some of these:"
                    " merge all constituents of that merger, or cancel it first"
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
        """Remove a subscription: its merger is cancelled, the others are forwarded (P2-B12).

        A subscription that is in no merger is simply withdrawn. Otherwise the merger is withdrawn
        in its place, since neighbours do not know the constituent (R6).
        """
        identifier = self._merged_into.get(subscription)
        if identifier is None:
            return Exchange(forward={}, withdraw=(subscription,))
        remaining = dict(self._forget(identifier).constituents)
        del remaining[subscription]
        return Exchange(forward=remaining, withdraw=(identifier,))

    def cancel(self, identifier: SubscriptionId) -> Exchange:
        """Replace a merger by its constituents. Raises UnknownSubscriptionError."""
        return Exchange(forward=dict(self._forget(identifier).constituents), withdraw=(identifier,))

    def _forget(self, identifier: SubscriptionId) -> Merger:
        merger = self._mergers.pop(identifier, None)
        if merger is None:
            raise UnknownSubscriptionError(identifier)
        for each in merger.constituents:
            del self._merged_into[each]
        return merger
