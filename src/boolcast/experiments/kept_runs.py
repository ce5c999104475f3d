"""Results of runs as files of a folder, so that a reproduction can be stopped and taken up."""

import os
from pathlib import Path
from typing import Protocol, TypeVar

import msgspec


class _Labelled(Protocol):
    @property
    def label(self) -> str:
        """A name of its own for each run of a reproduction."""


class _Result(Protocol):
    @property
    def setting(self) -> _Labelled: ...


R = TypeVar("R", bound=_Result)


def kept(folder: Path, setting: _Labelled, decoder: msgspec.json.Decoder[R]) -> R | None:
    """The result of just this run, if it is in the folder."""
    try:
        found = decoder.decode(_path(folder, setting).read_bytes())
    except (FileNotFoundError, msgspec.DecodeError):
        return None
    return found if found.setting == setting else None


def keep(folder: Path, result: _Result) -> None:
    """Put the result of a run into the folder, whole or not at all."""
    path = _path(folder, result.setting)
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(f".{os.getpid()}")
    unfinished.write_bytes(msgspec.json.encode(result))
    unfinished.replace(path)


def _path(folder: Path, setting: _Labelled) -> Path:
    return folder / "runs" / f"{setting.label}.json"
