"""Copies of files on the local disk, shared by all processes of a machine that name its folder.

A copy goes by a key that its content never changes under, so it is never stale and nobody has
to agree on anything but who fetches it: that one holds a lock on the partial file, the others
wait. A process that dies lets go of the lock, and the next one begins the file anew.

Copies that were used longest ago go when there is too much. A file that is mapped into memory
outlives its name, and its space on the disk is free when the last one unmaps it.
"""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Final

from boolcast.matching.store.store import PARTIAL

GRACE_SECONDS: Final = 60.0
"""What was used this recently stays: who was given its path may be about to open it."""


class LocalCache:
    """At most `limit` bytes in a folder, but for what is in use; needs POSIX locks."""

    def __init__(self, folder: Path, limit: int) -> None:
        self.folder = folder
        self.limit = limit

    def path(self, key: str, fetch: Callable[[Path], object]) -> Path:
        """The copy under the key, which is a file name; `fetch` writes it if there is none.

        Whatever `fetch` raises leaves no copy. Raises OSError if the folder cannot be written.
        """
        target = self.folder / key
        partial = self.folder / f"{key}{PARTIAL}"
        while not _mark_used(target):
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with partial.open("ab") as file:
                _lock(file, wait=True)
                # Who had the lock before us has renamed or removed the file that we opened.
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
        """Remove the copy, so that the next `path` fetches it anew."""
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
        """When it was last used, how large it is, and where."""
        for entry in os.scandir(self.folder):
            with suppress(FileNotFoundError):  # another one evicts too
                status = entry.stat(follow_symlinks=False)
                yield status.st_mtime, status.st_size, Path(entry.path)


def _mark_used(path: Path) -> bool:
    """False if there is no such file. Not its time of access: many disks do not keep that."""
    try:
        os.utime(path)
    except FileNotFoundError:
        return False
    return True


def _remove(path: Path) -> bool:
    """False if it is a partial file that somebody is still writing."""
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
    """Lock the file until it is closed; False if another one has, and we do not wait."""
    import fcntl  # noqa: PLC0415 - not on Windows, where nothing comes here

    try:
        fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_at(file: IO[bytes], path: Path) -> bool:
    """True if the open file is still the one of this name."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False
