"""The index that matches events against the current diagrams (P2-B4).

The paper evaluates every diagram once for an event. Here only nodes that may be true are visited
(`kernels.matching`): each node waits for its variable or for the node below it, whichever is true
less often by estimate (`values.selectivity`). So an event must find only few variables, and the
indexes by rank hold only those. Other variables are tested by comparing ranks when a node needs
them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from boolcast.algebra.ordered_sets import OrderedSet
from boolcast.matching.counting.kernels.counting import Encoded, Output
from boolcast.matching.counting.predicate_indexes import PredicateTests, posted, space_of
from boolcast.matching.diagrams.kernels.cuts import MOST_IN_CUT, DiagramCuts, choose_cuts
from boolcast.matching.diagrams.kernels.matching import (
    Graph,
    Scratch,
    Tests,
    mark_needed,
    match_events,
    weigh,
)
from boolcast.matching.diagrams.nodes import FALSE, TRUE, Nodes
from boolcast.matching.diagrams.variables import Variables
from boolcast.matching.inputs.chunks import Chunk
from boolcast.matching.inputs.register import BATCH_MATCHES
from boolcast.matching.values.rank_tables import Spaces
from boolcast.matching.values.selectivity import Selectivity
from boolcast.model.arrow import events_from_arrow
from boolcast.model.events import Event

_FEW: Final = 8
"""A set of more intervals is looked up, not searched."""

_LONGER: Final = 2.0
"""What a walk from a root is taken to cost, by one from the node at a variable."""

_TESTED_SHARE: Final = 0.3
"""What a pattern or a residual is taken to let through."""

Unsigned = NDArray[np.uint32]

_match_events = cast("Callable[..., tuple[int, int]]", match_events)
_choose_cuts = cast("Callable[..., None]", choose_cuts)
_mark_needed = cast("Callable[..., None]", mark_needed)
_weigh = cast("Callable[..., None]", weigh)


class Visits(NamedTuple):
    """What an event takes on average: variables found true, nodes looked at, steps of walks."""

    variables: float
    nodes: float
    steps: float


class DiagramIndex:
    """Arrays for matching; `roots` are the nodes of the outputs, by number."""

    def __init__(
        self, nodes: Nodes, variables: Variables, roots: Sequence[int], selectivity: Selectivity
    ) -> None:
        sets: dict[str, dict[int, OrderedSet]] = {}
        tested = [
            (number, each.leaf) for number, each in variables.items() if each.leaf is not None
        ]
        for number, each in variables.items():
            if each.leaf is None:
                sets.setdefault(each.attribute, {})[number] = each.inside.ordered
        self._tests_of_events = PredicateTests(tested)
        self._spaces = Spaces({name: space_of(rows) for name, rows in sets.items()})
        ranks = _Ranks(self._spaces, sets, len(variables.uses()), selectivity)
        self._graph = _graph(nodes, roots, ranks.shares)
        is_listed = np.diff(self._graph.variable_starts) > 0
        is_listed |= np.diff(self._graph.cut_starts) > 0
        is_listed |= np.diff(ranks.tests.starts) == 0
        self._tests = ranks.tests
        self._indexes = posted(
            [
                (space, {v: row for v, row in sets.get(name, {}).items() if is_listed[v]})
                for name, space in zip(self._spaces.names, self._spaces.spaces, strict=True)
            ]
        )
        size, count = len(self._graph.variable), len(variables.uses())
        self._scratch = Scratch(
            np.zeros(1, dtype=np.int64),
            np.empty(count, dtype=np.uint32),
            np.zeros(count, dtype=np.int64),
            np.zeros(size, dtype=np.int64),
            np.zeros(size, dtype=np.int64),
            np.zeros(len(roots), dtype=np.int64),
            np.empty(size, dtype=np.uint32),
            np.zeros(3, dtype=np.int64),
        )
        capacity = len(roots) + BATCH_MATCHES
        self._output = Output(np.empty(capacity, np.int64), np.empty(capacity, np.uint32))

    def matches_of_one(self, event: Event) -> Iterator[NDArray[np.int64]]:
        """The numbers of the outputs that accept an event, in arrays."""
        get = event.get
        row = [rank(get(name)) for name, rank in self._spaces.ranks]
        tested = [self._tests_of_events.holding(event)] if self._tests_of_events else []
        for _, numbers in self._matches(np.array([row], dtype=np.uint32), tested):
            yield numbers

    def matches(self, chunk: Chunk) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Positions of events and numbers of outputs that accept them, in pairs of arrays.

        The first of a pair is good until the index is used again.
        """
        ranks = chunk.columns.encode(self._spaces, _NO_TEXTS).ranks
        tested: list[list[int]] = []
        if self._tests_of_events:
            source = chunk.source
            events = source if isinstance(source, list) else events_from_arrow(source)
            tested = [self._tests_of_events.holding(event) for event in events]
        yield from self._matches(ranks.astype(np.uint32), tested)

    def visits(self) -> Visits:
        """What events took so far."""
        events = max(int(self._scratch.stamp[0]), 1)
        return Visits(*(self._scratch.visits / events).tolist())

    def _matches(
        self, ranks: Unsigned, tested: list[list[int]]
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        events, attributes = ranks.shape
        counts = [len(row) for row in tested] if tested else [0] * events
        encoded = Encoded(
            np.arange(events + 1, dtype=np.uint64) * np.uint64(attributes),
            np.tile(np.arange(attributes, dtype=np.uint32), events),
            ranks.reshape(-1),
            np.cumsum([0, *counts], dtype=np.uint64),
            np.array([number for row in tested for number in row], dtype=np.uint32),
        )
        done = 0
        while done < events:
            done, written = _match_events(
                done,
                encoded,
                self._indexes,
                self._tests,
                self._graph,
                self._scratch,
                self._output,
            )
            found, slots = self._output
            yield found[:written], slots[:written].astype(np.int64)


_NO_NUMBERS: Final = np.zeros(0, dtype=np.uint32)
_NO_TEXTS: Final = np.zeros(0, dtype=np.int32)


class _Ranks:
    """Variables as intervals of ranks, and the estimated share of events that satisfy them."""

    def __init__(
        self,
        spaces: Spaces,
        sets: Mapping[str, Mapping[int, OrderedSet]],
        count: int,
        selectivity: Selectivity,
    ) -> None:
        self.shares = np.full(count, _TESTED_SHARE)
        attributes = np.zeros(count, dtype=np.uint32)
        owners: list[NDArray[np.int64]] = [np.zeros(0, dtype=np.int64)]
        pairs: list[NDArray[np.int32]] = [np.zeros((0, 2), dtype=np.int32)]
        for name, rows in sets.items():
            position = spaces.index[name]
            space = spaces.spaces[position]
            attributes[list(rows)] = position
            by_length: dict[int, list[int]] = {}
            for number, row in rows.items():
                by_length.setdefault(len(row), []).append(number)
            for length, numbers in by_length.items():
                flat = space.positions(
                    [boundary for number in numbers for boundary in rows[number]]
                )
                bounds = flat.reshape(len(numbers), length)
                if length % 2:
                    end = np.full((len(numbers), 1), space.size, dtype=np.int32)
                    bounds = np.concatenate([bounds, end], axis=1)
                self.shares[numbers] = selectivity.shares(name, space, bounds)
                if length <= 2 * _FEW:
                    owners.append(np.repeat(numbers, bounds.shape[1] // 2))
                    pairs.append(bounds.reshape(-1, 2))
        owner = np.concatenate(owners)
        order = np.argsort(owner, kind="stable")
        ends = np.concatenate(pairs)[order].astype(np.uint32)
        starts = np.searchsorted(owner[order], np.arange(count + 1)).astype(np.uint32)
        self.tests = Tests(
            attributes,
            starts,
            np.ascontiguousarray(ends[:, 0]),
            np.ascontiguousarray(ends[:, 1]),
        )


def _graph(nodes: Nodes, roots: Sequence[int], shares: NDArray[np.float64]) -> Graph:
    """Nodes with what leads to them, chosen by shares of events.

    They are numbered anew from the bottom, so that what a variable leads to lies in a row.
    """
    store = nodes.store
    alive = np.flatnonzero(store.variable[: nodes.used] >= 0)
    old = np.concatenate([[FALSE, TRUE], alive[np.argsort(-store.level[store.variable[alive]])]])
    new = np.zeros(nodes.used, dtype=np.uint32)
    new[old] = np.arange(len(old))
    variable = np.maximum(store.variable[old], 0).astype(np.uint32)
    low, high = new[store.low[old]], new[store.high[old]]
    order = np.arange(TRUE + 1, len(old))
    outputs = new[list(roots)]
    by_high, costs = np.zeros(len(old), dtype=np.bool_), np.zeros(len(old))
    _weigh(variable, low, high, store.references[old], shares, by_high, costs)
    cuts = _no_cuts(len(old), len(shares), len(roots))
    _choose_cuts(outputs, variable, low, high, shares, costs / _LONGER, cuts)
    with_cut = np.flatnonzero(cuts.sizes)
    without = np.flatnonzero(cuts.sizes == 0)
    is_needed = np.zeros(len(old), dtype=np.bool_)
    is_needed[outputs[without]] = True
    _mark_needed(low, high, by_high, is_needed)
    needed = order[is_needed[order]]
    waiting = needed[~by_high[needed]]
    from_high = needed[by_high[needed]]
    from_low = needed[low[needed] > TRUE]
    return Graph(
        variable,
        low,
        high,
        *_listed(variable[waiting], waiting, len(shares)),
        *_listed(
            np.concatenate([high[from_high], low[from_low]]),
            np.concatenate([2 * from_high, 2 * from_low + 1]),
            len(old),
        ),
        *_listed(outputs[without], without, len(old)),
        *_listed(
            np.concatenate([_NO_NUMBERS, *(cuts.variables[o, : cuts.sizes[o]] for o in with_cut)]),
            np.repeat(with_cut, cuts.sizes[with_cut]),
            len(shares),
        ),
        outputs,
    )


def _no_cuts(nodes: int, variables: int, outputs: int) -> DiagramCuts:
    return DiagramCuts(
        np.zeros(outputs, dtype=np.int64),
        np.zeros((outputs, MOST_IN_CUT), dtype=np.uint32),
        np.zeros(nodes, dtype=np.uint64),
        np.zeros(nodes, dtype=np.int64),
        np.zeros(variables, dtype=np.int64),
        np.zeros(variables, dtype=np.int64),
    )


def _listed(
    keys: NDArray[np.integer], values: NDArray[np.integer], count: int
) -> tuple[Unsigned, Unsigned]:
    """Where the values of each key start, and all values."""
    order = np.argsort(keys, kind="stable")
    starts = np.searchsorted(keys[order], np.arange(count + 1))
    return starts.astype(np.uint32), values[order].astype(np.uint32)
