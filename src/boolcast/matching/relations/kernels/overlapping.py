"""Which trees can be true if some predicates are false: hits, candidates, trees (P3-B4).

Sizes: V sets of violated predicates, P predicates, S slots (one filter each).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from boolcast.matching.counting.kernels.counting import Associations, holds
from boolcast.matching.values.kernels.compiling import kernel

BLOCK: int = 4_096
"""How many slots are searched for candidates at a time; asking for one filter stops early."""


class Violations(NamedTuple):
    """Groups of predicates, and sets of groups; groups of one set may share predicates."""

    starts: NDArray[np.int64]  # [groups + 1]
    predicates: NDArray[np.uint32]
    set_starts: NDArray[np.int64]  # [V + 1]
    groups: NDArray[np.int64]


class Latest(NamedTuple):
    """Associations that are not sorted by predicate yet."""

    predicates: NDArray[np.uint32]
    slots: NDArray[np.uint32]
    counts: NDArray[np.int16]


class Registered(NamedTuple):
    """For each slot, how many violated leaves its tree can stand, and the tree as in `Trees`."""

    spares: NDArray[np.int16]  # [S]
    shapes: NDArray[np.uint32]  # [S]
    leaf_starts: NDArray[np.uint32]  # [S + 1]
    leaves: NDArray[np.uint32]
    code_starts: NDArray[np.uint32]  # [shapes + 1]
    code_leaf: NDArray[np.uint32]
    code_true: NDArray[np.uint32]
    code_false: NDArray[np.uint32]


class Scratch(NamedTuple):
    """Working memory; between calls `hits` is zero and `may_hold` is true everywhere."""

    hits: NDArray[np.int16]  # [S]
    may_hold: NDArray[np.bool_]  # [P]
    is_open: NDArray[np.bool_]  # [S], false for removed and found filters
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

    `work` counts associations, candidates and their leaves. Hits that overflow become smaller, so
    they give a candidate too many, never one too few. A tree without hits is true and is not
    evaluated; if only one is wanted, such a tree is preferred.

    Cost for each set: its associations, all of `latest`, S, and the code of its candidates.
    """
    count = 0
    for each in range(violations.set_starts.shape[0] - 1):
        if count < wanted:
            for index in range(violations.set_starts[each], violations.set_starts[each + 1]):
                violate(violations, violations.groups[index], associations, scratch, work)
            for position in range(latest.predicates.shape[0]):
                if not scratch.may_hold[latest.predicates[position]]:
                    scratch.hits[latest.slots[position]] += latest.counts[position]
                    work[0] += 1
            if wanted > 1 or not close_untouched(scratch, work):
                count += close_candidates(trees, scratch, wanted - count, work)
            else:
                count = 1
            scratch.hits[:] = 0
            for index in range(violations.set_starts[each], violations.set_starts[each + 1]):
                group = violations.groups[index]
                for position in range(violations.starts[group], violations.starts[group + 1]):
                    scratch.may_hold[violations.predicates[position]] = True


@kernel
def violate(
    violations: Violations,
    group: int,
    associations: Associations,
    scratch: Scratch,
    work: NDArray[np.int64],
) -> None:
    """Make a group of predicates false, and count a hit wherever they occur."""
    known = associations.starts.shape[0] - 1
    for index in range(violations.starts[group], violations.starts[group + 1]):
        predicate = violations.predicates[index]
        if scratch.may_hold[predicate]:
            scratch.may_hold[predicate] = False
            if predicate < known:
                start = associations.starts[predicate]
                end = associations.starts[predicate + np.uint32(1)]
                for position in range(start, end):
                    scratch.hits[associations.slots[position]] += associations.counts[position]
                work[0] += end - start


@kernel
def close_untouched(scratch: Scratch, work: NDArray[np.int64]) -> bool:
    """Close one slot without hits; False if there is none."""
    for slot in range(scratch.hits.shape[0]):
        if scratch.hits[slot] == 0 and scratch.is_open[slot]:
            scratch.is_open[slot] = False
            work[1] += 1
            return True
    return False


@kernel
def close_candidates(
    trees: Registered, scratch: Scratch, wanted: int, work: NDArray[np.int64]
) -> int:
    """Close the slots whose trees are true, up to `wanted`; returns how many were closed."""
    hits, is_open = scratch.hits, scratch.is_open
    slots = np.uint32(hits.shape[0])
    count = 0
    block = np.uint32(0)
    while block < slots:
        candidates = 0
        for slot in range(block, min(block + np.uint32(BLOCK), slots)):
            # Without a branch: always written, kept by advancing the count.
            scratch.candidates[candidates] = slot
            candidates += is_open[slot] & (hits[slot] <= trees.spares[slot])
        for index in range(candidates):
            slot = scratch.candidates[index]
            work[1] += 1
            if hits[slot] != 0:
                work[2] += trees.leaf_starts[slot + np.uint32(1)] - trees.leaf_starts[slot]
                if not holds(slot, scratch.may_hold, trees):
                    continue
            is_open[slot] = False
            count += 1
            if count == wanted:
                return count
        block += np.uint32(BLOCK)
    return count
