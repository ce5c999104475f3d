"""The match engine on shared decision diagrams (P2-B4), over arbitrary Boolean filters.

It is good at what P2 made it for: filters that share predicates and differ little, and one
structure for matching and covering. Diagrams change in microseconds (`diagrams.diagrams`), but
the index for matching is rebuilt: for a batch after every change; for single events once the
additions have been evaluated as often as there are filters. Like the access engine, it learns
from the events that it sees.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import chain
from typing import Final

import numpy as np
import pyarrow as pa

from boolcast.errors import EventError, UnknownSubscriptionError
from boolcast.filters.evaluation import evaluate
from boolcast.filters.expressions import Filter, FilterLike
from boolcast.matching.diagrams.diagrams import Diagrams, Figures
from boolcast.matching.diagrams.matching import DiagramIndex, Visits
from boolcast.matching.diagrams.nodes import DEFAULT_NODES
from boolcast.matching.diagrams.variable_order import attribute_order, statistics_of
from boolcast.matching.inputs.chunks import Chunk, chunks
from boolcast.matching.inputs.event_rows import check_events
from boolcast.matching.inputs.event_sample import EventSample
from boolcast.matching.inputs.protocol import MATCHES, Events
from boolcast.matching.inputs.register import Snapshot, checked_filter
from boolcast.matching.values.selectivity import Selectivity
from boolcast.model.events import Event
from boolcast.model.identifiers import check_subscription_id
from boolcast.model.statistics import Statistics

_SAMPLE: Final = 4_096
"""How many subscriptions the order of attributes is chosen by."""


class MbdEngine:
    """P2's diagrams as a match engine.

    `order` lists attributes from the top of the diagrams, for example from `attribute_order`.
    Without it the order is chosen by the subscriptions, again whenever their number has doubled.
    `statistics` of events say which predicates few events satisfy; without them a sample of the
    events does, once it is large enough. A filter that needs more than `limit` nodes is left to
    the reference evaluator. Not thread-safe.
    """

    def __init__(
        self,
        *,
        order: Sequence[str] | None = None,
        statistics: Statistics | None = None,
        limit: int = DEFAULT_NODES,
    ) -> None:
        self._given_order = order
        self._given = None if statistics is None else Selectivity.from_statistics(statistics)
        self._sample = EventSample()
        self._limit = limit
        self._filters: dict[str, Filter] = {}
        self._pending: dict[str, Filter] = {}
        self._diagrams: Diagrams = Diagrams(self._given_order or (), limit=limit)
        self._ordered_at = 0
        self._state: _State | None = None
        self._gone: set[str] = set()
        """What the state has and was removed since."""
        self._looks = 0
        """How often filters have been asked that the state does not have."""

    def add(self, subscription: str, filter: FilterLike) -> None:
        parsed = checked_filter(subscription, filter)
        if subscription in self._filters:
            self.remove(subscription)
        self._filters[subscription] = self._pending[subscription] = parsed

    def remove(self, subscription: str) -> None:
        check_subscription_id(subscription)
        if self._filters.pop(subscription, None) is None:
            raise UnknownSubscriptionError(subscription)
        if self._pending.pop(subscription, None) is None:
            self._diagrams.remove(subscription)
            self._gone.add(subscription)

    def __len__(self) -> int:
        return len(self._filters)

    def match(self, event: object) -> list[str]:
        converted = Event.from_python(event)
        self._sample.learn(converted)
        self._looks += len(self._pending) + len(self._gone)
        state = self._state
        if state is None or self._looks > len(self._filters) or self._could_be_informed():
            state = self._built()
        found = chain.from_iterable(
            numbers.tolist() for numbers in state.index.matches_of_one(converted)
        )
        names = state.names.names_of([*found, *state.outside(converted)])
        if self._gone:
            names = [name for name in names if name not in self._gone]
        return names + [
            name for name, filter in self._pending.items() if evaluate(filter, converted, True)
        ]

    def match_batch(self, events: Events) -> pa.RecordBatchReader:
        check_events(events)
        learnt = self._learn_ahead(events)
        matches = self._matches(self._built(), events, learnt)
        return pa.RecordBatchReader.from_batches(MATCHES, matches)

    def index(self) -> None:
        """Index all changes now instead of at the next match."""
        self._built()

    @property
    def diagrams(self) -> Diagrams:
        """The diagrams of all subscriptions, to be read only."""
        self._build_pending()
        return self._diagrams

    def figures(self) -> Figures:
        """How large the diagrams are, and how many filters have none."""
        return self.diagrams.figures()

    def visits(self) -> Visits:
        """The work for events since the last indexing, independent of the machine."""
        return (self._state or self._built()).index.visits()

    def _learn_ahead(self, events: Events) -> int:
        """Learn from the first chunk, before indexing; returns the number of chunks used.

        A reader is not read before its matches are.
        """
        if self._given or self._sample.is_full or isinstance(events, pa.RecordBatchReader):
            return 0
        # Reading the matches will raise it.
        with suppress(EventError):
            for chunk in chunks(events):
                self._sample.learn_from(chunk)
                return 1
        return 0

    def _matches(self, state: "_State", events: Events, learnt: int) -> Iterator[pa.RecordBatch]:
        for number, chunk in enumerate(chunks(events)):
            if number >= learnt:
                self._sample.learn_from(chunk)
            # Changes since the call must not show.
            if state is self._state and not self._pending and not self._gone:
                state = self._built()
            for rows, numbers in state.index.matches(chunk):
                yield from state.names.batches(chunk.numbers[rows], numbers)
            yield from state.outside_batches(chunk)

    def _built(self) -> "_State":
        """The index, made anew after a change, and once when enough was seen to choose by."""
        self._build_pending()
        if self._state is None or self._gone or self._could_be_informed():
            self._gone.clear()
            is_informed = self._given is not None or self._sample.is_full
            selectivity = self._given or self._sample.selectivity()
            self._state = _State(self._diagrams, selectivity, is_informed=is_informed)
        return self._state

    def _could_be_informed(self) -> bool:
        return self._state is not None and self._sample.is_full and not self._state.is_informed

    def _build_pending(self) -> None:
        """Make diagrams of what was added, or of everything in a better order."""
        self._looks = 0
        if self._pending:
            self._state = None
        if self._given_order is None and len(self._filters) > 2 * self._ordered_at:
            self._ordered_at = len(self._filters)
            step = max(len(self._filters) // _SAMPLE, 1)
            sample = list(self._filters.values())[::step]
            self._diagrams = Diagrams(attribute_order(statistics_of(sample)), limit=self._limit)
            self._pending = dict(self._filters)
        for subscription, filter in self._pending.items():
            self._diagrams.add(subscription, filter)
        self._pending.clear()


class _State:
    """All that a match needs, as it was at some moment.

    `is_informed`: more events would hardly have led to another choice.
    """

    def __init__(self, diagrams: Diagrams, selectivity: Selectivity, *, is_informed: bool) -> None:
        self.is_informed = is_informed
        self.index: DiagramIndex
        self.index, groups = diagrams.index(selectivity)
        self._first_outside = len(groups)
        self._outside = list(diagrams.outside.values())
        groups += [[name] for name in diagrams.outside]
        self.names = Snapshot(
            (),
            list(chain.from_iterable(groups)),
            np.cumsum([0, *map(len, groups)], dtype=np.int64),
        )

    def outside(self, event: Event) -> list[int]:
        """The filters without a diagram that accept an event."""
        return [
            number
            for number, node in enumerate(self._outside, self._first_outside)
            if evaluate(node, event, True)
        ]

    def outside_batches(self, chunk: Chunk) -> Iterator[pa.RecordBatch]:
        """The same for many events, as matches."""
        if not self._outside:
            return
        for row, event_number in enumerate(chunk.numbers.tolist()):
            found = np.array(self.outside(chunk.event(row)), dtype=np.int64)
            yield from self.names.batches(np.full(len(found), event_number), found)
