"""The match engine that users get: segments, a few pending additions, and tombstones.

New subscriptions wait in a short list, which every match scans. When the list is long enough,
or has cost enough, it becomes a segment. A background thread merges small segments into larger
ones. Removing a subscription marks it as dead from a version on; a merge drops it.

A match works on the state that it finds when it begins: a tuple of segments, the pending list
and a version. A state never changes, except for what concerns later versions, so a match needs
no lock. Changes take turns.
"""

import threading
from collections.abc import Iterator
from typing import Final

import numpy as np
import pyarrow as pa

from boolcast.errors import UnknownSubscriptionError
from boolcast.filters.evaluation import evaluate
from boolcast.filters.expressions import Filter, FilterLike, as_filter
from boolcast.filters.limits import DEEPEST, DEFAULT_LIMITS, LIMITS_EXPECTED, Limits
from boolcast.filters.size_check import check_limits
from boolcast.matching.id_table import IdTable
from boolcast.matching.inputs.attribute_watch import AttributeWatch
from boolcast.matching.inputs.chunks import Chunk, chunks
from boolcast.matching.inputs.encoding import SingleEvent
from boolcast.matching.inputs.event_rows import check_events
from boolcast.matching.inputs.event_sample import EventSample
from boolcast.matching.inputs.protocol import MATCHES, Events
from boolcast.matching.segment import kernel_runner, merging
from boolcast.matching.segment.bulk_load import REJECTS, Loader
from boolcast.matching.segment.kernel_runner import find_matches
from boolcast.matching.segment.live_segment import ALIVE, Entry, LiveSegment
from boolcast.matching.segment.subscription_rows import Subscriptions, rows_of
from boolcast.matching.state import State
from boolcast.matching.stats import Stats, find_expensive, find_unseen
from boolcast.matching.store.catalog import catalog_of
from boolcast.matching.store.segment_codec import live_segments, to_stored
from boolcast.matching.store.snapshots import load, publish
from boolcast.matching.store.store import Location, store_at
from boolcast.matching.values import array_operations, constants
from boolcast.matching.values.selectivity import Selectivity
from boolcast.model.arguments import check_argument
from boolcast.model.events import Event
from boolcast.model.identifiers import check_subscription_id
from boolcast.model.statistics import Statistics

PENDING_LIMIT: Final = 1_024
"""How many additions wait at most."""

_PENDING_PATIENCE: Final = 8_192
"""How often pending filters are evaluated before they become a segment."""

_REHEARSED: Final = b"""
{"subscription": "0", "filter": "a = 1 and b = 'x'"}
{"subscription": "1", "filter": "a < 5.5 or b like 'x%' or b in ('p', 'q')"}
{"subscription": "2", "filter": "a > c or matches(b, 'x') or contains(b, 'x') or ends_with(b, 'x')"}
{"subscription": "3", "filter": "a is null or t > timestamp '2026-11-15' or t = true"}
"""
"""Subscriptions of many kinds, which `warm_up` matches once."""


class Matcher:
    """Subscriptions, and a fast answer to which of them accept an event.

    `statistics` of past events help to choose what to index; without them the matcher learns
    from the events that it sees. Safe to use from several threads. `copy.copy` gives an
    independent matcher that shares the index.

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
        check_argument(statistics, Statistics | None, "statistics are a Statistics, or None")
        check_argument(limits, Limits, LIMITS_EXPECTED)
        self._limits = limits
        self._given = None if statistics is None else Selectivity.from_statistics(statistics)
        self._lock = threading.RLock()
        self._merging = threading.Lock()
        self._state = State((), [], 0, 0)
        self._count = 0
        self._known: IdTable | None = None
        self._next_sequence = 0
        self._looks = 0
        self._sample = EventSample()
        self._watch = AttributeWatch()
        self._watched = -1
        self._seen = 0
        self._candidates = 0
        self._matches = 0

    def __len__(self) -> int:
        return self._count

    def __repr__(self) -> str:
        return f"<Matcher: {self._count:,} subscription{'' if self._count == 1 else 's'}>"

    def __contains__(self, subscription: object) -> bool:
        return isinstance(subscription, str) and subscription in self._ids()

    def __getitem__(self, subscription: str) -> Filter:
        """The filter of a subscription, perhaps in the spelling of an equal one.

        Raises UnknownSubscriptionError.
        """
        check_subscription_id(subscription)
        with self._lock:
            sequence = self._sequences().get(subscription)
            state = self._state
        if sequence is None:
            raise UnknownSubscriptionError(subscription)
        return state.filter_of(sequence)

    def __iter__(self) -> Iterator[str]:
        """The ids at the time of the call, whatever changes meanwhile."""
        return self._state.ids()

    def items(self) -> Iterator[tuple[str, Filter]]:
        """Ids and filters at the time of the call, each filter as `matcher[id]` gives it."""
        return self._state.items()

    def __copy__(self) -> "Matcher":
        """An independent matcher of the same subscriptions; segments share their index."""
        other = Matcher(limits=self._limits)
        other._given = self._given
        with self._lock:
            segments, pending, waiting, version = self._state
            copies = tuple(each.copy() for each in segments)
            other._state = State(copies, pending[:waiting], waiting, version)
            other._known = None if self._known is None else self._known.copy()
            other._count, other._next_sequence = self._count, self._next_sequence
            other._looks = self._looks
            other._sample, other._watch = self._sample.copy(), self._watch.copy()
            other._watched = self._watched
            other._seen, other._candidates = self._seen, self._candidates
            other._matches = self._matches
        return other

    def __deepcopy__(self, memo: object) -> "Matcher":
        return self.__copy__()

    def warm_up(self) -> None:
        """Do now what the first additions and matches would have to wait for.

        Compiles the kernels, or loads them from the cache, imports what they need, and indexes
        pending subscriptions. Without it the first match of a process takes seconds.
        """
        array_operations.load_kernels()
        constants.load_kernels()
        kernel_runner.load_kernels()
        rehearsal = Matcher()
        rejects = rehearsal.add_many(_REHEARSED)
        assert not len(rejects)
        for subscription, filter in list(rehearsal.items()):
            rehearsal.add(subscription, filter)
        events = pa.table({"a": [1, 2], "b": ["x", None]})
        for batch in (events, b'{"a": 1, "b": "x"}\n{"a": 2}'):
            rehearsal.match_batch(batch).read_all()
        rehearsal.match({"a": 1, "b": "x"})
        rehearsal.merge()
        with self._lock:
            self._flush()
        for live in self._state.segments:
            for space in live.spaces.spaces:
                space.prepare()
            for encodable in (SingleEvent(Event()), Chunk.of_events([Event(), Event()])):
                for _ in find_matches(live, encodable, self._state.version):
                    pass

    def _ids(self) -> IdTable:
        known = self._known
        if known is None:
            with self._lock:
                known = self._sequences()
        return known

    def _sequences(self) -> IdTable:
        """The sequence number of each id. The lock is held.

        Made when first needed: a million ids take a second and 150 MB, and a program that only
        loads and matches, or loads and saves, never needs them.
        """
        if self._known is None:
            known = IdTable()
            for each in self._state.segments:
                for positions, names in each.subscriptions.pieces():
                    alive = each.dead_since[positions] == ALIVE
                    numbers = np.where(alive, each.sequence[positions], -1).tolist()
                    pairs = zip(names, numbers, strict=True)
                    known.update(pair for pair in pairs if pair[1] >= 0)
            known.update((entry.subscription, entry.sequence) for entry in self._state.additions())
            self._known = known
        return self._known

    def add(self, subscription: str, filter: FilterLike) -> None:
        """Add a subscription; it replaces one with the same id.

        Raises FilterError, SubscriptionIdError, and ArgumentError for other types.
        """
        check_subscription_id(subscription)
        text = filter if isinstance(filter, str) else None
        filter = as_filter(filter, limits=self._limits)
        if text is None or self._limits.depth > DEEPEST:
            check_limits(filter, self._limits)
        with self._lock:
            segments, pending, waiting, version = self._without(subscription)
            entry = Entry(self._next_sequence, subscription, filter, text)
            self._next_sequence += 1
            self._sequences()[subscription] = entry.sequence
            self._count += 1
            pending.append(entry)
            self._state = State(segments, pending, waiting + 1, version)
            if waiting + 1 >= PENDING_LIMIT:
                self._flush()

    def add_many(self, subscriptions: Subscriptions) -> pa.Table:
        """Add subscriptions from columns or JSON lines `subscription` and `filter` (text).

        Much faster than one by one: texts that differ only in constants are parsed once. The
        last of several rows with the same id counts. Returns the malformed rows with the
        reason, in the columns of `REJECTS`; the others are added all at once.
        """
        loader = Loader(self._limits)
        loader.take(rows_of(subscriptions))
        with self._lock:
            first = self._next_sequence
            self._next_sequence += len(loader)
        # Without the lock: others would wait for all of it.
        live = loader.segment(first, self._selectivity())
        _ = live.attributes
        with self._lock:
            self._flush()
            if self._count:
                for _, names in live.subscriptions.pieces():
                    for subscription in names:
                        self._without(subscription)
            if self._known is not None:
                for positions, names in live.subscriptions.pieces():
                    self._known.update(zip(names, live.sequence[positions].tolist(), strict=True))
            self._count += len(live)
            if len(live):
                self._append(live)
        return pa.Table.from_pylist([each._asdict() for each in loader.rejects], REJECTS)

    def remove(self, subscription: str) -> None:
        """Remove a subscription. Raises UnknownSubscriptionError."""
        check_subscription_id(subscription)
        with self._lock:
            if subscription not in self._sequences():
                raise UnknownSubscriptionError(subscription)
            self._state = self._without(subscription)

    def _without(self, subscription: str) -> State:
        """The next state, without the subscription; not published yet. The lock is held.

        A replacement joins this very state, so that every match finds one of the two.
        """
        segments, pending, waiting, version = self._state
        sequence = self._sequences().pop(subscription)
        if sequence is not None:
            self._count -= 1
            for segment in segments:
                position = segment.position_of(sequence)
                if position is not None:
                    segment.kill(position, version + 1)
                    break
            else:
                pending = [entry for entry in pending if entry.sequence != sequence]
                waiting = len(pending)
        return State(segments, pending, waiting, version + 1)

    def match(self, event: object) -> list[str]:
        """The subscriptions that accept the event. Raises EventError if it is malformed."""
        converted = Event.from_python(event)
        state = self._state
        if not self._sample.is_full or self._seen % 64 == 0:
            self._sample.learn(converted)
        self._seen += 1
        unseen = self._watch.unseen
        if unseen and not converted.keys().isdisjoint(unseen.keys()):
            self._watch.see(converted)
        found: list[str] = []
        single = SingleEvent(converted)
        for live in state.segments:
            for matches in find_matches(live, single, state.version):
                found += live.subscriptions.at(matches.positions)
                self._candidates += matches.candidates
        if state.waiting:
            found += self._match_pending(state, converted)
        self._matches += len(found)
        return found

    def _match_pending(self, state: State, event: Event) -> list[str]:
        """The pending subscriptions that accept the event."""
        additions = state.additions()
        if additions[-1].sequence > self._watched:
            names = {
                name
                for entry in additions
                if entry.sequence > self._watched
                for name in entry.filter.attributes()
            }
            self._watched = additions[-1].sequence
            self._watch.expect(names, self._seen - 1)
            self._watch.see(event)
        self._looks += state.waiting
        if self._looks > _PENDING_PATIENCE:
            self._tidy_up()
        return [entry.subscription for entry in additions if evaluate(entry.filter, event, True)]

    def match_batch(self, events: Events) -> pa.RecordBatchReader:
        """The matches of many events with the subscriptions at the time of the call.

        Returns a reader of batches with the columns `event` (its number, from 0) and
        `subscription`. It holds about a million matches at a time. Reading raises EventError,
        with the number of the event, at a malformed event.
        """
        check_events(events)
        with self._lock:
            self._flush()
            state = self._state
        return pa.RecordBatchReader.from_batches(MATCHES, self._matched(state, events))

    def _matched(self, state: State, events: Events) -> Iterator[pa.RecordBatch]:
        for chunk in chunks(events):
            self._seen += len(chunk.numbers)
            self._sample.learn_from(chunk)
            if self._watch.unseen:
                self._watch.see_chunk(chunk)
            for live in state.segments:
                for matches in find_matches(live, chunk, state.version):
                    self._candidates += matches.candidates
                    self._matches += len(matches.positions)
                    if len(matches.positions):
                        numbers = pa.array(chunk.numbers[matches.rows])
                        names = live.subscriptions.encoded(matches.positions)
                        yield pa.record_batch([numbers, names], schema=MATCHES)

    def _selectivity(self) -> Selectivity:
        if self._given is not None:
            return self._given
        return self._sample.selectivity()

    def _flush(self) -> None:
        """Make the pending subscriptions a segment. The lock is held."""
        if self._state.waiting:
            self._append(LiveSegment.of_entries(self._state.pending, self._selectivity()))

    def _append(self, live: LiveSegment) -> None:
        """Add a segment, and drop the pending list, which is in it or empty. The lock is held.

        Merges run in the background. `threading.excepthook` reports a merge that fails; nothing
        is lost, and the next segment starts another one.
        """
        segments, _, _, version = self._state
        self._watch.expect(live.attributes, self._seen)
        self._looks = 0
        self._state = State((*segments, live), [], 0, version + 1)
        if merging.choose(self._state.segments):
            self._tidy_up()

    def _tidy_up(self) -> None:
        """Index pending subscriptions if they have cost enough, and merge, in the background.

        The calling thread may be matching, and should not wait.
        """
        if self._merging.acquire(blocking=False):
            thread = threading.Thread(target=self._tidy_up_now, name="boolcast-merge", daemon=True)
            try:
                thread.start()
            except RuntimeError:
                # No thread is available: the next segment tries again.
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
        """Make everything one segment, with cuts chosen by what is known now."""
        with self._merging:
            with self._lock:
                self._flush()
                segments = self._state.segments
            if segments:
                self._merge(segments)

    def save(self, place: Location) -> int:
        """Save everything as a new version in a folder or a store; returns its number.

        A version is complete or absent, even after a crash. Raises StoreError if the store is
        damaged, and OSError if it cannot be written.
        """
        store = store_at(place)
        self.merge()
        with self._lock:
            self._flush()
            segments, _, _, version = self._state
        # What is removed from now on is still saved.
        if any((each.dead_since <= version).any() for each in segments):
            segments = (LiveSegment.merged(segments, version, self._selectivity()),)
        return publish(store, [to_stored(each) for each in segments], catalog_of(segments))

    @classmethod
    def load(
        cls,
        place: Location,
        *,
        version: int | None = None,
        statistics: Statistics | None = None,
        limits: Limits = DEFAULT_LIMITS,
    ) -> "Matcher":
        """The newest version in a folder or a store, or a given one, mapped into memory.

        Every byte is verified first. Statistics and limits apply to later additions and to the
        next `merge`. Raises StoreError if anything is missing or damaged.
        """
        matcher = cls(statistics=statistics, limits=limits)
        for live in live_segments(load(store_at(place), version)):
            matcher._next_sequence += len(live)
            matcher._count += len(live) - live.dead
            matcher._append(live)
        return matcher

    def stats(self, *, expensive: int = 10) -> Stats:
        """Sizes, work done, the most expensive filters, and attributes that no event had."""
        state = self._state
        segments, _, pending, _ = state
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
            unseen_attributes=find_unseen(
                self._watch.unseen,
                self._seen,
                segments,
                [entry.filter for entry in state.additions()],
                list(self._sample.names),
            ),
        )

    def _merge(self, chosen: tuple[LiveSegment, ...]) -> None:
        """Replace segments by one. Only one thread merges; others may add and remove."""
        version = self._state.version
        merged = LiveSegment.merged(chosen, version, self._selectivity())
        with self._lock:
            segments, pending, waiting, now = self._state
            for old in chosen:
                for gone in np.flatnonzero(
                    (old.dead_since > version) & (old.dead_since <= now)
                ).tolist():
                    position = merged.position_of(int(old.sequence[gone]))
                    assert position is not None
                    merged.kill(position, int(old.dead_since[gone]))
            kept = tuple(each for each in segments if each not in chosen)
            self._state = State((merged, *kept), pending, waiting, now)
