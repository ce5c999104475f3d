"""What each segment of a version holds: the metadata of the manifest.

Some segments hold subscriptions, some list the dead positions of another segment (*tombstones*,
so that a change writes little), and some hold rejected rows. A subscription's id determines its
bucket, and a segment holds subscriptions of one bucket, so a change reads only one bucket.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec
import numpy as np
from numpy.typing import NDArray

from boolcast.errors import StoreError
from boolcast.matching.store.snapshots import Manifest, SegmentFiles, StoredSegment

if TYPE_CHECKING:
    from boolcast.matching.segment.live_segment import LiveSegment


class IndexSegment(msgspec.Struct, frozen=True):
    """A segment of subscriptions: its files, and what can be known without opening them."""

    bucket: int
    subscriptions: int
    attributes: tuple[str, ...]
    files: SegmentFiles
    dead: int = 0
    tombstones: SegmentFiles | None = None

    @property
    def key(self) -> tuple[str, str]:
        """Identifies the content: segments with one key are equal, in any store and version."""
        return self.files.checksum, self.tombstones.checksum if self.tombstones else ""


class Index(msgspec.Struct, frozen=True):
    """A match index in a store: its segments, and the files of rejected rows."""

    buckets: int
    parts: tuple[IndexSegment, ...]
    rejects: tuple[SegmentFiles, ...] = ()

    @property
    def subscriptions(self) -> int:
        """How many are alive."""
        return sum(part.subscriptions - part.dead for part in self.parts)

    def entries(self) -> tuple[list[SegmentFiles], bytes]:
        """The manifest's segments and metadata."""
        entries: list[SegmentFiles] = []

        def position(files: SegmentFiles) -> int:
            entries.append(files)
            return len(entries) - 1

        rows = tuple(
            SegmentRow(
                position(part.files),
                part.bucket,
                part.subscriptions,
                part.attributes,
                part.dead,
                position(part.tombstones) if part.tombstones else -1,
            )
            for part in self.parts
        )
        rejects = tuple(position(files) for files in self.rejects)
        return entries, msgspec.json.encode(Catalog(self.buckets, rows, rejects))


class SegmentRow(msgspec.Struct, frozen=True, array_like=True):
    """A segment; files are positions in the manifest."""

    files: int
    bucket: int
    subscriptions: int
    attributes: tuple[str, ...]
    dead: int = 0
    tombstones: int = -1


class Catalog(msgspec.Struct, frozen=True):
    """The metadata of a manifest as it is stored."""

    buckets: int
    parts: tuple[SegmentRow, ...]
    rejects: tuple[int, ...] = ()


def catalog_of(segments: "Sequence[LiveSegment]") -> bytes:
    """The metadata of a version of these segments, which must have no dead positions."""
    rows = (
        SegmentRow(position, 0, len(each.sequence), each.attributes)
        for position, each in enumerate(segments)
    )
    return msgspec.json.encode(Catalog(1, tuple(rows)))


def index_of(manifest: Manifest) -> Index:
    """The index that a manifest describes. Raises StoreError if it is something else."""
    catalog = decode_catalog(manifest.metadata)
    files = manifest.segments
    parts = tuple(
        IndexSegment(
            row.bucket,
            row.subscriptions,
            row.attributes,
            files[row.files],
            row.dead,
            files[row.tombstones] if row.tombstones >= 0 else None,
        )
        for row in catalog.parts
    )
    return Index(catalog.buckets, parts, tuple(files[position] for position in catalog.rejects))


def tombstones(positions: NDArray[np.int32]) -> StoredSegment:
    """Dead positions, to be stored."""
    return StoredSegment({"dead": positions})


def dead_positions(stored: StoredSegment) -> NDArray[np.int32]:
    """The positions that `tombstones` stored."""
    return stored.arrays["dead"]


def decode_catalog(metadata: bytes) -> Catalog:
    """The catalog in a manifest's metadata. Raises StoreError if it is something else."""
    try:
        return msgspec.json.decode(metadata, type=Catalog)
    except msgspec.DecodeError as error:
        raise StoreError(f"not a match index: {error}; save it again") from None
