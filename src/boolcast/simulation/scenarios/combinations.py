"""Every legal combination of the broker's policies."""

from functools import cache
from itertools import product
from typing import Any, Final, Literal, get_args

from boolcast.errors import ConfigurationError
from boolcast.routing.protocol.configuration import (
    Configuration,
    Covering,
    EngineName,
    OverlapTest,
    Propagation,
    Unsubscription,
)

SOON: Final[dict[str, Any]] = {"review_events": 2}
"""A random history has few events."""

REWRITING: Final[tuple[dict[str, Any], ...]] = (
    {},
    {"rewriting": "pruning"},
    {"rewriting": "pruning", "memory_target": 6},
    {"rewriting": "pruning", "false_positive_budget": 0.2, "changes": "still-best"},
    {"rewriting": "pruning", "stops_at_cut_off": True},
    {"rewriting": "replacement"},
)
SENDING: Final[tuple[dict[str, Any], ...]] = ({}, {"sending": "pruned", "degradation": 0.5})
MERGING: Final[tuple[dict[str, Any], ...]] = (
    {},
    {"merging": "pruning", "imperfection": 0.5, "merger_size": 3},
)
MERGING_BY_RULES: Final[tuple[dict[str, Any], ...]] = (
    {"merging": "perfect"},
    {"merging": "imperfect", "imperfection": 0.5},
)
MERGING_ALONE: Final[tuple[dict[str, Any], ...]] = (
    {"merging": "imperfect", "imperfection": 0.3, "imperfection_of": "advertised"},
    {"merging": "imperfect", "imperfection": 0.9, "dropped_predicates": 2},
    {
        "merging": "imperfect",
        "imperfection_of": "advertised",
        "merging_moment": "group-size",
        "merging_starts_at": 1.5,
    },
    {"merging": "perfect", "merging_moment": "entries", "merging_starts_at": 4.0},
)
BY_DIAGRAMS: Final[tuple[dict[str, Any], ...]] = (
    {"covering_by": "diagrams"},
    {"covering_by": "diagrams", "rewriting": "pruning", "sending": "pruned", "degradation": 0.5},
    {"covering_by": "diagrams", "merging": "perfect"},
    {"covering_by": "diagrams", "merging": "imperfect", "imperfection": 0.5},
)
_ADVERTISEMENTS: Final[dict[str, Any]] = {"advertisement_rewriting": "pruning"}
ADVERTISEMENT_REWRITING: Final[tuple[dict[str, Any], ...]] = (
    _ADVERTISEMENTS,
    {**_ADVERTISEMENTS, "advertisement_memory_target": 3},
    {**_ADVERTISEMENTS, "rank_budget": 0.3, "changes": "still-best"},
    {**_ADVERTISEMENTS, "advertisements_stop_at_cut_off": True},
)


def simplifications() -> list[dict[str, Any]]:
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
        is_incremental = unsubscription.startswith("incremental")
        slacks: tuple[Literal[0, 1], ...] = (0, 1) if is_incremental else (1,)
        for threshold, slack, collects, simplification in product(
            (0.0, 0.5, 0.9, 1.0) if is_incremental else (0.9,),
            slacks,
            (True, False) if is_incremental else (True,),
            simplifications(),
        ):
            try:
                each = Configuration(
                    propagation=propagation,
                    covering=covering,
                    advertisement_covering=advertisement_covering,
                    unsubscription=unsubscription,
                    overlap=overlap,
                    threshold=threshold,
                    slack=slack,
                    collects_ghosts=collects,
                    engine=engine,
                    durable=durable,
                    **simplification,
                )
            except ConfigurationError:
                continue
            found[each] = None
    return tuple(found)
