"""Templates of texts: filters that differ only in literals are parsed once."""

import re
from array import array
from itertools import accumulate, pairwise
from operator import getitem
from typing import Final, NamedTuple

from msgspec.structs import replace

from boolcast.algebra.ordered_sets import OrderedSet
from boolcast.algebra.value_sets import between_set, comparison_set, list_set
from boolcast.errors import FilterError
from boolcast.filters.canonical import to_nnf
from boolcast.filters.expressions import (
    Between,
    Comparison,
    Filter,
    In,
    IsNull,
    Leaf,
    Like,
    StringTest,
)
from boolcast.filters.parsing import parse
from boolcast.matching.values.shapes import Inner, Shape, Test, take_apart, test_of
from boolcast.model.values import Timestamp, Value, kind_of

Key = str | tuple[str, ...]
"""The literals of one predicate: a tuple unless there is just one."""

# The first character is outside the alternatives so that `re` can search for it: twice as fast.
_LITERAL: Final = re.compile(
    r"""(["'0-9.+-](?:"""
    r"""(?<=")[^"]*+(?:""[^"]*+)*+\""""
    r"""|(?<=')[^']*+(?:''[^']*+)*+'"""
    r"""|(?<=[0-9])(?<![\w.].)[0-9]*+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?(?![\w.])"""
    r"""|(?<=[.])(?<![\w.].)[0-9]++(?:[eE][+-]?[0-9]+)?(?![\w.])"""
    r"""|(?<=[+-])(?<![\w.].)(?:[0-9]++(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?![\w.])"""
    r"""))""",
    re.DOTALL,
)
_KINDS: Final = str.maketrans("123456789.+-", "0" * 12)

_UNREADABLE: Final = -(2**31)


def split(text: str) -> tuple[tuple[str, ...], list[str]]:
    """The template of a text, and its literals: strings and numbers, from left to right."""
    pieces = _LITERAL.split(text)
    literals = pieces[1::2]
    kinds = "".join([each[0] for each in literals]).translate(_KINDS)
    if '"' not in kinds:
        return (kinds, *pieces[::2]), literals
    # Names in double quotes are not literals; they belong to the template.
    names = [each for each in literals if each[0] == '"']
    return (kinds, *pieces[::2], *names), [each for each in literals if each[0] != '"']


class Constants:
    """All constants of the filters of a load, by number; equal ones may have several."""

    def __init__(self) -> None:
        self.sets: list[OrderedSet] = []
        self._known: dict[OrderedSet, int] = {}
        self._tables: dict[tuple[object, ...], _Table] = {}
        self._values: dict[str, Value] = {}
        self._timestamps: dict[str, Value] = {}

    def number(self, boundaries: OrderedSet) -> int:
        """The number of a constant."""
        number = self._known.setdefault(boundaries, len(self.sets))
        if number == len(self.sets):
            self.sets.append(boundaries)
        return number

    def table(self, leaf: Leaf, literals: int) -> "_Table":
        """The table of predicates that differ from this one only in literals."""
        key = _template(leaf, literals)
        table = self._tables.get(key)
        if table is None:
            table = self._tables[key] = _Table(leaf, self)
        return table

    def value(self, literal: str, like: Value) -> Value:
        """A literal's value, as the parser reads it instead of another of the same kind.

        Raises ValueError or FilterError.
        """
        known = self._timestamps if isinstance(like, Timestamp) else self._values
        value = known.get(literal)
        if value is None:
            value = known[literal] = _value(literal, like)
        return value

    def forget_literals(self) -> None:
        """Forget all tables; constants keep their numbers."""
        self._tables.clear()
        self._values.clear()
        self._timestamps.clear()


class _Table(dict[Key, int]):
    """The numbers of a predicate's constants by its literals, read when first needed.

    If the test of a constant is not `test`, the entry is the complement of its number, and
    `tests` has the test. Literals that are errors, or accept no value, are `_UNREADABLE`.
    """

    def __init__(self, leaf: Leaf, constants: Constants) -> None:
        super().__init__()
        self.test, _ = test_of(leaf)
        self.tests: dict[int, Test] = {}
        self._leaf = leaf
        self._constants = constants

    def __missing__(self, key: Key) -> int:
        number = self[key] = self._read((key,) if isinstance(key, str) else key)
        return number

    def _read(self, literals: tuple[str, ...]) -> int:
        try:
            test, boundaries = self._test(literals)
        except (ValueError, FilterError):
            return _UNREADABLE
        if not boundaries:
            return _UNREADABLE
        all_sets = self._constants.sets
        number = len(all_sets)
        all_sets.append(boundaries)
        if test == self.test:
            return number
        self.tests[-1 - number] = test
        return -1 - number

    def _test(self, literals: tuple[str, ...]) -> tuple[Test, OrderedSet]:
        """What the predicate tests with these literals. Raises ValueError or FilterError."""
        value = self._constants.value
        match self._leaf:
            case Comparison(attribute, operator, like) if literals:
                boundaries = comparison_set(operator, value(literals[0], like))
            case Between(attribute, like, _, negated) if literals:
                low, high = value(literals[0], like), value(literals[1], like)
                boundaries = between_set(low, high, negated=negated)
            case In(attribute, values, negated) if literals:
                like = values[0]
                boundaries = list_set([value(each, like) for each in literals], negated=negated)
            case leaf:
                return test_of(_with_texts(leaf, literals))
        return Test(attribute, "intervals", len(boundaries)), boundaries


class Group(NamedTuple):
    """Filters of one shape: their slots, and for each test the numbers of their constants."""

    slots: "array[int]"
    constants: "tuple[array[int], ...]"

    def add(self, slot: int, numbers: list[int]) -> None:
        """Take up one more filter."""
        self.slots.append(slot)
        for column, number in zip(self.constants, numbers, strict=True):
            column.append(number)


class Groups(dict[Shape, Group]):
    """The groups by their shape, made when first asked for."""

    def __missing__(self, shape: Shape) -> Group:
        columns = tuple([array("i") for _ in shape.tests])
        group = self[shape] = Group(array("i"), columns)
        return group


class LiteralTemplate:
    """Texts of one tree; their literals are all that has to be read of them."""

    __slots__ = ("_group", "_groups", "_is_simple", "_root", "_spans", "_tables")

    def __init__(
        self, root: Inner | int | None, tables: list[_Table], counts: list[int], groups: Groups
    ) -> None:
        self._root = root
        self._tables = tables
        self._spans = list(pairwise(accumulate(counts, initial=0)))
        self._is_simple = all(count == 1 for count in counts)
        self._groups = groups
        # Shapes are large: looking one up for each text would dominate the load.
        self._group = groups[Shape(root, tuple([table.test for table in tables]))]

    @classmethod
    def of(
        cls, filter: Filter, literals: list[str], constants: Constants, groups: Groups
    ) -> "LiteralTemplate | None":
        """The template of a filter with these literals; None if each text must be parsed."""
        node = to_nnf(filter)
        parts = take_apart(node)
        leaves = list(node.predicates())
        known = [count for leaf in leaves if (count := _literals_of(leaf)) is not None]
        if parts is None or not leaves or not len(parts[0].tests) == len(leaves) == len(known):
            return None
        if sum(known) != len(literals):
            return None
        return cls(parts[0].root, list(map(constants.table, leaves, known)), known, groups)

    def take(self, slot: int, literals: list[str]) -> bool:
        """Add the text with these literals; False if it must be parsed."""
        keys: list[Key] | list[str] = literals
        if not self._is_simple:
            keys = [
                literals[begin] if end - begin == 1 else tuple(literals[begin:end])
                for begin, end in self._spans
            ]
        numbers = list(map(getitem, self._tables, keys))
        if min(numbers) >= 0:
            self._group.add(slot, numbers)
            return True
        if _UNREADABLE in numbers:
            return False
        pairs = zip(self._tables, numbers, strict=True)
        tests = [table.test if number >= 0 else table.tests[number] for table, number in pairs]
        group = self._groups[Shape(self._root, tuple(tests))]
        group.add(slot, [number if number >= 0 else -1 - number for number in numbers])
        return True


def _literals_of(leaf: Leaf) -> int | None:
    """How many literals the text of a predicate has; None for a residual."""
    match leaf:
        case Comparison(_, _, value):
            return int(not isinstance(value, bool))
        case Between(_, low, _, _):
            return 0 if isinstance(low, bool) else 2
        case In(_, values, _):
            return 0 if isinstance(values[0], bool) else len(values)
        case IsNull():
            return 0
        case Like(_, _, escape, _):
            return 2 if escape else 1
        case StringTest():
            return 1
        case _:
            return None


def _template(leaf: Leaf, literals: int) -> tuple[object, ...]:
    """Everything about a predicate except its literals."""
    kind = type(leaf)
    match leaf:
        case Comparison(attribute, operator, value):
            return kind, attribute, operator, kind_of(value), value if literals == 0 else None
        case Between(attribute, low, high, negated):
            return kind, attribute, negated, kind_of(low), (low, high) if literals == 0 else None
        case In(attribute, values, negated):
            fixed = values if literals == 0 else None
            return kind, attribute, negated, kind_of(values[0]), literals, fixed
        case StringTest(attribute, function, _, negated):
            return kind, attribute, negated, function
        case Like(attribute, _, escape, negated):
            return kind, attribute, negated, bool(escape)
        case _:
            return (leaf,)


def _with_texts(leaf: Leaf, literals: tuple[str, ...]) -> Leaf:
    """The predicate with other strings. Raises ValueError."""
    match leaf:
        case StringTest():
            return replace(leaf, operand=_text(literals[0]))
        case Like(_, _, escape, _) if escape:
            if len(_text(literals[1])) != 1:
                raise ValueError("the escape must be a single character")
            return replace(leaf, pattern=_text(literals[0]), escape=_text(literals[1]))
        case Like():
            return replace(leaf, pattern=_text(literals[0]))
        case _:
            return leaf


def _text(literal: str) -> str:
    return literal[1:-1].replace("''", "'")


def _value(literal: str, like: Value) -> Value:
    if isinstance(like, Timestamp):
        return Timestamp.parse(literal[1:-1])
    if literal[0] == "'":
        return _text(literal)
    if len(literal) <= 18 and literal.isdigit():
        return int(literal)
    comparison = parse(f"a = {literal}")
    assert isinstance(comparison, Comparison)
    return comparison.value
