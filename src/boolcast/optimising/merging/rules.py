"""Which predicate may stand for two on the same attribute (P2-B10).

A *perfect* one accepts what either accepts and nothing else. For a value v these are:

======================================================= =================
predicates                                              merger
======================================================= =================
one that covers the other                               that one
`= v` and `< v`                                         `<= v`
`= v` and `> v`                                         `>= v`
`< v` and `> v`                                         `!= v`
`<= v` and `= v + 1`, of integers                       `<= v + 1`
`>= v` and `= v - 1`, of integers                       `>= v - 1`
any two that leave no value out, such as `<= v`, `> v`  `is not null`
======================================================= =================

`is not null` also accepts values of other kinds, and NaN. So the last line is perfect only if the
schema gives the attribute one kind without NaN. Only a schema says which attributes are integers.

*Imperfect* are those of Table 1, and the last line above without such a schema:

============== ============== ========= =============
`< v`          `> w`          v < w     `is not null`
`< v`          `= w`          v < w     `<= w`
`> v`          `= w`          v > w     `>= w`
============== ============== ========= =============

with `<=` as with `<`, since mergers are merged further. Whatever the schema, a merger accepts every
event that one of the two accepts, so a wrong schema loses no event.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from boolcast.algebra import ordered_sets as ordered
from boolcast.algebra.ordered_sets import OrderedSet
from boolcast.algebra.value_sets import Variable, meaning, worlds
from boolcast.filters.expressions import Comparison, IsNull, Leaf
from boolcast.model.schemas import Schema
from boolcast.model.values import kind_of

LOWER: Final = frozenset(("<", "<="))
UPPER: Final = frozenset((">", ">="))


class PossibleValues(NamedTuple):
    """The values that an attribute can have by a schema, and whether they are whole numbers.

    There is one set for each type of event that has the attribute; without a schema, one set of
    all values.
    """

    sets: tuple[tuple[OrderedSet, bool], ...]

    def agree(self, left: OrderedSet, right: OrderedSet) -> bool:
        """True if two sets hold the same possible values."""
        return all(_possible(left, *each) == _possible(right, *each) for each in self.sets)


ANY_VALUE: Final = PossibleValues(((ordered.EVERYTHING, False),))


def _possible(values: OrderedSet, domain: OrderedSet, is_whole: bool) -> OrderedSet:
    return ordered.intersect(ordered.whole_numbers_only(values) if is_whole else values, domain)


class SchemaValues:
    """The possible values of each attribute, by a schema if there is one."""

    def __init__(self, schema: Schema | None) -> None:
        self._schema = schema
        self._names = set() if schema is None else set(schema.names())
        self._known: dict[str, PossibleValues] = {}

    def of(self, attribute: str) -> PossibleValues:
        if attribute not in self._names:
            return ANY_VALUE
        known = self._known.get(attribute)
        if known is None:
            variable = Variable(attribute)
            known = self._known[attribute] = PossibleValues(
                tuple(
                    (world.domain(variable).ordered, variable in world.whole)
                    for world in worlds(self._schema)
                )
            )
        return known


class Joined(NamedTuple):
    """A predicate that covers two others; perfect if it accepts nothing else."""

    predicate: Comparison | IsNull
    is_perfect: bool


@lru_cache(maxsize=65_536)
def joined(left: Leaf, right: Leaf, possible: PossibleValues = ANY_VALUE) -> Joined | None:
    """A predicate for two on one attribute, perfect if possible; None if no rule fits.

    >>> from boolcast.filters.expressions import Comparison
    >>> joined(Comparison("price", "<", 5), Comparison("price", "=", 7))
    Joined(predicate=Comparison(attribute='price', operator='<=', value=7), is_perfect=False)
    """
    if not (_is_simple(left) and _is_simple(right)):
        return None
    union = ordered.unite(values_of(left), values_of(right))
    for candidate in _candidates(left, right):
        values = values_of(candidate)
        if ordered.intersect(values, union) == union and possible.agree(values, union):
            return Joined(candidate, True)
    predicate = _imperfect(left, right, union)
    return None if predicate is None else Joined(predicate, False)


def values_of(predicate: Leaf) -> OrderedSet:
    """The values that a predicate accepts."""
    return meaning(predicate).inside.ordered


def _is_simple(leaf: Leaf) -> bool:
    return isinstance(leaf, Comparison) or (isinstance(leaf, IsNull) and leaf.negated)


def _candidates(left: Leaf, right: Leaf) -> Iterator[Comparison | IsNull]:
    """The predicates that a perfect merger can be, the simplest first."""
    for each in (left, right):
        assert isinstance(each, Comparison | IsNull)
        yield each
    attribute = left.attribute
    for each in (left, right):
        if isinstance(each, Comparison):
            yield Comparison(attribute, "<=", each.value)
            yield Comparison(attribute, ">=", each.value)
            yield Comparison(attribute, "!=", each.value)
    yield IsNull(attribute, negated=True)


def _imperfect(left: Leaf, right: Leaf, union: OrderedSet) -> Comparison | IsNull | None:
    """Table 1. The values are in its order, or a perfect merger would have been found."""
    if not (isinstance(left, Comparison) and isinstance(right, Comparison)):
        return None
    if kind_of(left.value) is not kind_of(right.value):
        return None
    rank = union[0][0]
    sides = {side_of(left), side_of(right)}
    if sides == {"lower", "upper"} or union == ((rank,), (rank + 1,)):
        return IsNull(left.attribute, negated=True)
    if "point" in sides and len(sides) == 2 and "hole" not in sides:
        point = left if left.operator == "=" else right
        return Comparison(left.attribute, "<=" if "lower" in sides else ">=", point.value)
    return None


def side_of(predicate: Comparison) -> str:
    """Which values it accepts: all below (`lower`), all above, one `point`, or all but a `hole`."""
    if predicate.operator in LOWER:
        return "lower"
    if predicate.operator in UPPER:
        return "upper"
    return "point" if predicate.operator == "=" else "hole"
