"""P1's engine: count satisfied predicates, then evaluate few trees (P1-B3).

Distinct predicates have one-dimensional indexes by attribute. An event satisfies some of them;
each counts up the hits of the filters it occurs in, as often as it occurs there (P1-E1). Only a
filter with at least as many hits as its tree needs true leaves (P_min, P1-B2) is a candidate,
and its tree is evaluated on the bits of the satisfied predicates. `predicate_indexes` finds the
predicates that an event satisfies.

The access engine is measured against this one, and selectivities are learnt here (P1-B5). The
index is rebuilt at the first match after a change.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Final, NamedTuple, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from boolcast.algebra.ordered_sets import MISSING, OrderedSet
from boolcast.algebra.value_sets import meaning
from boolcast.filters.expressions import Leaf, Residual
from boolcast.matching.counting.forests import Forest, associations, jump_code, minimum_count
from boolcast.matching.counting.kernels.counting import (
    Encoded,
    Output,
    Scratch,
    Trees,
    find_satisfied,
    match_events,
)
from boolcast.matching.counting.predicate_indexes import PredicateTests, posted, space_of
from boolcast.matching.counting.selectivity_counters import SelectivityCounters
from boolcast.matching.inputs.event_rows import numbered_events
from boolcast.matching.inputs.protocol import MATCHES, Events
from boolcast.matching.inputs.register import BATCH_MATCHES, Snapshot, Subscriptions
from boolcast.model.events import Event
from boolcast.model.statistics import Statistics

_CHUNK_EVENTS: Final = 1_024
"""How many events go through the kernel at a time."""

_LEVELS: Final = 31
"""A rank has 31 bits."""


class Work(NamedTuple):
    """The work for one event, independent of the machine (P1-X5).

    `associations` of satisfied predicates with filters are counted; then `candidates` are
    evaluated, which have `leaves` in total.
    """

    associations: float
    candidates: float
    leaves: float


class CountingMatcher(Subscriptions):
    """P1's two-step filter over arbitrary Boolean trees, with selectivity counters.

    Not thread-safe. After a change the next match builds a new index.
    """

    def __init__(self) -> None:
        super().__init__()
        self._index: CountingIndex | None = None
        self._counters: SelectivityCounters | None = None

    def match(self, event: object) -> list[str]:
        index = self._built()
        ((_, numbers),) = index.matches([Event.from_python(event)])
        return index.state.names_of(numbers.tolist())

    def match_batch(self, events: Events) -> pa.RecordBatchReader:
        return pa.RecordBatchReader.from_batches(
            MATCHES, _matches(self._built(), numbered_events(events))
        )

    def work(self, events: Events) -> "Work":
        """The average work to match these events; nothing is learnt from them."""
        return self._built().work([event for _, event in numbered_events(events)])

    def statistics(self) -> Statistics:
        """Events seen, and how many of them satisfied each predicate of a subscription.

        A reader from before the last change does not count what it matches afterwards.
        """
        return self._built().counters.statistics()

    def _built(self) -> "CountingIndex":
        state = self.snapshot()
        if self._index is None or self._index.state is not state:
            # The former index need not stay in memory.
            self._index = None
            self._index = CountingIndex(state, self._counters)
            self._counters = self._index.counters
        return self._index


def _matches(
    index: "CountingIndex", numbered: Iterator[tuple[int, Event]]
) -> Iterator[pa.RecordBatch]:
    while chunk := list(islice(numbered, _CHUNK_EVENTS)):
        numbers = np.array([number for number, _ in chunk], dtype=np.int64)
        for events, filters in index.matches([event for _, event in chunk]):
            yield from index.state.batches(numbers[events], filters)


class CountingIndex:
    """All structures of P1-B3 for the filters of a snapshot."""

    def __init__(self, state: Snapshot, former: SelectivityCounters | None) -> None:
        self.state = state
        forest = Forest()
        planted = [forest.plant(filter) for filter in state.filters]
        # By shape: what comes next in memory is then evaluated by the same code.
        self._numbers = np.argsort(
            np.array([shape for shape, _ in planted], dtype=np.int64), kind="stable"
        )
        planted = [planted[number] for number in self._numbers]
        self.counters = SelectivityCounters(list(forest.predicates), former)
        self.predicates = PredicateIndexes(forest.leaves)
        sizes = np.array([len(row) for _, row in planted], dtype=np.int64)
        leaves = np.array([leaf for _, row in planted for leaf in row], dtype=np.uint32)
        shapes = np.array([shape for shape, _ in planted], dtype=np.uint32)
        hits = np.min_scalar_type(sizes.max(initial=0))
        minimums = np.array([minimum_count(shape) for shape in forest.shapes], dtype=hits)
        count, slots = len(forest.leaves), len(planted)
        self._associations = associations(leaves, np.repeat(np.arange(slots), sizes), count, hits)
        self._trees = Trees(
            minimums[shapes],
            shapes,
            (np.cumsum(sizes) - sizes).astype(np.uint32),
            leaves,
            *jump_code(list(forest.shapes)),
        )
        self._scratch = Scratch(
            np.zeros(slots, dtype=hits),
            np.zeros(count, dtype=np.bool_),
            np.empty(count, dtype=np.uint32),
            np.empty(slots + 1, dtype=np.uint32),
        )
        capacity = slots + BATCH_MATCHES
        self._output = Output(np.empty(capacity, np.int64), np.empty(capacity, np.uint32))

    def matches(
        self, events: Sequence[Event]
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Positions of events and numbers of filters that accept them, in pairs of arrays.

        The first of a pair is good until the index is used again.
        """
        encoded = self.predicates.encode(events)
        step_one = self.predicates.arrays, self._associations
        done = 0
        while done < len(events):
            before = done
            done, written = _match_events(
                done,
                encoded,
                step_one,
                self._trees,
                self.counters.matches,
                self._scratch,
                self._output,
            )
            self.counters.events += done - before
            found, slots = self._output
            yield found[:written], self._numbers[slots[:written]]

    def work(self, events: Sequence[Event]) -> Work:
        """The average work of matching: the two steps again, in numpy and without a result."""
        encoded = self.predicates.encode(events)
        starts, slots, counts = self._associations
        sizes = np.diff(self._trees.leaf_starts.astype(np.int64), append=len(self._trees.leaves))
        total = np.zeros(3)
        for event in range(len(events)):
            count = _find_satisfied(event, encoded, self.predicates.arrays, self._scratch.satisfied)
            hits = np.zeros(len(self._trees.minimums), dtype=np.int64)
            touched = 0
            for predicate in self._scratch.satisfied[:count].tolist():
                row = slice(int(starts[predicate]), int(starts[predicate + 1]))
                # A filter occurs in a row only once, so no hit is lost.
                hits[slots[row]] += counts[row]
                touched += row.stop - row.start
            candidates = hits >= self._trees.minimums
            total += touched, candidates.sum(), sizes[candidates].sum()
        return Work(*(total / max(len(events), 1)).tolist())


_find_satisfied = cast("Callable[..., int]", find_satisfied)
_match_events = cast("Callable[..., tuple[int, int]]", match_events)


class PredicateIndexes:
    """Which predicates an event satisfies: by rank where they are intervals, else by a test.

    `arrays` are the indexes as the kernel takes them.
    """

    def __init__(self, leaves: Sequence[Leaf]) -> None:
        sets: dict[str, dict[int, OrderedSet]] = {}
        tested: list[tuple[int, Leaf]] = []
        for number, leaf in enumerate(leaves):
            if isinstance(leaf, Residual) or meaning(leaf).inside.literals:
                tested.append((number, leaf))
            else:
                sets.setdefault(leaf.attribute, {})[number] = meaning(leaf).inside.ordered
        self._tests = PredicateTests(tested)
        self._spaces = {
            name: (position, space_of(rows)) for position, (name, rows) in enumerate(sets.items())
        }
        # Attributes whose absence satisfies a predicate: `is null`.
        self._awaited = [
            (name, *self._spaces[name])
            for name, rows in sets.items()
            if any(row[:1] == ((MISSING,),) for row in rows.values())
        ]
        self.arrays = posted([(self._spaces[name][1], rows) for name, rows in sets.items()])

    def encode(self, events: Sequence[Event]) -> Encoded:
        """For each event its attributes and their ranks, and the tested predicates that hold."""
        attributes: list[int] = []
        ranks: list[int] = []
        starts = [0]
        holding: list[int] = []
        holding_starts = [0]
        spaces, tests = self._spaces, self._tests
        for event in events:
            for name, value in event.items():
                if (known := spaces.get(name)) is not None:
                    attributes.append(known[0])
                    ranks.append(known[1].rank(value))
            holding += tests.holding(event)
            for name, position, space in self._awaited:
                if name not in event:
                    attributes.append(position)
                    ranks.append(space.rank(None))
            starts.append(len(ranks))
            holding_starts.append(len(holding))
        return Encoded(
            np.array(starts, dtype=np.uint64),
            np.array(attributes, dtype=np.uint32),
            np.array(ranks, dtype=np.uint32),
            np.array(holding_starts, dtype=np.uint64),
            np.array(holding, dtype=np.uint32),
        )
