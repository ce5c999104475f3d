"""The ratios that `boolcast bench spark` reports, from the figures of each part."""

from collections.abc import Callable, Iterator, Mapping
from statistics import median
from typing import Final

from boolcast.lab.benchmarks.choices import SparkPart
from boolcast.lab.benchmarks.figures import BatchFigures, SparkFigures, SparkRatio

Rates = dict[tuple[str, int], SparkFigures]
"""The figures of one part by contender and number of cores."""


def _times(found: Rates, ours: str, theirs: str, cores: int) -> float:
    one, other = found[ours, cores], found[theirs, cores]
    return one.scaled_events_per_second / other.scaled_events_per_second


def _class_1_ratios(found: Rates, cores: int) -> Iterator[SparkRatio]:
    yield SparkRatio(
        what="class 1: boolcast, times the broadcast join",
        ratio=_times(found, "boolcast", "join", cores),
        target=0.5,
    )
    yield SparkRatio(
        what="class 1: boolcast from files, times the broadcast join",
        ratio=_times(found, "boolcast from files", "join", cores),
    )
    yield SparkRatio(
        what="class 1: boolcast, times bare transport to Python",
        ratio=_times(found, "boolcast", "transport", cores),
    )


def _auction_ratios(found: Rates, cores: int) -> Iterator[SparkRatio]:
    yield SparkRatio(
        what="auction: boolcast, times the union of joins split by hand",
        ratio=_times(found, "boolcast", "joins", cores),
        target=1.0,
    )
    yield SparkRatio(
        what="auction: boolcast, times that union without events past the bound of all filters",
        ratio=_times(found, "boolcast", "joins with a bound", cores),
    )
    for form in ("rows", "lists"):
        yield SparkRatio(
            what=f"auction: with matches written out as {form}, times counted",
            ratio=_times(found, form, "boolcast", cores),
        )


def engine_ratios(
    found: Rates, alone: BatchFigures, busy: BatchFigures, cores: int
) -> Iterator[SparkRatio]:
    """How much of the engine's speed is left on Spark.

    `busy` is an engine measured while the other cores work too, as Spark's workers do. `alone`
    has the machine to itself, which is more than one core if processors share cores.
    """
    targets = {"boolcast": None, "boolcast from files": None, "boolcast from more files": 0.6}
    for contender, target in targets.items():
        ours = found[contender, cores]
        each = ours.events_per_second / cores
        yield SparkRatio(
            what=f"auction: {contender} on Spark, each core, times the engine by itself on each",
            ratio=each / busy.events_per_second,
            target=target,
        )
        if ours.core_microseconds_per_event is not None:
            yield SparkRatio(
                what="the same by processor time, which others on the machine change less",
                ratio=busy.microseconds_per_event / ours.core_microseconds_per_event,
            )
        yield SparkRatio(
            what="the same against one engine that has the machine to itself",
            ratio=each / alone.events_per_second,
        )


def _diverse_ratios(found: Rates, cores: int) -> Iterator[SparkRatio]:
    yield SparkRatio(
        what="diverse: boolcast, times the theta join, extrapolated",
        ratio=_times(found, "boolcast", "theta join", cores),
        target=50.0,
    )


def _core_ratios(found: Rates, cores: int) -> Iterator[SparkRatio]:
    for contender in ("boolcast", "boolcast from files"):
        more, one = found[contender, cores], found[contender, 1]
        yield SparkRatio(
            what=f"auction: {contender} on {cores} cores, times one core",
            ratio=more.events_per_second / one.events_per_second,
            target=0.85 * cores,
        )


def _stream_ratios(found: Rates, cores: int) -> Iterator[SparkRatio]:
    yield SparkRatio(
        what="auction: a stream, times the same matches written at once",
        ratio=_times(found, "stream", "batch", cores),
        target=0.7,
    )
    yield SparkRatio(
        what="auction: a stream whose index changes after each batch, times one without",
        ratio=_times(found, "stream with changes", "stream", cores),
    )
    seconds = found["stream with changes", cores].batch_seconds
    yield SparkRatio(
        what="the median of its batches, times the longest: less than half means a stall",
        ratio=median(seconds) / max(seconds),
        target=0.5,
    )


RATIOS: Final[Mapping[SparkPart, Callable[[Rates, int], Iterator[SparkRatio]]]] = {
    SparkPart.CLASS_1: _class_1_ratios,
    SparkPart.AUCTION: _auction_ratios,
    SparkPart.DIVERSE: _diverse_ratios,
    SparkPart.CORES: _core_ratios,
    SparkPart.STREAM: _stream_ratios,
}
