"""`boolcast bench spark`: Boolcast on Spark against what a Spark user would write instead.

Every part runs in a process of its own, with its own Spark, confined to the processors it is
to use. Ratios are between figures of one such process, but for two: more cores against one,
and Spark against the engine by itself, which are measured one after the other.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import median
from typing import Final

import msgspec

from boolcast.lab.benchmarks.choices import EngineName, SparkPart, WorkloadName
from boolcast.lab.benchmarks.figures import BatchFigures, SparkFigures, SparkRatio
from boolcast.lab.benchmarks.side_by_side import measure_side_by_side
from boolcast.lab.benchmarks.spark.run import Line, Order
from boolcast.pipeline.spark.java import java_home

SparkBenchmarkFigures = SparkFigures | SparkRatio | BatchFigures

_ENGINE_EVENTS: Final = 100_000
_CONTENDERS: Final = {
    SparkPart.CLASS_1: 4,
    SparkPart.AUCTION: 8,
    SparkPart.DIVERSE: 2,
    SparkPart.CORES: 2,
    SparkPart.STREAM: 3,
}
_DECODER: Final = msgspec.json.Decoder(Line)

Rates = dict[tuple[str, int], SparkFigures]
"""The figures of one part by contender and number of cores."""


class SparkChoice(msgspec.Struct, frozen=True, kw_only=True):
    """What to measure; `cores` are how many processors Spark gets, at most what there are."""

    parts: Sequence[SparkPart]
    subscriptions: int
    events: int
    theta_subscriptions: int
    theta_events: int
    cores: int
    repeats: int
    seed: int

    @property
    def begins(self) -> int:
        """How often `run` says that something begins."""
        return sum(
            len(self.cores_of(part)) * (2 + _CONTENDERS[part] * (1 + self.repeats))
            + 2 * (part is SparkPart.AUCTION)
            for part in self.parts
        )

    def cores_of(self, part: SparkPart) -> list[int]:
        """With how many cores a part is measured."""
        return [1, self.cores] if part is SparkPart.CORES else [self.cores]


def run(choice: SparkChoice, begin: Callable[[str], None]) -> Iterator[SparkBenchmarkFigures]:
    """Measure part by part; `begin` is told what comes next. Raises JavaError."""
    java_home()
    for part in choice.parts:
        found: Rates = {}
        for cores in choice.cores_of(part):
            for figures in _measured(_order(choice, part, cores), begin):
                found[figures.contender, cores] = figures
                yield figures
        if part is SparkPart.AUCTION:
            begin("the engine by itself, on auction")
            yield (alone := _engine(choice, 1))
            begin(f"{choice.cores} engines by themselves, on auction")
            busy = _engine(choice, choice.cores)
            yield from _engine_ratios(found, alone, busy, choice.cores)
        yield from _RATIOS[part](found, choice.cores)


def _order(choice: SparkChoice, part: SparkPart, cores: int) -> Order:
    return Order(
        part=part,
        processors=tuple(processors()[:cores]),
        subscriptions=choice.subscriptions,
        events=choice.events,
        theta_subscriptions=choice.theta_subscriptions,
        theta_events=choice.theta_events,
        repeats=choice.repeats,
        seed=choice.seed,
    )


def processors() -> list[int]:
    """The processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def _measured(order: Order, begin: Callable[[str], None]) -> Iterator[SparkFigures]:
    """What a process of its own finds; what it complains of goes to our standard error."""
    command = [sys.executable, "-m", "boolcast.lab.benchmarks.spark.run"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:  # noqa: S603 - ourselves
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(msgspec.json.encode(order))
        process.stdin.close()
        try:
            for line in process.stdout:
                told = _DECODER.decode(line)
                if told.begins is not None:
                    begin(told.begins)
                if told.figures is not None:
                    yield told.figures
        except BaseException:
            process.terminate()
            raise
    assert process.returncode == 0, f"a process of the benchmark ended with {process.returncode}"


def _engine(choice: SparkChoice, cores: int) -> BatchFigures:
    """One of as many engines as there are cores, all at work at once: the median one."""
    figures = measure_side_by_side(
        EngineName.ACCESS,
        WorkloadName.AUCTION,
        subscriptions=choice.subscriptions,
        events=min(choice.events, _ENGINE_EVENTS),
        repeats=choice.repeats,
        seed=choice.seed,
        processors=processors()[:cores],
    )
    return sorted(figures, key=lambda each: each.events_per_second)[len(figures) // 2]


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


def _engine_ratios(
    found: Rates, alone: BatchFigures, busy: BatchFigures, cores: int
) -> Iterator[SparkRatio]:
    """What is left of the engine on Spark.

    `busy` is an engine while as many others are at work as there are cores, as Spark's are;
    `alone` has the machine to itself, which is more than a core where processors share one.
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
        what="the median of its batches, times the longest: less than half were a stall",
        ratio=median(seconds) / max(seconds),
        target=0.5,
    )


_RATIOS: Final[Mapping[SparkPart, Callable[[Rates, int], Iterator[SparkRatio]]]] = {
    SparkPart.CLASS_1: _class_1_ratios,
    SparkPart.AUCTION: _auction_ratios,
    SparkPart.DIVERSE: _diverse_ratios,
    SparkPart.CORES: _core_ratios,
    SparkPart.STREAM: _stream_ratios,
}
