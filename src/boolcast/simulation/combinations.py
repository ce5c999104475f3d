"""Every legal combination of the broker's policies."""

from itertools import product
from typing import Literal, get_args

from boolcast.errors import ConfigurationError
from boolcast.routing.configuration import (
    Configuration,
    Covering,
    EngineName,
    OverlapTest,
    Propagation,
    Unsubscription,
)


def combinations(*, engine: EngineName = "access", durable: bool = False) -> list[Configuration]:
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
        for threshold, slack, collects in product(
            (0.0, 0.5, 0.9, 1.0) if is_incremental else (0.9,),
            slacks,
            (True, False) if is_incremental else (True,),
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
                )
            except ConfigurationError:
                continue
            found[each] = None
    return list(found)
