"""The two steps of counting (P1-B3): satisfied predicates, then hits, candidates and trees.

Whatever is an index is unsigned: numba then leaves out the question whether it counts from the
end, which would cost the innermost loop a third of its speed.

Sizes: E events, A attributes, P predicates, S slots (a filter each), H shapes.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boolcast.matching.values.kernels.compiling import kernel


class Encoded(NamedTuple):
    """Events: of each its attributes with their ranks, and the predicates known to hold."""

    starts: NDArray[np.uint64]  # [E + 1]
    attributes: NDArray[np.uint32]
    ranks: NDArray[np.uint32]
    tested_starts: NDArray[np.uint64]  # [E + 1]
    tested: NDArray[np.uint32]


class Indexes(NamedTuple):
    """For each attribute a binary tree over its ranks, with predicates at its nodes.

    A predicate is kept at the nodes that make up its set. The node of rank r on level l is
    `bases[attribute, l] + (r >> l)`; `masks` has a bit for each level in use.
    """

    masks: NDArray[np.uint32]  # [A]
    bases: NDArray[np.uint64]  # [A, levels]
    starts: NDArray[np.uint64]  # [nodes + 1]
    predicates: NDArray[np.uint32]


class Associations(NamedTuple):
    """For each predicate the slots whose trees contain it, and how often."""

    starts: NDArray[np.uint64]  # [P + 1]
    slots: NDArray[np.uint32]
    counts: NDArray[Any]  # as `Scratch.hits`


class Trees(NamedTuple):
    """For each slot its P_min, its shape and its predicates; for each shape its jump code.

    An instruction looks at a leaf and jumps, counted from the start of the code, to `true` or
    `false`; the end of the code means true, and one further false.
    """

    minimums: NDArray[Any]  # [S], as `Scratch.hits`
    shapes: NDArray[np.uint32]  # [S]
    leaf_starts: NDArray[np.uint32]  # [S]
    leaves: NDArray[np.uint32]
    code_starts: NDArray[np.uint32]  # [H + 1]
    code_leaf: NDArray[np.uint32]
    code_true: NDArray[np.uint32]
    code_false: NDArray[np.uint32]


class Scratch(NamedTuple):
    """Room to work in; `hits` and `bits` are zero between events."""

    hits: NDArray[Any]  # [S], unsigned and wide enough for the leaves of a tree
    bits: NDArray[np.bool_]  # [P]
    satisfied: NDArray[np.uint32]  # [P]
    candidates: NDArray[np.uint32]  # [S + 1]


class Output(NamedTuple):
    """Matches: the position of an event, and a slot that accepts it; not shorter than S."""

    events: NDArray[np.int64]
    slots: NDArray[np.uint32]


@kernel
def match_events(
    first: int,
    events: Encoded,
    step_one: tuple[Indexes, Associations],
    trees: Trees,
    matches: NDArray[np.int64],  # [P]
    scratch: Scratch,
    output: Output,
) -> tuple[int, int]:
    """Match the events from `first` on, until all are done or the next might not fit.

    Returns the next event and the number of matches written. `matches` is counted up for every
    predicate that an event satisfies.

    Costs for each event S, its satisfied predicates, their associations, and the code of its
    candidates. That S is one pass over bytes, which is less than to note what was touched.
    """
    indexes, associations = step_one
    hits, bits = scratch.hits, scratch.bits
    slots = hits.shape[0]
    written = 0
    event = first
    while event + 1 < events.starts.shape[0] and written + slots <= output.events.shape[0]:
        count = find_satisfied(event, events, indexes, scratch.satisfied)
        for index in range(count):
            predicate = scratch.satisfied[index]
            bits[predicate] = True
            matches[predicate] += 1
            start = associations.starts[predicate]
            end = associations.starts[predicate + np.uint32(1)]
            for position in range(start, end):
                hits[associations.slots[position]] += associations.counts[position]
        candidates = 0
        for slot in range(slots):
            # Without a branch: written always, and kept by counting on.
            scratch.candidates[candidates] = slot
            candidates += hits[slot] >= trees.minimums[slot]
        hits[:] = 0
        for index in range(candidates):
            slot = scratch.candidates[index]
            if holds(slot, bits, trees):
                output.events[written] = event
                output.slots[written] = slot
                written += 1
        for index in range(count):
            bits[scratch.satisfied[index]] = False
        event += 1
    return event, written


@kernel
def find_satisfied(
    event: int, events: Encoded, indexes: Indexes, satisfied: NDArray[np.uint32]
) -> int:
    """Write the predicates that an event satisfies, each once; returns how many they are.

    Costs the levels in use of its attributes, and the predicates.
    """
    count = 0
    for index in range(events.starts[event], events.starts[event + 1]):
        attribute = events.attributes[index]
        node = events.ranks[index]
        mask = indexes.masks[attribute]
        level = np.uint32(0)
        while mask != 0:
            if mask & np.uint32(1):
                at = indexes.bases[attribute, level] + node
                for position in range(indexes.starts[at], indexes.starts[at + np.uint64(1)]):
                    satisfied[count] = indexes.predicates[position]
                    count += 1
            node >>= np.uint32(1)
            mask >>= np.uint32(1)
            level += np.uint32(1)
    for index in range(events.tested_starts[event], events.tested_starts[event + 1]):
        satisfied[count] = events.tested[index]
        count += 1
    return count


@kernel
def holds(slot: int, bits: NDArray[np.bool_], trees: Trees) -> bool:
    """True if the slot's tree is true on the bits. Costs at most the length of its code."""
    shape = trees.shapes[slot]
    start = trees.code_starts[shape]
    length = trees.code_starts[shape + np.uint32(1)] - start
    row = trees.leaf_starts[slot]
    at = np.uint32(0)
    while at < length:
        here = start + at
        if bits[trees.leaves[row + trees.code_leaf[here]]]:
            at = trees.code_true[here]
        else:
            at = trees.code_false[here]
    return bool(at == length)
