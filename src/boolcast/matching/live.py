"""A segment in use: the index, the subscriptions behind its slots, and which of them are gone."""

import threading
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from boolcast.filters.expressions import Filter
from boolcast.matching.building import build
from boolcast.matching.columns import RankedGroup, ShapeGroup
from boolcast.matching.segments import Segment
from boolcast.matching.selectivity import Selectivity
from boolcast.matching.shapes import Shape, take_apart
from boolcast.matching.spaces import Spaces

ALIVE: Final = np.iinfo(np.int64).max


class Entry(NamedTuple):
    """A subscription on its way into a segment; `sequence` counts all that were ever added."""

    sequence: int
    subscription: str
    filter: Filter
    text: str


class LiveSegment:
    """An index over subscriptions in the order of their sequence numbers; the slot is the place.

    Everything is immutable but `dead_since`, which holds the version of the matcher from
    which on a slot is gone. It only ever changes from ALIVE, so that a reader of an earlier
    version is not disturbed.
    """

    def __init__(
        self,
        spaces: Spaces,
        groups: list[RankedGroup],
        sequence: NDArray[np.int64],
        subscriptions: list[str],
        texts: list[str],
        residuals: dict[int, Filter],
        segment: Segment,
    ) -> None:
        self.spaces = spaces
        self.groups = groups
        self.sequence = sequence
        self.subscriptions = subscriptions
        self.texts = texts
        self.residuals = residuals
        self.segment = segment
        # Looked up once: to ask numpy costs a quarter of a match.
        self.text_columns = segment.text_columns if (segment.text_columns >= 0).any() else None
        self.dead_since = np.full(len(sequence), ALIVE, dtype=np.int64)
        self.dead = 0
        self._dictionary: pa.Array | None = None
        self._scratch = threading.local()

    @classmethod
    def of_entries(cls, entries: Sequence[Entry], selectivity: Selectivity) -> "LiveSegment":
        """Index entries, given in ascending sequence."""
        groups: dict[Shape, ShapeGroup] = {}
        residuals: dict[int, Filter] = {}
        for slot, entry in enumerate(entries):
            parts = take_apart(entry.filter)
            if parts is None:
                continue
            shape, constants = parts
            group = groups.get(shape)
            if group is None:
                group = groups[shape] = ShapeGroup(shape)
            group.add(slot, constants)
            if any(test.kind == "residual" for test in shape.tests):
                residuals[slot] = entry.filter
        return cls.of_groups(
            list(groups.values()),
            np.array([entry.sequence for entry in entries], dtype=np.int64),
            [entry.subscription for entry in entries],
            [entry.text for entry in entries],
            residuals,
            selectivity,
        )

    @classmethod
    def of_groups(
        cls,
        groups: Sequence[ShapeGroup],
        sequence: NDArray[np.int64],
        subscriptions: list[str],
        texts: list[str],
        residuals: dict[int, Filter],
        selectivity: Selectivity,
    ) -> "LiveSegment":
        """Index filters that are already sorted by shape."""
        spaces = Spaces.of(groups)
        ranked = [spaces.ranked(group) for group in groups]
        segment = build(ranked, spaces, selectivity)
        return cls(spaces, ranked, sequence, subscriptions, texts, residuals, segment)

    @classmethod
    def merged(
        cls, segments: Sequence["LiveSegment"], version: int, selectivity: Selectivity
    ) -> "LiveSegment":
        """One segment of all that is alive at the version."""
        spaces = Spaces.united([each.spaces for each in segments])
        alive = [np.flatnonzero(each.dead_since > version) for each in segments]
        sequence = np.concatenate(
            [each.sequence[kept] for each, kept in zip(segments, alive, strict=True)]
        )
        order = np.argsort(sequence)
        place = np.empty(len(order), dtype=np.int32)
        place[order] = np.arange(len(order), dtype=np.int32)
        parts: dict[Shape, list[RankedGroup]] = {}
        residuals: dict[int, Filter] = {}
        subscriptions: list[str] = []
        texts: list[str] = []
        begin = 0
        for each, kept in zip(segments, alive, strict=True):
            slots = np.full(len(each.sequence), -1, dtype=np.int32)
            slots[kept] = place[begin : begin + len(kept)]
            begin += len(kept)
            maps = spaces.maps_from(each.spaces)
            for group in each.groups:
                moved = _kept(spaces.moved(group, maps), slots)
                if len(moved.slots):
                    parts.setdefault(group.shape, []).append(moved)
            residuals |= {int(slots[s]): f for s, f in each.residuals.items() if slots[s] >= 0}
            subscriptions += [each.subscriptions[slot] for slot in kept.tolist()]
            texts += [each.texts[slot] for slot in kept.tolist()]
        steps = order.tolist()
        joined = [_joined(shape, groups) for shape, groups in parts.items()]
        return cls(
            spaces,
            joined,
            sequence[order],
            [subscriptions[step] for step in steps],
            [texts[step] for step in steps],
            residuals,
            build(joined, spaces, selectivity),
        )

    def slot_of(self, sequence: int) -> int | None:
        """The slot of a subscription, if it is in this segment."""
        slot = int(np.searchsorted(self.sequence, sequence))
        found = slot < len(self.sequence) and self.sequence[slot] == sequence
        return slot if found else None

    def kill(self, slot: int, version: int) -> None:
        """Let the slot be gone from the version on."""
        self.dead_since[slot] = version
        self.dead += 1

    def is_alive(self, slot: int) -> bool:
        """False once the slot is dead in the newest version."""
        return bool(self.dead_since[slot] == ALIVE)

    def dictionary(self) -> pa.Array:
        """The ids of all slots, as Arrow wants them."""
        if self._dictionary is None:
            self._dictionary = pa.array(self.subscriptions, pa.string())
        return self._dictionary

    def scratch(self) -> "Scratch":
        """The working memory of the thread that asks."""
        scratch: Scratch | None = getattr(self._scratch, "mine", None)
        if scratch is None:
            scratch = self._scratch.mine = Scratch(self.segment, len(self.sequence))
        return scratch


class Scratch:
    """What the kernel writes besides its output: stamps, never reset."""

    def __init__(self, segment: Segment, slots: int) -> None:
        self.memo = np.zeros(segment.shared_programs + 1, dtype=np.int64)
        self.seen = np.zeros(slots if segment.has_repeated_members else 1, dtype=np.int64)
        self.stamp = 0


def _kept(group: RankedGroup, slots: NDArray[np.int32]) -> RankedGroup:
    """The group without the filters whose new slot is negative."""
    moved = slots[group.slots]
    rows = np.flatnonzero(moved >= 0)
    return RankedGroup(group.shape, moved[rows], [bounds[rows] for bounds in group.bounds])


def _joined(shape: Shape, groups: Sequence[RankedGroup]) -> RankedGroup:
    slots = np.concatenate([group.slots for group in groups])
    columns: Iterable[tuple[NDArray[np.int32], ...]] = zip(
        *(group.bounds for group in groups), strict=True
    )
    return RankedGroup(shape, slots, [np.concatenate(column) for column in columns])
