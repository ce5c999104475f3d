"""Cuts of an output: few variables of which one must be true for the output to be true.

With all variables of a cut false, every path from the root ends in 0. The cut of a node is a cut
of `low`, together with either the node's variable or a cut of `high`. Nodes are numbered from
the bottom up. Sizes: N nodes, V variables, O outputs, M variables of a cut at most.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from boolcast.matching.values.kernels.compiling import kernel

MOST_NODES: int = 1_024
MOST_VARIABLES: int = 64
MOST_IN_CUT: int = 16
"""Larger diagrams get no cut, and cuts with more variables are not used."""

_NO_BIT = np.uint64(0)
_ONE_BIT = np.uint64(1)


class DiagramCuts(NamedTuple):
    """The cut of output o: the first `sizes[o]` variables in its row; 0 if it has none.

    The other arrays are working memory.
    """

    sizes: NDArray[np.int64]  # [O]
    variables: NDArray[np.uint32]  # [O, M]
    masks: NDArray[np.uint64]  # [N], the cut of a node by the numbers that variables have here
    seen: NDArray[np.int64]  # [N], the last output that came by
    known: NDArray[np.int64]  # [V], the same
    numbers: NDArray[np.int64]  # [V]


@kernel
def choose_cuts(
    roots: NDArray[np.uint32],
    variable: NDArray[np.uint32],
    low: NDArray[np.uint32],
    high: NDArray[np.uint32],
    shares: NDArray[np.float64],
    costs: NDArray[np.float64],
    cuts: DiagramCuts,
) -> None:
    """Give a cut to each output for which the sum of its shares is less than the output's cost.

    `seen` and `known` must be 0. Costs the nodes below each output, times the variables there.
    """
    stack = np.empty(2 * MOST_NODES + 4, dtype=np.int64)
    mine = np.empty(MOST_VARIABLES, dtype=np.uint32)
    weights = np.empty(MOST_VARIABLES)
    masks, seen, known, numbers = cuts.masks, cuts.seen, cuts.known, cuts.numbers
    for output in range(roots.shape[0]):
        root = roots[output]
        if root <= 1:
            continue
        stamp = output + 1
        count = nodes = 0
        top = 1
        stack[0] = root
        while top and nodes < MOST_NODES:
            at = stack[top - 1]
            one, two = high[at], low[at]
            ready = top
            if seen[at] != stamp:
                if one > 1 and seen[one] != stamp:
                    stack[top] = one
                    top += 1
                if two > 1 and seen[two] != stamp:
                    stack[top] = two
                    top += 1
            if top > ready:
                # A path of n nodes leaves 2n + 1 here at most.
                if top > 2 * MOST_NODES:
                    nodes = MOST_NODES
                continue
            top -= 1
            if seen[at] == stamp:
                continue
            if known[variable[at]] != stamp:
                if count == MOST_VARIABLES:
                    nodes = MOST_NODES
                    break
                known[variable[at]] = stamp
                numbers[variable[at]] = count
                mine[count] = variable[at]
                weights[count] = shares[variable[at]]
                count += 1
            bit = _ONE_BIT << np.uint64(numbers[variable[at]])
            below = masks[two] if two > 1 else _NO_BIT
            masks[at] = below | bit
            if one > 1:
                through = below | masks[one]
                if weight(through, weights, count) < weight(below | bit, weights, count):
                    masks[at] = through
            seen[at] = stamp
            nodes += 1
        if nodes == MOST_NODES or weight(masks[root], weights, count) >= costs[root]:
            continue
        size = 0
        for number in range(count):
            if masks[root] >> np.uint64(number) & _ONE_BIT:
                if size < MOST_IN_CUT:
                    cuts.variables[output, size] = mine[number]
                size += 1
        if size <= MOST_IN_CUT:
            cuts.sizes[output] = size


@kernel
def weight(mask: int, weights: NDArray[np.float64], count: int) -> float:
    """The sum of the weights of the variables in a mask."""
    total = 0.0
    for number in range(count):
        if mask >> np.uint64(number) & _ONE_BIT:
            total += weights[number]
    return total
