"""Filters as trees over numbered predicates, for all engines that count.

A predicate has one number wherever it occurs. A tree is a shape, which many filters share, and a
row of predicates at its leaves. Counting counts *occurrences* of leaves (P1-E1, P3-E8). A shape
has jump code, which evaluates a candidate's tree.
"""

from collections.abc import Sequence
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boolcast.filters.canonical import canonical_predicate, complement
from boolcast.filters.expressions import And, Constant, Filter, Leaf, Not, Or
from boolcast.matching.counting.kernels.counting import Associations
from boolcast.matching.values.shapes import Inner, short_circuit

Tree = Inner | int
"""Leaves are numbers of predicates, or in a shape their positions in a row of numbers."""


def minimum_count(tree: Tree) -> int:
    """P_min: the least number of leaves that must be true for the tree to be true (P1-B2)."""
    if isinstance(tree, int):
        return 1
    counts = map(minimum_count, tree.children)
    return sum(counts) if tree.is_and else min(counts, default=1)


class Forest:
    """The trees of many filters, over predicates that are numbered by their canonical texts."""

    def __init__(self) -> None:
        self.predicates: dict[str, int] = {}
        self.leaves: list[Leaf] = []
        self.shapes: dict[Tree, int] = {}
        self._numbers: dict[Leaf, int] = {}

    def plant(self, filter: Filter) -> tuple[int, list[int]]:
        """The number of the filter's shape, and the predicates at its leaves."""
        row: list[int] = []
        shape = _lifted(self.tree(filter), row)
        return self.shapes.setdefault(shape, len(self.shapes)), row

    def tree(self, node: Filter, *, wanted: bool = True) -> Tree:
        """The filter in negation normal form, flat, without constants and repeated siblings."""
        match node:
            case And(children) | Or(children):
                parts = [self.tree(child, wanted=wanted) for child in children]
                return _joined(isinstance(node, And) is wanted, parts)
            case Not(child):
                return self.tree(child, wanted=not wanted)
            case Constant(value):
                return Inner(value is wanted, ())
            case _:
                return self._number(node if wanted else complement(node))

    def renumber(self, numbers: Sequence[int]) -> None:
        """Renumber all predicates, in the same order; forget those with -1."""
        kept = [number >= 0 for number in numbers]
        self.predicates = {
            text: numbers[number] for text, number in self.predicates.items() if kept[number]
        }
        self.leaves = list(compress(self.leaves, kept))
        self._numbers = {
            leaf: numbers[number] for leaf, number in self._numbers.items() if kept[number]
        }

    def _number(self, leaf: Leaf) -> int:
        number = self._numbers.get(leaf)
        if number is None:
            canonical = canonical_predicate(leaf)
            number = self.predicates.setdefault(str(canonical), len(self.leaves))
            if number == len(self.leaves):
                self.leaves.append(canonical)
            self._numbers[leaf] = number
        return number


def _joined(is_and: bool, parts: Sequence[Tree]) -> Tree:
    flat: dict[Tree, None] = {}
    for part in parts:
        if isinstance(part, Inner) and part.is_and is is_and:
            flat.update(dict.fromkeys(part.children))
        elif isinstance(part, Inner) and not part.children:
            return part
        else:
            flat[part] = None
    return next(iter(flat)) if len(flat) == 1 else Inner(is_and, tuple(flat))


def _lifted(tree: Tree, row: list[int]) -> Tree:
    """The shape of a tree; its predicates are appended to the row."""
    if isinstance(tree, int):
        row.append(tree)
        return len(row) - 1
    return Inner(tree.is_and, tuple([_lifted(child, row) for child in tree.children]))


def associations(
    leaves: NDArray[np.uint32], slots: NDArray[np.int64], predicates: int, hits: np.dtype[Any]
) -> Associations:
    """For each predicate the slots whose trees contain it, and how often."""
    order = np.lexsort((slots, leaves))
    leaves, slots = leaves[order], slots[order]
    begins = np.ones(len(leaves), dtype=np.bool_)
    begins[1:] = (leaves[1:] != leaves[:-1]) | (slots[1:] != slots[:-1])
    positions = np.flatnonzero(begins)
    counts = np.diff(positions, append=len(leaves))
    starts = np.searchsorted(leaves[positions], np.arange(predicates + 1))
    return Associations(
        starts.astype(np.uint64), slots[positions].astype(np.uint32), counts.astype(hits)
    )


def jump_code(shapes: Sequence[Tree]) -> tuple[NDArray[np.uint32], ...]:
    """The jump code of all shapes: where each starts, then leaves and both jumps."""
    # With all probabilities equal to 1, children are asked in the order they are written in.
    codes = [short_circuit(shape, [1.0] * _leaf_count(shape), frozenset()) for shape in shapes]
    rows = np.array([row for code in codes for row in code], dtype=np.uint32).reshape(-1, 3)
    starts = np.cumsum([0, *map(len, codes)], dtype=np.uint32)
    return starts, *(np.ascontiguousarray(column) for column in rows.T)


def _leaf_count(shape: Tree) -> int:
    return 1 if isinstance(shape, int) else sum(map(_leaf_count, shape.children))
