"""Every policy and engine by its name, and the policies of one broker."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from boolcast.filters.expressions import Filter
from boolcast.matching.inputs.protocol import Engine
from boolcast.matching.matcher import Matcher
from boolcast.matching.relations.analysed_filters import FilterAnalyser
from boolcast.matching.relations.covering_index import ByDiagrams, ByProofs, CoveringIndex
from boolcast.matching.scan import ScanMatcher
from boolcast.model.events import Event
from boolcast.model.statistics import Statistics
from boolcast.routing.policies.covering import (
    ActiveCovering,
    CoveringPolicy,
    LazyCovering,
    NoCovering,
)
from boolcast.routing.policies.propagation import Flooding, PropagationPolicy, TowardsAdvertisements
from boolcast.routing.policies.unsubscription import (
    Everywhere,
    Packed,
    Reach,
    Separately,
    UpToTheCriticalBroker,
    Wrapping,
)
from boolcast.routing.protocol.configuration import (
    AdvertisementRewriting,
    Configuration,
    Covering,
    CoveringSettings,
    CoveringTest,
    EngineName,
    Merging,
    MergingSettings,
    OverlapTest,
    Policies,
    Propagation,
    Rewriting,
    Sending,
    SendingSettings,
    Unsubscription,
    UnsubscriptionSettings,
)
from boolcast.routing.rewriting.advertisement_rewriting import (
    AdvertisementPruning,
    AdvertisementRewritingPolicy,
    AsAdvertised,
)
from boolcast.routing.rewriting.merging import (
    MergingByPruning,
    MergingByRules,
    MergingPolicy,
    NoMerging,
)
from boolcast.routing.rewriting.outgoing_filter import PrePruning, SendingPolicy, Whole
from boolcast.routing.rewriting.selectivity_source import Learning, learning
from boolcast.routing.rewriting.subscription_rewriting import (
    AsTheyCame,
    PredicateReplacement,
    RewritingPolicy,
    SubscriptionPruning,
)
from boolcast.routing.tables.covering_graph import Node
from boolcast.routing.tables.overlaps import (
    ByIndex,
    ByIndexAndProof,
    ByPairs,
    OverlapCounts,
    Overlaps,
)

if TYPE_CHECKING:
    from boolcast.matching.relations.overlap_index import OverlapIndex


def _counting() -> Engine:
    from boolcast.matching.counting.engine import CountingMatcher  # noqa: PLC0415 - imports numba

    return CountingMatcher()


def _mbd() -> Engine:
    from boolcast.matching.diagrams.engine import MbdEngine  # noqa: PLC0415 - as above

    return MbdEngine()


ENGINES: Final[dict[EngineName, Callable[[], Engine]]] = {
    "access": Matcher,
    "scan": ScanMatcher,
    "counting": _counting,
    "mbd": _mbd,
}

PROPAGATION: Final[dict[Propagation, Callable[[Callable[[], Overlaps]], PropagationPolicy]]] = {
    "flood": Flooding,
    "towards": TowardsAdvertisements,
}


def _overlap_index() -> "OverlapIndex":
    from boolcast.matching.relations.overlap_index import OverlapIndex  # noqa: PLC0415 - imports numba

    return OverlapIndex()


OVERLAPS: Final[dict[OverlapTest, Callable[[FilterAnalyser, OverlapCounts], Overlaps]]] = {
    "exact": ByPairs,
    "index": lambda analyser, figures: ByIndex(_overlap_index(), figures),
    "index-exact": lambda analyser, figures: ByIndexAndProof(_overlap_index, analyser, figures),
}


def _by_diagrams(order: Sequence[str]) -> CoveringIndex[Node]:
    from boolcast.matching.diagrams.diagrams import Diagrams  # noqa: PLC0415 - as above

    return ByDiagrams(Diagrams(order))


COVERING_TESTS: Final[
    dict[CoveringTest, Callable[[CoveringSettings, FilterAnalyser], CoveringIndex[Node]]]
] = {
    "proofs": lambda settings, analyser: ByProofs(analyser),
    "diagrams": lambda settings, analyser: _by_diagrams(settings.attribute_order),
}

COVERING: Final[dict[Covering, Callable[[Callable[[], CoveringIndex[Node]]], CoveringPolicy]]] = {
    "none": NoCovering,
    "active": ActiveCovering,
    "lazy": LazyCovering,
}

REWRITING: Final[dict[Rewriting, Callable[[Configuration], RewritingPolicy]]] = {
    "none": AsTheyCame,
    "pruning": SubscriptionPruning,
    "replacement": PredicateReplacement,
}

ADVERTISEMENT_REWRITING: Final[
    dict[AdvertisementRewriting, Callable[[Policies], AdvertisementRewritingPolicy]]
] = {
    "none": AsAdvertised,
    "pruning": lambda policies: AdvertisementPruning(policies, _overlap_index),
}

SENDING: Final[dict[Sending, Callable[[SendingSettings], SendingPolicy]]] = {
    "whole": Whole,
    "pruned": PrePruning,
}

MERGING: Final[dict[Merging, Callable[[MergingSettings], MergingPolicy]]] = {
    "none": NoMerging,
    "pruning": MergingByPruning,
    "perfect": MergingByRules,
    "imperfect": MergingByRules,
}


class UnsubscriptionPolicy(NamedTuple):
    """How far a removal goes, and how what it uncovers goes with it."""

    reach: Callable[[UnsubscriptionSettings], Reach]
    wrapping: Callable[[], Wrapping]


UNSUBSCRIPTION: Final[dict[Unsubscription, UnsubscriptionPolicy]] = {
    "plain": UnsubscriptionPolicy(Everywhere, Separately),
    "packing": UnsubscriptionPolicy(Everywhere, Packed),
    "incremental": UnsubscriptionPolicy(UpToTheCriticalBroker, Separately),
    "incremental-packing": UnsubscriptionPolicy(UpToTheCriticalBroker, Packed),
}


class EntryEngine(Protocol):
    """What a broker asks of a match engine; every `matching.inputs.protocol.Engine` will do."""

    def add(self, subscription: str, filter: Filter) -> None: ...

    def remove(self, subscription: str) -> None: ...

    def __len__(self) -> int: ...

    def match(self, event: Event) -> list[str]: ...


class BrokerPolicies(NamedTuple):
    """The objects that one broker decides by. They hold its entries, so brokers share none."""

    propagation: PropagationPolicy
    overlap_figures: OverlapCounts
    covering: CoveringPolicy
    advertisement_covering: CoveringPolicy
    reach: Reach
    wrapping: Wrapping
    engine: EntryEngine
    learning: Learning
    rewriting: RewritingPolicy
    advertisement_rewriting: AdvertisementRewritingPolicy
    sending: SendingPolicy
    merging: MergingPolicy


def broker_policies(
    configuration: Configuration,
    analyser: FilterAnalyser,
    engine: EntryEngine | None,
    statistics: Statistics | None,
) -> BrokerPolicies:
    """The policies that a configuration names. `engine` replaces the one it names.

    Raises ConfigurationError if a policy needs selectivities and nobody knows them, and
    StatisticsError.
    """
    chosen = configuration.policies
    figures = OverlapCounts()
    overlaps = partial(OVERLAPS[chosen.propagation.overlap], analyser, figures)
    coverings = partial(COVERING_TESTS[chosen.covering.test], chosen.covering, analyser)
    unsubscription = UNSUBSCRIPTION[chosen.unsubscription.kind]
    engine = ENGINES[configuration.engine]() if engine is None else engine
    return BrokerPolicies(
        propagation=PROPAGATION[chosen.propagation.kind](overlaps),
        overlap_figures=figures,
        covering=COVERING[chosen.covering.kind](coverings),
        advertisement_covering=COVERING[chosen.covering.advertisements](coverings),
        reach=unsubscription.reach(chosen.unsubscription),
        wrapping=unsubscription.wrapping(),
        engine=engine,
        learning=learning(configuration, statistics, engine),
        rewriting=REWRITING[chosen.rewriting.kind](configuration),
        advertisement_rewriting=ADVERTISEMENT_REWRITING[chosen.advertisement_rewriting.kind](
            chosen
        ),
        sending=SENDING[chosen.sending.kind](chosen.sending),
        merging=MERGING[chosen.merging.kind](chosen.merging),
    )
