"""Which outputs of shared diagrams are true for an event, without a look at most nodes.

A node is true if its variable and its `high` are, or its `low` is. So each node that matters is
reached from one of two sides, whichever is true less often: from its variable, and then `high` is
evaluated by a walk down, or from `high`, when that has become true. What became true goes up to
the nodes that wait for it.

Sizes: E events, A attributes, N nodes, V variables, O outputs.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from boolcast.matching.kernels.compiling import kernel
from boolcast.matching.kernels.counting import Encoded, Indexes, Output, fulfil


class Tests(NamedTuple):
    """How to see if a variable is true, if no index has to list it.

    Variable v is true if the event's rank of `attributes[v]` lies in one of the intervals from
    `starts[v]` to `starts[v + 1]`, which ascend; without intervals, if it is among those
    fulfilled.
    """

    attributes: NDArray[np.uint32]  # [V]
    starts: NDArray[np.uint32]  # [V + 1]
    begins: NDArray[np.uint32]
    ends: NDArray[np.uint32]


class Graph(NamedTuple):
    """Nodes, and what leads to them.

    Variable v leads to the nodes from `variable_starts[v]` on, a node that is true to those from
    `node_starts[n]` on: twice the number of a node, and one more if it is true whatever its
    variable is. The outputs of a node are listed from `output_starts[n]` on.
    """

    variable: NDArray[np.uint32]  # [N]
    low: NDArray[np.uint32]  # [N]
    high: NDArray[np.uint32]  # [N]
    variable_starts: NDArray[np.uint32]  # [V + 1]
    from_variable: NDArray[np.uint32]
    node_starts: NDArray[np.uint32]  # [N + 1]
    from_node: NDArray[np.uint32]
    output_starts: NDArray[np.uint32]  # [N + 1]
    outputs: NDArray[np.uint32]  # [O]


class Scratch(NamedTuple):
    """Room to work in. Stamps are those of the event that was last true of something."""

    stamp: NDArray[np.int64]  # [1]
    fulfilled: NDArray[np.uint32]  # [V]
    marks: NDArray[np.int64]  # [V]
    is_true: NDArray[np.int64]  # [N]
    known: NDArray[np.int64]  # [N], twice the stamp, and one more if the node is true
    stack: NDArray[np.uint32]  # [N]
    visits: NDArray[np.int64]  # [3], variables, nodes from either side, steps of walks


@kernel
def match_events(
    first: int,
    events: Encoded,
    indexes: Indexes,
    tests: Tests,
    graph: Graph,
    scratch: Scratch,
    output: Output,
) -> tuple[int, int]:
    """Match the events from `first` on, until all are done or the next might not fit.

    An event has a rank for every attribute. Returns the next event and the number of matches
    written. Costs for each event the variables of `indexes` that it fulfils, the nodes that they
    and true nodes lead to, and walks.
    """
    room = graph.outputs.shape[0]
    marks, is_true = scratch.marks, scratch.is_true
    written = 0
    event = first
    while event + 1 < events.starts.shape[0] and written + room <= output.events.shape[0]:
        scratch.stamp[0] += 1
        stamp = scratch.stamp[0]
        ranks = events.ranks[events.starts[event] : events.starts[event + 1]]
        count = fulfil(event, events, indexes, scratch.fulfilled)
        scratch.visits[0] += count
        for index in range(count):
            marks[scratch.fulfilled[index]] = stamp
        for place in range(graph.output_starts[1], graph.output_starts[2]):
            output.events[written] = event
            output.slots[written] = graph.outputs[place]
            written += 1
        for index in range(count):
            variable = scratch.fulfilled[index]
            start = graph.variable_starts[variable]
            end = graph.variable_starts[variable + np.uint32(1)]
            for place in range(start, end):
                node = graph.from_variable[place]
                scratch.visits[1] += 1
                if is_true[node] != stamp and walk(
                    graph.high[node], stamp, ranks, tests, graph, scratch
                ):
                    is_true[node] = stamp
                    written = spread(
                        node, event, stamp, ranks, tests, graph, scratch, output, written
                    )
        event += 1
    return event, written


@kernel
def holds(
    variable: int, stamp: int, ranks: NDArray[np.uint32], tests: Tests, marks: NDArray[np.int64]
) -> bool:
    """True if the event fulfils the variable."""
    start = tests.starts[variable]
    end = tests.starts[variable + np.uint32(1)]
    if start == end:
        return bool(marks[variable] == stamp)
    rank = ranks[tests.attributes[variable]]
    for place in range(start, end):
        if rank < tests.ends[place]:
            return bool(tests.begins[place] <= rank)
    return False


@kernel
def walk(
    node: int,
    stamp: int,
    ranks: NDArray[np.uint32],
    tests: Tests,
    graph: Graph,
    scratch: Scratch,
) -> bool:
    """True if a node is: one path down, at most its length, once for an event."""
    known = scratch.known
    if known[node] >> 1 == stamp:
        return bool(known[node] & 1)
    at = node
    while at > 1 and scratch.is_true[at] != stamp:
        scratch.visits[2] += 1
        if holds(graph.variable[at], stamp, ranks, tests, scratch.marks):
            at = graph.high[at]
        else:
            at = graph.low[at]
    known[node] = 2 * stamp + (at != 0)
    return bool(at != 0)


@kernel
def spread(
    node: int,
    event: int,
    stamp: int,
    ranks: NDArray[np.uint32],
    tests: Tests,
    graph: Graph,
    scratch: Scratch,
    output: Output,
    written: int,
) -> int:
    """Write the outputs of a node that is true, and of whatever is true by that.

    Returns the number of matches written by now.
    """
    stack = scratch.stack
    stack[0] = node
    top = 1
    while top:
        top -= 1
        at = stack[top]
        for place in range(graph.output_starts[at], graph.output_starts[at + np.uint32(1)]):
            output.events[written] = event
            output.slots[written] = graph.outputs[place]
            written += 1
        for place in range(graph.node_starts[at], graph.node_starts[at + np.uint32(1)]):
            above = graph.from_node[place] >> np.uint32(1)
            scratch.visits[1] += 1
            if scratch.is_true[above] != stamp and (
                graph.from_node[place] & np.uint32(1)
                or holds(graph.variable[above], stamp, ranks, tests, scratch.marks)
            ):
                scratch.is_true[above] = stamp
                stack[top] = above
                top += 1
    return written


@kernel
def weigh(
    variable: NDArray[np.uint32],
    low: NDArray[np.uint32],
    high: NDArray[np.uint32],
    references: NDArray[np.int32],
    shares: NDArray[np.float64],
    is_needed: NDArray[np.bool_],
    by_high: NDArray[np.bool_],
) -> None:
    """Choose for each node in which of the two ways it is reached; numbers go from the bottom up.

    `shares` are those of events for which a variable is true, `is_needed` is set for the outputs
    and is then set for what they need. Costs N.
    """
    nodes = variable.shape[0]
    chance = np.zeros(nodes)
    chance[1] = 1.0
    cost = np.zeros(nodes)
    for node in range(2, nodes):
        share = shares[variable[node]]
        above, below = high[node], low[node]
        chance[node] = share * chance[above] + (1.0 - share) * chance[below]
        through_high = chance[above] + cost[above] / max(references[above], 1)
        by_high[node] = above > 1 and through_high < share
        cost[node] = (through_high if by_high[node] else share) + cost[below]
    for node in range(nodes - 1, 1, -1):
        if is_needed[node]:
            if low[node] > 1:
                is_needed[low[node]] = True
            if by_high[node]:
                is_needed[high[node]] = True
