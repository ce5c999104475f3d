"""The runs of an experiment, each kept in a folder, so that it can be stopped and taken up.

Who carries runs out is left open: `spread` does it by Spark, `unsubscription` in processes of its
own.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

import msgspec


class Setting(Protocol):
    """All that a run depends on."""

    @property
    def label(self) -> str:
        """A name of its own for each run of a reproduction."""

    @property
    def work(self) -> float:
        """About how long it takes, beside others."""


class Figures(Protocol):
    """What a run showed."""

    @property
    def setting(self) -> Setting: ...


S = TypeVar("S", bound=Setting)
R = TypeVar("R", bound=Figures)

Result = tuple[str, float | R]
"""The label of a run, and the share of it that is done or what it showed."""

Runner = Callable[[Sequence[S]], Iterable[Result[R]]]
"""Carries out runs, and tells how far they are."""

Tell = Callable[[float, str], None]
"""Hears which share of all is done, and in words."""


def reproduce(
    chosen: Sequence[S],
    runner: Runner[S, R],
    decoder: msgspec.json.Decoder[R],
    folder: Path,
    tell: Tell = lambda share, text: None,
) -> list[R]:
    """The figures of all; those that are in the folder are taken from there, the others put there.

    The runner is called only if something is left to run.
    """
    done = {each.label: found for each in chosen if (found := kept(folder, each, decoder))}
    waiting = [each for each in chosen if each.label not in done]
    whole = sum(each.work for each in chosen)
    shares = dict.fromkeys(done, 1.0)
    for label, result in runner(waiting) if waiting else ():
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


def here(run: Callable[[S], R]) -> Runner[S, R]:
    """Carries out one run after the other, in this process."""
    return lambda waiting: ((each.label, run(each)) for each in waiting)


def kept(folder: Path, setting: Setting, decoder: msgspec.json.Decoder[R]) -> R | None:
    """The figures of just this run, if they are in the folder."""
    try:
        found = decoder.decode(_path(folder, setting).read_bytes())
    except (FileNotFoundError, msgspec.DecodeError):
        return None
    return found if found.setting == setting else None


def keep(folder: Path, figures: Figures) -> None:
    """Put the figures of a run into the folder, whole or not at all."""
    path = _path(folder, figures.setting)
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(f".{os.getpid()}")
    unfinished.write_bytes(msgspec.json.encode(figures))
    unfinished.replace(path)


def are_kept(folder: Path, chosen: Iterable[Setting]) -> list[str]:
    """The labels of those that have something in the folder, be it of another setting."""
    return [each.label for each in chosen if _path(folder, each).exists()]


def _path(folder: Path, setting: Setting) -> Path:
    return folder / "runs" / f"{setting.label}.json"
