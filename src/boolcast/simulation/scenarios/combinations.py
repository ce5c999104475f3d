"""Every legal combination of the broker's policies."""

from functools import cache
from itertools import product
from typing import Any, Final, Literal, get_args

from msgspec.structs import replace

from boolcast.errors import ConfigurationError
from boolcast.routing.protocol.configuration import (
    Configuration,
    Covering,
    CoveringSettings,
    EngineName,
    OverlapTest,
    Propagation,
    PropagationSettings,
    Unsubscription,
    UnsubscriptionSettings,
    configure,
)

Settings = dict[str, Any]
"""Settings of a configuration by their paths."""

SOON: Final[Settings] = {"reviews.events": 2}
"""A random history has few events."""

REWRITING: Final[tuple[Settings, ...]] = (
    {},
    {"rewriting": "pruning"},
    {"rewriting": "pruning", "memory_target": 6},
    {"rewriting": "pruning", "false_positive_budget": 0.2, "reviews.changes": "still-best"},
    {"rewriting": "pruning", "rewriting.stops_at_cut_off": True},
    {"rewriting": "replacement"},
)
SENDING: Final[tuple[Settings, ...]] = ({}, {"sending": "pruned", "sending.degradation": 0.5})
MERGING: Final[tuple[Settings, ...]] = (
    {},
    {"merging": "pruning", "merging.imperfection": 0.5, "merging.size": 3},
)
MERGING_BY_RULES: Final[tuple[Settings, ...]] = (
    {"merging": "perfect"},
    {"merging": "imperfect", "merging.imperfection": 0.5},
)
MERGING_ALONE: Final[tuple[Settings, ...]] = (
    {
        "merging": "imperfect",
        "merging.imperfection": 0.3,
        "merging.imperfection_of": "advertised",
    },
    {"merging": "imperfect", "merging.imperfection": 0.9, "merging.dropped_predicates": 2},
    {
        "merging": "imperfect",
        "merging.imperfection_of": "advertised",
        "merging.moment": "group-size",
        "merging.starts_at": 1.5,
    },
    {"merging": "perfect", "merging.moment": "entries", "merging.starts_at": 4.0},
)
_DIAGRAMS: Final[Settings] = {"covering.test": "diagrams"}
BY_DIAGRAMS: Final[tuple[Settings, ...]] = (
    _DIAGRAMS,
    {**_DIAGRAMS, "rewriting": "pruning", "sending": "pruned", "sending.degradation": 0.5},
    {**_DIAGRAMS, "merging": "perfect"},
    {**_DIAGRAMS, "merging": "imperfect", "merging.imperfection": 0.5},
)
_ADVERTISEMENTS: Final[Settings] = {"advertisement_rewriting": "pruning"}
ADVERTISEMENT_REWRITING: Final[tuple[Settings, ...]] = (
    _ADVERTISEMENTS,
    {**_ADVERTISEMENTS, "advertisement_rewriting.memory_target": 3},
    {
        **_ADVERTISEMENTS,
        "advertisement_rewriting.rank_budget": 0.3,
        "reviews.changes": "still-best",
    },
    {**_ADVERTISEMENTS, "advertisement_rewriting.stops_at_cut_off": True},
)


def simplifications() -> list[Settings]:
    """The ways to make entries simpler, and as the first none.

    All policies are there with all others; what limits pruning, of subscriptions and of
    advertisements, what sets mergers by rules apart, and covering by diagrams is not tried with
    everything.
    """
    kinds = {each.get("rewriting"): each for each in REWRITING}.values()
    chosen = [
        {**rewriting, **sending, **merging, **advertisements}
        for advertisements, rewriting, sending, merging in (
            *product(({}, _ADVERTISEMENTS), REWRITING, SENDING, MERGING),
            *product(({}, _ADVERTISEMENTS), kinds, SENDING, MERGING_BY_RULES),
        )
    ]
    chosen += MERGING_ALONE
    chosen += ADVERTISEMENT_REWRITING[1:]
    chosen += BY_DIAGRAMS
    return [each and {**each, **SOON} for each in chosen]


@cache
def combinations(
    *, engine: EngineName = "access", durable: bool = False
) -> tuple[Configuration, ...]:
    """All that `Configuration` lets pass, with θ from 0 to 1 where it matters."""
    own: Settings = {"engine": engine, "durable": durable}
    simplified = [configure({**own, **settings}) for settings in simplifications()]
    found: dict[Configuration, None] = {}
    for propagation, covering, advertisement_covering, unsubscription, overlap in product(
        get_args(Propagation),
        get_args(Covering),
        get_args(Covering),
        get_args(Unsubscription),
        get_args(OverlapTest),
    ):
        if propagation == "flood" and overlap != "exact":
            # There is nothing to overlap with.
            continue
        travels = PropagationSettings(propagation, overlap)
        for removal, simplification in product(_removals(unsubscription), simplified):
            policies = simplification.policies
            try:
                covers = CoveringSettings(covering, advertisement_covering, policies.covering.test)
                custom = replace(
                    policies, propagation=travels, covering=covers, unsubscription=removal
                )
            except ConfigurationError:
                continue
            found[replace(simplification, preset="custom", custom=custom)] = None
    return tuple(found)


def _removals(kind: Unsubscription) -> list[UnsubscriptionSettings]:
    if not kind.startswith("incremental"):
        return [UnsubscriptionSettings(kind)]
    slacks: tuple[Literal[0, 1], ...] = (0, 1)
    return [
        UnsubscriptionSettings(kind, threshold, slack, collects_ghosts=collects)
        for threshold, slack, collects in product((0.0, 0.5, 0.9, 1.0), slacks, (True, False))
    ]
