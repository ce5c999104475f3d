"""The engine that evaluates every filter: the oracle and the baseline of the others."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from boolcast.filters.evaluation import evaluate
from boolcast.matching.inputs.event_rows import numbered_events
from boolcast.matching.inputs.protocol import MATCHES, Events
from boolcast.matching.inputs.register import BATCH_MATCHES, Snapshot, Subscriptions
from boolcast.model.events import Event


class ScanMatcher(Subscriptions):
    """The reference evaluator over all filters: an event costs one evaluation of each.

    Not thread-safe.
    """

    def match(self, event: object) -> list[str]:
        state = self.snapshot()
        return state.names_of(_accepting(state, Event.from_python(event)))

    def match_batch(self, events: Events) -> pa.RecordBatchReader:
        return pa.RecordBatchReader.from_batches(
            MATCHES, _matches(self.snapshot(), numbered_events(events))
        )


def _accepting(state: Snapshot, event: Event) -> list[int]:
    return [number for number, filter in enumerate(state.filters) if evaluate(filter, event, True)]


def _matches(state: Snapshot, events: Iterator[tuple[int, Event]]) -> Iterator[pa.RecordBatch]:
    found: list[int] = []
    accepted_by: list[int] = []
    rows = 0
    for number, event in events:
        filters = _accepting(state, event)
        found += [number] * len(filters)
        accepted_by += filters
        rows += int(state.counts[filters].sum())
        if rows >= BATCH_MATCHES:
            yield from state.batches(np.array(found), np.array(accepted_by))
            found, accepted_by, rows = [], [], 0
    yield from state.batches(np.array(found, np.int64), np.array(accepted_by, np.int64))
