"""From filters as ranks to a segment: choose cuts, write programs, post them."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boolcast.matching.values.array_operations import copy_runs, number_rows
from boolcast.matching.values.segments import (
    ANY_ONE,
    ANY_TEXT,
    INTERVAL,
    INTERVALS,
    LEVELS,
    PATTERN,
    RESIDUAL,
    Segment,
)
from boolcast.matching.values.shapes import Inner, Test, short_circuit

if TYPE_CHECKING:
    from boolcast.matching.values.columns import RankedGroup
    from boolcast.matching.values.rank_tables import Spaces
    from boolcast.matching.values.selectivity import Selectivity

Integers = NDArray[np.int64]
Jump = tuple[int, int, int]


def build(groups: "Sequence[RankedGroup]", spaces: "Spaces", selectivity: "Selectivity") -> Segment:
    """Index the filters of all groups."""
    builder = _Builder(spaces, selectivity)
    for group in groups:
        builder.add(group)
    return builder.finish()


def cut_shares(
    group: "RankedGroup", spaces: "Spaces", selectivity: "Selectivity"
) -> NDArray[np.float64]:
    """For each filter, the estimated share of events that satisfy its cheapest cut."""
    if group.shape.root is None:
        return np.ones(len(group.slots))
    return _cost(group.shape.root, _estimated_shares(group, spaces, selectivity), [])


def _estimated_shares(
    group: "RankedGroup", spaces: "Spaces", selectivity: "Selectivity"
) -> NDArray[np.float64]:
    """The estimated share of events that satisfy each test (columns) of each filter (rows)."""
    return np.stack(
        [
            selectivity.shares(test.attribute, spaces.spaces[spaces.index[test.attribute]], bounds)
            for test, bounds in zip(group.shape.tests, group.bounds, strict=True)
        ],
        axis=1,
    )


class _Posting(NamedTuple):
    """Rows that say: at this node, this program decides about this slot."""

    attribute: Integers
    level: Integers
    node: Integers
    program: Integers
    slot: Integers
    flag: Integers


class _Builder:
    def __init__(self, spaces: "Spaces", selectivity: "Selectivity") -> None:
        self.spaces = spaces
        self.selectivity = selectivity
        self.postings: list[_Posting] = []
        self.shared = _Programs()
        self.own = _Programs()
        self.operands = _Operands(spaces)

    def add(self, group: "RankedGroup") -> None:
        shape = group.shape
        slots = group.slots.astype(np.int64)
        if shape.root is None:
            begin = np.full(len(slots), self.spaces.spaces[0].rank(None))
            always = np.full(len(slots), -1)
            self._post(0, begin, begin + 1, slots, always, is_multiple=False)
            return
        shares = _estimated_shares(group, self.spaces, self.selectivity)
        for rows, cut in _cuts(shape.root, shares):
            self._add_cut(group, rows, sorted(cut), np.median(shares[rows], axis=0).tolist())

    def _add_cut(
        self, group: "RankedGroup", rows: Integers, cut: list[int], shares: list[float]
    ) -> None:
        """Post the filters in these rows of the group, which all share a cut."""
        shape = group.shape
        assert shape.root is not None
        slots = group.slots[rows].astype(np.int64)
        programs: dict[tuple[Jump, ...], Integers] = {}
        for test in cut:
            is_exact = shape.tests[test].kind == "intervals"
            known = frozenset((test,)) if is_exact else frozenset[int]()
            code = tuple(short_circuit(shape.root, shares, known))
            if code not in programs:
                programs[code] = self._programs(group, rows, code)
            attribute = self.spaces.index[shape.tests[test].attribute]
            bounds = group.bounds[test][rows].astype(np.int64)
            for column in range(0, bounds.shape[1], 2):
                self._post(
                    attribute,
                    bounds[:, column],
                    bounds[:, column + 1],
                    slots,
                    programs[code],
                    is_multiple=len(cut) > 1,
                )

    def _programs(self, group: "RankedGroup", rows: Integers, code: tuple[Jump, ...]) -> Integers:
        """The programs of filters that share their code: one for each distinct set of constants.

        Programs of their own are numbered behind the shared ones; until their number is known
        they go by negative numbers from -2 down.
        """
        if not code:
            return np.full(len(rows), -1)
        constants = np.concatenate([group.bounds[test][rows] for test, _, _ in code], axis=1)
        first, which = number_rows(constants)
        if 2 * len(first) <= len(rows) or len(rows) == 1:
            numbers = self.shared.add(self.operands.code(group, rows[first], code))
            return numbers[which]
        return -2 - self.own.add(self.operands.code(group, rows, code))

    def _post(
        self,
        attribute: int,
        low: Integers,
        high: Integers,
        slots: Integers,
        programs: Integers,
        *,
        is_multiple: bool,
    ) -> None:
        """Post intervals at the nodes that make them up: from both ends inwards, level by level."""
        level = 0
        while len(low):
            at_low = (low & 1) == 1
            at_high = ((high & 1) == 1) & ~(at_low & (low + 1 == high))
            for chosen, nodes in ((at_low, low), (at_high, high - 1)):
                some = np.flatnonzero(chosen)
                if len(some):
                    self.postings.append(
                        _Posting(
                            np.full(len(some), attribute),
                            np.full(len(some), level),
                            nodes[some],
                            programs[some],
                            slots[some],
                            np.full(len(some), int(is_multiple)),
                        )
                    )
            low, high = (low + 1) >> 1, high >> 1
            going = low < high
            low, high, slots, programs = low[going], high[going], slots[going], programs[going]
            level += 1

    def finish(self) -> Segment:
        """All arrays, postings sorted by node and program."""
        postings = _Posting(
            *(
                np.concatenate([*columns, np.zeros(0, np.int64)])
                for columns in (zip(*self.postings, strict=True) if self.postings else [()] * 6)
            )
        )
        shared = self.shared.count
        program = np.where(postings.program < -1, shared - 2 - postings.program, postings.program)
        order = np.lexsort(
            (postings.slot, program, postings.node, postings.level, postings.attribute)
        )
        postings = _Posting(*(column[order] for column in postings))
        code, program_starts, renumbered = _Programs.joined(self.shared, self.own, program[order])
        masks, bases, size = self._levels(postings)
        node = bases[postings.attribute, postings.level] + postings.node
        begins = np.ones(len(node), dtype=bool)
        begins[1:] = (node[1:] != node[:-1]) | (renumbered[1:] != renumbered[:-1])
        starts = np.flatnonzero(begins)
        counts = np.bincount(node[starts] + 1, minlength=size + 1)
        groups = np.zeros((len(starts) + 1, 4), dtype=np.int32)
        owner = renumbered[starts]
        has_program = owner >= 0
        groups[:-1, 0][has_program] = program_starts[owner[has_program]]
        groups[:-1, 1][has_program] = program_starts[owner[has_program] + 1]
        groups[:, 2] = np.append(starts, len(node))
        is_shared = has_program & (owner < shared)
        groups[:-1, 3] = np.where(is_shared, owner + 1, 0) << 1
        groups[:-1, 3] |= _any_of_each(postings.flag, starts)
        return Segment(
            level_masks=masks,
            level_bases=bases,
            offsets=np.cumsum(counts).astype(np.int32),
            groups=groups,
            members=postings.slot.astype(np.int32),
            code=code,
            **self.operands.arrays(),
        )

    def _levels(self, postings: _Posting) -> tuple[Integers, Integers, int]:
        """Which levels of which attributes have postings, and where their nodes begin."""
        masks = np.zeros(len(self.spaces.names), dtype=np.int64)
        bases = np.zeros((len(self.spaces.names), LEVELS), dtype=np.int64)
        size = 0
        in_use = np.flatnonzero(np.bincount(postings.attribute * LEVELS + postings.level))
        for attribute, level in (divmod(each, LEVELS) for each in in_use.tolist()):
            masks[attribute] |= 1 << level
            bases[attribute, level] = size
            size += (self.spaces.spaces[attribute].size >> level) + 2
        return masks, bases, size


class _Operands:
    """Rows of code, and what they point to: lists of bounds, and patterns."""

    def __init__(self, spaces: "Spaces") -> None:
        self.spaces = spaces
        self.list_starts: list[NDArray[np.int32]] = [np.zeros(1, np.int32)]
        self.lists = 0
        self.list_size = 0
        self.list_bounds: list[NDArray[np.int32]] = []
        self.patterns: dict[object, int] = {}
        self.pattern_elements: list[int] = []
        self.pattern_starts = [0]
        self.text_columns: dict[int, int] = {}

    def code(
        self, group: "RankedGroup", rows: Integers, code: tuple[Jump, ...]
    ) -> NDArray[np.int32]:
        """The code of some filters of a group, as an array (filter, test, column)."""
        assert len(code) < 1 << 15
        result = np.zeros((len(rows), len(code), 4), dtype=np.int32)
        for position, (number, if_true, if_false) in enumerate(code):
            test = group.shape.tests[number]
            attribute = self.spaces.index[test.attribute]
            kind, first, second = self._test(test, attribute, group.bounds[number][rows])
            result[:, position, 0] = attribute << 2 | kind
            result[:, position, 1] = first
            result[:, position, 2] = second
            result[:, position, 3] = if_true << 16 | if_false
        return result

    def _test(
        self, test: Test, attribute: int, bounds: NDArray[np.int32]
    ) -> tuple[int, int | NDArray[np.int32], int | NDArray[np.int32]]:
        """The kind of a test and its two operands."""
        if test.kind == "residual":
            return RESIDUAL, 0, 0
        if test.kind == "pattern":
            self.text_columns.setdefault(attribute, len(self.text_columns))
            return PATTERN, self._pattern(test), int(not test.is_wanted)
        if bounds.shape[1] == 2:
            return INTERVAL, bounds[:, 0], bounds[:, 1]
        numbers = np.arange(self.lists, self.lists + len(bounds), dtype=np.int32)
        ends = self.list_size + (np.arange(len(bounds)) + 1) * bounds.shape[1]
        self.list_starts.append(ends.astype(np.int32))
        self.list_bounds.append(bounds.reshape(-1))
        self.lists += len(bounds)
        self.list_size += bounds.size
        return INTERVALS, numbers, 0

    def _pattern(self, test: Test) -> int:
        """The number of a pattern; its row is of code points, `ANY_ONE` and `ANY_TEXT`."""
        row = test.pattern
        assert row is not None
        if row not in self.patterns:
            for position, element in enumerate(row.elements):
                if row.stays >> position & 1:
                    self.pattern_elements.append(ANY_TEXT)
                self.pattern_elements.append(ANY_ONE if element is None else ord(element))
            if row.stays >> len(row.elements) & 1:
                self.pattern_elements.append(ANY_TEXT)
            self.pattern_starts.append(len(self.pattern_elements))
            self.patterns[row] = len(self.patterns)
        return self.patterns[row]

    def arrays(self) -> dict[str, NDArray[np.int32]]:
        columns = np.full(len(self.spaces.names), -1, dtype=np.int32)
        for attribute, column in self.text_columns.items():
            columns[attribute] = column
        return {
            "list_starts": np.concatenate(self.list_starts),
            "list_bounds": np.concatenate([*self.list_bounds, np.zeros(0, np.int32)]),
            "pattern_starts": np.array(self.pattern_starts, dtype=np.int32),
            "pattern_elements": np.array(self.pattern_elements, dtype=np.int32),
            "text_columns": columns,
        }


class _Programs:
    """Programs being collected, in blocks of equal length."""

    def __init__(self) -> None:
        self.count = 0
        self.blocks: list[NDArray[np.int32]] = []

    def add(self, block: NDArray[np.int32]) -> Integers:
        self.blocks.append(block)
        self.count += len(block)
        return np.arange(self.count - len(block), self.count)

    @staticmethod
    def joined(
        shared: "_Programs", own: "_Programs", order: Integers
    ) -> tuple[NDArray[np.int32], NDArray[np.int32], Integers]:
        """All code, where programs start in it, and `order` with their final numbers.

        `order` names programs in the order in which they are met at the nodes. Those of their
        own are laid out in this order, so that programs that run together lie together.
        """
        blocks = shared.blocks + own.blocks
        code = np.concatenate(
            [block.reshape(-1, 4) for block in blocks] + [np.zeros((0, 4), np.int32)]
        )
        lengths = np.concatenate(
            [np.full(len(block), block.shape[1]) for block in blocks] + [np.zeros(0, np.int64)]
        )
        starts = np.cumsum(lengths) - lengths
        used, first = np.unique(order[order >= shared.count], return_index=True)
        own_order = used[np.argsort(first)]
        sequence = np.concatenate([np.arange(shared.count), own_order])
        number = np.zeros(len(lengths), dtype=np.int64)
        number[sequence] = np.arange(len(sequence))
        sizes = lengths[sequence]
        ends = np.cumsum(sizes)
        laid_out = copy_runs(code, starts[sequence], sizes)
        renumbered = np.where(
            order >= 0, number[np.maximum(order, 0)] if len(number) else order, order
        )
        program_starts = np.concatenate([[0], ends]).astype(np.int32)
        return laid_out, program_starts, renumbered


def _any_of_each(flags: Integers, starts: Integers) -> NDArray[np.uint8]:
    """For each run of flags, whether one of them is set."""
    if not len(starts):
        return np.zeros(0, dtype=np.uint8)
    return np.maximum.reduceat(flags, starts).astype(np.uint8)


def _cuts(root: Inner | int, shares: NDArray[np.float64]) -> Iterator[tuple[Integers, set[int]]]:
    """Filters that share their best cut: their rows, and the tests of the cut."""
    choices: list[Integers] = []
    _cost(root, shares, choices)
    if not choices:
        yield np.arange(len(shares)), _chosen_tests(root, iter(()))
        return
    _, first, which = np.unique(_row_numbers(choices), return_index=True, return_inverse=True)
    for number, row in enumerate(first.tolist()):
        chosen = (int(choice[row]) for choice in choices)
        yield np.flatnonzero(which == number), _chosen_tests(root, chosen)


def _row_numbers(columns: Sequence[Integers]) -> Integers:
    """A number for each row, equal where rows are; numpy's own sort of rows stops other threads."""
    numbers = columns[0]
    bound = int(numbers.max(initial=0)) + 1
    for column in columns[1:]:
        width = int(column.max(initial=0)) + 1
        if bound * width >= 1 << 62:
            distinct, numbers = np.unique(numbers, return_inverse=True)
            bound = len(distinct)
        numbers = numbers * width + column
        bound *= width
    return numbers


def _cost(
    node: Inner | int, shares: NDArray[np.float64], choices: list[Integers]
) -> NDArray[np.float64]:
    """The cost of each filter's best cut; the ANDs' choices are appended in post-order."""
    if isinstance(node, int):
        return shares[:, node]
    costs = np.stack([_cost(child, shares, choices) for child in node.children], axis=1)
    if not node.is_and:
        total: NDArray[np.float64] = costs.sum(axis=1)
        return total
    best = costs.argmin(axis=1)
    choices.append(best)
    chosen: NDArray[np.float64] = costs[np.arange(len(best)), best]
    return chosen


def _chosen_tests(node: Inner | int, choices: Iterator[int]) -> set[int]:
    """The tests of the cut that the choices, in post-order, describe."""
    if isinstance(node, int):
        return {node}
    cuts = [_chosen_tests(child, choices) for child in node.children]
    return cuts[next(choices)] if node.is_and else set().union(*cuts)
