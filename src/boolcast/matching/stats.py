"""What a matcher tells about itself."""

from collections.abc import Sequence

import msgspec
import numpy as np

from boolcast.matching.segment.building import cut_shares
from boolcast.matching.segment.live_segment import ALIVE, LiveSegment
from boolcast.matching.values.selectivity import Selectivity


class Expensive(msgspec.Struct, frozen=True):
    """A filter that is looked at often: `share` is the estimated share of events it is for."""

    subscription: str
    filter: str
    share: float


class Stats(msgspec.Struct, frozen=True, kw_only=True):
    """Sizes and work.

    `filters` counts the distinct ones; pending subscriptions count as soon as they are indexed.
    `structure_bytes` is the index that is searched; `filter_bytes` the constants of the
    filters, kept for merges; `text_bytes` their texts; `id_bytes` all else that is kept for a
    subscription, but for Python's own look-up by id, which the first change makes.
    `candidates` counts programs run an event: filters looked at, those with the same program
    once. `expensive` names the filters whose cut lets most events through, each with one of
    its subscriptions.
    """

    subscriptions: int
    pending: int
    segments: tuple[int, ...]
    dead: int
    filters: int
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
    found: list[tuple[float, int, int]] = []
    for number, live in enumerate(segments if count else ()):
        is_held = np.zeros(len(live.texts), dtype=np.bool_)
        is_held[live.slots_of(np.flatnonzero(live.dead_since == ALIVE))] = True
        for group in live.groups:
            shares = cut_shares(group, live.spaces, selectivity)
            held = np.flatnonzero(is_held[group.slots])
            rows = held[np.argsort(-shares[held])[:count]]
            pairs = zip(shares[rows].tolist(), group.slots[rows].tolist(), strict=True)
            found += [(share, number, slot) for share, slot in pairs]
    found.sort(reverse=True)
    named: list[Expensive] = []
    for share, number, slot in found:
        live = segments[number]
        place = live.holder_of(slot)
        if place is not None:
            named.append(Expensive(live.subscriptions[place], live.texts[slot], share))
        if len(named) == count:
            break
    return tuple(named)
