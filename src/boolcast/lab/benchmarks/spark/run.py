"""`boolcast bench spark`: start a process for each part, collect its figures, compare them.

Each part has its own process and its own Spark, confined to its processors (`part_process`).
Ratios compare figures of one process, with two exceptions that are measured one after the other:
several cores against one, and Spark against the engine by itself.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final

import msgspec

from boolcast.lab.benchmarks.choices import EngineName, SparkPart, WorkloadName
from boolcast.lab.benchmarks.figures import BatchFigures, SparkBenchmarkFigures, SparkFigures
from boolcast.lab.benchmarks.match.batches import SharedWorkload
from boolcast.lab.benchmarks.spark.order import Line, Order
from boolcast.lab.benchmarks.spark.parallel import in_parallel
from boolcast.lab.benchmarks.spark.ratios import RATIOS, Rates, engine_ratios
from boolcast.pipeline.spark.java import java_home

_ENGINE_EVENTS: Final = 100_000
_CONTENDERS: Final = {
    SparkPart.CLASS_1: 4,
    SparkPart.AUCTION: 8,
    SparkPart.DIVERSE: 2,
    SparkPart.CORES: 2,
    SparkPart.STREAM: 3,
}
_DECODER: Final = msgspec.json.Decoder(Line)


class SparkChoice(msgspec.Struct, frozen=True, kw_only=True):
    """What to measure; `cores` is the number of processors that Spark gets."""

    parts: Sequence[SparkPart]
    subscriptions: int
    events: int
    theta_subscriptions: int
    theta_events: int
    cores: int
    repeats: int
    seed: int

    @property
    def steps(self) -> int:
        """How many steps `run` announces."""
        return sum(
            len(self.cores_of(part)) * (2 + _CONTENDERS[part] * (1 + self.repeats))
            + 2 * (part is SparkPart.AUCTION)
            for part in self.parts
        )

    def cores_of(self, part: SparkPart) -> list[int]:
        """The numbers of cores that a part is measured with."""
        return [1, self.cores] if part is SparkPart.CORES else [self.cores]


def run(choice: SparkChoice, begin: Callable[[str], None]) -> Iterator[SparkBenchmarkFigures]:
    """Measure part by part; `begin` gets the title of each step. Raises JavaError."""
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
            yield from engine_ratios(found, alone, busy, choice.cores)
        yield from RATIOS[part](found, choice.cores)


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
    """The figures of one process; its standard error is ours."""
    command = [sys.executable, "-m", "boolcast.lab.benchmarks.spark.part_process"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:  # noqa: S603 - ourselves
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(msgspec.json.encode(order))
        process.stdin.close()
        try:
            for line in process.stdout:
                message = _DECODER.decode(line)
                if message.begins is not None:
                    begin(message.begins)
                if message.figures is not None:
                    yield message.figures
        except BaseException:
            process.terminate()
            raise
    assert process.returncode == 0, f"a process of the benchmark ended with {process.returncode}"


def _engine(choice: SparkChoice, cores: int) -> BatchFigures:
    """The median of as many engines as there are cores, all at work at once."""
    figures = in_parallel(partial(measure_access, choice), processors()[:cores])
    return sorted(figures, key=lambda each: each.events_per_second)[len(figures) // 2]


def measure_access(choice: SparkChoice, before: Callable[[], object]) -> BatchFigures:
    """The access engine by itself on the auction."""
    events = min(choice.events, _ENGINE_EVENTS)
    auction = SharedWorkload(
        WorkloadName.AUCTION, choice.subscriptions, events=events, seed=choice.seed
    )
    return auction.measure(EngineName.ACCESS, choice.repeats, before=before)
