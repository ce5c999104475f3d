"""Runs of an experiment in a folder, so that one that takes an hour can be taken up again."""

from pathlib import Path
from typing import TypeVar

import msgspec

Figures = TypeVar("Figures")


def kept(folder: Path, label: str, kind: type[Figures]) -> Figures | None:
    """What the run of that label showed; None if it is not there, or is of another kind."""
    try:
        return msgspec.json.decode(_path(folder, label).read_bytes(), type=kind)
    except (FileNotFoundError, msgspec.DecodeError):
        return None


def keep(folder: Path, label: str, figures: object) -> None:
    """Keep what a run showed; who looks meanwhile finds all of it or nothing."""
    path = _path(folder, label)
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".unfinished")
    unfinished.write_bytes(msgspec.json.encode(figures))
    unfinished.replace(path)


def _path(folder: Path, label: str) -> Path:
    return folder / "runs" / f"{label}.json"
