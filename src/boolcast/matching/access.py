"""The match engine that users get: segments, a few pending additions, and tombstones.

New subscriptions wait in a short list, which every match looks through; when it is long
enough, or has cost enough, it becomes a segment. Small segments are merged into larger ones
in the background. Removing marks a slot as dead from a version on; a merge drops it.

A match works on the state that it finds when it begins: a tuple of segments, the pending
list and a version, all immutable or only ever changed for later versions. So it needs no
lock; those who change something take turns.
"""

import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from boolcast.errors import UnknownSubscriptionError
from boolcast.filters.evaluation import is_so
from boolcast.filters.expressions import Filter, Node
from boolcast.filters.limits import DEFAULT_LIMITS, Limits
from boolcast.filters.parsing import parse
from boolcast.matching import merging
from boolcast.matching.bulk import REJECTS, Loader, rows_of
from boolcast.matching.encoding import encode_event
from boolcast.matching.inputs import Chunk, chunks
from boolcast.matching.live import Entry, LiveSegment
from boolcast.matching.protocol import MATCHES, Events
from boolcast.matching.searching import Hits, search
from boolcast.matching.selectivity import Selectivity
from boolcast.matching.snapshots import load, publish
from boolcast.matching.stats import Stats
from boolcast.matching.stats import expensive as find_expensive
from boolcast.matching.store import FolderStore
from boolcast.matching.stored import from_stored, to_stored
from boolcast.model.events import Event
from boolcast.model.statistics import Statistics

PENDING_LIMIT: Final = 512
"""How many additions wait at most."""

_PENDING_PATIENCE: Final = 8_192
"""After so many looks at pending subscriptions they are worth a segment."""

_SAMPLE: Final = 256
"""How many events are remembered for the choice of cuts."""


class _State(NamedTuple):
    segments: tuple[LiveSegment, ...]
    pending: tuple[Entry, ...]
    version: int


class Matcher:
    """Subscriptions, and a fast answer to which of them accept an event.

    `statistics` of history help to choose what to index; without them the matcher learns
    from the events that it sees. Safe to use from several threads.

    >>> matcher = Matcher()
    >>> matcher.add("cheap", "price < 25")
    >>> matcher.match({"price": 21.0})
    ['cheap']
    """

    def __init__(
        self,
        *,
        statistics: Statistics | None = None,
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        self._limits = limits
        self._given = None if statistics is None else Selectivity.from_statistics(statistics)
        self._lock = threading.RLock()
        self._merging = threading.Lock()
        self._state = _State((), (), 0)
        self._sequences: dict[str, int] = {}
        self._next_sequence = 0
        self._looks = 0
        self._sample: list[Event] = []
        self._learned = 0
        self._seen = 0
        self._candidates = 0
        self._matches = 0

    def __len__(self) -> int:
        return len(self._sequences)

    def __contains__(self, subscription: object) -> bool:
        return subscription in self._sequences

    def add(self, subscription: str, filter: Filter | str) -> None:
        """Add a subscription; one of the same id is replaced. Raises FilterError."""
        if isinstance(filter, str):
            filter = parse(filter, limits=self._limits)
        with self._lock:
            self._drop(subscription)
            entry = Entry(self._next_sequence, subscription, filter, str(filter))
            self._next_sequence += 1
            self._sequences[subscription] = entry.sequence
            segments, pending, version = self._state
            self._state = _State(segments, (*pending, entry), version + 1)
            if len(pending) + 1 >= PENDING_LIMIT:
                self._flush()

    def add_many(self, subscriptions: pa.Table | pa.RecordBatch | bytes) -> pa.Table:
        """Add subscriptions from columns or JSON lines `subscription` and `filter` (text).

        Much faster than one by one: texts that differ in constants only are parsed once. Of
        rows with the same id the last counts. Rows that cannot be taken are returned with
        their reasons, in the columns of `REJECTS`; the others are added all at once.
        """
        loader = Loader(self._limits)
        loader.take(rows_of(subscriptions))
        with self._lock:
            self._flush()
            first = self._next_sequence
            live = loader.segment(first, self._selectivity())
            self._next_sequence += len(loader.texts)
            for slot, subscription in enumerate(loader.subscriptions):
                known = self._sequences.get(subscription)
                if known is not None and known >= first:
                    live.kill(known - first, self._state.version)
                elif known is not None:
                    self._drop(subscription)
                self._sequences[subscription] = first + slot
            if loader.texts:
                self._append(live)
        return pa.Table.from_pylist([each._asdict() for each in loader.rejects], REJECTS)

    def remove(self, subscription: str) -> None:
        """Remove a subscription. Raises UnknownSubscriptionError."""
        with self._lock:
            if not self._drop(subscription):
                raise UnknownSubscriptionError(subscription)

    def _drop(self, subscription: str) -> bool:
        sequence = self._sequences.pop(subscription, None)
        if sequence is None:
            return False
        segments, pending, version = self._state
        for segment in segments:
            slot = segment.slot_of(sequence)
            if slot is not None:
                segment.kill(slot, version + 1)
                break
        else:
            pending = tuple(entry for entry in pending if entry.sequence != sequence)
        self._state = _State(segments, pending, version + 1)
        return True

    def match(self, event: Mapping[str, object]) -> list[str]:
        """The subscriptions that accept the event. Raises EventError if it is malformed."""
        converted = Event.from_python(event)
        state = self._state
        if self._seen < _SAMPLE or self._seen % 64 == 0:
            self._learn(converted)
        self._seen += 1
        found: list[str] = []
        for live in state.segments:
            encoded = encode_event(converted, live.spaces, live.text_columns)
            for hits in search(live, encoded, state.version):
                slots = hits.slots
                if len(hits.unsure):
                    slots = slots[_settled(live, lambda row: converted, hits)]
                found += [live.subscriptions[slot] for slot in slots.tolist()]
                self._candidates += hits.candidates
        found += [
            entry.subscription
            for entry in state.pending
            if is_so(cast("Node", entry.filter), converted, True)
        ]
        self._matches += len(found)
        if state.pending:
            self._looks += len(state.pending)
            if self._looks > _PENDING_PATIENCE:
                with self._lock:
                    self._flush()
        return found

    def match_batch(self, events: Events) -> pa.RecordBatchReader:
        """The matches of many events, by the state at the call.

        A reader of batches with the columns `event` (its number, from 0) and `subscription`;
        at most about a million matches are held at a time. Raises EventError, with the number
        of the event, when a malformed one is reached.
        """
        with self._lock:
            self._flush()
            state = self._state
        return pa.RecordBatchReader.from_batches(MATCHES, self._matched(state, events))

    def _matched(self, state: _State, events: Events) -> Iterator[pa.RecordBatch]:
        for chunk in chunks(events):
            self._learn_from(chunk)
            for live in state.segments:
                encoded = chunk.columns.encode(live.spaces, live.segment.text_columns)
                for hits in search(live, encoded, state.version):
                    self._candidates += hits.candidates
                    rows, slots = hits.events, hits.slots
                    if len(hits.unsure):
                        stands = _settled(live, chunk.event, hits)
                        rows, slots = rows[stands], slots[stands]
                    self._matches += len(slots)
                    if len(slots):
                        subscription = pa.DictionaryArray.from_arrays(
                            pa.array(slots), live.dictionary(), safe=False
                        )
                        numbers = pa.array(chunk.numbers[rows])
                        yield pa.record_batch([numbers, subscription], schema=MATCHES)

    def _learn(self, event: Event) -> None:
        """Remember an event; of more than fit, the oldest is forgotten."""
        if len(self._sample) < _SAMPLE:
            self._sample.append(event)
        else:
            self._sample[self._learned % _SAMPLE] = event
        self._learned += 1

    def _learn_from(self, chunk: Chunk) -> None:
        """Remember a few events of a chunk, more of the first one."""
        rows = len(chunk.numbers)
        self._seen += rows
        wanted = _SAMPLE if len(self._sample) < _SAMPLE else 8
        for row in range(0, rows, max(rows // wanted, 1)):
            self._learn(chunk.event(row))

    def _selectivity(self) -> Selectivity:
        if self._given is not None:
            return self._given
        return Selectivity.from_events(list(self._sample))

    def _flush(self) -> None:
        """Make the pending subscriptions a segment. The lock is held."""
        pending = self._state.pending
        if pending:
            self._append(LiveSegment.of_entries(pending, self._selectivity()))

    def _append(self, live: LiveSegment) -> None:
        """Take up a segment of all that was pending; merge in the background. The lock is held."""
        segments, _, version = self._state
        self._looks = 0
        self._state = _State((*segments, live), (), version)
        if merging.choose(self._state.segments) and self._merging.acquire(blocking=False):
            threading.Thread(target=self._merge_in_background, daemon=True).start()

    def _merge_in_background(self) -> None:
        try:
            while chosen := merging.choose(self._state.segments):
                self._merge(chosen)
        finally:
            self._merging.release()

    def merge(self) -> None:
        """Make everything one segment, with cuts chosen anew by what is known now."""
        with self._merging:
            with self._lock:
                self._flush()
                segments = self._state.segments
            if segments:
                self._merge(segments)

    def save(self, folder: str | os.PathLike[str]) -> int:
        """Save everything as a new version in a folder; returns its number.

        The version is there whole or not at all, whatever happens meanwhile. Raises StoreError.
        """
        self.merge()
        segments, _, version = self._state
        if any(each.dead for each in segments):
            segments = (LiveSegment.merged(segments, version, self._selectivity()),)
        return publish(FolderStore(folder), [to_stored(each) for each in segments])

    @classmethod
    def load(cls, folder: str | os.PathLike[str], *, version: int | None = None) -> "Matcher":
        """The newest saved version, or a given one, mapped into memory.

        Every byte is verified first. Raises StoreError if anything is missing or damaged.
        """
        matcher = cls()
        for stored in load(FolderStore(folder), version).segments:
            live = from_stored(stored, matcher._next_sequence)
            matcher._next_sequence += len(live.sequence)
            matcher._sequences |= dict(zip(live.subscriptions, live.sequence.tolist(), strict=True))
            matcher._append(live)
        return matcher

    def stats(self, *, expensive: int = 10) -> Stats:
        """Sizes, work done, and so many of the most expensive filters."""
        segments, pending, _ = self._state
        texts = [text for each in segments for text in each.texts]
        ids = [name for each in segments for name in each.subscriptions]
        events = max(self._seen, 1)
        return Stats(
            subscriptions=len(self),
            pending=len(pending),
            segments=tuple(len(each.sequence) for each in segments),
            dead=sum(each.dead for each in segments),
            shapes=len({group.shape for each in segments for group in each.groups}),
            structure_bytes=sum(each.segment.nbytes for each in segments),
            filter_bytes=sum(group.nbytes for each in segments for group in each.groups),
            id_bytes=sum(map(sys.getsizeof, ids)),
            text_bytes=sum(map(sys.getsizeof, texts)),
            events=self._seen,
            candidates_per_event=self._candidates / events,
            matches_per_event=self._matches / events,
            expensive=find_expensive(segments, self._selectivity(), expensive),
        )

    def _merge(self, chosen: tuple[LiveSegment, ...]) -> None:
        """Replace segments by one; nobody else merges meanwhile, others may add and remove."""
        version = self._state.version
        merged = LiveSegment.merged(chosen, version, self._selectivity())
        with self._lock:
            segments, pending, now = self._state
            for old in chosen:
                for slot in np.flatnonzero(
                    (old.dead_since > version) & (old.dead_since <= now)
                ).tolist():
                    place = merged.slot_of(int(old.sequence[slot]))
                    assert place is not None
                    merged.kill(place, int(old.dead_since[slot]))
            kept = tuple(each for each in segments if each not in chosen)
            self._state = _State((merged, *kept), pending, now)


def _settled(live: LiveSegment, event_of: Callable[[int], Event], hits: Hits) -> NDArray[np.bool_]:
    """Which matches stand, once the reference evaluator has seen the unsure ones."""
    stands = np.ones(len(hits.slots), dtype=np.bool_)
    event, at = Event(), -1
    for place in hits.unsure.tolist():
        if hits.events[place] != at:
            at = int(hits.events[place])
            event = event_of(at)
        stands[place] = live.residuals[int(hits.slots[place])].accepts(event)
    return stands
