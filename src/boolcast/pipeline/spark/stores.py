"""Stores by their location: a folder, or a prefix in an object store over fsspec.

An index needs one thing from an object store: a write that never overwrites. S3 has had it since
2024 (`If-None-Match: *`), and so have some stores that speak its protocol. Others ignore the
header, so each store is tested before the first write. fsspec's other protocols check first and
write later, which is not atomic: they are refused.

Conditional writes have three traps:

- If the reply to a write is lost, the client sends it again, and its own first write refuses it.
  So every object carries a mark of its writer, which settles after an error whose it is.
- S3 may answer 409 to concurrent writers, which says nothing about the outcome: retry.
- From 100 MB on, s3fs uploads in pieces. S3 tests the condition when it joins them.
"""

import errno
import os
import re
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit

import fsspec

from boolcast.errors import StoreError, UsageError
from boolcast.matching.store.store import URL, FolderStore, Location, Store, is_name, store_at
from boolcast.pipeline.spark.local_cache import LocalCache

PROTOCOLS: Final = ("s3", "s3a")
"""The protocols whose writes with mode="create" are atomic."""

CACHE_VARIABLE: Final = "BOOLCAST_CACHE"
CACHE_BYTES_VARIABLE: Final = "BOOLCAST_CACHE_BYTES"
CACHE_BYTES: Final = 16 * 2**30

_PROBE: Final = ".boolcast"  # no name in a store begins with a dot
_WRITER: Final = "boolcast-writer"
_TAKEN: Final = {"PreconditionFailed", "412"}
_CONFLICT: Final = {"ConditionalRequestConflict", "OperationAborted", "409"}
_CONFLICTS: Final = 6
_CHECKSUM: Final = re.compile(r"-([0-9a-f]{64})/([^/]+)$")

# s3fs raises these without an error number, which OSError needs to choose its subclass.
_NUMBERS: Final[dict[type[Exception], int]] = {
    FileNotFoundError: errno.ENOENT,
    PermissionError: errno.EACCES,
}

# The stores that this process has seen refuse a second write of a name.
_proven: Final[set["ObjectStore"]] = set()


def open_store(location: Location) -> Store:
    """The store at a path, a `file://` URL or the URL of an object store; a store is itself.

    A path becomes absolute: stores are sent to executors, whose working folder is another one.
    Raises UsageError for a protocol that fsspec does not know or whose package is not installed,
    and StoreError for one that cannot keep an index safely. Nothing is read yet.
    """
    if isinstance(location, str) and (match := URL.match(location)):
        if match[1] != "file":
            _check_protocol(location, match[1])
            return ObjectStore(location)
        location = _local_folder(location)
    store = store_at(location)
    if type(store) is FolderStore:
        return FolderStore(store.folder.absolute())
    return store


def _local_folder(url: str) -> str:
    found = urlsplit(url)
    if found.netloc not in {"", "localhost"} or not found.path:
        raise UsageError(f"{url} is no local folder: write file:///folder, or the path alone")
    path = unquote(found.path)
    # file:///C:/folder
    return path[1:] if os.name == "nt" else path


def _check_protocol(url: str, protocol: str) -> None:
    try:
        fsspec.get_filesystem_class(protocol)
    except ValueError:
        raise UsageError(f"{url}: fsspec knows no protocol {protocol}") from None
    except ImportError as error:
        raise UsageError(f"{url} needs another package: {error} (with pip)") from error


class ObjectStore:
    """A store under a URL such as `s3://bucket/prefix`, in a bucket that exists.

    `options` go to fsspec (`key`, `secret`, `client_kwargs`, …); the rest comes from fsspec's
    configuration and the client's environment. They are pickled with the store and never shown.

    Files with a checksum in their name are copied to the folder `cache`, else to the one that
    `BOOLCAST_CACHE` names, else to one under the system's temporary folder. The limit is
    `BOOLCAST_CACHE_BYTES`, else 16 GiB. On Windows nothing is copied.

    Large uploads that broke off are not listed: set a lifecycle rule for the bucket that aborts
    incomplete uploads.
    """

    def __init__(
        self,
        url: str,
        options: Mapping[str, Any] | None = None,
        *,
        cache: str | os.PathLike[str] | None = None,
    ) -> None:
        protocol, _, root = url.partition("://")
        if protocol not in PROTOCOLS:
            raise StoreError(
                f"an index cannot be kept in {url}: {protocol} has no write that never "
                f"overwrites. Use a local folder or {PROTOCOLS[0]}://"
            )
        if not root.strip("/"):
            raise UsageError(f"{url} names no bucket: write {protocol}://bucket/prefix")
        self.url = url.rstrip("/")
        self.options = dict(options or {})
        self._root = root.rstrip("/")
        self._cache_folder = None if cache is None else Path(cache)

    def __str__(self) -> str:
        return self.url

    def __repr__(self) -> str:
        return f"ObjectStore({self.url!r})"

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, ObjectStore)
            and self.url == other.url
            and self.options == other.options
        )

    def __hash__(self) -> int:
        return hash(self.url)

    def get(self, name: str) -> bytes:
        key = self._key(name)
        with self._naming(f"{self}/{name} cannot be read"):
            # With concurrent requests it would ask for the size first.
            data: bytes = self._files.cat_file(key, max_concurrency=1)
        return data

    def path(self, name: str) -> Path | None:
        key = self._key(name)
        cached = _cached_name(name)
        if cached is None:
            return None
        cache = self._cache()
        problem = (
            f"{self}/{name} cannot be copied to {cache.folder} (set {CACHE_VARIABLE} to another)"
        )
        with self._naming(problem):
            try:
                return cache.path(cached, lambda path: self._files.get_file(key, str(path)))
            except FileNotFoundError:
                return cache.folder / cached

    def forget(self, name: str) -> bool:
        cached = _cached_name(name)
        if cached is None:
            return False
        self._cache().forget(cached)
        return True

    def put_if_absent(self, name: str, data: bytes) -> bool:
        key = self._key(name)
        with self._naming(f"{self}/{name} cannot be written"):
            self._prove_atomic()
            return self._create(key, data)

    def list(self, prefix: str) -> list[str]:
        try:
            with self._naming(f"{self} cannot be listed"):
                keys = self._files.find(self._root, prefix=prefix)
        except FileNotFoundError:
            return []  # there is no such bucket
        names = (key.removeprefix(f"{self._root}/") for key in keys)
        return sorted(name for name in names if name.startswith(prefix) and is_name(name))

    def delete(self, name: str) -> None:
        key = self._key(name)
        with suppress(FileNotFoundError), self._naming(f"{self}/{name} cannot be deleted"):
            self._files.rm_file(key)
        self.forget(name)

    @property
    def _files(self) -> Any:
        # Not kept: a forked process needs its own file system, and fsspec gives it one. Without
        # fsspec's cache of listings, which would miss objects that others have written.
        protocol = self.url.partition("://")[0]
        return fsspec.filesystem(protocol, use_listings_cache=False, **self.options)

    def _key(self, name: str) -> str:
        if not is_name(name):
            raise StoreError(f"{name!r} cannot be a name in the store {self}")
        return f"{self._root}/{name}"

    def _prove_atomic(self) -> None:
        """Write one object twice, unless it exists; nobody ever deletes it."""
        if self in _proven:
            return
        note = b"An index of Boolcast is kept here."
        try:
            atomic = not (
                self._create(f"{self._root}/{_PROBE}", note)
                and self._create(f"{self._root}/{_PROBE}", note)
            )
        except OSError as error:
            if error.errno != errno.ENOSYS:
                raise
            atomic = False
        if not atomic:
            raise StoreError(
                f"an index cannot be kept in {self}: it does not support conditional writes "
                "(If-None-Match), so two writers could overwrite each other"
            )
        _proven.add(self)

    def _create(self, key: str, data: bytes) -> bool:
        writer = os.urandom(16).hex()
        for attempt in range(_CONFLICTS):
            try:
                self._files.pipe_file(key, data, mode="create", Metadata={_WRITER: writer})
            except Exception as error:
                if self._is_marked(key, writer):
                    return True
                code = _code(error)
                if code in _TAKEN:
                    return False
                if code not in _CONFLICT or attempt == _CONFLICTS - 1:
                    raise
                time.sleep(0.05 * 2**attempt)
            else:
                return True
        raise AssertionError  # the last attempt returns or raises

    def _is_marked(self, key: str, writer: str) -> bool:
        """True if the object exists and carries the mark; False also if that is unknown."""
        try:
            found: bool = self._files.metadata(key).get(_WRITER) == writer
        except Exception:  # noqa: BLE001 - the original error says more
            return False
        return found

    @contextmanager
    def _naming(self, problem: str) -> Iterator[None]:
        """Say in errors what failed and where; the clients' own errors become OSErrors."""
        try:
            yield
        except StoreError:
            raise
        except Exception as error:
            number = getattr(error, "errno", None) or _NUMBERS.get(type(error), errno.EIO)
            reason = str(error) or type(error).__name__
            raise OSError(number, f"{problem}: {reason}") from error

    def _cache(self) -> LocalCache:
        folder = self._cache_folder or os.environ.get(CACHE_VARIABLE) or _own_temporary_folder()
        limit = os.environ.get(CACHE_BYTES_VARIABLE) or CACHE_BYTES
        try:
            return LocalCache(Path(folder), int(limit))
        except ValueError:
            raise UsageError(
                f"{CACHE_BYTES_VARIABLE} is {limit!r}: it must be a whole number of bytes"
            ) from None


def _cached_name(name: str) -> str | None:
    """The name of the local copy; None if the content under this name may change."""
    match = _CHECKSUM.search(name)
    return f"{match[1]}-{match[2]}" if match and os.name != "nt" else None


def _own_temporary_folder() -> Path:
    """Its name can be guessed, so check the owner: others could change files after we verify."""
    folder = Path(tempfile.gettempdir(), f"boolcast-{os.getuid()}")
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.is_symlink() or folder.stat().st_uid != os.getuid():
        raise StoreError(
            f"the cache folder {folder} belongs to another user: "
            f"set {CACHE_VARIABLE} to a folder of your own"
        )
    return folder


def _code(error: BaseException) -> str | None:
    """S3's code of the error; s3fs raises an OSError from the client's own error."""
    response = getattr(error.__cause__, "response", None) or {}
    code: str | None = response.get("Error", {}).get("Code")
    return code
