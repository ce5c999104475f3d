"""A segment: an immutable index over many subscriptions, in arrays.

Each subscription is indexed under the cheapest *cut* of its tree: of an AND the best child, of
an OR all children, by estimated selectivity. No event can satisfy it without satisfying a test
of the cut. What is left of the tree once that test is known to be true is its *program*.

Tests are intervals of ranks (`matching.ranks`). An interval is posted at the few nodes of a
binary tree over the ranks that make it up, so that the postings at the nodes above an event's
rank are exactly the tests that it satisfies: nothing is looked at in vain. Equalities sit at
the leaves. At a node, subscriptions with the same program form a group: it is run once, and
if it is true the whole group matches.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

LEVELS: Final = 31

INTERVAL, INTERVALS, PATTERN, RESIDUAL = range(4)


class Segment(NamedTuple):
    """The arrays that the kernel reads.

    `offsets` has, for each attribute and level of its tree, a row of nodes: node n of level l
    begins at `level_bases[attribute, l] + n`, and the groups from `offsets[there]` to
    `offsets[there + 1]` are its own. A group's members are slots; a program of -1 is always
    true; flagged groups may name a slot that another group names too. Programs below
    `shared_programs` are run at most once an event.

    A row of `code` is one test: attribute and kind of test, two operands, and the jumps
    where it is true and false, counted from the program's start.
    """

    level_masks: NDArray[np.int64]
    level_bases: NDArray[np.int64]
    offsets: NDArray[np.int32]
    group_programs: NDArray[np.int32]
    group_members: NDArray[np.int32]
    group_flags: NDArray[np.uint8]
    members: NDArray[np.int32]
    program_starts: NDArray[np.int32]
    shared_programs: int
    code: NDArray[np.int32]
    list_starts: NDArray[np.int32]
    list_bounds: NDArray[np.int32]
    pattern_starts: NDArray[np.int32]
    pattern_elements: NDArray[np.int32]
    text_columns: NDArray[np.int32]

    @property
    def nbytes(self) -> int:
        """The size of the matching structure."""
        return sum(each.nbytes for each in self if isinstance(each, np.ndarray))
