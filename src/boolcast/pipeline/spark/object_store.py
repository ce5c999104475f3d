"""The index store in an object store, over fsspec; a Store like `matching.store.store.FolderStore`.

All that an index needs of the far side is a write that never overwrites. S3 has it since 2024
(`If-None-Match: *`), and so have some that speak its protocol; others ignore the header, so each
store is tried before the first write. What else fsspec reaches looks first and writes then, and
is refused.

Three traps of conditional writes are taken care of:

- A write whose answer was lost is sent again by the client, and refused because of itself. So
  every object carries a mark of its writer, which tells after an error whose it is.
- S3 may answer 409 to writers at the same time, which says nothing: ask again.
- From 100 MB on s3fs uploads in parts, and the condition is tested when they are put together.
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

import fsspec

from boolcast.errors import StoreError, UsageError
from boolcast.matching.store.store import is_name
from boolcast.pipeline.spark.local_cache import LocalCache

PROTOCOLS: Final = ("s3", "s3a")
"""Those whose writes with mode="create" are atomic."""

CACHE_VARIABLE: Final = "BOOLCAST_CACHE"
CACHE_BYTES_VARIABLE: Final = "BOOLCAST_CACHE_BYTES"
CACHE_BYTES: Final = 16 * 2**30

_PROBE: Final = ".boolcast"  # no name in a store begins with a dot
_WRITER: Final = "boolcast-writer"
_TAKEN: Final = {"PreconditionFailed", "412"}
_CONFLICT: Final = {"ConditionalRequestConflict", "OperationAborted", "409"}
_CONFLICTS: Final = 6
_CHECKSUM: Final = re.compile(r"-([0-9a-f]{64})/([^/]+)$")

# s3fs raises these without a number, from which OSError chooses its own kind again.
_NUMBERS: Final[dict[type[Exception], int]] = {
    FileNotFoundError: errno.ENOENT,
    PermissionError: errno.EACCES,
}

# Which stores this process has found to refuse a second write of a name.
_proven: Final[set["ObjectStore"]] = set()


class ObjectStore:
    """A store under a URL such as `s3://bucket/prefix`, where the bucket exists.

    `options` are fsspec's for the protocol (`key`, `secret`, `client_kwargs`, …); what they
    leave out comes from fsspec's configuration and the client's own environment. They travel
    with the store when it is pickled, and are never shown.

    Files whose name holds a checksum are copied into the folder `cache`, else the environment's
    `BOOLCAST_CACHE`, else one under the system's temporary folder; up to `cache_bytes`, else
    `BOOLCAST_CACHE_BYTES`, else 16 GiB. On Windows nothing is copied.

    Large objects whose upload was cut off are not listed: let a lifecycle rule of the bucket
    abort incomplete uploads.
    """

    def __init__(
        self,
        url: str,
        options: Mapping[str, Any] | None = None,
        *,
        cache: str | os.PathLike[str] | None = None,
        cache_bytes: int | None = None,
    ) -> None:
        protocol, _, root = url.partition("://")
        if protocol not in PROTOCOLS:
            raise StoreError(
                f"an index cannot be kept in {url}: {protocol} has no write that never "
                f"overwrites; use a local folder or {PROTOCOLS[0]}://"
            )
        if not root.strip("/"):
            raise UsageError(f"{url} names no bucket: write {protocol}://bucket/prefix")
        self.url = url.rstrip("/")
        self.options = dict(options or {})
        self._root = root.rstrip("/")
        self._cache_folder = None if cache is None else Path(cache)
        self._cache_bytes = cache_bytes

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
        with self._telling(f"{self}/{name} cannot be read"):
            # With more requests at a time it would ask for the size first.
            data: bytes = self._files.cat_file(key, max_concurrency=1)
        return data

    def path(self, name: str) -> Path | None:
        key = self._key(name)
        cached = _cached_name(name)
        if cached is None:
            return None
        cache = self._cache()
        problem = (
            f"{self}/{name} cannot be copied to {cache.folder} ({CACHE_VARIABLE} names another)"
        )
        with self._telling(problem):
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
        with self._telling(f"{self}/{name} cannot be written"):
            self._prove_atomic()
            return self._create(key, data)

    def list(self, prefix: str) -> list[str]:
        try:
            with self._telling(f"{self} cannot be listed"):
                keys = self._files.find(self._root, prefix=prefix)
        except FileNotFoundError:
            return []  # there is no such bucket
        names = (key.removeprefix(f"{self._root}/") for key in keys)
        return sorted(name for name in names if name.startswith(prefix) and is_name(name))

    def delete(self, name: str) -> None:
        key = self._key(name)
        with suppress(FileNotFoundError), self._telling(f"{self}/{name} cannot be deleted"):
            self._files.rm_file(key)
        self.forget(name)

    @property
    def _files(self) -> Any:
        # Not kept: a forked process needs a file system of its own, and fsspec gives it one.
        # Without its cache of listings, in which others' objects would be missing.
        protocol = self.url.partition("://")[0]
        return fsspec.filesystem(protocol, use_listings_cache=False, **self.options)

    def _key(self, name: str) -> str:
        if not is_name(name):
            raise StoreError(f"{name!r} cannot be a name in the store {self}")
        return f"{self._root}/{name}"

    def _prove_atomic(self) -> None:
        """Put one object twice, unless it is there; nobody ever deletes it."""
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
                f"an index cannot be kept in {self}: it does not know conditional writes "
                "(If-None-Match), without which two writers overwrite each other"
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
        """True if the object is there and carries the mark; False too if nobody can tell."""
        try:
            found: bool = self._files.metadata(key).get(_WRITER) == writer
        except Exception:  # noqa: BLE001 - the error that led here says more
            return False
        return found

    @contextmanager
    def _telling(self, problem: str) -> Iterator[None]:
        """Give errors the place and the name; those of the clients become OSErrors."""
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
        limit = self._cache_bytes or os.environ.get(CACHE_BYTES_VARIABLE) or CACHE_BYTES
        try:
            return LocalCache(Path(folder), int(limit))
        except ValueError:
            raise UsageError(
                f"{CACHE_BYTES_VARIABLE} is {limit!r}: it must be a whole number of bytes"
            ) from None


def _cached_name(name: str) -> str | None:
    """The name of the local copy; None if other bytes may come under the name one day."""
    match = _CHECKSUM.search(name)
    return f"{match[1]}-{match[2]}" if match and os.name != "nt" else None


def _own_temporary_folder() -> Path:
    """Its name can be guessed: nobody else may have made it to change what we have verified."""
    folder = Path(tempfile.gettempdir(), f"boolcast-{os.getuid()}")
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.is_symlink() or folder.stat().st_uid != os.getuid():
        raise StoreError(
            f"the cache folder {folder} belongs to somebody else: "
            f"set {CACHE_VARIABLE} to a folder of your own"
        )
    return folder


def _code(error: BaseException) -> str | None:
    """What S3 called the error; s3fs raises an OSError from the client's own."""
    response = getattr(error.__cause__, "response", None) or {}
    code: str | None = response.get("Error", {}).get("Code")
    return code
