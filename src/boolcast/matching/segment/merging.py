"""Which segments to merge, so that there are few and each subscription is merged seldom."""

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from boolcast.matching.segment.live_segment import LiveSegment

_TIER: Final = 4
"""How many segments of a tier are merged; sizes within a factor of four are one tier."""


def choose(segments: "tuple[LiveSegment, ...]") -> "tuple[LiveSegment, ...]":
    """The segments to merge next: a full tier, or one that is mostly dead; perhaps none."""
    tiers: dict[int, list[LiveSegment]] = {}
    for each in segments:
        if each.dead * 2 > len(each):
            return (each,)
        tiers.setdefault(len(each).bit_length() // 2, []).append(each)
    for _, tier in sorted(tiers.items()):
        if len(tier) >= _TIER:
            return tuple(tier)
    return ()
