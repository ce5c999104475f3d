"""`boolcast bench match`: measure what was chosen, step by step, on one core."""

from collections.abc import Callable, Iterator, Sequence

import msgspec

from boolcast.lab.benchmarks.choices import AlternativeName, EngineName, WorkloadName
from boolcast.lab.benchmarks.figures import BatchFigures, Figures
from boolcast.lab.benchmarks.match.batches import SharedWorkload, growth, with_ratios
from boolcast.lab.benchmarks.match.class_one import BATCH_EVENTS, ClassOne
from boolcast.lab.benchmarks.match.single_events import measure_single
from boolcast.lab.one_core import one_core


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """What to measure: engines on workloads of several sizes, single calls, alternatives.

    `single` and `against` use the first of the sizes.
    """

    workloads: Sequence[WorkloadName] = ()
    sizes: Sequence[int]
    engines: Sequence[EngineName]
    single: bool = False
    against: Sequence[AlternativeName] = ()
    events: int
    repeats: int
    seed: int

    @property
    def steps(self) -> int:
        """How many steps `run` announces."""
        workloads = len(self.workloads) * len(self.sizes)
        alternatives = 1 + len(self.against) if self.against else 0
        single = self.single * len(self.engines)
        return workloads * (1 + len(self.engines)) + single + alternatives


def run(choice: Choice, begin: Callable[[str], None]) -> Iterator[Figures]:
    """Measure on one core; `begin` gets the title of each step before it begins."""
    with one_core():
        yield from _batches(choice, begin)
        yield from _single(choice, begin)
        yield from _alternatives(choice, begin)


def _batches(choice: Choice, begin: Callable[[str], None]) -> Iterator[Figures]:
    for workload in choice.workloads:
        of_sizes: list[BatchFigures] = []
        for size in choice.sizes:
            title = f"{workload} with {size:,} subscriptions"
            begin(f"drawing {title}")
            shared = SharedWorkload(workload, size, choice.events, choice.seed)
            of_engines: list[BatchFigures] = []
            for engine in choice.engines:
                begin(f"{engine} on {title}")
                of_engines.append(shared.measure(engine, choice.repeats))
            compared = with_ratios(of_engines)
            yield from compared
            of_sizes += compared
        yield from growth(of_sizes)


def _single(choice: Choice, begin: Callable[[str], None]) -> Iterator[Figures]:
    for engine in choice.engines if choice.single else ():
        begin(f"single calls of {engine}")
        yield measure_single(engine, choice.sizes[0], choice.events, choice.repeats, choice.seed)


def _alternatives(choice: Choice, begin: Callable[[str], None]) -> Iterator[Figures]:
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
