"""A live segment as arrays and metadata for the index store, and back.

The arrays of the index, the ids and the texts are stored as they are and mapped into memory
again. Rank spaces and shapes are small beside them and go into one array of MessagePack; the
constants of all groups lie in one array, cut up by the counts in the metadata.
"""

from typing import Any, Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from boolcast.algebra.cuts import Cut
from boolcast.algebra.value_sets import Row
from boolcast.errors import StoreError
from boolcast.filters.limits import Limits
from boolcast.filters.parsing import parse
from boolcast.matching.columns import RankedGroup
from boolcast.matching.live import Holders, LiveSegment
from boolcast.matching.segments import Segment
from boolcast.matching.shapes import Inner, Shape, Test
from boolcast.matching.snapshots import StoredSegment, pack_strings, unpack_strings
from boolcast.matching.spaces import Spaces
from boolcast.matching.strings import Strings

_ARRAYS: Final = Segment._fields
_UNLIMITED: Final = Limits(text=2**40, depth=2**30, predicates=2**30, values=2**30, regexes=2**30)


class _Space(msgspec.Struct, array_like=True):
    name: str
    cuts: list[list[Any]]
    is_ordered: bool


class _Group(msgspec.Struct, array_like=True):
    root: Any
    tests: list[tuple[str, str, int, list[str | None] | None, int, bool]]
    filters: int
    widths: list[int]


class _Metadata(msgspec.Struct):
    spaces: list[_Space]
    groups: list[_Group]
    residuals: list[int]


def to_stored(live: LiveSegment) -> StoredSegment:
    """All of a segment that has no dead slots."""
    assert not live.dead
    spaces = [
        _Space(name, [list(cut) for cut in space.cuts], space.is_ordered)
        for name, space in zip(live.spaces.names, live.spaces.spaces, strict=True)
    ]
    groups = [
        _Group(
            _listed(group.shape.root),
            [
                (
                    test.attribute,
                    test.kind,
                    test.cuts,
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
    metadata = _Metadata(spaces, groups, sorted(live.residuals))
    constants = [part.reshape(-1) for group in live.groups for part in (group.slots, *group.bounds)]
    subscriptions, subscription_bytes = pack_strings(live.subscriptions.array)
    texts, text_bytes = pack_strings(live.texts.array)
    arrays: dict[str, NDArray[Any]] = {name: getattr(live.segment, name) for name in _ARRAYS}
    arrays |= {
        "constants": np.concatenate([*constants, np.zeros(0, np.int32)]),
        "description": np.frombuffer(msgspec.msgpack.encode(metadata), dtype=np.uint8),
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
        metadata = msgspec.msgpack.decode(arrays["description"].tobytes(), type=_Metadata)
        segment = Segment(**{name: arrays[name] for name in _ARRAYS})
        texts = Strings(unpack_strings(arrays["texts"], arrays["text_bytes"]))
        subscriptions = Strings(
            unpack_strings(arrays["subscriptions"], arrays["subscription_bytes"])
        )
        starts = arrays["starts"]
    except (KeyError, msgspec.DecodeError) as error:
        raise StoreError(f"not a segment of a match index: {error}; save it again") from None
    cuts: dict[str, list[Cut]] = {
        space.name: [tuple(cut) for cut in space.cuts] for space in metadata.spaces
    }
    sequence = np.arange(first_sequence, first_sequence + len(subscriptions))
    ordered = {space.name for space in metadata.spaces if space.is_ordered}
    return LiveSegment(
        Spaces(cuts, ordered),
        _groups(metadata.groups, arrays["constants"]),
        Holders(starts, sequence, subscriptions),
        texts,
        {slot: parse(texts[slot], limits=_UNLIMITED) for slot in metadata.residuals},
        segment,
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
                cuts,
                None if elements is None else Row(tuple(elements), stays),
                is_wanted,
            )
            for name, kind, cuts, elements, stays, is_wanted in each.tests
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
