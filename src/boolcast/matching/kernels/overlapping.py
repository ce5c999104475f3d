"""Which trees can be true if some predicates are false: hits, candidates, trees (P3-B4).

Sizes: V sets of violating predicates, P predicates, S slots (a filter each).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from boolcast.matching.kernels.compiling import kernel
from boolcast.matching.kernels.counting import Associations, holds

BLOCK: int = 4_096
"""So many slots are searched for candidates at a time: who asks for one stops after few."""


class Violations(NamedTuple):
    """Sets of predicates; one may stand in a set more than once."""

    starts: NDArray[np.int64]  # [V + 1]
    predicates: NDArray[np.int64]


class Latest(NamedTuple):
    """Associations that are too new to be sorted by predicate."""

    predicates: NDArray[np.uint32]
    slots: NDArray[np.uint32]
    counts: NDArray[np.int16]


class Registered(NamedTuple):
    """For each slot how many violated leaves its tree can stand, and the tree as in `Trees`."""

    spares: NDArray[np.int16]  # [S]
    shapes: NDArray[np.uint32]  # [S]
    leaf_starts: NDArray[np.uint32]  # [S + 1]
    leaves: NDArray[np.uint32]
    code_starts: NDArray[np.uint32]  # [shapes + 1]
    code_leaf: NDArray[np.uint32]
    code_true: NDArray[np.uint32]
    code_false: NDArray[np.uint32]


class Scratch(NamedTuple):
    """Room to work in; between calls `hits` are zero and `may_hold` is true everywhere."""

    hits: NDArray[np.int16]  # [S]
    may_hold: NDArray[np.bool_]  # [P]
    is_open: NDArray[np.bool_]  # [S], false of what is gone or found
    candidates: NDArray[np.uint32]  # [BLOCK]


@kernel
def overlapping(
    violations: Violations,
    associations: Associations,
    latest: Latest,
    trees: Registered,
    scratch: Scratch,
    wanted: int,
    work: NDArray[np.int64],  # [3]
) -> None:
    """Close the slots that overlap, up to `wanted` of them.

    `work` counts associations, candidates and their leaves. Hits that overflow make a candidate
    too many and never one too few: they only get smaller by that.

    Costs for each set its associations, all of `latest`, S, and the code of its candidates.
    """
    hits, may_hold, is_open = scratch.hits, scratch.may_hold, scratch.is_open
    slots = np.uint32(hits.shape[0])
    known = associations.starts.shape[0] - 1
    count = 0
    for each in range(violations.starts.shape[0] - 1):
        for index in range(violations.starts[each], violations.starts[each + 1]):
            predicate = np.uint64(violations.predicates[index])
            if may_hold[predicate]:
                may_hold[predicate] = False
                if predicate < known:
                    start = associations.starts[predicate]
                    end = associations.starts[predicate + np.uint64(1)]
                    for place in range(start, end):
                        hits[associations.slots[place]] += associations.counts[place]
                    work[0] += end - start
        for place in range(latest.predicates.shape[0]):
            if not may_hold[latest.predicates[place]]:
                hits[latest.slots[place]] += latest.counts[place]
                work[0] += 1
        block = np.uint32(0)
        while block < slots and count < wanted:
            candidates = 0
            for slot in range(block, min(block + np.uint32(BLOCK), slots)):
                # Without a branch: written always, and kept by counting on.
                scratch.candidates[candidates] = slot
                candidates += is_open[slot] & (hits[slot] <= trees.spares[slot])
            for index in range(candidates):
                slot = scratch.candidates[index]
                work[1] += 1
                work[2] += trees.leaf_starts[slot + np.uint32(1)] - trees.leaf_starts[slot]
                if holds(slot, may_hold, trees):
                    is_open[slot] = False
                    count += 1
                    if count == wanted:
                        break
            block += np.uint32(BLOCK)
        hits[:] = 0
        for index in range(violations.starts[each], violations.starts[each + 1]):
            may_hold[violations.predicates[index]] = True
        if count == wanted:
            break
