"""Which files wait for a stream: whether it keeps up.

Spark does not say. So we list the folder as Spark does, and leave out the files that are in the
checkpoint. That costs as much as the listing that Spark does for each batch.
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
from boolcast.pipeline.spark.files import (
    absolute,
    has_scheme,
    is_hidden,
    pattern_of,
    root_of,
    without_scheme,
)
from boolcast.pipeline.streaming.checkpoint_files import SeenPaths

_CHANGED: Final = ("mtime", "LastModified", "last_modified", "updated", "created")
"""fsspec's file systems have these names for the mtime of a file."""


class Waiting(msgspec.Struct, frozen=True):
    """The number of files that wait, their bytes, and how long the oldest has waited."""

    files: int
    bytes: int
    oldest_seconds: float


class _File(NamedTuple):
    """Size in bytes, and mtime in seconds since 1970."""

    size: int
    changed: float


class Backlog:
    """The files in a path that are not in a stream's checkpoint.

    `path` and `spark_options` are those of the source. `options` go to fsspec, which lists files
    that are not local.
    """

    def __init__(
        self,
        checkpoint: Store,
        path: str,
        spark_options: Mapping[str, str],
        options: Mapping[str, Any],
    ) -> None:
        folded = {name.casefold(): value for name, value in spark_options.items()}
        self._path = path
        self._options = options
        self._pattern = re.compile(rf"(?s:{pattern_of(absolute(path).rstrip('/'))}(/.*)?)")
        self._is_deep = folded.get("recursivefilelookup", "").casefold() == "true"
        self._names = re.compile(rf"(?s:{pattern_of(folded.get('pathglobfilter', '*'))})")
        self._seen = SeenPaths(checkpoint)

    def waiting(self, now: float) -> Waiting:
        """What waits at a time in seconds since 1970. Raises the file system's own errors."""
        # The checkpoint first: a file that a batch takes meanwhile still counts as waiting.
        seen = self._seen.read()
        is_local = not has_scheme(self._path) or local_path(self._path) is not None
        files = list(self._local(seen) if is_local else self._remote(seen))
        oldest = min((file.changed for file in files), default=now)
        return Waiting(len(files), sum(file.size for file in files), max(now - oldest, 0.0))

    def _local(self, seen: Container[str]) -> Iterator[_File]:
        for folder, _, names in os.walk(root_of(self._path)):
            for name in names:
                path = posixpath.join(folder, name)
                if path not in seen and self._is_listed(path):
                    try:
                        found = Path(path).stat()
                    except FileNotFoundError:
                        continue  # deleted meanwhile
                    yield _File(found.st_size, found.st_mtime)

    def _remote(self, seen: Container[str]) -> Iterator[_File]:
        scheme = self._path.removesuffix(without_scheme(self._path))
        system, root = fsspec.core.url_to_fs(scheme + root_of(self._path), **self._options)
        for name, found in system.find(root, detail=True).items():
            path = without_scheme(system.unstrip_protocol(name))
            if path not in seen and self._is_listed(path):
                yield _File(found["size"] or 0, _seconds(found))

    def _is_listed(self, path: str) -> bool:
        """True if Spark lists the file: in the folder itself, or in partition folders."""
        match = self._pattern.fullmatch(path)
        if match is None:
            return False
        # Folders that the pattern itself names may have any name; a file may not.
        *folders, name = (match[1] or path[path.rfind("/") :])[1:].split("/")
        is_near = self._is_deep or all("=" in each for each in folders)
        is_shown = not any(map(is_hidden, (*folders, name)))
        return is_near and is_shown and bool(self._names.fullmatch(name))


def _seconds(found: Mapping[str, Any]) -> float:
    changed = next((found[name] for name in _CHANGED if name in found), None)
    if isinstance(changed, datetime):
        return changed.timestamp()
    return float(changed) if isinstance(changed, int | float) else math.inf
