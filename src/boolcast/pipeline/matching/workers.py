"""The segments that a worker keeps open from one task to the next.

A segment is known by its content. So the next version of the index reuses every segment that it
shares with the one before, and a version that only adds tombstones opens nothing again.
"""

from collections import OrderedDict
from collections.abc import Sequence

from boolcast.matching.segment.live_segment import LiveSegment
from boolcast.matching.store.catalog import IndexSegment, dead_positions
from boolcast.matching.store.segment_codec import from_stored
from boolcast.matching.store.snapshots import open_segment
from boolcast.matching.store.store import Store

_Opened = dict[str, LiveSegment]

_Key = tuple[tuple[str, str], ...]

_kept: OrderedDict[_Key, tuple[_Opened, tuple[LiveSegment, ...]]] = OrderedDict()
"""Groups of parts, least recently used first: their segments as stored, and without the dead."""


def open_parts(store: Store, parts: Sequence[IndexSegment], keep: int) -> tuple[LiveSegment, ...]:
    """The segments of a group of parts; at most `keep` groups stay open, this one included.

    Every byte is verified when a part is opened. Raises StoreError if a file is missing or
    damaged.
    """
    key = tuple(part.key for part in parts)
    if key in _kept:
        _kept.move_to_end(key)
        return _kept[key][1]
    wanted = {part.files.checksum: part.files for part in parts}
    known: _Opened = {}
    for opened, _ in _kept.values():
        known |= {checksum: base for checksum, base in opened.items() if checksum in wanted}
    while len(_kept) >= keep:
        _kept.popitem(last=False)
    bases = {
        checksum: known.get(checksum) or from_stored(open_segment(store, files), 0)
        for checksum, files in wanted.items()
    }
    segments = tuple(
        bases[part.files.checksum]
        if part.tombstones is None
        else bases[part.files.checksum].without(
            dead_positions(open_segment(store, part.tombstones))
        )
        for part in parts
    )
    _kept[key] = bases, segments
    return segments
