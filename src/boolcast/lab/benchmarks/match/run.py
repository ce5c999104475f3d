"""`boolcast bench match`: what was chosen, measured part by part."""

from collections.abc import Callable, Iterator, Sequence

import msgspec

from boolcast.lab.benchmarks.choices import EngineName, RivalName, WorkloadName
from boolcast.lab.benchmarks.figures import BatchFigures, Figures
from boolcast.lab.benchmarks.match.batches import Field, growth, with_ratios
from boolcast.lab.benchmarks.match.comparison import BATCH_EVENTS, ClassOne
from boolcast.lab.benchmarks.match.single_events import measure_single
from boolcast.lab.one_core import one_core


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """What to measure: workloads in all sizes, single calls, rivals; of each as told.

    `single` and `against` are measured with the first of the sizes.
    """

    workloads: Sequence[WorkloadName] = ()
    sizes: Sequence[int]
    engines: Sequence[EngineName]
    single: bool = False
    against: Sequence[RivalName] = ()
    events: int
    repeats: int
    seed: int

    @property
    def parts(self) -> int:
        """How often `run` says that a part begins."""
        fields = len(self.workloads) * len(self.sizes)
        rivals = 1 + len(self.against) if self.against else 0
        return fields * (1 + len(self.engines)) + self.single * len(self.engines) + rivals


def run(choice: Choice, begin: Callable[[str], None]) -> Iterator[Figures]:
    """Measure on one core; `begin` is told what comes next, before it does."""
    with one_core():
        yield from _batches(choice, begin)
        yield from _single(choice, begin)
        yield from _rivals(choice, begin)


def _batches(choice: Choice, begin: Callable[[str], None]) -> Iterator[Figures]:
    for workload in choice.workloads:
        of_sizes: list[BatchFigures] = []
        for size in choice.sizes:
            title = f"{workload} with {size:,} subscriptions"
            begin(f"drawing {title}")
            field = Field(workload, size, choice.events, choice.seed)
            of_engines: list[BatchFigures] = []
            for engine in choice.engines:
                begin(f"{engine} on {title}")
                of_engines.append(field.measure(engine, choice.repeats))
            compared = with_ratios(of_engines)
            yield from compared
            of_sizes += compared
        yield from growth(of_sizes)


def _single(choice: Choice, begin: Callable[[str], None]) -> Iterator[Figures]:
    for engine in choice.engines if choice.single else ():
        begin(f"single calls of {engine}")
        yield measure_single(engine, choice.sizes[0], choice.events, choice.repeats, choice.seed)


def _rivals(choice: Choice, begin: Callable[[str], None]) -> Iterator[Figures]:
    if not choice.against:
        return
    begin("access on class 1")
    class_one = ClassOne(
        choice.sizes[0], min(choice.events, BATCH_EVENTS), choice.repeats, choice.seed
    )
    yield class_one.access
    for name in choice.against:
        begin(f"{name} on class 1")
        yield class_one.measure(name)
