"""What a matcher tells about itself."""

from collections.abc import Sequence

import msgspec
import numpy as np

from boolcast.matching.building import cut_shares
from boolcast.matching.live import LiveSegment
from boolcast.matching.selectivity import Selectivity


class Expensive(msgspec.Struct, frozen=True):
    """A filter that is looked at often: `share` is the estimated share of events it is for."""

    subscription: str
    filter: str
    share: float


class Stats(msgspec.Struct, frozen=True, kw_only=True):
    """Sizes and work.

    `structure_bytes` is the index that is searched; `filter_bytes` the constants of the
    filters, kept for merges; ids and texts come on top. `candidates` counts programs run an
    event: filters looked at, those with the same program once. `expensive` names the filters
    whose cut lets most events through.
    """

    subscriptions: int
    pending: int
    segments: tuple[int, ...]
    dead: int
    shapes: int
    structure_bytes: int
    filter_bytes: int
    id_bytes: int
    text_bytes: int
    events: int
    candidates_per_event: float
    matches_per_event: float
    expensive: tuple[Expensive, ...]


def expensive(
    segments: Sequence[LiveSegment], selectivity: Selectivity, count: int
) -> tuple[Expensive, ...]:
    """The filters that most events have to be checked against, the most expensive first."""
    found: list[Expensive] = []
    for live in segments:
        for group in live.groups:
            shares = cut_shares(group, live.spaces, selectivity)
            for row in np.argsort(-shares)[:count].tolist():
                slot = int(group.slots[row])
                if live.is_alive(slot):
                    found.append(
                        Expensive(live.subscriptions[slot], live.texts[slot], float(shares[row]))
                    )
    found.sort(key=lambda each: -each.share)
    return tuple(found[:count])
