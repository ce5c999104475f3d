"""The nodes of all diagrams in growing arrays; filters come as programs (`kernels.diagrams`)."""

from collections.abc import Callable
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from boolcast.matching.diagrams.kernels.nodes import (
    ALL_OF,
    ANY_OF,
    BOTH,
    EITHER,
    LIVE,
    ROUND,
    STEPS,
    USED,
    Room,
    Store,
    build,
    rehash,
    release,
)
from boolcast.matching.values.shapes import Inner

FALSE: Final = 0
TRUE: Final = 1
"""The two terminal nodes."""

DEFAULT_NODES: Final = 4_096
"""A filter that needs more new nodes gets no diagram."""

_STEPS_PER_NODE: Final = 16
_REMEMBERED: Final = 1 << 12

Tree = Inner | int
"""Leaves are variables."""

_build = cast("Callable[..., int]", build)
_release = cast("Callable[..., None]", release)
_rehash = cast("Callable[[Store], None]", rehash)


class Nodes:
    """Nodes over numbered variables. Give a node from `build` back to `release`.

    The order of variables is their `levels`, which must not change while a node holds them.
    """

    def __init__(self, limit: int = DEFAULT_NODES) -> None:
        self._limit = limit
        self.store = _empty_store()
        self._room = Room(
            np.empty(limit, dtype=np.int32),
            np.empty(16, dtype=np.int32),
            np.empty((16, 3), dtype=np.int32),
            np.zeros((_REMEMBERED, 3), dtype=np.int64),
            np.empty(_REMEMBERED, dtype=np.int32),
            np.zeros(2, dtype=np.int64),
            np.array([limit, limit * _STEPS_PER_NODE], dtype=np.int64),
        )

    def __len__(self) -> int:
        return int(self.store.counts[LIVE])

    @property
    def used(self) -> int:
        """The numbers of nodes lie below this one."""
        return int(self.store.counts[USED])

    @property
    def steps(self) -> int:
        """What joins took in the last build; 0 for a chain."""
        return int(self._room.counts[STEPS])

    def set_level(self, variable: int, level: int) -> None:
        """Give a variable, which no node holds yet, its level in the order."""
        if variable >= len(self.store.level):
            size = max(2 * variable, 64)
            self.store = self.store._replace(
                level=_grown(self.store.level, size), first_of=_grown(self.store.first_of, 2 * size)
            )
        self.store.level[variable] = level

    def build(self, tree: Tree | bool) -> int | None:
        """The node of a filter; None where it would take too many."""
        if isinstance(tree, bool):
            root = TRUE if tree else FALSE
            self.store.references[root] += 1
            return root
        program: list[int] = []
        self._write(tree, program)
        self._make_room(len(program))
        root = _build(self.store, self._room, np.array(program, dtype=np.int64))
        return None if root < 0 else root

    def release(self, node: int) -> None:
        """Give a node back."""
        _release(self.store, node)

    def _write(self, tree: Tree, program: list[int]) -> None:
        if isinstance(tree, int):
            program += (ALL_OF, 1, tree)
            return
        chain = [child for child in tree.children if isinstance(child, int)]
        parts = 0
        if chain:
            level = self.store.level
            chain.sort(key=level.__getitem__)
            program += (ALL_OF if tree.is_and else ANY_OF, len(chain), *chain)
            parts = 1
        for child in tree.children:
            if isinstance(child, Inner):
                self._write(child, program)
                if parts:
                    program.append(BOTH if tree.is_and else EITHER)
                parts = 1

    def _make_room(self, length: int) -> None:
        """Enlarge the arrays, so that a build has room for what it may need."""
        store = self.store
        if length > len(self._room.stack):
            self._room = self._room._replace(
                stack=np.empty(2 * length, dtype=np.int32),
                frames=np.empty((2 * length, 3), dtype=np.int32),
            )
        if self.used + self._limit > len(store.variable):
            size = 2 * (self.used + self._limit)
            store = store._replace(
                **{name: _grown(getattr(store, name), size) for name in _BY_NODE}
            )
        if len(self) > len(store.buckets):
            store = store._replace(buckets=np.full(4 * len(store.buckets), -1, dtype=np.int32))
            _rehash(store)
        self.store = store


_BY_NODE: Final = (
    *("variable", "low", "high", "references", "following", "of"),
    *("first_by_high", "by_high", "first_by_low", "by_low"),
)


def _empty_store() -> Store:
    def none(*shape: int) -> NDArray[np.int32]:
        return np.full(shape, -1, dtype=np.int32)

    counts = np.zeros(4, dtype=np.int64)
    counts[:ROUND] = 2, -1, 0
    return Store(
        *(none(2), none(2), none(2), np.zeros(2, dtype=np.int32), none(2)),
        none(1 << 10),
        np.zeros(0, dtype=np.int64),
        *(none(0), none(2, 2)),
        *(none(2), none(2, 2), none(2), none(2, 2)),
        counts,
    )


def _grown(array: NDArray[Any], size: int) -> NDArray[Any]:
    """The array with room for more in its last dimension, filled with -1."""
    grown = np.full((*array.shape[:-1], size), -1, dtype=array.dtype)
    grown[..., : array.shape[-1]] = array
    return grown
