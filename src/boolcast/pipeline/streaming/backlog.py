"""Which files a stream has yet to take up: whether it keeps up with them.

Spark does not tell it. So the folder is listed as Spark lists it, and what the checkpoint says
was taken up is left out. That costs what Spark's own listing costs for each batch.
"""

import math
import os
import posixpath
import re
from collections.abc import Container, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

import fsspec
import msgspec

from boolcast.matching.store.store import Store
from boolcast.pipeline.events.parquet_reading import local_path
from boolcast.pipeline.spark.paths import (
    absolute,
    has_scheme,
    is_hidden,
    pattern_of,
    root_of,
    without_scheme,
)
from boolcast.pipeline.streaming.checkpoint_files import TakenPaths

_CHANGED: Final = ("mtime", "LastModified", "last_modified", "updated", "created")
"""What file systems of fsspec call the time when a file was changed."""


class Waiting(msgspec.Struct, frozen=True):
    """The files that wait, their bytes, and for how long the oldest of them has."""

    files: int
    bytes: int
    oldest_seconds: float


class _File(NamedTuple):
    """`changed` is in seconds since 1970."""

    size: int
    changed: float


class Backlog:
    """The files in a path that a stream has not taken up by its checkpoint.

    `path` and `spark_options` are those of the source, `options` are fsspec's, by which files
    are listed that are not on a local disk.
    """

    def __init__(
        self,
        checkpoint: Store,
        path: str,
        spark_options: Mapping[str, str],
        options: Mapping[str, Any],
    ) -> None:
        told = {name.casefold(): value for name, value in spark_options.items()}
        self._path = path
        self._options = options
        self._pattern = re.compile(rf"(?s:{pattern_of(absolute(path).rstrip('/'))}(/.*)?)")
        self._is_deep = told.get("recursivefilelookup", "").casefold() == "true"
        self._names = re.compile(rf"(?s:{pattern_of(told.get('pathglobfilter', '*'))})")
        self._taken = TakenPaths(checkpoint)

    def waiting(self, now: float) -> Waiting:
        """What waits at this time, in seconds since 1970. Raises what the file system does."""
        # The checkpoint first: what is taken up meanwhile is counted, not what was before.
        taken = self._taken.read()
        is_local = not has_scheme(self._path) or local_path(self._path) is not None
        files = list(self._local(taken) if is_local else self._elsewhere(taken))
        oldest = min((file.changed for file in files), default=now)
        return Waiting(len(files), sum(file.size for file in files), max(now - oldest, 0.0))

    def _local(self, taken: Container[str]) -> Iterator[_File]:
        for folder, _, names in os.walk(root_of(self._path)):
            for name in names:
                path = posixpath.join(folder, name)
                if path not in taken and self._is_listed(path):
                    try:
                        found = Path(path).stat()
                    except FileNotFoundError:
                        continue  # gone meanwhile
                    yield _File(found.st_size, found.st_mtime)

    def _elsewhere(self, taken: Container[str]) -> Iterator[_File]:
        scheme = self._path.removesuffix(without_scheme(self._path))
        system, place = fsspec.core.url_to_fs(scheme + root_of(self._path), **self._options)
        for name, found in system.find(place, detail=True).items():
            path = without_scheme(system.unstrip_protocol(name))
            if path not in taken and self._is_listed(path):
                yield _File(found["size"] or 0, _seconds(found))

    def _is_listed(self, path: str) -> bool:
        """True of what Spark lists: files in the folder, and in folders that are partitions."""
        match = self._pattern.fullmatch(path)
        if match is None:
            return False
        # What a pattern itself is like may have any name, but for that of a file.
        *folders, name = (match[1] or path[path.rfind("/") :])[1:].split("/")
        is_near = self._is_deep or all("=" in each for each in folders)
        is_shown = not any(map(is_hidden, (*folders, name)))
        return is_near and is_shown and bool(self._names.fullmatch(name))


def _seconds(found: Mapping[str, Any]) -> float:
    told = next((found[name] for name in _CHANGED if name in found), None)
    if isinstance(told, datetime):
        return told.timestamp()
    return float(told) if isinstance(told, int | float) else math.inf
