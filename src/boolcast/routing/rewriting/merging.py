"""Which entries of one neighbour become one: none, those that pruning makes alike, or by rules.

A policy proposes mergers, and `reviewing` carries them out. It announces a merger before it
withdraws the constituents, keeps these, and announces them again before the merger goes (P2-B10,
P2-B12, R5). A policy may propose anything that covers its constituents. `MergingMoment` decides
when to merge, from the number of entries and groups; the policy decides what to merge and how.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from typing import Final, NamedTuple, Protocol

from boolcast.algebra.relations import covers
from boolcast.errors import FilterLimitError
from boolcast.filters.expressions import And, Filter, Leaf, Predicate, disjunction
from boolcast.model.identifiers import BrokerId, SubscriptionId
from boolcast.optimising.merging.by_rules import MergingRules, Threshold
from boolcast.optimising.merging.groups import AttributeOrder
from boolcast.optimising.merging.merger_imperfection import (
    Advertised,
    AllEvents,
    Audience,
    imperfection_of,
)
from boolcast.optimising.merging.mergers import Merger, merged
from boolcast.optimising.pruning.trees import prepared
from boolcast.optimising.statistics.probabilities import Measured
from boolcast.optimising.statistics.selectivities import Selectivities
from boolcast.routing.protocol.configuration import MergingMoment, MergingSettings

Entries = Mapping[SubscriptionId, Filter]


class Situation(NamedTuple):
    """What a policy may look at: the `entries` of one neighbour, and the `mergers` of others.

    `advertisements` came from elsewhere: they accept all events that go to the neighbour. `new_id`
    gives ids that are new in the whole network.
    """

    link: BrokerId
    entries: Entries
    mergers: Mapping[SubscriptionId, Merger]
    selectivities: Selectivities
    advertisements: Sequence[Filter]
    new_id: Callable[[], str]


class MergingPolicy(Protocol):
    """Proposes mergers."""

    asks_for_advertisements: bool
    """Whether to check mergers again when the known advertisements change."""

    def propose(self, situation: Situation) -> Iterator[Merger]:
        """Mergers of the entries; each entry is in at most one.

        A merger covers its constituents. It may absorb former mergers with all their constituents.
        If the filter of one of these stays the same, so does its id.
        """

    def unfit(self, situation: Situation) -> list[SubscriptionId]:
        """The mergers that are too imperfect by now."""


MOMENTS: Final[dict[MergingMoment, Callable[[int, Sequence[int]], float]]] = {
    "review": lambda entries, sizes: 0.0,
    "entries": lambda entries, sizes: float(entries),
    "group-size": lambda entries, sizes: sum(sizes) / max(len(sizes), 1),
}
"""The number that must reach `starts_at`, from the number of entries and group sizes (P2-B10).

Mergers are entries too; not all entries are in a group.
"""


class NoMerging:
    """Every entry stays as it is."""

    asks_for_advertisements = False

    def __init__(self, settings: MergingSettings) -> None:
        pass

    def propose(self, situation: Situation) -> Iterator[Merger]:  # noqa: ARG002
        return iter(())

    def unfit(self, situation: Situation) -> list[SubscriptionId]:  # noqa: ARG002
        return []


class MergingByPruning:
    """Entries with the same rarest predicate become their OR, pruned (P1-B9).

    At worst only that predicate is left. A merger must have fewer predicates than its constituents
    together, and may let at most an expected share `imperfection` of all events pass for nothing.
    Entries that did not merge are tried again when another entry has come.
    """

    asks_for_advertisements = False

    def __init__(self, settings: MergingSettings) -> None:
        self._is_due = _moment(settings)
        self._imperfection = settings.imperfection
        self._size = settings.size
        self._in_vain: dict[BrokerId, set[tuple[SubscriptionId, ...]]] = {}

    def propose(self, situation: Situation) -> Iterator[Merger]:
        link, entries, selectivities = situation.link, situation.entries, situation.selectivities
        groups: dict[Leaf, list[SubscriptionId]] = {}
        for subscription, filter in entries.items():
            rarest = _rarest(filter, selectivities)
            if rarest is not None:
                groups.setdefault(rarest, []).append(subscription)
        if not self._is_due(situation, groups.values()):
            return
        formerly = self._in_vain.get(link, set())
        in_vain = self._in_vain[link] = set()
        for group in groups.values():
            for start in range(0, len(group) - 1, self._size):
                names = tuple(group[start : start + self._size])
                merger = None
                if len(names) > 1 and names not in formerly:
                    constituents = {name: entries[name] for name in names}
                    merger = self._merged(constituents, selectivities, situation.new_id)
                if merger is None:
                    in_vain.add(names)
                else:
                    yield merger

    def unfit(self, situation: Situation) -> list[SubscriptionId]:  # noqa: ARG002
        return []

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
            # Too large for one filter: the entries stay as they are.
            return None
        separately = sum(map(_occurrences, constituents.values()))
        return merger if _occurrences(merger.filter) < separately else None


class MergingByRules:
    """Conjunctions that differ in their top predicate become one, perfect or not (P2-B10).

    A perfect merger accepts exactly what its constituents accept. An imperfect one accepts more, at
    most an expected share `imperfection` of all events or of the advertised ones.
    """

    def __init__(self, settings: MergingSettings) -> None:
        self._is_due = _moment(settings)
        self._order = settings.attribute_order
        self._schema = settings.schema
        is_perfect = settings.kind == "perfect"
        self._imperfection = None if is_perfect else settings.imperfection
        self._drops = settings.dropped_predicates
        self.asks_for_advertisements = settings.imperfection_of == "advertised"
        self._measured: tuple[Selectivities, Measured] | None = None

    def propose(self, situation: Situation) -> Iterator[Merger]:
        held = {name: merger.constituents for name, merger in situation.mergers.items()}
        table = {
            **{name: merger.filter for name, merger in situation.mergers.items()},
            **situation.entries,
        }
        rules = MergingRules(
            self._attributes(situation), schema=self._schema, threshold=self._threshold(situation)
        )
        groups = rules.groups(table.items())
        if not self._is_due(situation, groups.values()):
            return
        for found in rules.mergers(table, held):
            same = [name for name in found.entries if name in held and table[name] == found.filter]
            constituents: dict[SubscriptionId, Filter] = {}
            for name in found.entries:
                constituents.update(held.get(name, {name: table[name]}))
            yield Merger(
                id=same[0] if same else SubscriptionId(situation.new_id()),
                filter=found.filter,
                constituents=constituents,
                imperfection=found.imperfection,
                operations=found.operations,
            )

    def unfit(self, situation: Situation) -> list[SubscriptionId]:
        threshold = self._threshold(situation)
        if threshold is None:
            return []
        return [
            merger.id
            for merger in situation.mergers.values()
            if _imperfection(merger, threshold.audience) > threshold.share
            and not self._is_perfect(merger)
        ]

    def _is_perfect(self, merger: Merger) -> bool:
        """True by the schema, whatever the statistics say about values that it excludes."""
        union = disjunction(merger.constituents.values())
        return covers(union, merger.filter, schema=self._schema).holds

    def _attributes(self, situation: Situation) -> AttributeOrder:
        if self._order:
            return AttributeOrder(self._order)
        merged = (each for one in situation.mergers.values() for each in one.constituents.values())
        return AttributeOrder.of([*situation.entries.values(), *merged])

    def _threshold(self, situation: Situation) -> Threshold | None:
        if self._imperfection is None:
            return None
        if self._measured is None or self._measured[0] is not situation.selectivities:
            self._measured = situation.selectivities, Measured(situation.selectivities)
        probabilities = self._measured[1]
        audience: Audience = AllEvents(probabilities)
        if self.asks_for_advertisements:
            audience = Advertised(probabilities, situation.advertisements)
        return Threshold(self._imperfection, audience, self._drops)


def _imperfection(merger: Merger, audience: Audience) -> float:
    return imperfection_of(merger.filter, merger.constituents.values(), audience).share


def _moment(settings: MergingSettings) -> Callable[[Situation, Iterable[Sized]], bool]:
    measure, least = MOMENTS[settings.moment], settings.starts_at

    def is_due(situation: Situation, groups: Iterable[Sized]) -> bool:
        entries = len(situation.entries) + len(situation.mergers)
        return measure(entries, [len(group) for group in groups]) >= least

    return is_due


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
