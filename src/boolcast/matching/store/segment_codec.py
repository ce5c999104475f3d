"""A live segment as arrays and metadata for the index store, and back.

The arrays of the index are stored unchanged, in one file, and mapped into memory again. So are the
rank spaces and the constants of groups, end to end for all attributes and groups: the counts in
the description, which is MessagePack, say where to split them. Ids and texts are mapped too.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from boolcast.algebra.strings import Row
from boolcast.errors import StoreError
from boolcast.filters.parsing import parse
from boolcast.matching.segment.filter_subscribers import FilterSubscribers
from boolcast.matching.segment.live_segment import UNLIMITED, LiveSegment
from boolcast.matching.segment.strings import StringColumn
from boolcast.matching.store.array_packing import Section, pack, unpack
from boolcast.matching.store.catalog import dead_positions, decode_catalog
from boolcast.matching.store.snapshots import Snapshot, StoredSegment, pack_strings, unpack_strings
from boolcast.matching.values.columns import RankedGroup
from boolcast.matching.values.constants import Numbers, Strings, Table
from boolcast.matching.values.rank_tables import Spaces
from boolcast.matching.values.ranks import RankSpace
from boolcast.matching.values.segments import Segment
from boolcast.matching.values.shapes import Inner, Shape, Test

_SPACE_ARRAYS: Final = (
    "number_highs",
    "number_lows",
    "string_offsets",
    "string_bytes",
    "string_flags",
    "string_starts",
    "string_slots",
)


class _Space(msgspec.Struct, array_like=True):
    name: str
    marks: int
    is_ordered: bool
    numbers: int
    timestamps: int
    strings: int
    string_bytes: int
    slots: int
    seed: int


class _Group(msgspec.Struct, array_like=True):
    root: Any
    tests: list[tuple[str, str, int, list[str | None] | None, int, bool]]
    filters: int
    widths: list[int]


class _Description(msgspec.Struct):
    sections: list[Section]
    spaces: list[_Space]
    groups: list[_Group]
    residuals: list[int]


def to_stored(live: LiveSegment) -> StoredSegment:
    """A segment without its dead marks: every position counts as alive."""
    spaces, space_arrays = _split(live.spaces)
    groups = [
        _Group(
            _listed(group.shape.root),
            [
                (
                    test.attribute,
                    test.kind,
                    test.boundaries,
                    None if test.pattern is None else list(test.pattern.elements),
                    0 if test.pattern is None else test.pattern.stays,
                    test.is_wanted,
                )
                for test in group.shape.tests
            ],
            len(group.slots),
            [bounds.shape[1] for bounds in group.bounds],
        )
        for group in live.groups
    ]
    constants = [part.reshape(-1) for group in live.groups for part in (group.slots, *group.bounds)]
    subscriptions, subscription_bytes = pack_strings(live.subscriptions.array)
    texts, text_bytes = pack_strings(live.texts.array)
    index, sections = pack(live.segment._asdict() | space_arrays)
    description = _Description(sections, spaces, groups, sorted(live.residuals))
    arrays: dict[str, NDArray[Any]] = {
        "index": index,
        "constants": np.concatenate([*constants, np.zeros(0, np.int32)]),
        "description": np.frombuffer(msgspec.msgpack.encode(description), dtype=np.uint8),
        "starts": live.starts,
        "subscriptions": subscriptions,
        "subscription_bytes": subscription_bytes,
        "texts": texts,
        "text_bytes": text_bytes,
    }
    return StoredSegment(arrays)


def from_stored(stored: StoredSegment, first_sequence: int) -> LiveSegment:
    """The segment again, its index mapped into memory."""
    arrays = stored.arrays
    try:
        description = msgspec.msgpack.decode(arrays["description"].tobytes(), type=_Description)
        index = unpack(arrays["index"], description.sections)
        segment = Segment(**{name: index[name] for name in Segment._fields})
        spaces = _joined(description.spaces, index)
        texts = StringColumn(unpack_strings(arrays["texts"], arrays["text_bytes"]))
        subscriptions = StringColumn(
            unpack_strings(arrays["subscriptions"], arrays["subscription_bytes"])
        )
        starts = arrays["starts"]
    except (KeyError, ValueError, msgspec.DecodeError) as error:
        raise StoreError(f"not a segment of a match index: {error}; save it again") from None
    sequence = np.arange(first_sequence, first_sequence + len(subscriptions))
    return LiveSegment(
        spaces,
        _groups(description.groups, arrays["constants"]),
        FilterSubscribers(starts, sequence, subscriptions),
        texts,
        {slot: parse(texts[slot], limits=UNLIMITED) for slot in description.residuals},
        segment,
    )


def live_segments(snapshot: Snapshot) -> Iterator[LiveSegment]:
    """All segments of subscriptions, without the dead, numbered one after another."""
    first = 0
    for row in decode_catalog(snapshot.metadata).parts:
        live = from_stored(snapshot.segments[row.files], first)
        first += len(live.sequence)
        if row.tombstones >= 0:
            live = live.without(dead_positions(snapshot.segments[row.tombstones]))
        yield live


def _split(spaces: Spaces) -> tuple[list[_Space], dict[str, NDArray[Any]]]:
    """The spaces as counts, and their arrays end to end."""
    described: list[_Space] = []
    parts: dict[str, list[NDArray[Any]]] = {name: [] for name in _SPACE_ARRAYS}
    for name, space in zip(spaces.names, spaces.spaces, strict=True):
        strings, table = space.strings, space.strings.table
        described.append(
            _Space(
                name,
                space.marks,
                space.is_ordered,
                len(space.numbers),
                len(space.timestamps),
                len(strings),
                len(strings.data),
                len(table.slots),
                table.seed,
            )
        )
        for numbers in (space.numbers, space.timestamps):
            parts["number_highs"].append(numbers.highs)
            parts["number_lows"].append(numbers.lows)
        parts["string_offsets"].append(strings.offsets)
        parts["string_bytes"].append(strings.data)
        parts["string_flags"].append(strings.flags)
        parts["string_starts"].append(strings.starts)
        parts["string_slots"].append(table.slots)
    return described, {name: np.concatenate(each) for name, each in parts.items()}


def _joined(described: list[_Space], arrays: Mapping[str, NDArray[Any]]) -> Spaces:
    """The spaces again, on views of their arrays."""
    at = dict.fromkeys(_SPACE_ARRAYS, 0)

    def take(name: str, count: int) -> NDArray[Any]:
        begin = at[name]
        at[name] += count
        return arrays[name][begin : begin + count]

    return Spaces(
        {
            each.name: RankSpace(
                each.marks,
                Numbers(take("number_highs", each.numbers), take("number_lows", each.numbers)),
                Strings(
                    take("string_offsets", each.strings + 1),
                    take("string_bytes", each.string_bytes),
                    take("string_flags", each.strings),
                    take("string_starts", each.strings + 1),
                    Table(take("string_slots", each.slots), each.seed),
                ),
                Numbers(
                    take("number_highs", each.timestamps), take("number_lows", each.timestamps)
                ),
                is_ordered=each.is_ordered,
            )
            for each in described
        }
    )


def _groups(stored: list[_Group], constants: NDArray[np.int32]) -> list[RankedGroup]:
    groups: list[RankedGroup] = []
    at = 0
    for each in stored:
        parts: list[NDArray[np.int32]] = []
        for width in (1, *each.widths):
            size = each.filters * width
            parts.append(constants[at : at + size].reshape(each.filters, width))
            at += size
        tests = tuple(
            Test(
                name,
                kind,  # type: ignore[arg-type]
                boundaries,
                None if elements is None else Row(tuple(elements), stays),
                is_wanted,
            )
            for name, kind, boundaries, elements, stays, is_wanted in each.tests
        )
        slots, *bounds = parts
        groups.append(RankedGroup(Shape(_tree(each.root), tests), slots.reshape(-1), bounds))
    return groups


def _listed(node: Inner | int | None) -> Any:
    if isinstance(node, Inner):
        return [node.is_and, [_listed(child) for child in node.children]]
    return node


def _tree(node: Any) -> Inner | int | None:
    if isinstance(node, list):
        is_and, children = node
        return Inner(is_and, tuple(_tree(child) for child in children))  # type: ignore[misc]
    return node  # type: ignore[no-any-return]
