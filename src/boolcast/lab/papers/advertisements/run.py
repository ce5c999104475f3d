"""The experiments of P3 on advertisements: the runs of each, and their sizes (P3-X6)."""

import gc
from collections.abc import Mapping
from typing import Final, assert_never

import msgspec

from boolcast.lab.papers.advertisements.overlap import (
    OverlapFigures,
    OverlapSetting,
    overlap_figures,
)
from boolcast.lab.papers.advertisements.pruning import (
    KINDS,
    MIX,
    PruningFigures,
    PruningSetting,
    pruning_figures,
)
from boolcast.lab.papers.runs import Experiment

Setting = OverlapSetting | PruningSetting
RunFigures = OverlapFigures | PruningFigures
FIGURES: Final[msgspec.json.Decoder[RunFigures]] = msgspec.json.Decoder(RunFigures)

SIZES: Final = (20_000, 50_000, 100_000, 150_000, 200_000, 300_000)
"""Numbers of advertisements in the index (P3-X2)."""

SUBSCRIPTIONS: Final = 100_000
ADVERTISEMENTS: Final = 50_000
FIRST: Final = 25_000
ALL: Final = 2_500
SAMPLES: Final = 2_000
_LEAST_QUESTIONS: Final = 60
"""A mean of fewer means nothing, whatever the scale."""
_STEPS: Final = 40
_COMBINED_STEPS: Final = 10


def _overlap(*, scale: float, seed: int) -> list[Setting]:
    return [
        OverlapSetting(
            advertisements=round(size * scale),
            first=max(round(FIRST * scale), _LEAST_QUESTIONS),
            all=max(round(ALL * scale), _LEAST_QUESTIONS),
            seed=seed,
        )
        for size in SIZES
    ]


def _pruning(*, scale: float, seed: int) -> list[Setting]:
    return [_pruned("pruning", kind, 0.0, _STEPS, scale, seed) for kind in KINDS]


def _combined(*, scale: float, seed: int) -> list[Setting]:
    shares = [number / 10 for number in range(11)]
    return [_pruned("combined", MIX, each, _COMBINED_STEPS, scale, seed) for each in shares]


def _pruned(
    part: str, kind: str, share: float, steps: int, scale: float, seed: int
) -> PruningSetting:
    advertisements = round(ADVERTISEMENTS * scale)
    return PruningSetting(
        part=part,
        kind=kind,
        subscriptions=round(SUBSCRIPTIONS * scale),
        advertisements=advertisements,
        samples=min(SAMPLES, advertisements),
        steps=steps,
        seed=seed,
        subscription_pruning=share,
    )


EXPERIMENTS: Final[Mapping[str, Experiment[Setting]]] = {
    "overlap": _overlap,
    "pruning": _pruning,
    "combined": _combined,
}
"""P3-X2 with P3-X3, P3-X4, and P3-X5."""


def run(setting: Setting) -> RunFigures:
    """Carry out one run in this process."""
    # Indexes create no cycles, and searching millions of objects for them takes long.
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        match setting:
            case OverlapSetting():
                return overlap_figures(setting)
            case PruningSetting():
                return pruning_figures(setting)
        assert_never(setting)
    finally:
        if was_enabled:
            gc.enable()
