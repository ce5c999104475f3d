"""Every policy and engine by its name: the one place where names become objects."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from boolcast.matching.access import Matcher
from boolcast.matching.protocol import Engine
from boolcast.matching.scan import ScanMatcher
from boolcast.routing.advertisement_rewriting import (
    AdvertisementPruning,
    AdvertisementRewritingPolicy,
    AsAdvertised,
)
from boolcast.routing.configuration import (
    AdvertisementRewriting,
    Configuration,
    Covering,
    CoveringTest,
    EngineName,
    Merging,
    OverlapTest,
    Propagation,
    Rewriting,
    Sending,
    Unsubscription,
)
from boolcast.routing.covering import ActiveCovering, CoveringPolicy, LazyCovering, NoCovering
from boolcast.routing.coverings import ByDiagrams, ByProofs, Coverings
from boolcast.routing.forms import Forms
from boolcast.routing.graph import Node
from boolcast.routing.merging import MergingByPruning, MergingByRules, MergingPolicy, NoMerging
from boolcast.routing.overlapping import (
    ByIndex,
    ByIndexAndProof,
    ByPairs,
    OverlapCounts,
    Overlaps,
)
from boolcast.routing.propagation import Flooding, PropagationPolicy, TowardsAdvertisements
from boolcast.routing.rewriting import (
    AsTheyCame,
    PredicateReplacement,
    RewritingPolicy,
    SubscriptionPruning,
)
from boolcast.routing.sending import PrePruning, SendingPolicy, Whole
from boolcast.routing.unsubscription import (
    Everywhere,
    Packed,
    Reach,
    Separately,
    UpToTheCriticalBroker,
    Wrapping,
)

if TYPE_CHECKING:
    from boolcast.matching.overlapping import OverlapIndex


def _counting() -> Engine:
    from boolcast.matching.counting import CountingMatcher  # noqa: PLC0415 - imports numba

    return CountingMatcher()


def _mbd() -> Engine:
    from boolcast.matching.mbd import MbdEngine  # noqa: PLC0415 - as above

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
    from boolcast.matching.overlapping import OverlapIndex  # noqa: PLC0415 - imports numba

    return OverlapIndex()


OVERLAPS: Final[dict[OverlapTest, Callable[[Forms, OverlapCounts], Overlaps]]] = {
    "exact": ByPairs,
    "index": lambda forms, figures: ByIndex(_overlap_index(), figures),
    "index-exact": lambda forms, figures: ByIndexAndProof(_overlap_index, forms, figures),
}


def _by_diagrams(order: Sequence[str]) -> Coverings[Node]:
    from boolcast.matching.diagrams import Diagrams  # noqa: PLC0415 - as above

    return ByDiagrams(Diagrams(order))


COVERING_TESTS: Final[dict[CoveringTest, Callable[[Configuration, Forms], Coverings[Node]]]] = {
    "proofs": lambda configuration, forms: ByProofs(forms),
    "diagrams": lambda configuration, forms: _by_diagrams(configuration.attribute_order),
}

COVERING: Final[dict[Covering, Callable[[Callable[[], Coverings[Node]]], CoveringPolicy]]] = {
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
    dict[AdvertisementRewriting, Callable[[Configuration], AdvertisementRewritingPolicy]]
] = {
    "none": AsAdvertised,
    "pruning": lambda configuration: AdvertisementPruning(configuration, _overlap_index),
}

SENDING: Final[dict[Sending, Callable[[Configuration], SendingPolicy]]] = {
    "whole": Whole,
    "pruned": PrePruning,
}

MERGING: Final[dict[Merging, Callable[[Configuration], MergingPolicy]]] = {
    "none": NoMerging,
    "pruning": MergingByPruning,
    "perfect": MergingByRules,
    "imperfect": MergingByRules,
}


class UnsubscriptionPolicy(NamedTuple):
    """How far a removal goes, and how what it uncovers goes with it."""

    reach: Callable[[Configuration], Reach]
    wrapping: Callable[[], Wrapping]


UNSUBSCRIPTION: Final[dict[Unsubscription, UnsubscriptionPolicy]] = {
    "plain": UnsubscriptionPolicy(Everywhere, Separately),
    "packing": UnsubscriptionPolicy(Everywhere, Packed),
    "incremental": UnsubscriptionPolicy(UpToTheCriticalBroker, Separately),
    "incremental-packing": UnsubscriptionPolicy(UpToTheCriticalBroker, Packed),
}
