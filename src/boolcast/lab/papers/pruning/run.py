"""The experiments of P1 on pruning: the curves of each, and the chunks that run separately.

A curve takes minutes, and a point depends on nothing but the table at that step. So a long curve
is split into chunks, each of which prunes again up to where it begins.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from time import process_time
from typing import Final, Literal

import msgspec

from boolcast.lab.papers.pruning.experiment import (
    SETTINGS,
    Curve,
    NetworkCurve,
    NetworkPoint,
    P,
    PruningCurve,
    PruningExperiment,
    PruningPoint,
    Setting,
)
from boolcast.lab.papers.pruning.network import network_curve
from boolcast.lab.papers.pruning.one_broker import pruning_points
from boolcast.lab.papers.runs import Experiment

ExperimentName = Literal["x5", "x3"]

_REDUCED: Final[Mapping[ExperimentName, float]] = {"x5": 1.0, "x3": 0.1}
"""The largest share of the paper's subscriptions that an experiment runs with."""

_SUBSCRIPTIONS: Final = 200_000
_EVENTS: Final = 100_000
_LEAST: Final = 60
_TIMING_EVENTS: Final = 2_000

_STEPS: Final[Mapping[ExperimentName, Mapping[Setting, int]]] = {
    # Points lie where every subscription of a class has had the same number of prunings.
    "x5": {"1": 12, "2": 16, "3": 12, "1-3": 12},
    # Brokers are set up once for a curve and rebuild their indexes for each point.
    "x3": {"1": 8, "2": 8, "3": 12, "1-3": 12},
}

_WORTH_SPLITTING: Final = 50_000
"""From this many subscriptions on, a curve is split in two; below, pruning twice costs more."""


class Chunk(msgspec.Struct, frozen=True, kw_only=True):
    """The points of a curve from the first step to the last, and all that they depend on."""

    part: ExperimentName
    experiment: PruningExperiment
    first: int
    last: int

    @property
    def label(self) -> str:
        """A name that no other chunk of the reproduction has."""
        made = self.experiment
        return (
            f"{self.part}-{made.setting}-{made.subscriptions}-{made.seed}-{self.first}-{self.last}"
        )

    @property
    def work(self) -> int:
        """Roughly how long it takes; brokers cost more than a table."""
        points = self.last + 1 - self.first
        return self.experiment.subscriptions * (points * (6 if self.part == "x3" else 2) + 20)


class ChunkFigures(msgspec.Struct, frozen=True, kw_only=True):
    """The points of a chunk, either of one table or of five brokers."""

    setting: Chunk
    points: tuple[PruningPoint, ...] = ()
    network_points: tuple[NetworkPoint, ...] = ()
    processor_seconds: float


FIGURES: Final[msgspec.json.Decoder[ChunkFigures]] = msgspec.json.Decoder(ChunkFigures)


def _chunks(part: ExperimentName, *, scale: float, seed: int) -> list[Chunk]:
    share = min(scale, _REDUCED[part])
    return [
        chunk
        for setting in SETTINGS
        for chunk in _chunks_of(part, _experiment(part, setting, share, seed))
    ]


def _experiment(
    part: ExperimentName, setting: Setting, share: float, seed: int
) -> PruningExperiment:
    """Five events for each subscription, up to the paper's number.

    Five brokers get half an event for each subscription, as in the paper.
    """
    subscriptions = max(round(_SUBSCRIPTIONS * share), _LEAST)
    events = subscriptions // 2 if part == "x3" else min(5 * subscriptions, _EVENTS)
    return PruningExperiment(
        setting=setting,
        subscriptions=subscriptions,
        events=events,
        steps=_STEPS[part][setting],
        timing_events=min(events, _TIMING_EVENTS),
        seed=seed,
    )


def _chunks_of(part: ExperimentName, experiment: PruningExperiment) -> list[Chunk]:
    count = 2 if part == "x5" and experiment.subscriptions >= _WORTH_SPLITTING else 1
    bounds = [(experiment.steps + 1) * number // count for number in range(count + 1)]
    return [
        Chunk(part=part, experiment=experiment, first=first, last=behind - 1)
        for first, behind in pairwise(bounds)
    ]


EXPERIMENTS: Final[Mapping[str, Experiment[Chunk]]] = {
    "x5": partial(_chunks, "x5"),
    "x3": partial(_chunks, "x3"),
}
"""One broker, as P1-X5 checks it, and five (P1-X3)."""


def run(chunk: Chunk) -> ChunkFigures:
    """Prune up to the start of the chunk, then prune and measure."""
    begun = process_time()
    points: tuple[PruningPoint, ...] = ()
    network_points: tuple[NetworkPoint, ...] = ()
    if chunk.part == "x5":
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
    """The curves of one broker and of five, joined from their chunks."""
    found = sorted(figures, key=lambda each: each.setting.first)
    tables = [each for each in found if each.setting.part == "x5"]
    networks = [each for each in found if each.setting.part == "x3"]
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
