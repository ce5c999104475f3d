"""The engines on one workload: throughput from Arrow to Arrow, load time and memory."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Final

import pyarrow as pa
from msgspec.structs import replace

from boolcast.lab.benchmarks.choices import EngineName, WorkloadName
from boolcast.lab.benchmarks.figures import BatchFigures, GrowthFigures
from boolcast.lab.benchmarks.match.engines import (
    ENGINES,
    WORKLOADS,
    count_matches,
    footprint,
    load,
    pairs,
    settle,
)
from boolcast.lab.one_core import median_seconds, seconds
from boolcast.matching.inputs.protocol import Engine

BATCH_EVENTS: Final = 10_000

# Each of its events has about 80,000 matches at 200,000 subscriptions: a hundredth is enough.
_FEWER_EVENTS: Final = {WorkloadName.UNSELECTIVE: 100}

_COMPARED_EVENTS: Final = 4
_FEWEST_EVENTS: Final = 2

# Enough to compile every kernel.
_FIRST_SUBSCRIPTIONS: Final = 100


class SharedWorkload:
    """One workload of one size, on which engines are measured one after the other.

    Measured events come after those that an engine may learn from.
    """

    def __init__(self, workload: WorkloadName, subscriptions: int, events: int, seed: int) -> None:
        made = WORKLOADS[workload](subscriptions, seed)
        events = max(events // _FEWER_EVENTS.get(workload, 1), _FEWEST_EVENTS)
        self._workload = workload
        self._subscriptions = made.subscriptions(0, subscriptions)
        self._lesson = made.events(0, min(events, BATCH_EVENTS))
        self._events = made.events(len(self._lesson), events)
        self._compared: pa.Table | None = None
        self._agreed: dict[EngineName, set[tuple[int, str]]] = {}

    def measure(
        self, name: EngineName, repeats: int, before: Callable[[], object] = lambda: None
    ) -> BatchFigures:
        """Load the engine, let it settle, and take the median of several runs.

        `before` is called just before the first of them.
        """
        self._compile(name)
        engine = ENGINES[name].make()
        load_seconds = seconds(lambda: self._load(engine, self._subscriptions))
        lesson = self._share(self._lesson, name)
        settle_seconds = seconds(lambda: count_matches(engine, [lesson]))
        settle_seconds += seconds(lambda: settle(engine))
        events = self._share(self._events, name)
        batches = [events.slice(at, BATCH_EVENTS) for at in range(0, len(events), BATCH_EVENTS)]
        at_first = footprint(engine)
        matches = count_matches(engine, batches)
        after = footprint(engine)
        before()
        taken = median_seconds(lambda: count_matches(engine, batches), repeats)
        self._compare(name, engine, events)
        size = len(self._subscriptions)
        return BatchFigures(
            workload=self._workload,
            subscriptions=size,
            engine=name,
            events=len(events),
            load_seconds=load_seconds,
            settle_seconds=settle_seconds,
            events_per_second=len(events) / taken,
            microseconds_per_event=taken / len(events) * 1e6,
            candidates_per_event=_each(
                _difference(after.candidates, at_first.candidates), len(events)
            ),
            matches_per_event=matches / len(events),
            structure_bytes=_each(after.structure_bytes, size),
            filter_bytes=_each(after.filter_bytes, size),
            id_bytes=_each(after.id_bytes, size),
            text_bytes=_each(after.text_bytes, size),
        )

    def _compare(self, name: EngineName, engine: Engine, events: pa.Table) -> None:
        """An engine that finds other matches than the others is a bug."""
        if self._compared is None:
            self._compared = _with_matches(engine, events)
        found = pairs(engine, self._compared)
        for other, expected in self._agreed.items():
            assert found == expected, f"{name} and {other} disagree"
        self._agreed[name] = found

    def _compile(self, name: EngineName) -> None:
        """Run a small engine of the same kind first, so that no figure includes compilation."""
        engine = ENGINES[name].make()
        self._load(engine, self._subscriptions.slice(0, _FIRST_SUBSCRIPTIONS))
        count_matches(engine, [self._share(self._lesson, name).slice(0, _FIRST_SUBSCRIPTIONS)])
        settle(engine)

    def _load(self, engine: Engine, subscriptions: pa.Table) -> None:
        load(engine, subscriptions)
        count_matches(engine, [self._lesson.slice(0, 1)])

    def _share(self, events: pa.Table, name: EngineName) -> pa.Table:
        return events.slice(0, max(len(events) // ENGINES[name].fewer_events, _FEWEST_EVENTS))


def _with_matches(engine: Engine, events: pa.Table) -> pa.Table:
    """The first events with a match, then others: agreeing on nothing would prove little."""
    matching = engine.match_batch(events).read_all()["event"].unique().to_pylist()
    rows = dict.fromkeys([*sorted(matching), *range(len(events))])
    return events.take(list(rows)[:_COMPARED_EVENTS])


def with_ratios(figures: Sequence[BatchFigures]) -> list[BatchFigures]:
    """The figures of one workload and size, with their ratios to counting and scan."""
    taken = {each.engine: each.microseconds_per_event for each in figures}

    def times(engine: EngineName, each: BatchFigures) -> float | None:
        return taken[engine] / each.microseconds_per_event if engine in taken else None

    return [
        replace(
            each,
            times_counting=times(EngineName.COUNTING, each),
            times_scan=times(EngineName.SCAN, each),
        )
        for each in figures
    ]


def growth(figures: Sequence[BatchFigures]) -> list[GrowthFigures]:
    """How the time per candidate or match grows from each size to the next."""
    found: list[GrowthFigures] = []
    series: dict[tuple[WorkloadName, EngineName], list[BatchFigures]] = {}
    for each in sorted(figures, key=lambda each: each.subscriptions):
        if each.nanoseconds_per_look is not None:
            series.setdefault((each.workload, each.engine), []).append(each)
    for (workload, engine), of_sizes in series.items():
        for fewer, more in pairwise(of_sizes):
            before, after = fewer.nanoseconds_per_look, more.nanoseconds_per_look
            assert before is not None
            assert after is not None
            found.append(
                GrowthFigures(
                    workload=workload,
                    engine=engine,
                    fewer_subscriptions=fewer.subscriptions,
                    more_subscriptions=more.subscriptions,
                    fewer_nanoseconds=before,
                    more_nanoseconds=after,
                    growth=after / before,
                )
            )
    return found


def _difference(after: int | None, before: int | None) -> int | None:
    return None if after is None or before is None else after - before


def _each(total: int | None, count: int) -> float | None:
    return None if total is None else total / count
