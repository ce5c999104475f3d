"""Which segments to merge: so that there are few, and each subscription is merged seldom."""

from typing import Final

from boolcast.matching.segment.live_segment import LiveSegment

_FACTOR: Final = 4
"""Segments within this factor of each other are of one tier, and so many of a tier are merged."""


def choose(segments: tuple[LiveSegment, ...]) -> tuple[LiveSegment, ...]:
    """The segments to merge next: a full tier, or one that is mostly dead; none if all is well."""
    tiers: dict[int, list[LiveSegment]] = {}
    for each in segments:
        if each.dead * 2 > len(each):
            return (each,)
        tiers.setdefault(len(each).bit_length() // 2, []).append(each)
    for _, tier in sorted(tiers.items()):
        if len(tier) >= _FACTOR:
            return tuple(tier)
    return ()
