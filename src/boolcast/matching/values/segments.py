"""A segment: an immutable index over many subscriptions, in arrays.

Each filter is indexed under the cheapest *cut* of its tree: the best child of an AND, all children
of an OR, by estimated selectivity. No event can satisfy the filter without satisfying a test of
the cut. The rest of the tree, given that this test is true, is its *program*.

Tests are intervals of ranks (`matching.values.ranks`). An interval is posted at the few nodes of a
binary tree over the ranks that make it up, so that the postings at the nodes above an event's
rank are exactly the tests that it satisfies. Equalities sit at the leaves. Filters at a node
with the same program are a group: the program runs once, and if it is true the whole group
matches.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

LEVELS: Final = 31

INTERVAL: Final = 0
INTERVALS: Final = 1
PATTERN: Final = 2
RESIDUAL: Final = 3

ANY_ONE: Final = -1
ANY_TEXT: Final = -2
"""In a pattern: any character, and any text."""


class Segment(NamedTuple):
    """The arrays that the kernel reads.

    `offsets` has, for each attribute and level of its tree, a row of nodes: node n of level l
    begins at `level_bases[attribute, l] + n`, and the groups from `offsets[there]` to
    `offsets[there + 1]` are its own.

    A row of `groups` is where the group's program begins and ends in `code` (nowhere, if it is
    always true), where its members begin in `members` (they end where the next group's begin),
    and a number: its lowest bit says that another group may name the same slots, the others
    where the outcome is noted, if the program is shared, counted from 1. All of a group in one
    row is one look into memory instead of four.

    A member is the position of a subscription, if the filter has just one; otherwise it is the
    complement of the filter's slot.

    A row of `code` is one test: attribute and kind of test, two operands, and the jumps
    where it is true and false, counted from the program's start.
    """

    level_masks: NDArray[np.int64]
    level_bases: NDArray[np.int64]
    offsets: NDArray[np.int32]
    groups: NDArray[np.int32]
    members: NDArray[np.int32]
    code: NDArray[np.int32]
    list_starts: NDArray[np.int32]
    list_bounds: NDArray[np.int32]
    pattern_starts: NDArray[np.int32]
    pattern_elements: NDArray[np.int32]
    text_columns: NDArray[np.int32]

    @property
    def nbytes(self) -> int:
        """The size of the matching structure."""
        return sum(each.nbytes for each in self)

    @property
    def has_patterns(self) -> bool:
        """True if programs look at the characters of strings."""
        return len(self.pattern_starts) > 1

    @property
    def shared_programs(self) -> int:
        """How many programs have their outcome noted."""
        return int((self.groups[:, 3] >> 1).max(initial=0))

    @property
    def has_repeated_members(self) -> bool:
        """True if some slot may be found twice."""
        return bool((self.groups[:, 3] & 1).any())
