"""Stores: bytes under names, each written once and never changed.

A few operations that local folders and object stores have in common. Everything atomic is built
on `put_if_absent` alone (`store.snapshots`), so a store needs no locks and no renames.
"""

import os
import re
from pathlib import Path
from typing import Protocol, runtime_checkable

from boolcast.errors import ArgumentError, StoreError, UsageError

PARTIAL = ".partial"

# A drive letter of Windows is no protocol.
URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(//|:)")
"""The start of a URL: the protocol and what follows it."""

_PART = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")


@runtime_checkable
class Store(Protocol):
    """Bytes under names like `versions/00000001.json`; `str(store)` is its location, for people.

    A name is one or more parts between slashes, each of ASCII letters, digits, `_`, `-` and `.`
    (`-` and `.` not first); any other name raises StoreError.
    """

    def get(self, name: str) -> bytes:
        """All bytes under the name. Raises FileNotFoundError."""

    def path(self, name: str) -> Path | None:
        """A local file, perhaps in a cache, with the bytes under the name, to be mapped.

        None if this store has no local files: use `get` then. The file need not
        exist if the name does not.
        """

    def forget(self, name: str) -> bool:
        """Drop the copy of a name that `path` gave, so that `path` makes a new one.

        False if there is no copy: what `path` gives is the store's own, or None.
        """

    def put_if_absent(self, name: str, data: bytes) -> bool:
        """Store all of `data` for good, or nothing; False if the name is taken.

        Of several callers at once exactly one gets True. After an OSError, or the death of the
        process, the name is as it was before or holds all of `data`.
        """

    def list(self, prefix: str) -> list[str]:
        """The names that start with the prefix, sorted; those put meanwhile may be missing.

        What a killed writer left of a name is listed as that name, something and `PARTIAL`, so
        that it can be deleted with the rest.
        """

    def delete(self, name: str) -> None:
        """Remove the name if it exists. A process that has the file mapped keeps the bytes."""


def is_name(text: str) -> bool:
    """Whether a store can have this name."""
    return all(_PART.fullmatch(part) for part in text.split("/"))


class FolderStore:
    """A store in a local folder, which the first `put_if_absent` makes.

    The file system needs hard links. A sub-folder goes with the last file in it; a name put
    there at that very moment may raise FileNotFoundError.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)

    def __str__(self) -> str:
        return str(self.folder)

    def get(self, name: str) -> bytes:
        return self.path(name).read_bytes()

    def path(self, name: str) -> Path:
        if not is_name(name):
            raise StoreError(f"{name!r} cannot be a name in the store {self}")
        return self.folder.joinpath(*name.split("/"))

    def forget(self, name: str) -> bool:  # noqa: ARG002 - its files are no copies
        return False

    def put_if_absent(self, name: str, data: bytes) -> bool:
        target = self.path(name)
        # Not a deterministic name: two writers of one name must not share a file, and after a
        # crash nobody could tell whether the other one is still alive.
        partial = target.with_name(f"{target.name}.{os.urandom(8).hex()}{PARTIAL}")
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            with partial.open("xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            # Unlike a rename, a link never replaces an existing file.
            os.link(partial, target)
        except FileExistsError:
            return False
        finally:
            partial.unlink(missing_ok=True)
        self._sync_folders(target)
        return True

    def list(self, prefix: str) -> list[str]:
        # Only the folders that the prefix names are walked.
        top = self.folder.joinpath(*prefix.split("/")[:-1])
        names = (
            (Path(folder) / file).relative_to(self.folder).as_posix()
            for folder, _, files in os.walk(top)
            for file in files
        )
        return sorted(name for name in names if name.startswith(prefix))

    def delete(self, name: str) -> None:
        target = self.path(name)
        target.unlink(missing_ok=True)
        if target.parent != self.folder:
            try:
                target.parent.rmdir()
            except OSError:
                return  # not empty, or gone already

    def _sync_folders(self, target: Path) -> None:
        """Make the entry survive a loss of power, and the folders above it, which may be new."""
        if os.name == "nt":
            return  # folders cannot be opened there
        for folder in target.parents:
            descriptor = os.open(folder, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            if folder == self.folder.parent:
                return


Location = str | os.PathLike[str] | Store
"""A local folder, or a store of any kind."""


def store_at(location: Location) -> Store:
    """The store itself, or the one in the folder.

    Raises ArgumentError for anything else, and UsageError for a URL and for an empty path.
    """
    match location:
        case str() | os.PathLike():
            path = os.fspath(location)
            if not path:
                raise UsageError(
                    "an empty path names no folder; '.' is the current one, if you mean that"
                )
            if URL.match(path):
                raise UsageError(
                    f"{path} is a URL and not a folder: give a Store, which"
                    " `boolcast.pipeline.spark.stores.open_store` makes of a URL"
                )
            return FolderStore(location)
        case Store():
            return location
        case _:
            raise ArgumentError("an index is kept in a folder or in a Store", location)
