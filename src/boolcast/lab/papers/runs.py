"""The runs of a reproduction: choose them, carry out those that are missing, keep the figures.

A paper maps the names of its experiments to functions that list runs. Each run has a setting,
which holds all that the run depends on, and gives figures, which repeat the setting. The figures
of a finished run go into a folder as JSON. A reproduction that was stopped therefore continues
where it stopped, and one with another setting never picks up figures that are not its own.

A *runner* carries out the missing runs: `here` one after the other, `in_processes` several at a
time, and `spark_runner.by_spark` as tasks of a Spark job.
"""

import gc
import multiprocessing
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from multiprocessing.context import SpawnProcess
from multiprocessing.queues import SimpleQueue
from pathlib import Path
from time import sleep
from typing import Protocol, TypeVar

import msgspec

from boolcast.errors import UsageError, WorkerError


class Setting(Protocol):
    """All that a run depends on."""

    @property
    def label(self) -> str:
        """A name that no other run of the reproduction has."""

    @property
    def work(self) -> float:
        """Roughly how long the run takes, compared with the others of the paper."""


class Figures(Protocol):
    """What a run measured."""

    @property
    def setting(self) -> Setting: ...


S = TypeVar("S", bound=Setting)
S_co = TypeVar("S_co", bound=Setting, covariant=True)
S_contra = TypeVar("S_contra", bound=Setting, contravariant=True)
R = TypeVar("R", bound=Figures)
R_co = TypeVar("R_co", bound=Figures, covariant=True)


class Experiment(Protocol[S_co]):
    """Lists the runs of one experiment."""

    def __call__(self, *, scale: float, seed: int) -> Sequence[S_co]:
        """The runs with this share of the paper's size."""


class RunInProcess(Protocol[S_contra, R_co]):
    """Carries out one run and reports progress."""

    def __call__(self, setting: S_contra, tell: Callable[[float], None], /) -> R_co:
        """The figures; `tell` gets the finished share."""


Result = tuple[str, float | R]
"""The label of a run, and either the finished share of it or its figures."""

Runner = Callable[[Sequence[S]], Iterable[Result[R]]]
"""Carries out runs, and yields their progress and figures."""

Tell = Callable[[float, str], None]
"""Gets the finished share of the whole reproduction, and a line of text."""


def chosen_experiments(text: str, known: Iterable[str]) -> list[str]:
    """The experiments in a comma-separated list, each once. Raises UsageError."""
    names = list(known)
    wanted = [name.strip() for name in text.split(",")]
    if wanted == ["all"]:
        return names
    if not set(wanted) <= set(names):
        raise UsageError(f"--part takes some of {', '.join(names)}, or all, not {text!r}")
    return list(dict.fromkeys(wanted))


def settings_of(
    experiments: Mapping[str, Experiment[S]], names: Iterable[str], *, scale: float, seed: int
) -> list[S]:
    """The runs of these experiments, the longest first so that the last core is not left alone."""
    found = [each for name in names for each in experiments[name](scale=scale, seed=seed)]
    return sorted(found, key=lambda each: -each.work)


def reproduce(
    chosen: Sequence[S],
    runner: Runner[S, R],
    decoder: msgspec.json.Decoder[R],
    folder: Path,
    tell: Tell = lambda share, text: None,
) -> list[R]:
    """The figures of all runs, read from the folder or added to it.

    The runner is called only if a run is missing.
    """
    done = {each.label: found for each in chosen if (found := kept(folder, each, decoder))}
    missing = [each for each in chosen if each.label not in done]
    whole = sum(each.work for each in chosen)
    shares = dict.fromkeys(done, 1.0)
    for label, result in runner(missing) if missing else ():
        if isinstance(result, float):
            shares[label] = result
        else:
            shares[label] = 1.0
            done[label] = result
            keep(folder, result)
        share = sum(each.work * shares.get(each.label, 0.0) for each in chosen) / whole
        ready = sum(share == 1.0 for share in shares.values())
        tell(share, f"{ready} of {len(chosen)} runs, {label}")
    return [done[each.label] for each in chosen]


def kept(folder: Path, setting: Setting, decoder: msgspec.json.Decoder[R]) -> R | None:
    """The figures of exactly this run, if they are in the folder."""
    try:
        found = decoder.decode(_path(folder, setting).read_bytes())
    except (FileNotFoundError, msgspec.DecodeError):
        return None
    return found if found.setting == setting else None


def keep(folder: Path, figures: Figures) -> None:
    """Write the figures of a run to the folder in one step."""
    path = _path(folder, figures.setting)
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(f".{os.getpid()}")
    unfinished.write_bytes(msgspec.json.encode(figures))
    unfinished.replace(path)


def are_kept(folder: Path, chosen: Iterable[Setting]) -> list[str]:
    """The labels that have a file in the folder, even if it belongs to another setting."""
    return [each.label for each in chosen if _path(folder, each).exists()]


def _path(folder: Path, setting: Setting) -> Path:
    return folder / "runs" / f"{setting.label}.json"


def here(run: Callable[[S], R]) -> Runner[S, R]:
    """Carry out one run after the other in this process."""
    return lambda waiting: ((each.label, run(each)) for each in waiting)


def in_processes(run: RunInProcess[S, R], cores: int | None) -> Runner[S, R]:
    """Carry out each run in a process of its own, at most `cores` (default: all) at a time.

    Unlike Spark's tasks, these processes report how far each run is.
    """
    return partial(_results, run, cores or os.cpu_count() or 1)


def _results(run: RunInProcess[S, R], cores: int, waiting: Sequence[S]) -> Iterator[Result[R]]:
    context = multiprocessing.get_context("spawn")
    results: SimpleQueue[Result[R]] = context.SimpleQueue()
    left = list(waiting)[::-1]
    running: dict[str, SpawnProcess] = {}
    try:
        while left or running:
            while left and len(running) < cores:
                setting = left.pop()
                process = context.Process(
                    target=run_in_process, args=(run, setting, results), daemon=True
                )
                process.start()
                running[setting.label] = process
            while not results.empty():
                label, result = results.get()
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


def run_in_process(run: RunInProcess[S, R], setting: S, results: "SimpleQueue[Result[R]]") -> None:
    """Carry out one run; progress goes to the queue at most once for each percent."""
    # Brokers create hardly any cycles, and searching a gigabyte for them takes a third of the time.
    gc.disable()
    last = 0.0

    def tell(share: float) -> None:
        nonlocal last
        if share - last >= 0.01:
            last = share
            results.put((setting.label, share))

    results.put((setting.label, run(setting, tell)))
