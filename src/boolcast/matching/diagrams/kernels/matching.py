"""Which outputs of shared diagrams are true for an event, without a look at most nodes.

A node is true if its variable and its `high` are, or its `low` is. So each node that matters is
reached from one of two sides, whichever is true less often: from its variable, and then `high` is
evaluated by a walk down, or from `high`, when that has become true. What became true goes up to
the nodes that wait for it. So filters that share nodes share the work. An output that shares
little, with many nodes for one variable, is better off with a cut (`kernels.cuts`): when one of
its variables is true, a walk from the root decides.

Sizes: E events, A attributes, N nodes, V variables, O outputs.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from boolcast.matching.counting.kernels.counting import Encoded, Indexes, Output, find_satisfied
from boolcast.matching.values.kernels.compiling import kernel

_ONE = np.uint32(1)


class Tests(NamedTuple):
    """How to see if a variable is true, if no index has to list it.

    Variable v is true if the event's rank of `attributes[v]` lies in one of the intervals from
    `starts[v]` to `starts[v + 1]`, which ascend; without intervals, if it is among those
    satisfied.
    """

    attributes: NDArray[np.uint32]  # [V]
    starts: NDArray[np.uint32]  # [V + 1]
    begins: NDArray[np.uint32]
    ends: NDArray[np.uint32]


class Graph(NamedTuple):
    """Nodes, and what leads to them.

    Variable v leads to the nodes from `variable_starts[v]` on, a node that is true to those from
    `node_starts[n]` on: twice the number of a node, and one more if it is true whatever its
    variable is. The outputs of a node are listed from `output_starts[n]` on, but for those with a
    cut: variable v asks for those from `cut_starts[v]` on, whose nodes are `roots`.
    """

    variable: NDArray[np.uint32]  # [N]
    low: NDArray[np.uint32]  # [N]
    high: NDArray[np.uint32]  # [N]
    variable_starts: NDArray[np.uint32]  # [V + 1]
    from_variable: NDArray[np.uint32]
    node_starts: NDArray[np.uint32]  # [N + 1]
    from_node: NDArray[np.uint32]
    output_starts: NDArray[np.uint32]  # [N + 1]
    outputs: NDArray[np.uint32]
    cut_starts: NDArray[np.uint32]  # [V + 1]
    from_cut: NDArray[np.uint32]
    roots: NDArray[np.uint32]  # [O]


class Scratch(NamedTuple):
    """Room to work in. Stamps are those of the event that was last true of something."""

    stamp: NDArray[np.int64]  # [1]
    satisfied: NDArray[np.uint32]  # [V]
    marks: NDArray[np.int64]  # [V]
    is_true: NDArray[np.int64]  # [N]
    known: NDArray[np.int64]  # [N], twice the stamp, and one more if the node is true
    asked: NDArray[np.int64]  # [O]
    stack: NDArray[np.uint32]  # [N]
    visits: NDArray[np.int64]  # [3], variables, nodes and outputs asked, steps of walks


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
    written. Costs for each event the variables of `indexes` that it satisfies, the nodes that they
    and true nodes lead to, and walks down: one path from a node, once for an event.
    """
    # Taken out of their tuples here: inside the loops that would cost more than what is done.
    variable, low, high = graph.variable, graph.low, graph.high
    owner, starts, begins, ends = tests
    variable_starts, from_variable = graph.variable_starts, graph.from_variable
    node_starts, from_node = graph.node_starts, graph.from_node
    output_starts, outputs = graph.output_starts, graph.outputs
    cut_starts, from_cut, roots = graph.cut_starts, graph.from_cut, graph.roots
    out_events, out_slots = output.events, output.slots
    is_true, known, marks, stack = scratch.is_true, scratch.known, scratch.marks, scratch.stack
    satisfied, asked = scratch.satisfied, scratch.asked
    stamp = scratch.stamp[0]
    nodes = steps = written = 0
    event = first
    while event + 1 < events.starts.shape[0] and written + len(roots) <= len(out_events):
        stamp += 1
        ranks = events.ranks[events.starts[event] : events.starts[event + 1]]
        count = find_satisfied(event, events, indexes, satisfied)
        scratch.visits[0] += count
        for index in range(count):
            marks[satisfied[index]] = stamp
        for position in range(output_starts[1], output_starts[2]):
            out_events[written] = event
            out_slots[written] = outputs[position]
            written += 1
        for index in range(count):
            start = variable_starts[satisfied[index]]
            for position in range(start, variable_starts[satisfied[index] + _ONE]):
                node = from_variable[position]
                nodes += 1
                if is_true[node] == stamp:
                    continue
                below = high[node]
                if known[below] >> 1 != stamp:
                    at = below
                    while at > _ONE and is_true[at] != stamp:
                        steps += 1
                        at = (
                            high[at]
                            if holds(variable[at], stamp, ranks, marks, owner, starts, begins, ends)
                            else low[at]
                        )
                    known[below] = 2 * stamp + (at != 0)
                if known[below] & 1 == 0:
                    continue
                is_true[node] = stamp
                stack[0] = node
                top = 1
                while top:
                    top -= 1
                    at = stack[top]
                    for found in range(output_starts[at], output_starts[at + _ONE]):
                        out_events[written] = event
                        out_slots[written] = outputs[found]
                        written += 1
                    for waiting in range(node_starts[at], node_starts[at + _ONE]):
                        above = from_node[waiting] >> _ONE
                        nodes += 1
                        if is_true[above] != stamp and (
                            from_node[waiting] & _ONE
                            or holds(
                                variable[above], stamp, ranks, marks, owner, starts, begins, ends
                            )
                        ):
                            is_true[above] = stamp
                            stack[top] = above
                            top += 1
            start = cut_starts[satisfied[index]]
            for position in range(start, cut_starts[satisfied[index] + _ONE]):
                found = from_cut[position]
                if asked[found] == stamp:
                    continue
                asked[found] = stamp
                nodes += 1
                at = roots[found]
                while at > _ONE:
                    steps += 1
                    at = (
                        high[at]
                        if holds(variable[at], stamp, ranks, marks, owner, starts, begins, ends)
                        else low[at]
                    )
                if at:
                    out_events[written] = event
                    out_slots[written] = found
                    written += 1
        event += 1
    scratch.stamp[0] = stamp
    scratch.visits[1] += nodes
    scratch.visits[2] += steps
    return event, written


@kernel
def holds(
    variable: int,
    stamp: int,
    ranks: NDArray[np.uint32],
    marks: NDArray[np.int64],
    attributes: NDArray[np.uint32],
    starts: NDArray[np.uint32],
    begins: NDArray[np.uint32],
    ends: NDArray[np.uint32],
) -> bool:
    """True if the event satisfies the variable, see `Tests`."""
    start = starts[variable]
    end = starts[variable + _ONE]
    if start == end:
        return bool(marks[variable] == stamp)
    rank = ranks[attributes[variable]]
    for position in range(start, end):
        if rank < ends[position]:
            return bool(begins[position] <= rank)
    return False


@kernel
def weigh(
    variable: NDArray[np.uint32],
    low: NDArray[np.uint32],
    high: NDArray[np.uint32],
    references: NDArray[np.int32],
    shares: NDArray[np.float64],
    by_high: NDArray[np.bool_],
    cost: NDArray[np.float64],
) -> None:
    """Choose for each node in which of the two ways it is reached; numbers go from the bottom up.

    `shares[v]` is the share of events for which variable v is true. `cost` becomes the expected
    number of looks for a node and an event, with its part of what it shares. Costs N.
    """
    nodes = variable.shape[0]
    probability = np.zeros(nodes)
    probability[1] = 1.0
    for node in range(2, nodes):
        share = shares[variable[node]]
        above, below = high[node], low[node]
        probability[node] = share * probability[above] + (1.0 - share) * probability[below]
        through_high = probability[above] + cost[above] / max(references[above], 1)
        by_high[node] = above > 1 and through_high < share
        cost[node] = (through_high if by_high[node] else share) + cost[below]


@kernel
def mark_needed(
    low: NDArray[np.uint32],
    high: NDArray[np.uint32],
    by_high: NDArray[np.bool_],
    is_needed: NDArray[np.bool_],
) -> None:
    """Nodes are needed, and so is what they wait for. Costs N."""
    for node in range(low.shape[0] - 1, 1, -1):
        if is_needed[node]:
            if low[node] > 1:
                is_needed[low[node]] = True
            if by_high[node]:
                is_needed[high[node]] = True
