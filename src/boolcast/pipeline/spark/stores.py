"""From what users write to the store that they mean."""

import os
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

import fsspec

from boolcast.errors import StoreError, UsageError
from boolcast.matching.store.catalog import Index
from boolcast.matching.store.store import FolderStore, Place, Store, store_at
from boolcast.pipeline.spark.object_store import ObjectStore

__all__ = ["Place", "check_files", "open_store"]

# A drive letter of Windows is no protocol.
_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(//|:)")


def open_store(place: Place) -> Store:
    """The store at a path, a `file://` URL or the URL of an object store; a store is itself.

    A path becomes absolute: stores travel to executors, whose working folder is another.
    Raises UsageError for a protocol that nobody knows, or whose package is not installed, and
    StoreError for one in which an index cannot be kept safely. Nothing is read yet.
    """
    if isinstance(place, str) and (match := _URL.match(place)):
        if match[1] != "file":
            _check_protocol(place, match[1])
            return ObjectStore(place)
        place = _path(place)
    store = store_at(place)
    if type(store) is FolderStore:
        return FolderStore(store.folder.absolute())
    return store


def check_files(store: Store, index: Index) -> None:
    """Raise StoreError if a file of the index is missing, or of another length than it should be.

    Reads no byte of them, and takes 3 ms for 40 segments. Says nothing of other stores than
    folders: there it would take many requests, and workers may have copies.
    """
    if not isinstance(store, FolderStore):
        return
    for part in index.parts:
        for segment in filter(None, (part.files, part.tombstones)):
            for file in (segment.metadata, *segment.arrays):
                path = store.path(segment.path(file))
                try:
                    size = path.stat().st_size
                except FileNotFoundError:
                    raise _damaged(path, "it is missing") from None
                if size != file.size:
                    raise _damaged(path, f"it has {size:,} bytes instead of {file.size:,}")


def _damaged(path: Path, problem: str) -> StoreError:
    return StoreError(
        f"{path} is damaged: {problem}. Build the index again, restore the file from a copy, or "
        "ask for an older version"
    )


def _path(url: str) -> str:
    parts = urlsplit(url)
    if parts.netloc not in {"", "localhost"} or not parts.path:
        raise UsageError(f"{url} is no local folder: write file:///folder, or the path alone")
    path = unquote(parts.path)
    # file:///C:/folder
    return path[1:] if os.name == "nt" else path


def _check_protocol(url: str, protocol: str) -> None:
    try:
        fsspec.get_filesystem_class(protocol)
    except ValueError:
        raise UsageError(f"{url}: {protocol} is no protocol that fsspec knows") from None
    except ImportError as error:
        raise UsageError(f"{url} needs another package: {error} (with pip)") from error
