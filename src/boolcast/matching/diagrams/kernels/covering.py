"""Which outputs cover a filter, and which does it cover? Diagrams under codes of variables (P2-B5).

Either question sets some variables, the *coded* ones, and leaves all others alone:

- right: coded variables are true and others false, and wanted are the outputs that are true;
- left: coded variables are false and others true, and wanted are the outputs that are false.

So at each node one of its two ways is taken, `coded` where its variable is and `other` elsewhere,
and an output is wanted if its path ends in `good`: on the right side `coded` is `high`, `other`
is `low` and `good` is 1; on the left side they are `low`, `high` and 0. A question has up to 64
clauses, each with codes of its own: bit i of a variable's codes is that of clause i.

Sizes: N nodes, V variables, D diagrams.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from boolcast.matching.values.kernels.compiling import kernel

Codes = NDArray[np.uint64]
Nodes = NDArray[np.int32]

_NO_BIT = np.uint64(0)
_ONE_BIT = np.uint64(1)


class Side(NamedTuple):
    """One of the two questions: the ways, lists of the nodes from which they lead, codes.

    `lists` is 1 where only nodes with `high` 1 can lead to `good` by their coded way, else 0.
    """

    coded: Nodes  # [N]
    other: Nodes  # [N]
    good: int
    lists: int
    first_by_coded: Nodes  # [N]
    by_coded: Nodes  # [2, N]
    first_by_other: Nodes  # [N]
    by_other: Nodes  # [2, N]
    codes: Codes  # [V]
    clauses: int


class Outputs(NamedTuple):
    """The roots: how many names each has, and those of a diagram in a list."""

    names: Nodes  # [N]
    first_root: Nodes  # [D]
    roots: Nodes  # [2, N]


class Memory(NamedTuple):
    """Room to work in; `stamps` are those of the question that last saw a node."""

    seen: NDArray[np.int64]  # [N]
    stack: Nodes  # [N]
    found: Nodes  # [2N]
    values: NDArray[np.uint64]  # [2, N]
    stamps: NDArray[np.int64]  # [2, N]
    counts: NDArray[np.int64]  # [2], diagrams evaluated, nodes looked at


@kernel
def ends_well(
    root: int,
    variable: Nodes,
    coded: Nodes,
    other: Nodes,
    good: int,
    codes: Codes,
    clauses: int,
) -> bool:
    """True if the paths of all clauses lead from a root to `good`."""
    for clause in range(clauses):
        bit = _ONE_BIT << np.uint64(clause)
        at = root
        while at > 1:
            at = coded[at] if codes[variable[at]] & bit else other[at]
        if at != good:
            return False
    return True


@kernel
def check(roots: Nodes, variable: Nodes, side: Side, wanted: int, memory: Memory) -> int:
    """Write those of some roots that are wanted to `found`, up to a number; returns how many."""
    coded, other, good, codes, clauses = side.coded, side.other, side.good, side.codes, side.clauses
    count = 0
    for index in range(roots.shape[0]):
        memory.counts[1] += 1
        if count < wanted and ends_well(roots[index], variable, coded, other, good, codes, clauses):
            memory.found[count] = roots[index]
            count += 1
    return count


@kernel
def reach(
    starts: NDArray[np.int64],
    clause: int,
    variable: Nodes,
    first_of: Nodes,
    of: Nodes,
    side: Side,
    names: Nodes,
    stamp: int,
    wanted: int,
    patience: int,
    memory: Memory,
) -> int:
    """Find outputs by going up from `good` against the paths of one clause.

    `starts` are the coded variables of the clause. Whatever has a path to `good` is on the way,
    so none is missed. Returns how many were found, at most `wanted`, or -1 if more nodes than
    `patience` had to be looked at.
    """
    coded, other, good, codes, clauses = side.coded, side.other, side.good, side.codes, side.clauses
    first_by_coded, by_coded = side.first_by_coded, side.by_coded
    first_by_other, by_other = side.first_by_other, side.by_other
    seen, stack, found = memory.seen, memory.stack, memory.found
    bit = _ONE_BIT << np.uint64(clause)
    count = looked = 0
    for start in starts:
        for key in range(2 * start + side.lists, 2 * start + 2):
            first = first_of[key]
            while first >= 0:
                looked += 1
                if coded[first] == good and seen[first] != stamp:
                    seen[first] = stamp
                    stack[0] = first
                    top = 1
                    while top:
                        top -= 1
                        at = stack[top]
                        if names[at] and ends_well(
                            at, variable, coded, other, good, codes, clauses
                        ):
                            found[count] = at
                            count += 1
                            if count == wanted:
                                memory.counts[1] += looked
                                return count
                        above = first_by_coded[at]
                        while above >= 0:
                            looked += 1
                            if seen[above] != stamp and codes[variable[above]] & bit:
                                seen[above] = stamp
                                stack[top] = above
                                top += 1
                            above = by_coded[0, above]
                        above = first_by_other[at]
                        while above >= 0:
                            looked += 1
                            if seen[above] != stamp and not codes[variable[above]] & bit:
                                seen[above] = stamp
                                stack[top] = above
                                top += 1
                            above = by_other[0, above]
                        if looked > patience:
                            memory.counts[1] += looked
                            return -1
                first = of[0, first]
    memory.counts[1] += looked
    return count


@kernel
def wanted_of(
    root: int,
    roots: Nodes,
    variable: Nodes,
    coded: Nodes,
    other: Nodes,
    good: int,
    codes: Codes,
    full: int,
    values: NDArray[np.uint64],
    stamps: NDArray[np.int64],
    stamp: int,
    stack: Nodes,
    counts: NDArray[np.int64],
    found: Nodes,
    count: int,
) -> int:
    """Evaluate a diagram, given by its first root, on one side; each node once.

    The value of a node is a set of clauses, as bits: those whose path from it leads to `good`.
    Writes the roots whose clauses all do to `found` from `count` on; returns the next position.
    """
    counts[0] += root >= 0
    while root >= 0:
        stack[0] = root
        top = 1
        while top:
            at = stack[top - 1]
            if stamps[at] == stamp:
                top -= 1
                continue
            code = codes[variable[at]]
            one, two = coded[at], other[at]
            # First what is below: it is on the stack above this node, and this node is met again.
            ready = top
            if code != _NO_BIT and one > 1 and stamps[one] != stamp:
                stack[top] = one
                top += 1
            if ~code & full != _NO_BIT and two > 1 and stamps[two] != stamp:
                stack[top] = two
                top += 1
            if top > ready:
                continue
            value = _NO_BIT
            if one > 1:
                value |= code & values[one] if code != _NO_BIT else _NO_BIT
            elif one == good:
                value |= code
            # The other way never leads to `good` at once, since all functions are monotone.
            if two > 1:
                value |= ~code & values[two] if ~code & full != _NO_BIT else _NO_BIT
            values[at] = value & full
            stamps[at] = stamp
            counts[1] += 1
            top -= 1
        if values[root] == full:
            found[count] = root
            count += 1
        root = roots[root]
    return count


@kernel
def one_pass(
    variable: Nodes, right: Side, left: Side, outputs: Outputs, stamp: int, memory: Memory
) -> tuple[int, int]:
    """P2's algorithm over all diagrams (P2-B6).

    Returns how many roots that cover are in `found`, or else how many that are covered. Each
    diagram is evaluated on the right side and then on the left, until an output covers, which
    ends it all, or is covered, which ends the right side.

    Costs D, and every node and root once on either side.
    """
    # Taken out of their tuples here: for each diagram that takes longer than to evaluate it.
    first_root, roots = outputs.first_root, outputs.roots[0]
    coded, other, codes = right.coded, right.other, right.codes
    left_coded, left_other, left_codes = left.coded, left.other, left.codes
    full, left_full = all_clauses(right.clauses), all_clauses(left.clauses)
    values, left_values = memory.values[0], memory.values[1]
    stamps, left_stamps = memory.stamps[0], memory.stamps[1]
    stack, counts, found = memory.stack, memory.counts, memory.found
    asks_right, asks_left = right.clauses >= 0, left.clauses >= 0
    covered = 0
    for diagram in range(first_root.shape[0]):
        root = first_root[diagram]
        if asks_right and not covered:
            covering = wanted_of(
                *(root, roots, variable, coded, other, 1, codes, full),
                *(values, stamps, stamp, stack, counts, found, 0),
            )
            if covering:
                return covering, 0
        if asks_left:
            covered = wanted_of(
                *(root, roots, variable, left_coded, left_other, 0, left_codes, left_full),
                *(left_values, left_stamps, stamp, stack, counts, found, covered),
            )
    return 0, covered


@kernel
def pass_over(
    variable: Nodes, side: Side, outputs: Outputs, stamp: int, count: int, memory: Memory
) -> int:
    """One of P2's two algorithms, which know nothing of each other: one side of all diagrams.

    On the right side it ends with the first diagram that has a covering output. Returns how many
    roots it wrote to `found` from `count` on. Costs as one pass, for one side.
    """
    first_root, roots = outputs.first_root, outputs.roots[0]
    coded, other, good, codes = side.coded, side.other, side.good, side.codes
    values, stamps = memory.values[1 - good], memory.stamps[1 - good]
    stack, counts, found = memory.stack, memory.counts, memory.found
    full = all_clauses(side.clauses)
    end = count
    if side.clauses >= 0:
        for diagram in range(first_root.shape[0]):
            end = wanted_of(
                *(first_root[diagram], roots, variable, coded, other, good, codes, full),
                *(values, stamps, stamp, stack, counts, found, end),
            )
            if good and end > count:
                break
    return end - count


@kernel
def all_clauses(clauses: int) -> int:
    """A bit for each clause."""
    return ~_NO_BIT >> np.uint64(64 - clauses) if clauses > 0 else _NO_BIT  # type: ignore[return-value]
