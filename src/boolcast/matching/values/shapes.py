"""Filters as shapes and constants: most of a million filters differ only in their constants.

A shape is the tree without its constants. Each leaf tests one attribute: a number of intervals,
a pattern, or a residual, which only the reference evaluator can decide. The constants of a leaf
are the boundaries of its set (`algebra.value_sets`).
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final, Literal, NamedTuple, cast

from boolcast.algebra.ordered_sets import BOOLEAN, MISSING, STRINGS, OrderedSet
from boolcast.algebra.strings import Row
from boolcast.algebra.value_sets import comparison_set, meaning
from boolcast.filters.canonical import complement
from boolcast.filters.expressions import (
    And,
    Comparison,
    Constant,
    Filter,
    Leaf,
    Matches,
    Not,
    Operator,
    Or,
    Residual,
)
from boolcast.model.values import Value

ALWAYS: Final = ""
"""The attribute of filters that every event must be checked against; no event has it."""

LONGEST: Final = 4_096
"""Filters with more tests get no code: jumps have 15 bits, and the code of many tests beside many
others grows as their product."""

Kind = Literal["intervals", "pattern", "residual"]


class Test(NamedTuple):
    """A leaf of a shape: a test of one attribute, without its constants.

    `boundaries` counts those of its set. For a pattern or a residual the set is only a necessary
    condition; `pattern` and `is_wanted` say what a string must match or must not match.
    """

    attribute: str
    kind: Kind
    boundaries: int
    pattern: Row | None = None
    is_wanted: bool = True


class Inner(NamedTuple):
    """An AND or OR of a shape; children are inner nodes or positions in the row of tests."""

    is_and: bool
    children: tuple["Inner | int", ...]


class Shape(NamedTuple):
    """A tree over tests; `root` is None for `true`."""

    root: Inner | int | None
    tests: tuple[Test, ...]

    @property
    def has_residual(self) -> bool:
        """True if the constants do not say all of a filter."""
        return any(test.kind == "residual" for test in self.tests)


def take_apart(filter: Filter) -> tuple[Shape, list[OrderedSet]] | None:
    """The shape of a filter and the constants of its tests; None for a filter that is `false`.

    A filter of more than `LONGEST` tests is a residual as a whole.
    """
    tests: list[Test] = []
    constants: list[OrderedSet] = []
    root = _walk(filter, True, tests, constants)
    if root is False:
        return None
    if root is True:
        return Shape(None, ()), []
    if len(tests) > LONGEST:
        return Shape(0, (Test(ALWAYS, "residual", 1),)), [((MISSING,),)]
    return Shape(root, tuple(tests)), constants


def _walk(
    node: Filter, is_wanted: bool, tests: list[Test], constants: list[OrderedSet]
) -> Inner | int:
    """Append the tests of a filter, or of its negation, and return its tree.

    True or False where it is nothing but that, by constants inside or by predicates on no value
    at all. Negation normal form is made on the way: this is half of what an addition costs.
    """
    kind = type(node)
    if kind is And or kind is Or:
        is_and = (kind is And) is is_wanted
        begin = len(tests)
        parts: list[Inner | int] = []
        for child in node.children:  # type: ignore[union-attr]
            if is_wanted and type(child) is Comparison:
                # By far the most frequent: without a call of this function for it.
                test, boundaries = _comparison_test(child.attribute, child.operator, child.value)
                if boundaries:
                    parts.append(len(tests))
                    tests.append(test)
                    constants.append(boundaries)
                    continue
            part = _walk(child, is_wanted, tests, constants)
            if part is not True and part is not False:
                parts.append(part)
            elif part is not is_and:
                del tests[begin:], constants[begin:]
                return part
        if not parts:
            return is_and
        return parts[0] if len(parts) == 1 else Inner(is_and, tuple(parts))
    if kind is Not:
        return _walk(node.child, not is_wanted, tests, constants)  # type: ignore[union-attr]
    if kind is Constant:
        return node.value is is_wanted  # type: ignore[union-attr]
    leaf = cast("Leaf", node)
    test, boundaries = test_of(leaf if is_wanted else complement(leaf))
    if not boundaries:
        return False
    tests.append(test)
    constants.append(boundaries)
    return len(tests) - 1


def test_of(leaf: Leaf) -> tuple[Test, OrderedSet]:
    """The test that a predicate makes, and its constants; none where no value satisfies it."""
    if isinstance(leaf, Comparison):
        # By far the most frequent, and as fast as to ask whether its meaning is known.
        return _comparison_test(leaf.attribute, leaf.operator, leaf.value)
    if isinstance(leaf, Residual):
        boundaries: OrderedSet = STRINGS if isinstance(leaf, Matches) else ((BOOLEAN,),)
        return Test(leaf.attribute, "residual", len(boundaries)), boundaries
    variable, inside, _ = meaning(leaf)
    for row, holds in inside.literals:
        return Test(variable.name, "pattern", len(inside.ordered), row, holds), inside.ordered
    return _intervals(variable.name, len(inside.ordered)), inside.ordered


# By the values, typed, because `5 = 5.0` and `1 = true` in Python; the hash of a predicate
# itself would take longer than the test. Few, for Python's collector of garbage walks
# through all of them, and every thread waits for it.
@lru_cache(maxsize=2_048, typed=True)
def _comparison_test(attribute: str, operator: Operator, value: Value) -> tuple[Test, OrderedSet]:
    boundaries = comparison_set(operator, value)
    return _intervals(attribute, len(boundaries)), boundaries


@lru_cache(maxsize=4_096)
def _intervals(attribute: str, boundaries: int) -> Test:
    """One object for equal tests, so that shapes are compared sooner."""
    return Test(attribute, "intervals", boundaries)


def short_circuit(
    node: Inner | int, order: Sequence[float], skip: frozenset[int]
) -> list[tuple[int, int, int]]:
    """Code for a tree: rows of (test, jump if true, jump if false), from the start of the code.

    A jump to the length of the code means true, one further false. `order` is each test's
    probability: what decides soonest is asked first. Tests in `skip` are known to be true.
    """
    reduced = _without_known(node, skip)
    if reduced is None:
        return []
    code: list[list[int]] = []
    _emit(reduced, order, code, [], [])
    length = len(code)
    return [
        (test, length if true == _TRUE else true, length + 1 if false == _FALSE else false)
        for test, true, false in code
    ]


_TRUE = -1
_FALSE = -2


def _without_known(node: Inner | int, known: frozenset[int]) -> Inner | int | None:
    """The tree with the known tests true; None where the whole is."""
    if isinstance(node, int):
        return None if node in known else node
    parts: list[Inner | int] = []
    for child in node.children:
        part = _without_known(child, known)
        if part is not None:
            parts.append(part)
        elif not node.is_and:
            return None
    if not parts:
        return None
    return parts[0] if len(parts) == 1 else Inner(node.is_and, tuple(parts))


def _probability(node: Inner | int, order: Sequence[float]) -> float:
    if isinstance(node, int):
        return order[node]
    product = 1.0
    for child in node.children:
        probability = _probability(child, order)
        product *= probability if node.is_and else 1 - probability
    return product if node.is_and else 1 - product


def _emit(
    node: Inner | int,
    order: Sequence[float],
    code: list[list[int]],
    to_true: list[tuple[int, int]],
    to_false: list[tuple[int, int]],
) -> None:
    """Append the node's code; its loose ends are added to `to_true` and `to_false`."""
    if isinstance(node, int):
        code.append([node, _TRUE, _FALSE])
        to_true.append((len(code) - 1, 1))
        to_false.append((len(code) - 1, 2))
        return
    children = sorted(
        node.children, key=lambda child: _probability(child, order), reverse=not node.is_and
    )
    for index, child in enumerate(children):
        true_ends: list[tuple[int, int]] = []
        false_ends: list[tuple[int, int]] = []
        _emit(child, order, code, true_ends, false_ends)
        is_last = index == len(children) - 1
        # An AND goes on where a child is true, an OR where it is false.
        onward, outward = (true_ends, false_ends) if node.is_and else (false_ends, true_ends)
        (to_false if node.is_and else to_true).extend(outward)
        if is_last:
            (to_true if node.is_and else to_false).extend(onward)
        else:
            for row, column in onward:
                code[row][column] = len(code)
