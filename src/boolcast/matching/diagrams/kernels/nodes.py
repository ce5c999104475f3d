"""Shared ordered diagrams in arrays: nodes are made, found again, counted and released.

A node is a variable and two nodes below it: where the variable is false the node is `low`, where
it is true `high`. Nodes 0 and 1 are false and true. All functions are monotone, so `low` is never
true where `high` is not; a false variable never leads to 1, nor a true one to 0.

Sizes: N nodes, V variables, B buckets (a power of two). -1 ends a list.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from boolcast.matching.values.kernels.compiling import kernel

ALL_OF: int = -1
ANY_OF: int = -2
BOTH: int = -3
EITHER: int = -4
"""Steps of a program, see `build`."""

OPEN: int = -2
"""Not known yet, where -1 says that the limits are reached."""

USED: int = 0
FREE: int = 1
LIVE: int = 2
ROUND: int = 3
"""Positions in `Store.counts`: nodes ever used, the first free one, nodes alive, builds so far."""

CREATED: int = 0
STEPS: int = 1
"""Positions in `Room.counts`: nodes made by this build, and what it has cost."""


class Store(NamedTuple):
    """Nodes, and lists of them.

    `following` links the nodes of a bucket, and the free ones. `references` counts nodes above
    and outputs. Nodes of variable v are listed from `first_of[2v]`, those with `high` 1 from
    `first_of[2v + 1]`; nodes over a node, except over 0 and 1, from `first_by_high` and
    `first_by_low`.
    """

    variable: NDArray[np.int32]  # [N]
    low: NDArray[np.int32]  # [N]
    high: NDArray[np.int32]  # [N]
    references: NDArray[np.int32]  # [N]
    following: NDArray[np.int32]  # [N]
    buckets: NDArray[np.int32]  # [B]
    level: NDArray[np.int64]  # [V], the order of variables, from the top
    first_of: NDArray[np.int32]  # [2V]
    of: NDArray[np.int32]  # [2, N], the next and the previous of the list
    first_by_high: NDArray[np.int32]  # [N]
    by_high: NDArray[np.int32]  # [2, N]
    first_by_low: NDArray[np.int32]  # [N]
    by_low: NDArray[np.int32]  # [2, N]
    counts: NDArray[np.int64]  # [4]


class Room(NamedTuple):
    """Room for a build: its new nodes, results of `joined` with the round that found them.

    A frame is two nodes that are being joined, and what their low sides came to.
    """

    created: NDArray[np.int32]  # [most new nodes]
    stack: NDArray[np.int32]  # [longest program]
    frames: NDArray[np.int32]  # [longest program, 3]
    keys: NDArray[np.int64]  # [C, 3], C a power of two
    results: NDArray[np.int32]  # [C]
    counts: NDArray[np.int64]  # [2]
    limits: NDArray[np.int64]  # [2]


@kernel
def link(first: NDArray[np.int32], neighbours: NDArray[np.int32], key: int, node: int) -> None:
    """Put a node at the front of a list."""
    after = first[key]
    neighbours[0, node] = after
    neighbours[1, node] = -1
    if after >= 0:
        neighbours[1, after] = node
    first[key] = node


@kernel
def unlink(first: NDArray[np.int32], neighbours: NDArray[np.int32], key: int, node: int) -> None:
    """Take a node out of a list."""
    after, before = neighbours[0, node], neighbours[1, node]
    if before >= 0:
        neighbours[0, before] = after
    else:
        first[key] = after
    if after >= 0:
        neighbours[1, after] = before


@kernel
def bucket_of(buckets: NDArray[np.int32], variable: int, low: int, high: int) -> int:
    """The bucket in which such a node is kept."""
    mixed = np.uint64(variable) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ np.uint64(low)) * np.uint64(0xC2B2AE3D27D4EB4F)
    mixed = (mixed ^ np.uint64(high)) * np.uint64(0x165667B19E3779F9)
    mixed ^= mixed >> np.uint64(32)
    return np.int64(mixed & np.uint64(buckets.shape[0] - 1))  # type: ignore[return-value]


@kernel
def rehash(store: Store) -> None:
    """Enter all nodes that are in use into empty buckets. Costs N."""
    for node in range(2, store.counts[USED]):
        if store.variable[node] >= 0:
            at = bucket_of(store.buckets, store.variable[node], store.low[node], store.high[node])
            store.following[node] = store.buckets[at]
            store.buckets[at] = node


@kernel
def made(store: Store, room: Room, variable: int, low: int, high: int) -> int:
    """The one node of this variable and these nodes; -1 where the build has made too many."""
    if low == high:
        return low
    at = bucket_of(store.buckets, variable, low, high)
    node = store.buckets[at]
    while node >= 0:
        if store.variable[node] == variable and store.low[node] == low and store.high[node] == high:
            return node  # type: ignore[no-any-return]
        node = store.following[node]
    if room.counts[CREATED] == room.limits[CREATED]:
        return -1
    node = np.int32(store.counts[FREE])
    if node >= 0:
        store.counts[FREE] = store.following[node]
    else:
        node = np.int32(store.counts[USED])
        store.counts[USED] += 1
    store.counts[LIVE] += 1
    store.variable[node], store.low[node], store.high[node] = variable, low, high
    store.following[node] = store.buckets[at]
    store.buckets[at] = node
    store.references[node] = 0
    store.references[low] += 1
    store.references[high] += 1
    store.first_by_high[node] = store.first_by_low[node] = -1
    link(store.first_of, store.of, 2 * variable + (high == 1), node)
    if high > 1:
        link(store.first_by_high, store.by_high, high, node)
    if low > 1:
        link(store.first_by_low, store.by_low, low, node)
    room.created[room.counts[CREATED]] = node
    room.counts[CREATED] += 1
    return node  # type: ignore[return-value]


@kernel
def freed(store: Store, node: int) -> None:
    """Free one node; those below it lose a reference."""
    variable, low, high = store.variable[node], store.low[node], store.high[node]
    at = bucket_of(store.buckets, variable, low, high)
    other = store.buckets[at]
    if other == node:
        store.buckets[at] = store.following[node]
    else:
        while store.following[other] != node:
            other = store.following[other]
        store.following[other] = store.following[node]
    unlink(store.first_of, store.of, 2 * variable + (high == 1), node)
    if high > 1:
        unlink(store.first_by_high, store.by_high, high, node)
    if low > 1:
        unlink(store.first_by_low, store.by_low, low, node)
    store.references[low] -= 1
    store.references[high] -= 1
    store.variable[node] = -1
    store.following[node] = store.counts[FREE]
    store.counts[FREE] = node
    store.counts[LIVE] -= 1


@kernel
def release(store: Store, root: int) -> None:
    """Drop a reference to a node, and free all nodes without references."""
    store.references[root] -= 1
    # A node that is to be freed is in no one's use: `by_high` links those that wait.
    waiting = np.int32(-1)
    if root > 1 and store.references[root] == 0:
        waiting = np.int32(root)
        store.first_by_high[root] = -1
    while waiting >= 0:
        node = waiting
        waiting = store.first_by_high[node]
        low, high = store.low[node], store.high[node]
        freed(store, node)
        for below in (low, high):
            if below > 1 and store.references[below] == 0:
                store.first_by_high[below] = waiting
                waiting = below


@kernel
def build(store: Store, room: Room, program: NDArray[np.int64]) -> int:
    """The node of a filter, with one more reference; -1 past the limits, and nothing is changed.

    A program is a filter in postfix: `ALL_OF` and `ANY_OF` are followed by a number and so many
    variables in their order, from the top, and put their AND or OR on the stack, a chain that
    is built upwards; `BOTH` and `EITHER` join the two on the top of the stack.

    Costs the length of the program for chains; joins cost at most the product of the sizes.
    """
    room.counts[:] = 0
    store.counts[ROUND] += 1
    top = 0
    at = 0
    while at < program.shape[0]:
        step = program[at]
        if step in (ALL_OF, ANY_OF):
            count = program[at + 1]
            node = 1 if step == ALL_OF else 0
            for position in range(at + 1 + count, at + 1, -1):
                if node >= 0:
                    if step == ALL_OF:
                        node = made(store, room, program[position], 0, node)
                    else:
                        node = made(store, room, program[position], node, 1)
            at += 2 + count
        else:
            top -= 2
            node = joined(store, room, step == BOTH, room.stack[top], room.stack[top + 1])
            at += 1
        if node < 0:
            sweep(store, room)
            return -1
        room.stack[top] = node
        top += 1
    root = room.stack[0]
    store.references[root] += 1
    if room.counts[STEPS]:
        sweep(store, room)
    return root  # type: ignore[no-any-return]


@kernel
def sweep(store: Store, room: Room) -> None:
    """Free the nodes of this build that have no references, the last first to miss none."""
    for position in range(room.counts[CREATED] - 1, -1, -1):
        node = room.created[position]
        if store.references[node] == 0:
            freed(store, node)


@kernel
def joined(store: Store, room: Room, is_and: bool, left: int, right: int) -> int:
    """The node of an AND or OR of two nodes; -1 past the limits.

    Goes down by frames, one for each variable on the way at most, and not by recursion, which
    could exhaust the stack.
    """
    node = settled(store, room, is_and, left, right)
    if node != OPEN:
        return node  # type: ignore[no-any-return]
    frames = room.frames
    top = 0
    frames[0, 0], frames[0, 1], frames[0, 2] = left, right, OPEN
    while True:
        side = store.low if frames[top, 2] == OPEN else store.high
        left, right = frames[top, 0], frames[top, 1]
        level, other = store.level[store.variable[left]], store.level[store.variable[right]]
        if level <= other:
            left = side[left]
        if other <= level:
            right = side[right]
        node = settled(store, room, is_and, left, right)
        if node == OPEN:
            top += 1
            frames[top, 0], frames[top, 1], frames[top, 2] = left, right, OPEN
            continue
        # Both sides below are known: make the node and pass it to the frame above.
        while node >= 0 and frames[top, 2] != OPEN:
            left, right = frames[top, 0], frames[top, 1]
            level, other = store.level[store.variable[left]], store.level[store.variable[right]]
            variable = store.variable[left] if level <= other else store.variable[right]
            node = made(store, room, variable, frames[top, 2], node)
            slot = slot_of(store, room, is_and, left, right)
            room.keys[slot, 0] = store.counts[ROUND] * 2 + is_and
            room.keys[slot, 1], room.keys[slot, 2] = min(left, right), max(left, right)
            room.results[slot] = node
            if top == 0:
                return node  # type: ignore[no-any-return]
            top -= 1
        if node < 0:
            return -1
        frames[top, 2] = node


@kernel
def settled(store: Store, room: Room, is_and: bool, left: int, right: int) -> int:
    """The AND or OR of two nodes if it is seen at once; else OPEN, or -1 past the limits."""
    # The terminals are the least nodes.
    least, most = min(left, right), max(left, right)
    if least == most:
        return least
    if least == 0:
        return 0 if is_and else most
    if least == 1:
        return most if is_and else 1
    if room.counts[STEPS] == room.limits[STEPS]:
        return -1
    room.counts[STEPS] += 1
    slot = slot_of(store, room, is_and, least, most)
    keys = room.keys
    tag = store.counts[ROUND] * 2 + is_and
    if keys[slot, 0] == tag and keys[slot, 1] == least and keys[slot, 2] == most:
        return room.results[slot]  # type: ignore[no-any-return]
    return OPEN


@kernel
def slot_of(store: Store, room: Room, is_and: bool, left: int, right: int) -> int:
    """Where the result for two nodes is remembered."""
    tag = store.counts[ROUND] * 2 + is_and
    return bucket_of(room.results, tag, min(left, right), max(left, right))  # type: ignore[no-any-return]
