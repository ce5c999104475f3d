"""Versions of an index in a store: published completely or not at all, verified before use.

::

    segments/00000007-<checksum>/<array>.npy    a segment, written for version 7
    segments/00000007-<checksum>/metadata
    versions/00000007.json                      the manifest: names every file of the version

A version exists once its manifest is written, as the last file, under a number that is not
taken. The current version is the highest number. There is no pointer to swap and no lock.

A segment whose checksum is in the previous manifest is not written again; the new manifest
names it again. The number in a segment's folder lets `delete_old_versions` run beside `publish`.
A deleter that sees versions up to h deletes only segments with a number up to h that no kept
manifest names:

- A publisher that is still writing segments for a version above h is not affected. One for a
  version up to h has lost that number and starts over with another.
- A version above h names a segment with a number up to h only if its predecessor named it, and
  so on down to h, whose manifest the deleter has read: the segment is kept.
- A publisher that stalls until its number was taken and deleted again could take it. It finds
  out because manifests are deleted oldest first: the previous one is gone too.
"""

import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from io import BytesIO
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from boolcast.errors import StoreError
from boolcast.matching.store.store import Store
from boolcast.model.arguments import check_argument

FORMAT = 2

_MANIFEST = re.compile(r"versions/(\d{8,})\.json")
_REMEDY = "save the index again, restore the file from a copy, or load an older version"


class StoredSegment(NamedTuple):
    """Named arrays that belong together, of plain dtypes (no objects, no fields), and metadata.

    Names are as the parts of a store's names. Each array is a file of its own, which costs two
    syncs to disk: rather few large arrays than many small ones.
    """

    arrays: Mapping[str, NDArray[Any]]
    metadata: bytes = b""


class Snapshot(NamedTuple):
    """A version as loaded: its arrays are read-only, and mapped where the store has files."""

    version: int
    segments: tuple[StoredSegment, ...]
    metadata: bytes


class File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a file of a segment must be, byte for byte."""

    name: str
    size: int
    checksum: str


class ArrayFile(File, frozen=True, forbid_unknown_fields=True):
    """A `.npy` file; the array is its last bytes."""

    dtype: str
    shape: tuple[int, ...]


class SegmentFiles(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A segment in a manifest; `number` is the version that it was written for."""

    number: int
    checksum: str
    metadata: File
    arrays: tuple[ArrayFile, ...]

    def path(self, file: File) -> str:
        """The name of one of its files in the store."""
        return f"segments/{self.number:08}-{self.checksum}/{file.name}"

    def paths(self) -> list[str]:
        """The names of all of its files in the store."""
        return [self.path(file) for file in (self.metadata, *self.arrays)]

    @property
    def nbytes(self) -> int:
        """The size of all of its files."""
        return sum(file.size for file in (self.metadata, *self.arrays))


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All that a version consists of."""

    format: int
    version: int
    segments: tuple[SegmentFiles, ...]
    metadata: bytes


class _Envelope(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The manifest and its own checksum; the same in every format."""

    checksum: str
    manifest: msgspec.Raw


class _AnyFormat(msgspec.Struct, frozen=True):
    format: int


def publish(store: Store, segments: Sequence[StoredSegment], metadata: bytes = b"") -> int:
    """Store a new version and return its number; it becomes the current one.

    The previous version stays current until the last write. After an OSError or a crash the new
    version is complete or absent; publish again. Concurrent publishers get different numbers.
    """
    while True:
        number = current(store) + 1
        known = reusable(store, number - 1)
        try:
            entries = [put_segment(store, number, segment, known) for segment in segments]
            published = commit(store, number, entries, metadata)
        except (StoreError, FileNotFoundError):
            # A deleter removes what is being written for a number that is taken.
            if current(store) < number:
                raise
            continue
        if published:
            return number


def put_segment(
    store: Store, number: int, segment: StoredSegment, known: Mapping[str, SegmentFiles]
) -> SegmentFiles:
    """Write a segment for the version with this number; several writers may do so at once.

    A segment among the `known` ones (see `reusable`) that is still intact is not written again.
    Nothing belongs to a version before `commit`. Writing twice does no harm.
    """
    checksum, files = _describe(segment)
    if checksum in known and _is_intact(store, known[checksum]):
        return known[checksum]
    return _put_files(store, segment, SegmentFiles(number, checksum, *files))


def commit(store: Store, number: int, entries: Sequence[SegmentFiles], metadata: bytes) -> bool:
    """Make a version of segments that were put for it; False if the number is taken.

    If so, start over with another number: a deleter may remove what was put for this one.
    `entries` may also name segments of the previous version.
    """
    manifest = _encode(Manifest(FORMAT, number, tuple(entries), metadata))
    published = store.put_if_absent(_manifest_name(number), manifest)
    return published and not _was_deleted(store, number)


def load(store: Store, version: int | None = None) -> Snapshot:
    """The version, or the current one. Verifies every byte.

    Raises StoreError if there is none, or if a file is missing, damaged or foreign.
    """
    check_argument(version, int | None, "a version is a number such as 1, or None for the newest")
    number = current(store) if version is None else version
    while True:
        try:
            return _open(store, number)
        except StoreError:
            # The version may be deleted while it is read, if there is a newer one.
            if version is not None or current(store) <= number:
                raise
            number = current(store)


def versions(store: Store) -> list[int]:
    """The numbers of all versions in the store, whole or damaged, in order."""
    found = (_MANIFEST.fullmatch(name) for name in store.list("versions/"))
    return sorted(int(match[1]) for match in found if match)


def delete_old_versions(store: Store, keep: int, *, oldest: int | None = None) -> None:
    """Delete all versions but the newest `keep`, and the files that only they need.

    All versions from `oldest` on are kept, even if they are more than `keep`. Safe beside
    `publish` and `load`. Raises StoreError, and deletes nothing, if a manifest to be kept cannot
    be read: the files that it names are unknown.
    """
    assert keep > 0
    highest = current(store)
    if not highest:
        return
    # Listed again: a listing that ran beside two publishers may hold the second one's only.
    listed = sorted({highest, *(each for each in versions(store) if each <= highest)})
    first = min(listed[-keep:][0], highest if oldest is None else oldest)
    kept = [each for each in listed if each >= first]
    try:
        manifests = [read_manifest(store, number) for number in kept]
    except StoreError:
        if set(kept) <= set(versions(store)):
            raise
        # Another collector took one of them, so there may be a newer version: start over.
        delete_old_versions(store, keep, oldest=oldest)
        return
    needed = {_manifest_name(number) for number in kept}
    for manifest in manifests:
        for segment in manifest.segments:
            needed.update(segment.paths())
    # Manifests before what they name, oldest first: see the top.
    for prefix in ("versions/", "segments/"):
        for name in sorted(store.list(prefix), key=_number):
            if name not in needed and _number(name) <= highest:
                store.delete(name)


def pack_strings(strings: pa.Array) -> tuple[NDArray[Any], NDArray[np.uint8]]:
    """Offsets and UTF-8 bytes as the array has them: one offset more than strings."""
    assert strings.null_count == 0
    assert strings.offset == 0
    _, offsets, data = strings.buffers()
    kind = np.int64 if pa.types.is_large_string(strings.type) else np.int32
    packed = np.frombuffer(offsets, kind, len(strings) + 1)
    return packed, np.frombuffer(data or b"", np.uint8)[: packed[-1]]


def unpack_strings(offsets: NDArray[Any], data: NDArray[np.uint8]) -> pa.Array:
    """The strings that `pack_strings` packed, not copied."""
    kind = pa.LargeStringArray if offsets.dtype == np.int64 else pa.StringArray
    return kind.from_buffers(len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(data))


def _checksum(*parts: bytes | memoryview) -> str:
    """SHA-256 of the parts in a row.

    200 MB take 0.22 s (with the processor's SHA instructions), BLAKE2b 0.44 s, SHA-1 0.22 s and
    CRC-32 0.05 s. CRC-32 would do against accidents, but a segment is recognised by its
    checksum, and 32 bits cannot tell segments apart; two checksums would be one too many.
    """
    digest = sha256()
    for part in parts:
        digest.update(part)
    return digest.hexdigest()


def _describe(segment: StoredSegment) -> tuple[str, tuple[File, tuple[ArrayFile, ...]]]:
    """The segment's checksum, from that of each file with its name and type; and its files."""
    metadata = File("metadata", len(segment.metadata), _checksum(segment.metadata))
    arrays = []
    for name, array in sorted(segment.arrays.items()):
        header, data = _npy(array)
        arrays.append(
            ArrayFile(
                name=f"{name}.npy",
                size=len(header) + len(data),
                checksum=_checksum(header, data),
                dtype=array.dtype.str,
                shape=array.shape,
            )
        )
    files = metadata, tuple(arrays)
    return _checksum(msgspec.json.encode(files)), files


def _npy(array: NDArray[Any]) -> tuple[bytes, memoryview]:
    """The header of a `.npy` file and the data that follows it, the latter not copied."""
    array = np.asarray(array, order="C")
    assert np.dtype(array.dtype.str) == array.dtype, "the name of a dtype must determine it"
    assert not array.dtype.hasobject
    header = BytesIO()
    np.lib.format.write_array_header_1_0(header, np.lib.format.header_data_from_array_1_0(array))
    return header.getvalue(), array.reshape(-1).view(np.uint8).data


def _put_files(store: Store, segment: StoredSegment, files: SegmentFiles) -> SegmentFiles:
    _put_file(store, files.path(files.metadata), files.metadata, segment.metadata)
    for file in files.arrays:
        data = b"".join(_npy(segment.arrays[file.name.removesuffix(".npy")]))
        _put_file(store, files.path(file), file, data)
    return files


def _put_file(store: Store, name: str, file: File, data: bytes) -> None:
    if not store.put_if_absent(name, data):
        # From an attempt that failed later on, or from a publisher of the same segment.
        try:
            _verified(store, name, file)
        except StoreError as error:
            problem = f"{store}/{name} is in the way of a new version, and damaged"
            raise StoreError(f"{problem}: delete it and save the index again") from error


def reusable(store: Store, number: int) -> dict[str, SegmentFiles]:
    """The segments of a version by checksum; none if it is not there, or damaged."""
    try:
        segments = read_manifest(store, number).segments
    except StoreError:
        return {}
    return {segment.checksum: segment for segment in segments}


def _is_intact(store: Store, segment: SegmentFiles) -> bool:
    """Costs a read of the whole segment: a version that cannot be loaded is worth nothing."""
    # Listed too: a cached copy may outlive the file.
    folder = segment.path(segment.metadata).removesuffix(segment.metadata.name)
    if not set(segment.paths()) <= set(store.list(folder)):
        return False
    try:
        open_segment(store, segment)
    except StoreError:
        return False
    return True


def _was_deleted(store: Store, number: int) -> bool:
    """True if the number may have been published and deleted before we put it.

    The files that the manifest names may be gone then, so it is deleted. Never true of the
    current version.
    """
    present = versions(store)
    if present[-1] <= number or number - 1 in present:
        return False
    store.delete(_manifest_name(number))
    return True


def current(store: Store) -> int:
    """The number of the current version, 0 if there is none."""
    return max(versions(store), default=0)


def _manifest_name(number: int) -> str:
    return f"versions/{number:08}.json"


def _number(name: str) -> float:
    """The version for which a name was put; infinite if it is none of ours."""
    match = re.match(r"(?:versions|segments)/(\d{8,})[-.]", name)
    return int(match[1]) if match else float("inf")


def _encode(manifest: Manifest) -> bytes:
    body = msgspec.json.encode(manifest)
    return msgspec.json.encode(_Envelope(_checksum(body), msgspec.Raw(body)))


def read_manifest(store: Store, number: int) -> Manifest:
    """What a version consists of. Raises StoreError if it is not there, or damaged."""
    name = _manifest_name(number)
    try:
        data = store.get(name)
    except FileNotFoundError:
        raise StoreError(_absence(store, number)) from None
    except OSError as error:
        raise _unreadable(store, name, error) from error
    try:
        envelope = msgspec.json.decode(data, type=_Envelope)
        # The comparison also refuses what JSON overlooks: white space, another order or escape.
        if (
            envelope.checksum != _checksum(envelope.manifest)
            or msgspec.json.encode(envelope) != data
        ):
            raise _damaged(store, name, "its checksum is wrong")
        version = msgspec.json.decode(envelope.manifest, type=_AnyFormat).format
        if version != FORMAT:
            raise StoreError(
                f"the index file {store}/{name} has format {version}, and this Boolcast reads "
                f"format {FORMAT}: load it with the Boolcast that saved it, or save the index again"
            )
        manifest = msgspec.json.decode(envelope.manifest, type=Manifest)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise _damaged(store, name, "it is not a manifest of Boolcast") from error
    if manifest.version != number:
        raise _damaged(store, name, f"it is the manifest of version {manifest.version}")
    return manifest


def _open(store: Store, number: int) -> Snapshot:
    manifest = read_manifest(store, number)
    segments = tuple(open_segment(store, segment) for segment in manifest.segments)
    return Snapshot(number, segments, manifest.metadata)


def open_segment(store: Store, segment: SegmentFiles) -> StoredSegment:
    """A segment, mapped where the store has files, after every byte of it was verified."""
    metadata = bytes(_verified(store, segment.path(segment.metadata), segment.metadata))
    arrays = {}
    for file in segment.arrays:
        data = _verified(store, segment.path(file), file)
        dtype = np.dtype(file.dtype)
        # Not parsed: the header is for people who open the file with numpy.
        header = file.size - dtype.itemsize * int(np.prod(file.shape))
        name = file.name.removesuffix(".npy")
        arrays[name] = np.ndarray(file.shape, dtype, buffer=data, offset=header)
    return StoredSegment(arrays, metadata)


def _verified(store: Store, name: str, file: File) -> memoryview:
    """The bytes of a file, mapped if it is local, when they are what the manifest says."""
    try:
        return _read(store, name, file)
    except StoreError:
        # A copy of the file may be damaged, or gone, and the file not.
        if not store.forget(name):
            raise
        return _read(store, name, file)


def _read(store: Store, name: str, file: File) -> memoryview:
    try:
        path = store.path(name)
        if path is None:
            data = memoryview(store.get(name))
        else:
            # Not `mmap`: that holds a file descriptor for every array (before Python 3.13).
            with pa.memory_map(str(path)) as mapped:
                data = memoryview(mapped.read_buffer())
    except FileNotFoundError:
        raise _damaged(store, name, "it is missing") from None
    except OSError as error:
        raise _unreadable(store, name, error) from error
    if len(data) != file.size:
        raise _damaged(store, name, f"it has {len(data):,} bytes instead of {file.size:,}")
    if _checksum(data) != file.checksum:
        raise _damaged(store, name, "its checksum is wrong")
    return data


def _absence(store: Store, number: int) -> str:
    present = versions(store)
    if not present:
        return f"there is no index in {store}: save one there first, or check the path"
    listed = ", ".join(map(str, present[-5:]))
    return f"there is no version {number} of the index in {store}; the newest are {listed}"


def _damaged(store: Store, name: str, problem: str) -> StoreError:
    return StoreError(f"the index file {store}/{name} is damaged: {problem}; {_REMEDY}")


def _unreadable(store: Store, name: str, error: OSError) -> StoreError:
    return StoreError(f"the index file {store}/{name} cannot be read ({error}); {_REMEDY}")
