"""The match engine that users get: segments, a few pending additions, and tombstones.

New subscriptions wait in a short list, which every match looks through; when it is long
enough, or has cost enough, it becomes a segment. Small segments are merged into larger ones
in the background. Removing marks a place as empty from a version on; a merge drops it.

A match works on the state that it finds when it begins: a tuple of segments, the pending
list and a version, all immutable or only ever changed for later versions. So it needs no
lock; those who change something take turns.
"""

import threading
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa

from boolcast.errors import UnknownSubscriptionError
from boolcast.filters.evaluation import evaluate
from boolcast.filters.expressions import Filter
from boolcast.filters.limits import DEEPEST, DEFAULT_LIMITS, Limits
from boolcast.filters.parsing import parse
from boolcast.filters.size_check import check_limits
from boolcast.matching.id_table import Sequences
from boolcast.matching.inputs.chunks import chunks
from boolcast.matching.inputs.encoding import encode_event
from boolcast.matching.inputs.event_rows import check_events
from boolcast.matching.inputs.event_sample import EventSample
from boolcast.matching.inputs.protocol import MATCHES, Events
from boolcast.matching.segment import merging
from boolcast.matching.segment.bulk_load import REJECTS, Loader
from boolcast.matching.segment.kernel_runner import search, settled
from boolcast.matching.segment.live_segment import ALIVE, Entry, LiveSegment
from boolcast.matching.segment.subscription_rows import Subscriptions, rows_of
from boolcast.matching.stats import Stats
from boolcast.matching.stats import expensive as find_expensive
from boolcast.matching.store.catalog import catalog_of, live_segments
from boolcast.matching.store.segment_codec import to_stored
from boolcast.matching.store.snapshots import load, publish
from boolcast.matching.store.store import Place, store_at
from boolcast.matching.values.selectivity import Selectivity
from boolcast.model.events import Event
from boolcast.model.identifiers import check_subscription_id
from boolcast.model.statistics import Statistics

PENDING_LIMIT: Final = 1_024
"""How many additions wait at most."""

_PENDING_PATIENCE: Final = 8_192
"""After so many looks at pending subscriptions they are worth a segment."""


class _State(NamedTuple):
    """What a match works on. Of `pending` only the first `waiting` belong to it.

    Later additions join the same list, which is never changed otherwise: to copy it for each
    of them would take as long as to index it.
    """

    segments: tuple[LiveSegment, ...]
    pending: list[Entry]
    waiting: int
    version: int

    def additions(self) -> list[Entry]:
        """The additions that wait."""
        return self.pending[: self.waiting]


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
        self._state = _State((), [], 0, 0)
        self._count = 0
        self._known: Sequences | None = None
        self._next_sequence = 0
        self._looks = 0
        self._sample = EventSample()
        self._seen = 0
        self._candidates = 0
        self._matches = 0

    def __len__(self) -> int:
        return self._count

    def __contains__(self, subscription: object) -> bool:
        known = self._known
        if known is None:
            with self._lock:
                known = self._sequences()
        return subscription in known

    def _sequences(self) -> Sequences:
        """The sequence number of each id. The lock is held.

        Made when first needed: for a million it takes a second and 150 MB, and who only loads
        and matches, or loads and saves, never needs it.
        """
        if self._known is None:
            known = Sequences()
            for each in self._state.segments:
                for places, names in each.subscriptions.pieces():
                    alive = each.dead_since[places] == ALIVE
                    numbers = np.where(alive, each.sequence[places], -1).tolist()
                    pairs = zip(names, numbers, strict=True)
                    known.update(pair for pair in pairs if pair[1] >= 0)
            known.update((entry.subscription, entry.sequence) for entry in self._state.additions())
            self._known = known
        return self._known

    def add(self, subscription: str, filter: Filter | str) -> None:
        """Add a subscription; one of the same id is replaced.

        Raises FilterError, and SubscriptionIdError for an id that is no text.
        """
        check_subscription_id(subscription)
        text = filter if isinstance(filter, str) else None
        if isinstance(filter, str):
            filter = parse(filter, limits=self._limits)
        if text is None or self._limits.depth > DEEPEST:
            check_limits(filter, self._limits)
        with self._lock:
            segments, pending, waiting, version = self._without(subscription)
            entry = Entry(self._next_sequence, subscription, filter, text)
            self._next_sequence += 1
            self._sequences()[subscription] = entry.sequence
            self._count += 1
            pending.append(entry)
            self._state = _State(segments, pending, waiting + 1, version)
            if waiting + 1 >= PENDING_LIMIT:
                self._flush()

    def add_many(self, subscriptions: Subscriptions) -> pa.Table:
        """Add subscriptions from columns or JSON lines `subscription` and `filter` (text).

        Much faster than one by one: texts that differ in constants only are parsed once. Of
        rows with the same id the last counts. Rows that cannot be taken are returned with
        their reasons, in the columns of `REJECTS`; the others are added all at once.
        """
        loader = Loader(self._limits)
        loader.take(rows_of(subscriptions))
        with self._lock:
            first = self._next_sequence
            self._next_sequence += len(loader)
        # Not with the lock: others would wait for all of it.
        live = loader.segment(first, self._selectivity())
        with self._lock:
            self._flush()
            if self._count:
                for _, names in live.subscriptions.pieces():
                    for subscription in names:
                        self._without(subscription)
            if self._known is not None:
                for places, names in live.subscriptions.pieces():
                    self._known.update(zip(names, live.sequence[places].tolist(), strict=True))
            self._count += len(live)
            if len(live):
                self._append(live)
        return pa.Table.from_pylist([each._asdict() for each in loader.rejects], REJECTS)

    def remove(self, subscription: str) -> None:
        """Remove a subscription. Raises UnknownSubscriptionError."""
        with self._lock:
            if subscription not in self._sequences():
                raise UnknownSubscriptionError(subscription)
            self._state = self._without(subscription)

    def _without(self, subscription: str) -> _State:
        """The next state, for which the subscription is gone; nobody sees it yet. Needs the lock.

        What replaces the subscription joins that very state, so that no match finds neither.
        """
        segments, pending, waiting, version = self._state
        sequence = self._sequences().pop(subscription)
        if sequence is not None:
            self._count -= 1
            for segment in segments:
                place = segment.place_of(sequence)
                if place is not None:
                    segment.kill(place, version + 1)
                    break
            else:
                pending = [entry for entry in pending if entry.sequence != sequence]
                waiting = len(pending)
        return _State(segments, pending, waiting, version + 1)

    def match(self, event: Mapping[str, object]) -> list[str]:
        """The subscriptions that accept the event. Raises EventError if it is malformed."""
        converted = Event.from_python(event)
        state = self._state
        if not self._sample.is_full or self._seen % 64 == 0:
            self._sample.learn(converted)
        self._seen += 1
        found: list[str] = []
        for live in state.segments:
            encoded = encode_event(converted, live.spaces, live.segment)
            for hits in search(live, encoded, state.version):
                places = hits.places
                if len(hits.unsure):
                    places = places[settled(live, lambda row: converted, hits)]
                found += live.subscriptions.at(places)
                self._candidates += hits.candidates
        found += [
            entry.subscription
            for entry in state.additions()
            if evaluate(entry.filter, converted, True)
        ]
        self._matches += len(found)
        if state.waiting:
            self._looks += state.waiting
            if self._looks > _PENDING_PATIENCE:
                self._tidy_up()
        return found

    def match_batch(self, events: Events) -> pa.RecordBatchReader:
        """The matches of many events, by the state at the call.

        A reader of batches with the columns `event` (its number, from 0) and `subscription`;
        at most about a million matches are held at a time. Raises EventError, with the number
        of the event, when a malformed one is reached.
        """
        check_events(events)
        with self._lock:
            self._flush()
            state = self._state
        return pa.RecordBatchReader.from_batches(MATCHES, self._matched(state, events))

    def _matched(self, state: _State, events: Events) -> Iterator[pa.RecordBatch]:
        for chunk in chunks(events):
            self._seen += len(chunk.numbers)
            self._sample.learn_from(chunk)
            for live in state.segments:
                encoded = chunk.columns.encode(live.spaces, live.segment.text_columns)
                for hits in search(live, encoded, state.version):
                    self._candidates += hits.candidates
                    rows, places = hits.events, hits.places
                    if len(hits.unsure):
                        stands = settled(live, chunk.event, hits)
                        rows, places = rows[stands], places[stands]
                    self._matches += len(places)
                    if len(places):
                        subscription = pa.DictionaryArray.from_arrays(
                            pa.array(places), live.subscriptions.array, safe=False
                        )
                        numbers = pa.array(chunk.numbers[rows])
                        yield pa.record_batch([numbers, subscription], schema=MATCHES)

    def _selectivity(self) -> Selectivity:
        if self._given is not None:
            return self._given
        return self._sample.selectivity()

    def _flush(self) -> None:
        """Make the pending subscriptions a segment. The lock is held."""
        if self._state.waiting:
            self._append(LiveSegment.of_entries(self._state.pending, self._selectivity()))

    def _append(self, live: LiveSegment) -> None:
        """Take up a segment of all that was pending; merge in the background. The lock is held.

        A merge that fails is told by `threading.excepthook` and loses nothing; the next segment
        starts another.
        """
        segments, _, _, version = self._state
        self._looks = 0
        self._state = _State((*segments, live), [], 0, version + 1)
        if merging.choose(self._state.segments):
            self._tidy_up()

    def _tidy_up(self) -> None:
        """Index what is pending if it was looked at often, and merge, in the background.

        Not in the thread that found out: it may be one that matches, and should not wait.
        """
        if self._merging.acquire(blocking=False):
            thread = threading.Thread(target=self._tidy_up_now, name="boolcast-merge", daemon=True)
            try:
                thread.start()
            except RuntimeError:
                # No thread is to be had: the next segment gives another occasion.
                self._merging.release()

    def _tidy_up_now(self) -> None:
        try:
            if self._looks > _PENDING_PATIENCE:
                with self._lock:
                    self._flush()
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

    def save(self, place: Place) -> int:
        """Save everything as a new version in a folder or a store; returns its number.

        The version is there whole or not at all, whatever happens meanwhile. Raises StoreError
        if what is there is damaged, and OSError if the place cannot be written.
        """
        store = store_at(place)
        self.merge()
        with self._lock:
            self._flush()
            segments, _, _, version = self._state
        # What is removed from now on is still part of what is saved.
        if any((each.dead_since <= version).any() for each in segments):
            segments = (LiveSegment.merged(segments, version, self._selectivity()),)
        return publish(store, [to_stored(each) for each in segments], catalog_of(segments))

    @classmethod
    def load(
        cls,
        place: Place,
        *,
        version: int | None = None,
        statistics: Statistics | None = None,
        limits: Limits = DEFAULT_LIMITS,
    ) -> "Matcher":
        """The newest version saved in a folder or a store, or a given one, mapped into memory.

        Every byte is verified first. Statistics and limits are for what is added later, and for
        the next `merge`. Raises StoreError if anything is missing or damaged.
        """
        matcher = cls(statistics=statistics, limits=limits)
        for live in live_segments(load(store_at(place), version)):
            matcher._next_sequence += len(live)
            matcher._count += len(live) - live.dead
            matcher._append(live)
        return matcher

    def stats(self, *, expensive: int = 10) -> Stats:
        """Sizes, work done, and so many of the most expensive filters."""
        segments, _, pending, _ = self._state
        events = max(self._seen, 1)
        return Stats(
            subscriptions=len(self),
            pending=pending,
            segments=tuple(map(len, segments)),
            dead=sum(each.dead for each in segments),
            filters=sum(len(each.texts) for each in segments),
            shapes=len({group.shape for each in segments for group in each.groups}),
            structure_bytes=sum(each.segment.nbytes for each in segments),
            filter_bytes=sum(each.filter_bytes for each in segments),
            id_bytes=sum(each.id_bytes for each in segments),
            text_bytes=sum(each.texts.nbytes for each in segments),
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
            segments, pending, waiting, now = self._state
            for old in chosen:
                for gone in np.flatnonzero(
                    (old.dead_since > version) & (old.dead_since <= now)
                ).tolist():
                    place = merged.place_of(int(old.sequence[gone]))
                    assert place is not None
                    merged.kill(place, int(old.dead_since[gone]))
            kept = tuple(each for each in segments if each not in chosen)
            self._state = _State((merged, *kept), pending, waiting, now)
