"""The files that the batches of a stream are made of, by what Spark's checkpoint says of them.

::

    offsets/7             of batch 7 a line for each source; of files it is {"logOffset": 5}
    sources/0/5           a line for each file of entry 5: its path, and when it was changed
    sources/0/9.compact   the same for all entries up to 9

A batch has the entries after the offset of the batch before, up to its own. Spark writes them
before the batch begins, and when it repeats the batch it passes over files that are gone since,
without a word. `check_files` says it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import unquote

import msgspec
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from boolcast.errors import StreamError
from boolcast.matching.store.store import Store
from boolcast.pipeline.events.parquet_reading import local_path
from boolcast.pipeline.spark.paths import has_wildcards, without_scheme
from boolcast.pipeline.streaming.ledger import attempt

_VERSION: Final = b"v1"
_HEAD: Final = 2
"""Lines of an offset file before those of the sources."""

_ENTRY: Final = re.compile(r"sources/(\d+)/(\d+)(\.compact)?")
_SEVERAL: Final = 2
_TOLD: Final = 3
"""How many files an error names."""


class TakenFile(NamedTuple):
    """A file of a batch; `changed` is in milliseconds since 1970, when Spark found it."""

    path: str
    changed: int


class _Offset(msgspec.Struct, forbid_unknown_fields=True):
    entry: int = msgspec.field(name="logOffset")


class _Line(msgspec.Struct):
    path: str
    timestamp: int
    entry: int = msgspec.field(name="batchId")


def files_of(checkpoint: Store, batch: int) -> list[TakenFile]:
    """The files of a batch that has begun; none of sources that have no files."""

    def read() -> list[TakenFile]:
        before = _offsets(checkpoint, batch - 1) if batch else {}
        return [
            TakenFile(_plain(line.path), line.timestamp)
            for source, last in _offsets(checkpoint, batch).items()
            for entry in range(before.get(source, -1) + 1, last + 1)
            for line in _lines(checkpoint, source, entry)
        ]

    return attempt(checkpoint, "read", read)


class TakenPaths:
    """The paths of all files that a stream has taken up so far, without their schemes."""

    def __init__(self, checkpoint: Store) -> None:
        self._checkpoint = checkpoint
        self._paths: set[str] = set()
        self._last: dict[str, int] = {}

    def read(self) -> set[str]:
        """All of them, the same set each time; only what is new is read."""
        found = map(_ENTRY.fullmatch, self._checkpoint.list("sources/"))
        for source, entries in groupby(filter(None, found), key=lambda entry: entry[1]):
            self._read(source, {int(entry[2]): entry[0] for entry in entries})
        return self._paths

    def _read(self, source: str, entries: Mapping[int, str]) -> None:
        """Read on; a compact entry tells all that come before it too."""
        known = self._last.get(source, -1)
        compact = max((each for each, name in entries.items() if name.endswith("t")), default=-1)
        for entry in sorted(each for each in entries if each >= compact and each > known):
            try:
                data = self._checkpoint.get(entries[entry])
            except FileNotFoundError:
                return  # Spark has a compact one in its place by now, for the next time
            self._paths.update(without_scheme(_plain(line.path)) for line in _newer(data, known))
            self._last[source] = known = entry


def check_files(
    session: SparkSession, files: Sequence[TakenFile], batch: int, *, is_first: bool
) -> tuple[str, ...]:
    """Raise StreamError if files of a batch are gone; tells those that others have replaced.

    Files that are not on a local disk are looked for in the first batch of a start only, the one
    that may be a repetition: it takes a job of Spark.
    """
    local = {file: path for file in files if (path := local_path(file.path)) is not None}
    now: dict[str, int] = {}
    for file, path in local.items():
        try:
            now[file.path] = Path(path).stat().st_mtime_ns // 1_000_000
        except FileNotFoundError:
            continue
        except OSError:
            # Who reads it will say why it cannot be reached.
            now[file.path] = file.changed
    elsewhere = {file.path: file.changed for file in files if file not in local}
    if elsewhere:
        now |= _changed(session, list(elsewhere), batch) if is_first else elsewhere
    gone = [file.path for file in files if file.path not in now]
    if gone:
        raise _gone(gone, batch)
    return tuple(
        f"the file {_shown(file.path)} is not the one that batch {batch} began with: what it held "
        "then may not have been matched, and what it holds now is"
        for file in files
        if now[file.path] != file.changed
    )


def _changed(session: SparkSession, paths: Sequence[str], batch: int) -> dict[str, int]:
    """When files were changed that Spark alone can reach. Raises StreamError if one is gone."""
    # As Spark's own source does it: or a name like a[1] would be a pattern.
    files = session.read.format("binaryFile").option("__globPaths__", "false")
    try:
        found = files.load(list(paths)).select("path", F.unix_millis("modificationTime"))
        return {path: int(changed) for path, changed in found.collect()}
    except AnalysisException as error:
        if error.getCondition() != "PATH_NOT_FOUND":
            raise
        told = error.getMessageParameters()
        assert told is not None
        raise _gone([told["path"]], batch) from None


def doubling(files: Sequence[TakenFile]) -> tuple[str, ...]:
    """Warn of names by which Spark's own readers read the other files of a batch twice (4.3)."""
    if len(files) < _SEVERAL:
        return ()
    return tuple(
        f"the name of the file {_shown(file.path)} has characters of patterns: unless the source "
        "has the option recursiveFileLookup, Spark reads other files of the batch twice"
        for file in files
        if has_wildcards(file.path)
    )


def _gone(paths: Sequence[str], batch: int) -> StreamError:
    names = ", ".join(map(_shown, paths[:_TOLD]))
    more = f" and {len(paths) - _TOLD:,} more" if len(paths) > _TOLD else ""
    return StreamError(
        f"files of batch {batch} are gone, with events that were not matched yet: {names}{more}. "
        "Put them back and start the stream again; to give the events up put empty files in their "
        "place"
    )


def _shown(path: str) -> str:
    return local_path(path) or path


def _offsets(checkpoint: Store, batch: int) -> dict[str, int]:
    """The last entry of a batch, by the number of its source."""
    head, *lines = checkpoint.get(f"offsets/{batch}").splitlines()
    if head != _VERSION:
        return {}
    found: dict[str, int] = {}
    for source, line in enumerate(lines[_HEAD - 1 :]):
        try:
            found[str(source)] = msgspec.json.decode(line, type=_Offset).entry
        except msgspec.MsgspecError:
            continue  # no files
    return found


def _lines(checkpoint: Store, source: str, entry: int) -> Iterator[_Line]:
    name = f"sources/{source}/{entry}"
    try:
        data = checkpoint.get(name)
    except FileNotFoundError:
        data = checkpoint.get(f"{name}.compact")
    return _newer(data, entry - 1)


def _newer(data: bytes, known: int) -> Iterator[_Line]:
    """The lines of the entries after one that is known; they stand in order."""
    for line in reversed(data.splitlines()[1:]):
        told = msgspec.json.decode(line, type=_Line)
        if told.entry <= known:
            return
        yield told


def _plain(url: str) -> str:
    """A path as Spark's `binaryFile` tells it: file:///a%20b is file:/a b."""
    return unquote(re.sub("^file:/+", "file:/", url))
