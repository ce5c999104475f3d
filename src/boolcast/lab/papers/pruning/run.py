"""The experiments of P1 on pruning: which curves each has, and the chunks that are run apart.

A curve takes minutes, and its points hang on nothing but the table at that step, so a long one
is cut into chunks, each with its own pruning up to where it begins.
"""

from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from itertools import pairwise
from time import process_time
from typing import Final

import msgspec

from boolcast.lab.papers.checks import Check
from boolcast.lab.papers.pruning.checks import checks
from boolcast.lab.papers.pruning.curves import (
    SETTINGS,
    Curve,
    NetworkCurve,
    NetworkPoint,
    P,
    PruningCurve,
    PruningPoint,
    Setting,
)
from boolcast.lab.papers.pruning.network import network_curve
from boolcast.lab.papers.pruning.one_broker import PruningExperiment, pruning_points


class Part(StrEnum):
    """The experiments: one broker, as P1-X5 checks it, and five (P1-X3)."""

    X5 = "x5"
    X3 = "x3"


REDUCED: Final = {Part.X5: 1.0, Part.X3: 0.1}
"""The share of the paper's subscriptions with which an experiment is run at most."""

_SUBSCRIPTIONS: Final = 200_000
_EVENTS: Final = 100_000
_LEAST: Final = 60
_TIMING_EVENTS: Final = 2_000

_STEPS: Final[dict[Part, dict[Setting, int]]] = {
    # Points lie where each subscription of a class has had the same number of prunings.
    Part.X5: {"1": 12, "2": 16, "3": 12, "1-3": 12},
    # Brokers are set up once for a curve, and index their tables anew for each point.
    Part.X3: {"1": 8, "2": 8, "3": 12, "1-3": 12},
}

_WORTH_CUTTING: Final = 50_000
"""From so many subscriptions on a table's curve is cut in two: below, pruning twice costs more."""


class Chunk(msgspec.Struct, frozen=True, kw_only=True):
    """The points of a curve from the first step to the last, and all that they depend on."""

    part: Part
    experiment: PruningExperiment
    first: int
    last: int

    @property
    def label(self) -> str:
        """A name of its own for each chunk of a reproduction."""
        made = self.experiment
        return (
            f"{self.part}-{made.setting}-{made.subscriptions}-{made.seed}-{self.first}-{self.last}"
        )

    @property
    def work(self) -> int:
        """Roughly how long it takes, beside others: brokers cost more than a table."""
        points = self.last + 1 - self.first
        return self.experiment.subscriptions * (points * (6 if self.part == Part.X3 else 2) + 20)


class ChunkFigures(msgspec.Struct, frozen=True, kw_only=True):
    """What a chunk showed: points of a table, or of five brokers."""

    setting: Chunk
    points: tuple[PruningPoint, ...] = ()
    network_points: tuple[NetworkPoint, ...] = ()
    processor_seconds: float


FIGURES: Final[msgspec.json.Decoder[ChunkFigures]] = msgspec.json.Decoder(ChunkFigures)


def chunks(parts: Iterable[Part], *, scale: float, seed: int) -> list[Chunk]:
    """All that is to be run for these experiments, the longest first."""
    found = [
        chunk
        for part in parts
        for setting in SETTINGS
        for chunk in _cut(part, _experiment(part, setting, min(scale, REDUCED[part]), seed))
    ]
    return sorted(found, key=lambda chunk: -chunk.work)


def _experiment(part: Part, setting: Setting, share: float, seed: int) -> PruningExperiment:
    """As many events as in the paper, as soon as that is five for each subscription.

    Brokers get half an event for each, as in the paper.
    """
    subscriptions = max(round(_SUBSCRIPTIONS * share), _LEAST)
    events = subscriptions // 2 if part == Part.X3 else min(5 * subscriptions, _EVENTS)
    return PruningExperiment(
        setting=setting,
        subscriptions=subscriptions,
        events=events,
        steps=_STEPS[part][setting],
        timing_events=min(events, _TIMING_EVENTS),
        seed=seed,
    )


def _cut(part: Part, experiment: PruningExperiment) -> list[Chunk]:
    count = 2 if part == Part.X5 and experiment.subscriptions >= _WORTH_CUTTING else 1
    bounds = [(experiment.steps + 1) * number // count for number in range(count + 1)]
    return [
        Chunk(part=part, experiment=experiment, first=first, last=behind - 1)
        for first, behind in pairwise(bounds)
    ]


def run(chunk: Chunk) -> ChunkFigures:
    """Prune up to the chunk, then prune and measure."""
    begun = process_time()
    points: tuple[PruningPoint, ...] = ()
    network_points: tuple[NetworkPoint, ...] = ()
    if chunk.part == Part.X5:
        points = pruning_points(chunk.experiment, chunk.first, chunk.last)
    else:
        network_points = network_curve(chunk.experiment).points[chunk.first : chunk.last + 1]
    return ChunkFigures(
        setting=chunk,
        points=points,
        network_points=network_points,
        processor_seconds=process_time() - begun,
    )


def curves(figures: Iterable[ChunkFigures]) -> tuple[list[PruningCurve], list[NetworkCurve]]:
    """The curves of one broker and of five, put together from their chunks."""
    found = sorted(figures, key=lambda each: each.setting.first)
    tables = [each for each in found if each.setting.part == Part.X5]
    networks = [each for each in found if each.setting.part == Part.X3]
    return (
        _curves(tables, lambda each: each.points),
        _curves(networks, lambda each: each.network_points),
    )


def _curves(
    figures: Sequence[ChunkFigures], points: Callable[[ChunkFigures], tuple[P, ...]]
) -> list[Curve[P]]:
    made: list[Curve[P]] = []
    for setting in SETTINGS:
        own = [each for each in figures if each.setting.experiment.setting == setting]
        if own:
            experiment = own[0].setting.experiment
            made.append(
                Curve(
                    setting=setting,
                    subscriptions=experiment.subscriptions,
                    events=experiment.events,
                    points=tuple(point for each in own for point in points(each)),
                )
            )
    return made


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """All curves, and what they say about the paper's statements."""

    scale: float
    seed: int
    tables: list[PruningCurve]
    networks: list[NetworkCurve]
    checks: list[Check]
    processor_seconds: float


def report(runs: list[ChunkFigures], *, scale: float, seed: int) -> Report:
    """The curves with the checks of those experiments that are among them."""
    tables, networks = curves(runs)
    return Report(
        scale=scale,
        seed=seed,
        tables=tables,
        networks=networks,
        checks=checks(tables, networks),
        processor_seconds=sum(each.processor_seconds for each in runs),
    )
