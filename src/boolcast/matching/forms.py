"""Forms of texts: filters that differ in their literals only are read by their literals only."""

import re
from operator import getitem
from typing import Final, cast

from msgspec.structs import replace

from boolcast.algebra.cuts import Cuts
from boolcast.errors import FilterError
from boolcast.filters.expressions import (
    Between,
    Comparison,
    Filter,
    In,
    IsNull,
    Leaf,
    Like,
    Node,
    StringTest,
)
from boolcast.filters.negation import to_nnf
from boolcast.filters.parsing import parse
from boolcast.matching.shapes import Shape, Test, take_apart, test_of
from boolcast.model.values import Timestamp, Value, kind_of

Key = str | tuple[str, ...]
"""The literals of one predicate: a tuple unless it is one."""

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
    """The form of a text, and its literals: strings and numbers, from left to right."""
    pieces = _LITERAL.split(text)
    literals = pieces[1::2]
    kinds = "".join([each[0] for each in literals]).translate(_KINDS)
    if '"' not in kinds:
        return (kinds, *pieces[::2]), literals
    # Names in double quotes are no literals; they tell forms apart like all else.
    names = [each for each in literals if each[0] == '"']
    return (kinds, *pieces[::2], *names), [each for each in literals if each[0] != '"']


class Constants:
    """All constants of the filters of a load, by number; equal ones may have several."""

    def __init__(self) -> None:
        self.cuts: list[Cuts] = []
        self._known: dict[Cuts, int] = {}
        self._tables: dict[tuple[object, ...], _Table] = {}

    def number(self, cuts: Cuts) -> int:
        """The number of a constant."""
        number = self._known.setdefault(cuts, len(self.cuts))
        if number == len(self.cuts):
            self.cuts.append(cuts)
        return number

    def table(self, leaf: Leaf, literals: int) -> "_Table":
        """The table of the predicates that differ from this one in their literals only."""
        key = _template(leaf, literals)
        table = self._tables.get(key)
        if table is None:
            table = self._tables[key] = _Table(leaf, self.cuts)
        return table

    def forget_literals(self) -> None:
        """Let go of all tables; constants keep their numbers."""
        self._tables.clear()


class _Table(dict[Key, int]):
    """The numbers of a predicate's constants by its literals, read when first asked for.

    One whose test is another than `test` is the complement of its number: its test is in
    `tests`. What is an error, or no value at all, is `_UNREADABLE`.
    """

    def __init__(self, leaf: Leaf, cuts: list[Cuts]) -> None:
        super().__init__()
        self.test, _ = test_of(leaf)
        self.tests: dict[int, Test] = {}
        self._leaf = leaf
        self._cuts = cuts

    def __missing__(self, key: Key) -> int:
        number = self[key] = self._read((key,) if isinstance(key, str) else key)
        return number

    def _read(self, literals: tuple[str, ...]) -> int:
        try:
            test, cuts = test_of(_with_literals(self._leaf, literals))
        except (ValueError, FilterError):
            return _UNREADABLE
        if not cuts:
            return _UNREADABLE
        number = len(self._cuts)
        self._cuts.append(cuts)
        if test == self.test:
            return number
        self.tests[-1 - number] = test
        return -1 - number


class Form:
    """Texts of one tree; their literals are all that has to be read of them."""

    __slots__ = ("_is_simple", "_shape", "_spans", "_tables")

    def __init__(self, shape: Shape, tables: list[_Table], counts: list[int]) -> None:
        self._shape = shape
        self._tables = tables
        ends = [sum(counts[: number + 1]) for number in range(len(counts))]
        self._spans = [(end - count, end) for count, end in zip(counts, ends, strict=True)]
        self._is_simple = all(count == 1 for count in counts)

    @classmethod
    def of(cls, filter: Filter, literals: list[str], constants: Constants) -> "Form | None":
        """The form of a filter with these literals; None if its texts must be parsed each."""
        node = to_nnf(cast("Node", filter))
        parts = take_apart(node)
        leaves = cast("list[Leaf]", list(node.predicates()))
        counts = [_literals_of(leaf) for leaf in leaves]
        if parts is None or not leaves or len(parts[0].tests) != len(leaves) or None in counts:
            return None
        known = cast("list[int]", counts)
        if sum(known) != len(literals):
            return None
        tables = list(map(constants.table, leaves, known))
        shape = Shape(parts[0].root, tuple([table.test for table in tables]))
        return cls(shape, tables, known)

    def fill(self, literals: list[str]) -> tuple[Shape, list[int]] | None:
        """Shape and constants of the text with these literals; None where it must be parsed."""
        keys: list[Key] | list[str] = literals
        if not self._is_simple:
            keys = [
                literals[begin] if end - begin == 1 else tuple(literals[begin:end])
                for begin, end in self._spans
            ]
        numbers = list(map(getitem, self._tables, keys))
        if min(numbers) >= 0:
            return self._shape, numbers
        if _UNREADABLE in numbers:
            return None
        pairs = zip(self._tables, numbers, strict=True)
        tests = [table.test if number >= 0 else table.tests[number] for table, number in pairs]
        numbers = [number if number >= 0 else -1 - number for number in numbers]
        return Shape(self._shape.root, tuple(tests)), numbers


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
    """What tells a predicate apart from all that differ from it in their literals only."""
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


def _with_literals(leaf: Leaf, literals: tuple[str, ...]) -> Leaf:
    """The predicate with other literals. Raises ValueError or FilterError."""
    if not literals:
        return leaf
    match leaf:
        case Comparison(_, _, value):
            return replace(leaf, value=_value(literals[0], value))
        case Between(_, low, _, _):
            return replace(leaf, low=_value(literals[0], low), high=_value(literals[1], low))
        case In(_, values, _):
            return replace(leaf, values=tuple([_value(each, values[0]) for each in literals]))
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
    """A literal's value, as the parser reads it in place of another of the same kind."""
    if isinstance(like, Timestamp):
        return Timestamp.parse(literal[1:-1])
    if literal[0] == "'":
        return _text(literal)
    if len(literal) <= 18 and literal.isdigit():
        return int(literal)
    return cast("Comparison", parse(f"a = {literal}")).value
