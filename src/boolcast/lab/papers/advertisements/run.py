"""The experiments of P3 on advertisements: which runs each has, and at which size (P3-X6)."""

import gc
from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import Final, assert_never

import msgspec

from boolcast.lab.papers.advertisements.checks import checks
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
from boolcast.lab.papers.checks import Check

Setting = OverlapSetting | PruningSetting
RunFigures = OverlapFigures | PruningFigures
FIGURES: Final[msgspec.json.Decoder[RunFigures]] = msgspec.json.Decoder(RunFigures)

SIZES: Final = (20_000, 50_000, 100_000, 150_000, 200_000, 300_000)
"""Advertisements against which subscriptions are asked about (P3-X2)."""

SUBSCRIPTIONS: Final = 100_000
ADVERTISEMENTS: Final = 50_000
FIRST: Final = 25_000
ALL: Final = 2_500
SAMPLES: Final = 2_000
_LEAST_QUESTIONS: Final = 60
"""A mean of fewer says nothing, whatever the scale."""
_STEPS: Final = 40
_COMBINED_STEPS: Final = 10


class Part(StrEnum):
    """The experiments: P3-X2 with P3-X3, P3-X4, and P3-X5."""

    OVERLAP = "overlap"
    PRUNING = "pruning"
    COMBINED = "combined"


class Report(msgspec.Struct, frozen=True):
    """All runs, and what they say about the paper's statements."""

    scale: float
    seed: int
    runs: list[RunFigures]
    checks: list[Check]


def settings(parts: Iterable[Part], *, scale: float, seed: int) -> list[Setting]:
    """The runs of these experiments, the longest first."""
    found: list[Setting] = []
    for part in parts:
        found += _SETTINGS[part](scale, seed)
    return sorted(found, key=lambda each: -each.work)


def _overlap(scale: float, seed: int) -> list[Setting]:
    return [
        OverlapSetting(
            advertisements=round(size * scale),
            first=max(round(FIRST * scale), _LEAST_QUESTIONS),
            all=max(round(ALL * scale), _LEAST_QUESTIONS),
            seed=seed,
        )
        for size in SIZES
    ]


def _pruning(scale: float, seed: int) -> list[Setting]:
    return [_pruned(Part.PRUNING, kind, 0.0, _STEPS, scale, seed) for kind in KINDS]


def _combined(scale: float, seed: int) -> list[Setting]:
    shares = [number / 10 for number in range(11)]
    return [_pruned(Part.COMBINED, MIX, each, _COMBINED_STEPS, scale, seed) for each in shares]


def _pruned(
    part: Part, kind: str, share: float, steps: int, scale: float, seed: int
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


_SETTINGS: Final[dict[Part, Callable[[float, int], list[Setting]]]] = {
    Part.OVERLAP: _overlap,
    Part.PRUNING: _pruning,
    Part.COMBINED: _combined,
}


def run(setting: Setting) -> RunFigures:
    """Run one in this process."""
    # Indexes make no cycles, and to look for them among millions of objects takes long.
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


def report(runs: list[RunFigures], *, scale: float, seed: int) -> Report:
    """The runs with the checks of those experiments that are among them."""
    return Report(scale, seed, runs, checks(runs))
