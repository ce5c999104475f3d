"""Copies of files on the local disk, shared by all processes of a machine that use its folder.

A copy has a key, and the content under a key never changes, so a copy is never stale. Processes
only have to agree on who fetches: that process locks the partial file, and the others wait. If
it dies, the system releases the lock and the next process starts the file again.

When there is too much, the least recently used copies are deleted. A file that is mapped into
memory outlives its name; the disk space is free when the last process unmaps it.
"""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Final

from boolcast.matching.store.store import PARTIAL

GRACE_SECONDS: Final = 60.0
"""Copies used this recently stay: a process may be about to open the path it got."""


class LocalCache:
    """At most `limit` bytes in a folder, not counting files in use; needs POSIX locks."""

    def __init__(self, folder: Path, limit: int) -> None:
        self.folder = folder
        self.limit = limit

    def path(self, key: str, fetch: Callable[[Path], object]) -> Path:
        """The copy under the key, which is a file name; `fetch` writes it if there is none.

        If `fetch` raises, no copy is left. Raises OSError if the folder cannot be written.
        """
        target = self.folder / key
        partial = self.folder / f"{key}{PARTIAL}"
        while not _mark_used(target):
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with partial.open("ab") as file:
                _lock(file, wait=True)
                # The process that held the lock before has renamed or removed this file.
                if not _is_at(file, partial):
                    continue
                try:
                    fetch(partial)
                    partial.rename(target)
                finally:
                    partial.unlink(missing_ok=True)
                _mark_used(target)
            self._evict()
            break
        return target

    def forget(self, key: str) -> None:
        """Remove the copy, so that the next `path` fetches it again."""
        with suppress(FileNotFoundError, NotADirectoryError):
            (self.folder / key).unlink()

    def _evict(self) -> None:
        files = sorted(self._files())
        excess = sum(size for _, size, _ in files) - self.limit
        recent = time.time() - GRACE_SECONDS
        for used, size, path in files:
            if excess <= 0 or used > recent:
                return
            if _remove(path):
                excess -= size

    def _files(self) -> Iterator[tuple[float, int, Path]]:
        """Time of last use, size and path of each file."""
        for entry in os.scandir(self.folder):
            with suppress(FileNotFoundError):  # another process evicts too
                status = entry.stat(follow_symlinks=False)
                yield status.st_mtime, status.st_size, Path(entry.path)


def _mark_used(path: Path) -> bool:
    """Set the file's mtime (many disks keep no access time); False if there is no such file."""
    try:
        os.utime(path)
    except FileNotFoundError:
        return False
    return True


def _remove(path: Path) -> bool:
    """False if it is a partial file that another process is still writing."""
    if path.suffix != PARTIAL:
        path.unlink(missing_ok=True)
        return True
    with suppress(FileNotFoundError), path.open("rb+") as file:
        if not _lock(file, wait=False):
            return False
        if _is_at(file, path):
            path.unlink()
    return True


def _lock(file: IO[bytes], *, wait: bool) -> bool:
    """Lock the file until it is closed; False if it is locked and we do not wait."""
    import fcntl  # noqa: PLC0415 - does not exist on Windows, where this is never called

    try:
        fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_at(file: IO[bytes], path: Path) -> bool:
    """True if the path still leads to the open file."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False
