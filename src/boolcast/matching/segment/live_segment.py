"""A segment in use: the index, the subscriptions of its filters, and which of them are dead."""

import threading
from collections.abc import Iterable, Sequence
from copy import copy
from functools import cached_property
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from boolcast.filters.expressions import Filter
from boolcast.filters.limits import Limits
from boolcast.filters.parsing import parse
from boolcast.matching.segment.building import build
from boolcast.matching.segment.deduplication import Content, without_duplicates
from boolcast.matching.segment.filter_subscribers import FilterSubscribers
from boolcast.matching.segment.strings import StringColumn
from boolcast.matching.values.columns import RankedGroup, ShapeGroup
from boolcast.matching.values.rank_tables import Spaces
from boolcast.matching.values.segments import Segment
from boolcast.matching.values.selectivity import Selectivity
from boolcast.matching.values.shapes import Shape, take_apart

ALIVE: Final = np.iinfo(np.int64).max

UNLIMITED: Final = Limits(text=2**40, depth=2**30, predicates=2**30, values=2**30, regexes=2**30)


class Entry(NamedTuple):
    """A subscription on its way into a segment; `sequence` counts all additions.

    `text` is the filter's text as given, or None if it was given as a tree.
    """

    sequence: int
    subscription: str
    filter: Filter
    text: str | None


class LiveSegment:
    """An index over filters, and the subscriptions that hold them.

    A filter has a *slot*, however many subscriptions hold it; `groups`, `texts` and `residuals`
    know it by its slot. Equal filters are one. A subscription has a *position*.

    Everything is immutable except `dead_since`: the version of the matcher from which on a
    position is dead. It only ever changes from ALIVE, so readers of earlier versions do not
    notice.
    """

    def __init__(
        self,
        spaces: Spaces,
        groups: list[RankedGroup],
        subscribers: FilterSubscribers,
        texts: StringColumn,
        residuals: dict[int, Filter],
        segment: Segment,
    ) -> None:
        self.spaces = spaces
        self.groups = groups
        self.starts, self.sequence, self.subscriptions = subscribers
        self.texts = texts
        self.residuals = residuals
        self.segment = segment
        self.dead_since = np.full(len(self), ALIVE, dtype=np.int64)
        self.dead = 0
        self._scratch = threading.local()

    @classmethod
    def of_entries(cls, entries: Sequence[Entry], selectivity: Selectivity) -> "LiveSegment":
        """Index entries."""
        slots: dict[str, int] = {}
        slot_of = [
            slots.setdefault(str(entry.filter) if entry.text is None else entry.text, len(slots))
            for entry in entries
        ]
        groups: dict[Shape, ShapeGroup] = {}
        residuals: dict[int, Filter] = {}
        known = -1
        for slot, entry in zip(slot_of, entries, strict=True):
            if slot <= known:
                continue
            known = slot
            parts = take_apart(entry.filter)
            if parts is None:
                continue
            shape, constants = parts
            group = groups.get(shape)
            if group is None:
                group = groups[shape] = ShapeGroup(shape)
            group.add(slot, constants)
            if group.has_residual:
                residuals[slot] = entry.filter
        subscribers = FilterSubscribers.sorted(
            np.array(slot_of, dtype=np.int32),
            len(slots),
            np.array([entry.sequence for entry in entries], dtype=np.int64),
            pa.array([entry.subscription for entry in entries], pa.string()),
        )
        return cls.of_groups(
            list(groups.values()),
            subscribers,
            StringColumn.of(list(slots), pa.large_string()),
            residuals,
            selectivity,
        )

    @classmethod
    def of_groups(
        cls,
        groups: Sequence[ShapeGroup],
        subscribers: FilterSubscribers,
        texts: StringColumn,
        residuals: dict[int, Filter],
        selectivity: Selectivity,
    ) -> "LiveSegment":
        """Index filters that are already grouped by shape."""
        spaces = Spaces.of(groups)
        ranked = [spaces.ranked(group) for group in groups]
        return cls._of_content(spaces, Content(ranked, subscribers, texts, residuals), selectivity)

    @classmethod
    def _of_content(
        cls, spaces: Spaces, content: Content, selectivity: Selectivity
    ) -> "LiveSegment":
        content = without_duplicates(content)
        segment = build(content.groups, spaces, selectivity)
        return cls(spaces, *content, _with_positions(segment, content.subscribers.starts))

    @classmethod
    def merged(
        cls, segments: Sequence["LiveSegment"], version: int, selectivity: Selectivity
    ) -> "LiveSegment":
        """One segment of all subscriptions that are alive at the version."""
        spaces, maps = Spaces.united([each.spaces for each in segments])
        alive = [np.flatnonzero(each.dead_since > version) for each in segments]
        held = [each.slots_of(positions) for each, positions in zip(segments, alive, strict=True)]
        texts, renumbered = _united_texts(segments, held)
        parts: dict[Shape, list[RankedGroup]] = {}
        residuals: dict[int, Filter] = {}
        for each, moves, (slots, is_first) in zip(segments, maps, renumbered, strict=True):
            # A filter in several segments is taken from the first.
            indexed = np.where(is_first, slots, np.int32(-1))
            for group in each.groups:
                moved = _kept(spaces.moved(group, moves), indexed)
                if len(moved.slots):
                    parts.setdefault(group.shape, []).append(moved)
            residuals |= {int(slots[s]): f for s, f in each.residuals.items() if is_first[s]}
        joined = [_joined(shape, groups) for shape, groups in parts.items()]
        subscribers = FilterSubscribers.sorted(
            np.concatenate(
                [slots[rows] for (slots, _), rows in zip(renumbered, held, strict=True)]
            ),
            len(texts),
            np.concatenate(
                [each.sequence[kept] for each, kept in zip(segments, alive, strict=True)]
            ),
            pa.concat_arrays(
                [
                    each.subscriptions.array.take(pa.array(kept))
                    for each, kept in zip(segments, alive, strict=True)
                ]
            ),
        )
        return cls._of_content(spaces, Content(joined, subscribers, texts, residuals), selectivity)

    def __len__(self) -> int:
        """The number of subscriptions, alive or dead."""
        return len(self.sequence)

    def position_of(self, sequence: int) -> int | None:
        """The position of a subscription, if it is in this segment."""
        order = self._order
        row = int(np.searchsorted(self.sequence, sequence, sorter=order))
        if row == len(self.sequence):
            return None
        position = row if order is None else int(order[row])
        return position if self.sequence[position] == sequence else None

    @cached_property
    def _order(self) -> NDArray[np.intp] | None:
        """The positions by sequence number; None if they are in order already."""
        if (self.sequence[1:] > self.sequence[:-1]).all():
            return None
        return np.argsort(self.sequence)

    def slots_of(self, positions: NDArray[Any]) -> NDArray[np.int64]:
        """The slots of the filters of the subscriptions at these positions."""
        return np.searchsorted(self.starts, positions, side="right") - 1

    def kill(self, position: int, version: int) -> None:
        """Mark a position as dead from the version on."""
        self.dead_since[position] = version
        self.dead += 1

    def copy(self) -> "LiveSegment":
        """An independent copy, in which other subscriptions may die; the index is shared."""
        other = copy(self)
        other.dead_since = self.dead_since.copy()
        return other

    def without(self, positions: NDArray[np.int32]) -> "LiveSegment":
        """The same segment with these positions dead; so far all must be alive."""
        assert not self.dead
        other = self.copy()
        other.dead_since[positions] = 0
        other.dead = len(positions)
        return other

    @cached_property
    def attributes(self) -> tuple[str, ...]:
        """The attributes that the filters use, sorted."""
        residual = (name for each in self.residuals.values() for name in each.attributes())
        return tuple(sorted({*self.spaces.names[1:], *residual}))

    def is_alive(self, position: int) -> bool:
        """False once the position is dead in the newest version."""
        return bool(self.dead_since[position] == ALIVE)

    def filter_at(self, slot: int) -> Filter:
        """The filter of a slot; it was accepted once, so no limit applies."""
        filter = self.residuals.get(slot)
        return parse(self.texts[slot], limits=UNLIMITED) if filter is None else filter

    def held_slots(self) -> NDArray[np.bool_]:
        """For each slot, whether a subscription holds its filter in the newest version."""
        is_held = np.zeros(len(self.texts), dtype=np.bool_)
        is_held[self.slots_of(np.flatnonzero(self.dead_since == ALIVE))] = True
        return is_held

    def holder_of(self, slot: int) -> int | None:
        """The position of a subscription with this filter in the newest version."""
        first, end = self.starts[slot : slot + 2].tolist()
        alive = np.flatnonzero(self.dead_since[first:end] == ALIVE)
        return first + int(alive[0]) if len(alive) else None

    @cached_property
    def most_matches(self) -> int:
        """An upper bound for the matches of an event, even if some are counted several times."""
        members = self.segment.members
        shared = -1 - members[members < 0]
        subscribers = np.maximum(np.diff(self.starts), 1)
        return len(members) - len(shared) + int(subscribers[shared].sum())

    @property
    def filter_bytes(self) -> int:
        """The constants of the filters."""
        return sum(group.nbytes for group in self.groups)

    @property
    def id_bytes(self) -> int:
        """Everything kept for subscriptions beyond their filters."""
        arrays = (self.starts, self.sequence, self.dead_since)
        return self.subscriptions.nbytes + sum(each.nbytes for each in arrays)

    def scratch(self) -> "Scratch":
        """The working memory of the calling thread."""
        scratch: Scratch | None = getattr(self._scratch, "mine", None)
        if scratch is None:
            scratch = self._scratch.mine = Scratch(self.segment, len(self.sequence))
        return scratch


class Scratch:
    """What the kernel writes besides its output: stamps, which are never reset."""

    def __init__(self, segment: Segment, positions: int) -> None:
        self.memo = np.zeros(segment.shared_programs + 1, dtype=np.int64)
        self.seen = np.zeros(positions if segment.has_repeated_members else 1, dtype=np.int64)
        self.stamp = 0


def _with_positions(segment: Segment, starts: NDArray[np.int32]) -> Segment:
    """The segment with a position instead of a slot, if a filter has just one subscription."""
    first = starts[:-1]
    is_single = np.diff(starts) == 1
    member = np.where(is_single, first, -1 - np.arange(len(first), dtype=np.int32))
    return segment._replace(members=member[segment.members])


def _united_texts(
    segments: Sequence[LiveSegment], held: Sequence[NDArray[np.int64]]
) -> tuple[StringColumn, list[tuple[NDArray[np.int32], NDArray[np.bool_]]]]:
    """The distinct texts of all held slots; and for each segment the new numbers of its slots.

    With the numbers comes, for each slot, whether it is the first with its text; false if no
    subscription holds it.
    """
    kept = []
    for each, slots in zip(segments, held, strict=True):
        is_held = np.zeros(len(each.texts), dtype=np.bool_)
        is_held[slots] = True
        kept.append(np.flatnonzero(is_held))
    encoded = pa.concat_arrays(
        [each.texts.array.take(pa.array(slots)) for each, slots in zip(segments, kept, strict=True)]
    ).dictionary_encode()
    codes = encoded.indices.to_numpy()
    # Codes are numbered in the order of first use.
    is_new = np.diff(np.maximum.accumulate(codes), prepend=-1) > 0
    renumbered = []
    begin = 0
    for each, slots in zip(segments, kept, strict=True):
        end = begin + len(slots)
        numbers = np.full(len(each.texts), -1, dtype=np.int32)
        numbers[slots] = codes[begin:end]
        is_first = np.zeros(len(each.texts), dtype=np.bool_)
        is_first[slots] = is_new[begin:end]
        renumbered.append((numbers, is_first))
        begin = end
    return StringColumn(encoded.dictionary), renumbered


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
