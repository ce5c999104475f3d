"""Figures about a matcher: sizes, work, expensive filters, misspelled attributes."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from boolcast.filters.canonical import to_nnf
from boolcast.filters.expressions import Filter, IsNull
from boolcast.filters.spelling import nearest
from boolcast.matching.segment.building import cut_shares
from boolcast.matching.values.ranks import MISSING_RANK

if TYPE_CHECKING:
    from boolcast.matching.segment.live_segment import LiveSegment
    from boolcast.matching.values.selectivity import Selectivity


class Expensive(msgspec.Struct, frozen=True):
    """A filter that many events are checked against: `share` is their estimated share."""

    subscription: str
    filter: str
    share: float


class UnseenAttribute(msgspec.Struct, frozen=True):
    """An attribute that filters use and no event had: probably misspelled.

    `events` counts those since a filter first used it, `filters` those that use it now.
    `suggestion` is a similar name that events do have.
    """

    attribute: str
    events: int
    filters: int
    suggestion: str | None

    def __str__(self) -> str:
        sentence = f"`{self.attribute}` was in 0 of {self.events:,} events"
        return sentence + (f"; did you mean `{self.suggestion}`?" if self.suggestion else "")


class Stats(msgspec.Struct, frozen=True, kw_only=True):
    """Sizes and work.

    `filters` counts distinct filters; pending subscriptions count once they are indexed.
    `structure_bytes` is the index itself, `filter_bytes` the constants of the filters, kept for
    merges, `text_bytes` their texts, and `id_bytes` everything else of subscriptions. The
    look-up by id, which the first change makes, is not included.
    `candidates_per_event` counts programs run: filters checked, those with the same program
    once. `expensive` lists the filters that most events are checked against, each with one of
    its subscriptions. `unseen_attributes` lists the attributes that no event had.
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
    unseen_attributes: tuple[UnseenAttribute, ...]


def find_expensive(
    segments: "Sequence[LiveSegment]", selectivity: "Selectivity", count: int
) -> tuple[Expensive, ...]:
    """The filters that most events have to be checked against, the most expensive first."""
    found: list[tuple[float, int, int]] = []
    for number, live in enumerate(segments if count else ()):
        is_held = live.held_slots()
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
        position = live.holder_of(slot)
        if position is not None:
            named.append(Expensive(live.subscriptions[position], live.texts[slot], share))
        if len(named) == count:
            break
    return tuple(named)


def find_unseen(
    unseen: Mapping[str, int],
    events: int,
    segments: "Sequence[LiveSegment]",
    pending: Iterable[Filter],
    names: Sequence[str],
) -> tuple[UnseenAttribute, ...]:
    """The unseen attributes that filters still use, the most used first.

    A filter that only asks whether an attribute `is null` expects it to be missing, and is
    not counted.
    `unseen` maps them to the number of events before, `names` are attributes of events.
    """
    waiting = {name: events - since for name, since in unseen.items() if events > since}
    if not waiting:
        return ()
    uses: Counter[str] = Counter()
    for live in segments:
        if waiting.keys().isdisjoint(live.attributes):
            continue
        is_held = live.held_slots()
        for group in live.groups:
            if group.shape.has_residual:
                for slot in group.slots[is_held[group.slots]].tolist():
                    uses.update(_sought(live.residuals[slot]) & waiting.keys())
                continue
            for name in {test.attribute for test in group.shape.tests} & waiting.keys():
                # A set that begins at the rank of missing values is that of `is null`.
                seeks = np.zeros(len(group.slots), dtype=np.bool_)
                for test, bounds in zip(group.shape.tests, group.bounds, strict=True):
                    if test.attribute == name:
                        seeks |= bounds[:, 0] > MISSING_RANK
                uses[name] += int((seeks & is_held[group.slots]).sum())
    for filter in set(pending):
        uses.update(_sought(filter) & waiting.keys())
    return tuple(
        UnseenAttribute(name, waiting[name], count, nearest(name, names))
        for name, count in sorted(uses.items(), key=lambda use: (-use[1], use[0]))
        if count
    )


def _sought(filter: Filter) -> set[str]:
    """The attributes that the filter uses for more than `is null`."""
    return {
        name
        for leaf in to_nnf(filter).predicates()
        if leaf != IsNull(leaf.attribute)
        for name in leaf.names()
    }
