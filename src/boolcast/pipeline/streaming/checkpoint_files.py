"""The files of each batch of a stream, read from Spark's checkpoint.

::

    offsets/7             a line per source for batch 7; for files it is {"logOffset": 5}
    sources/0/5           a line for each file of entry 5: its path, and when it was changed
    sources/0/9.compact   the same for all entries up to 9

A batch has the entries after the offset of the batch before, up to its own. Spark writes them
before the batch begins. When it repeats the batch, it silently skips files that are gone.
`check_files` reports them.
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
from boolcast.pipeline.spark.files import has_wildcards, without_scheme
from boolcast.pipeline.streaming.ledger import attempt

_VERSION: Final = b"v1"
_HEAD: Final = 2
"""Lines of an offset file before those of the sources."""

_ENTRY: Final = re.compile(r"sources/(\d+)/(\d+)(\.compact)?")
_SEVERAL: Final = 2
_NAMED: Final = 3
"""How many files an error names."""


class BatchFile(NamedTuple):
    """A file of a batch; `changed` is its mtime in milliseconds, from when Spark found it."""

    path: str
    changed: int


class _Offset(msgspec.Struct, forbid_unknown_fields=True):
    entry: int = msgspec.field(name="logOffset")


class _Line(msgspec.Struct):
    path: str
    timestamp: int
    entry: int = msgspec.field(name="batchId")


def files_of(checkpoint: Store, batch: int) -> list[BatchFile]:
    """The files of a batch that has begun; none for sources that do not read files."""

    def read() -> list[BatchFile]:
        before = _offsets(checkpoint, batch - 1) if batch else {}
        return [
            BatchFile(_plain(line.path), line.timestamp)
            for source, last in _offsets(checkpoint, batch).items()
            for entry in range(before.get(source, -1) + 1, last + 1)
            for line in _lines(checkpoint, source, entry)
        ]

    return attempt(checkpoint, "read", read)


class SeenPaths:
    """The paths of all files that a stream has put into batches, without their schemes."""

    def __init__(self, checkpoint: Store) -> None:
        self._checkpoint = checkpoint
        self._paths: set[str] = set()
        self._last: dict[str, int] = {}

    def read(self) -> set[str]:
        """All of them, the same set each time; only new entries are read."""
        found = map(_ENTRY.fullmatch, self._checkpoint.list("sources/"))
        for source, entries in groupby(filter(None, found), key=lambda entry: entry[1]):
            self._read(source, {int(entry[2]): entry[0] for entry in entries})
        return self._paths

    def _read(self, source: str, entries: Mapping[int, str]) -> None:
        """Read the new entries; a compact entry includes all that come before it."""
        known = self._last.get(source, -1)
        compact = max((each for each, name in entries.items() if name.endswith("t")), default=-1)
        for entry in sorted(each for each in entries if each >= compact and each > known):
            try:
                data = self._checkpoint.get(entries[entry])
            except FileNotFoundError:
                return  # Spark has replaced it by a compact entry; the next call reads that
            self._paths.update(without_scheme(_plain(line.path)) for line in _newer(data, known))
            self._last[source] = known = entry


def check_files(
    session: SparkSession, files: Sequence[BatchFile], batch: int, *, is_first: bool
) -> tuple[str, ...]:
    """Raise StreamError if files of a batch are gone; gives warnings about replaced files.

    Files that are not local are only checked in the first batch after a start, which may be a
    repetition: the check takes a Spark job.
    """
    local = {file: path for file in files if (path := local_path(file.path)) is not None}
    now: dict[str, int] = {}
    for file, path in local.items():
        try:
            now[file.path] = Path(path).stat().st_mtime_ns // 1_000_000
        except FileNotFoundError:
            continue
        except OSError:
            # The reader will say why it cannot be reached.
            now[file.path] = file.changed
    elsewhere = {file.path: file.changed for file in files if file not in local}
    if elsewhere:
        now |= _changed(session, list(elsewhere), batch) if is_first else elsewhere
    gone = [file.path for file in files if file.path not in now]
    if gone:
        raise _gone(gone, batch)
    return tuple(
        f"the file {_shown(file.path)} was replaced after batch {batch} began: its new content is "
        "matched, its old content may not have been"
        for file in files
        if now[file.path] != file.changed
    )


def _changed(session: SparkSession, paths: Sequence[str], batch: int) -> dict[str, int]:
    """The mtimes of files that only Spark can reach. Raises StreamError if one is gone."""
    # As in Spark's own source: otherwise a name like a[1] would be a pattern.
    files = session.read.format("binaryFile").option("__globPaths__", "false")
    try:
        found = files.load(list(paths)).select("path", F.unix_millis("modificationTime"))
        return {path: int(changed) for path, changed in found.collect()}
    except AnalysisException as error:
        if error.getCondition() != "PATH_NOT_FOUND":
            raise
        parameters = error.getMessageParameters()
        assert parameters is not None
        raise _gone([parameters["path"]], batch) from None


def wildcard_warnings(files: Sequence[BatchFile]) -> tuple[str, ...]:
    """Warn of names that make Spark's own readers read other files of a batch twice (4.3)."""
    if len(files) < _SEVERAL:
        return ()
    return tuple(
        f"the name of the file {_shown(file.path)} has wildcard characters: unless the source has "
        "the option recursiveFileLookup, Spark reads other files of the batch twice"
        for file in files
        if has_wildcards(file.path)
    )


def _gone(paths: Sequence[str], batch: int) -> StreamError:
    names = ", ".join(map(_shown, paths[:_NAMED]))
    more = f" and {len(paths) - _NAMED:,} more" if len(paths) > _NAMED else ""
    return StreamError(
        f"files of batch {batch} are gone, with events that were not matched yet: {names}{more}. "
        "Put them back, or empty files of the same names to give up their events, and start the "
        "stream again"
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
    """The lines of the entries after a known one; entries are in order."""
    for line in reversed(data.splitlines()[1:]):
        found = msgspec.json.decode(line, type=_Line)
        if found.entry <= known:
            return
        yield found


def _plain(url: str) -> str:
    """A path as Spark's `binaryFile` writes it: file:///a%20b is file:/a b."""
    return unquote(re.sub("^file:/+", "file:/", url))
