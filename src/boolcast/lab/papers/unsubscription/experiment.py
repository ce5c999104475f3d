"""The experiments of P4 on unsubscription: which runs each has, at which size, run on all cores.

P4-X3 is run at the paper's size, the others at the reduced size of P4-X11, which is enough for
ratios. Runs tell how far they are, which takes processes of our own rather than Spark's.
"""

import gc
import multiprocessing
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from multiprocessing.context import SpawnProcess
from multiprocessing.queues import SimpleQueue
from time import sleep
from typing import Final

import msgspec

from boolcast.errors import WorkerError
from boolcast.lab.papers.checks import Check
from boolcast.lab.papers.reproduction import Result, Runner
from boolcast.lab.papers.unsubscription.checks import checks
from boolcast.lab.papers.unsubscription.run import RunFigures, Setting, run
from boolcast.lab.papers.unsubscription.workload import Load, Placement
from boolcast.simulation.network.costs import Costs


class Part(StrEnum):
    """The experiments, by the numbers of P4's."""

    X2 = "x2"
    X3 = "x3"
    X4 = "x4"
    X5 = "x5"
    X6 = "x6"
    X9 = "x9"


REDUCED: Final = {
    Part.X2: 1 / 8,
    Part.X3: 1.0,
    Part.X4: 0.076,
    Part.X5: 1 / 8,
    Part.X6: 1 / 16,
    Part.X9: 0.17,
}
"""The share of the paper's subscriptions with which an experiment is run at most.

All have 5,000 subscriptions or more, the one with the covering degree 700 10,000, and all but
P4-X9 80 children a root or more.
"""

_LEAST_DEGREE: Final = 80
_TABLE_2_NONE_MS: Final = 7.9
"""What Table II gives for a publication without covering."""


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
        found += _SETTINGS[part](min(scale, REDUCED[part]), seed)
    return sorted(found, key=lambda each: -each.load.subscriptions * each.load.seconds)


def _sized(share: float, roots: int, degree: int, unsubscriptions: int = 20) -> Load:
    """The load with that share of the subscriptions.

    The children of a root become fewer, down to 80; below, the roots do, and those that go.
    """
    fewer = min(1.0, share * degree / _LEAST_DEGREE)
    return Load(
        roots=max(round(roots * fewer), 2),
        degree=max(round(degree * share), _LEAST_DEGREE),
        unsubscriptions=max(round(unsubscriptions * fewer), 1),
        warm_up_seconds=max(round(200 * fewer), 20),
    )


def _long_enough(loads: Sequence[Load], costs: Costs) -> list[Load]:
    """The same time for all: until the queues are calm even if each child is told everywhere."""
    told = (costs.subscription_matching_ms + costs.subscription_covering_ms) / 1_000
    seconds = max(
        each.unsubscription_seconds
        + each.unsubscriptions * each.degree * told / (1 - costs.publication_ms / each.interval_ms)
        for each in loads
    )
    return [msgspec.structs.replace(each, seconds_after=round(seconds) + 20.0) for each in loads]


def _main_comparison(share: float, seed: int) -> list[Setting]:
    (load,) = _long_enough([_sized(share, 38, 2_100)], Costs())
    return [
        Setting(part=Part.X3, policy=policy, load=load, seed=seed)
        for policy in ("active", "lazy", "packing", "incremental")
    ]


def _benefit_of_covering(share: float, seed: int) -> list[Setting]:
    """20 roots make the 42,000 subscriptions of P4-X2; an event costs time for each entry."""
    load = msgspec.structs.replace(
        _sized(share, 20, 2_100),
        unsubscriptions=0,
        interval_ms=20.0,
        warm_up_seconds=1_000.0 * share,
        seconds_after=1_000.0 * share,
    )
    costs = Costs(publication_ms=0.0, table_entry_ms=_TABLE_2_NONE_MS / load.subscriptions)
    return [
        Setting(part=Part.X2, policy=policy, load=load, seed=seed, costs=costs)
        for policy in ("active", "lazy", "none")
    ]


def _numbers_of_removals(share: float, seed: int) -> list[Setting]:
    loads = [_sized(share, 75, 1_065, removals) for removals in (20, 40, 60)]
    return _both(Part.X4, _for_a_minute(loads), seed)


def _covering_degrees(share: float, seed: int) -> list[Setting]:
    loads = [_sized(share, *size) for size in ((114, 700), (57, 1_400), (38, 2_100))]
    return _both(Part.X5, _for_a_minute(loads), seed)


def _for_a_minute(loads: Iterable[Load]) -> list[Load]:
    """Sweeps compare delays in the thick of it, and tables at the end."""
    return [msgspec.structs.replace(each, seconds_after=60.0) for each in loads]


def _thresholds(share: float, seed: int) -> list[Setting]:
    (load,) = _long_enough([_sized(share, 38, 2_100)], Costs())
    return [
        Setting(part=Part.X6, policy="incremental", load=load, seed=seed, threshold=threshold)
        for threshold in (0.9, 0.5, 0.1)
    ]


def _placements(share: float, seed: int) -> list[Setting]:
    """P4-X8's 30,000 subscriptions with 30 children a root: 968 roots of which 300 go.

    A third of the children accept an event: with 30 it cannot be 42. An event comes every 400 ms,
    and there are 22 for each root before the first goes.
    """
    roots = max(round(968 * share), 4)
    removals = max(round(300 * share), 1)
    placements: tuple[Placement, ...] = ("scattered", "clustered")
    loads = [
        Load(
            roots=roots,
            degree=30,
            matching=10.0,
            unsubscriptions=removals,
            unsubscription_seconds=0.5 * removals,
            interval_ms=400.0,
            warm_up_seconds=22 * roots * 0.4,
            placement=placement,
        )
        for placement in placements
    ]
    return _both(Part.X9, _long_enough(loads, Costs()), seed)


def _both(part: Part, loads: Iterable[Load], seed: int) -> list[Setting]:
    """Each load with the two policies. Plain removal has no use for history: 20 s of it will do."""
    short = {"active": 20.0, "incremental": float("inf")}
    return [
        Setting(
            part=part,
            policy=policy,
            load=msgspec.structs.replace(load, warm_up_seconds=min(load.warm_up_seconds, seconds)),
            seed=seed,
        )
        for load in loads
        for policy, seconds in short.items()
    ]


_SETTINGS: Final[dict[Part, Callable[[float, int], list[Setting]]]] = {
    Part.X2: _benefit_of_covering,
    Part.X3: _main_comparison,
    Part.X4: _numbers_of_removals,
    Part.X5: _covering_degrees,
    Part.X6: _thresholds,
    Part.X9: _placements,
}


def report(runs: list[RunFigures], *, scale: float, seed: int) -> Report:
    """The runs with the checks of those experiments that are among them."""
    return Report(scale, seed, runs, checks(runs))


FIGURES: Final = msgspec.json.Decoder(RunFigures)


def in_processes(cores: int | None) -> Runner[Setting, RunFigures]:
    """Carries out each run in a process of its own, so many at a time, or as there are cores."""

    def results(waiting: Sequence[Setting]) -> Iterator[Result[RunFigures]]:
        context = multiprocessing.get_context("spawn")
        told: SimpleQueue[Result[RunFigures]] = context.SimpleQueue()
        left = list(waiting)[::-1]
        running: dict[str, SpawnProcess] = {}
        try:
            while left or running:
                while left and len(running) < (cores or os.cpu_count() or 1):
                    setting = left.pop()
                    process = context.Process(target=_run_apart, args=(setting, told), daemon=True)
                    process.start()
                    running[setting.label] = process
                while not told.empty():
                    label, result = told.get()
                    if not isinstance(result, float):
                        running.pop(label).join()
                    yield label, result
                for label, process in running.items():
                    if process.exitcode:
                        raise WorkerError(
                            f"the process of the run {label} ended with {process.exitcode}"
                        )
                sleep(0.1)
        finally:
            for process in running.values():
                process.terminate()

    return results


def _run_apart(setting: Setting, told: "SimpleQueue[Result[RunFigures]]") -> None:
    # Brokers make hardly any cycles, and to look for them in a gigabyte takes a third of the time.
    gc.disable()
    last = 0.0

    def tell(share: float) -> None:
        nonlocal last
        if share - last >= 0.01:
            last = share
            told.put((setting.label, share))

    told.put((setting.label, run(setting, tell)))
