"""Random filter shapes over the attributes of the diverse workload, each of a wanted share.

A *shape* is a tree whose leaves say which attribute is asked what, constants aside; its
*share* is the probability that a drawn filter of the shape accepts a drawn event. It is
computed as the tree grows, from the leaves' own shares: no attribute occurs twice in a
conjunction, and attributes are independent, so shares multiply in an AND. In an OR their
complements do, nearly: branches may ask for the same attribute. A branch that misses its
share is made good by the next one.
"""

import math
import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final, Literal

import msgspec
import numpy as np

from boolcast.filters.expressions import (
    And,
    Between,
    Comparison,
    Filter,
    In,
    IsNull,
    Leaf,
    Like,
    Or,
    StringTest,
)
from boolcast.model.values import Value
from boolcast.workloads.attributes import Attribute, Operands, attributes
from boolcast.workloads.draws import Draws

Family = Literal["=", "in", "!=", "range", "starts_with", "like", "null", "not null"]
Notation = Literal[
    "=", "in", "!=", "<", "<=", ">", ">=", "between", "starts_with", "like", "null", "not null"
]
"""How a template is written."""

_NOTATIONS: Final[dict[Family, tuple[Notation, ...]]] = {
    "=": ("=",),
    "in": ("in",),
    "!=": ("!=",),
    "range": ("<", "<=", ">", ">=", "between", "between"),
    "starts_with": ("starts_with",),
    "like": ("like",),
    "null": ("null",),
    "not null": ("not null",),
}
# How often a family is taken where it can give the wanted share.
_WEIGHTS: Final[dict[Family, float]] = {
    "=": 6.0,
    "in": 2.0,
    "!=": 0.5,
    "range": 6.0,
    "starts_with": 1.0,
    "like": 1.0,
    "null": 1.0,
    "not null": 0.5,
}
_EQUALITIES: Final[frozenset[Family]] = frozenset(("=", "in"))

_LONGEST_LIST: Final = 10
_NARROWEST_RANGE: Final = 0.01
_WIDEST_RANGE: Final = 0.95
_TOLERANCE: Final = 1.5
_ROOT_IS_OR: Final = 0.1
_DRAWS_PER_LEAF: Final = 2

# Stands where a constant goes, in a shape's text.
_MARK: Final = "$"
_SLOT: Final = re.compile(r"'\$'")


class Option(msgspec.Struct, frozen=True):
    """A template that could be a leaf; `part` is how much of the operands it takes.

    That is a share for a range, and a number for all others.
    """

    attribute: str
    family: Family
    share: float
    operands: Operands
    part: float = 1.0


class Template:
    """A leaf of a shape: an option, written in one of its notations."""

    def __init__(self, option: Option, notation: Notation) -> None:
        self.attribute = option.attribute
        self.share = option.share
        self.notation = notation
        self.operands = option.operands
        self._part = option.part

    def numbers(self, first: float, second: float) -> tuple[int, ...]:
        """The numbers of the operands that two uniform fractions stand for."""
        size = self.operands.size
        match self.notation:
            case "null" | "not null":
                return ()
            case "in":
                length = int(self._part)
                step = 1 + int(second * (size // length - 1))
                start = int(first * size)
                return tuple([(start + i * step) % size for i in range(length)])
            case "=" | "!=" if isinstance(self.operands, Attribute):
                return (self.operands.number(first),)
            case "starts_with" | "like":
                return (int(first * size),)
        # Between half and one and a half of the part, so that its mean is the part.
        wanted = self._part + (first - 0.5) * min(self._part, 1 - self._part)
        count = min(max(round(wanted * size), 1), size - 1)
        match self.notation:
            case "<":
                return (count,)
            case "<=":
                return (count - 1,)
            case ">":
                return (size - count - 1,)
            case ">=":
                return (size - count,)
            case _:
                low = int(second * (size - count + 1))
                return (low, low + count - 1)

    def filled(self, constants: Sequence[Value]) -> Leaf:
        """The predicate with these constants."""
        name = self.attribute
        match self.notation:
            case "null" | "not null":
                return IsNull(name, negated=self.notation == "not null")
            case "in":
                return In(name, tuple(constants))
            case "between":
                return Between(name, constants[0], constants[1])
            case "starts_with":
                return StringTest(name, "starts_with", str(constants[0]))
            case "like":
                return Like(name, str(constants[0]))
            case operator:
                return Comparison(name, operator, constants[0])


class Inner(msgspec.Struct, frozen=True):
    """An AND or OR of a shape."""

    is_and: bool
    children: tuple["Inner | Template", ...]
    share: float


class Shape:
    """A tree of templates, and its text cut where the constants go."""

    def __init__(self, root: Inner | Template) -> None:
        self.root = root
        self.share = root.share
        self.templates = tuple(_templates(root))
        marks = ((_MARK,) * len(template.numbers(0.0, 0.0)) for template in self.templates)
        self._pieces = _SLOT.split(str(_filled(root, iter(marks))))

    def __str__(self) -> str:
        return "?".join(self._pieces)

    def filter(self, fractions: Sequence[float]) -> Filter:
        """The shape with the constants that the fractions, two for each template, stand for."""
        draws = iter(fractions)
        constants = (
            [
                template.operands.values[number]
                for number in template.numbers(next(draws), next(draws))
            ]
            for template in self.templates
        )
        return _filled(self.root, constants)

    def text(self, fractions: Sequence[float]) -> str:
        """The text of `filter`, several times as fast."""
        draws = iter(fractions)
        pieces = iter(self._pieces)
        parts = [next(pieces)]
        for template in self.templates:
            texts = template.operands.texts
            for number in template.numbers(next(draws), next(draws)):
                parts += (texts[number], next(pieces))
        return "".join(parts)


def random_shape(
    draws: Draws, number: int, *, predicates: int, share: float, has_equality: bool
) -> Shape:
    """The shape that seed and number determine; without equality it has no `=` and no `in`."""
    chance = _Chance(draws, f"shape.{number}")
    allowed = frozenset(_WEIGHTS) if has_equality else frozenset(_WEIGHTS) - _EQUALITIES
    is_and = predicates < 4 or chance.next() >= _ROOT_IS_OR
    return Shape(_Gardener(chance, allowed).grow(predicates, share, frozenset(), is_and=is_and))


def fractions_needed(predicates: int) -> int:
    """The number of fractions that fill a shape with this number of predicates."""
    return predicates * _DRAWS_PER_LEAF


class _Chance:
    """One uniform fraction after the other."""

    def __init__(self, draws: Draws, stream: str) -> None:
        self._fractions = iter(draws.fractions(stream, np.arange(512, dtype=np.uint64)).tolist())

    def next(self) -> float:
        return float(next(self._fractions))

    def below(self, limit: int) -> int:
        return int(self.next() * limit)

    def order(self, count: int) -> list[int]:
        """The numbers below `count`, shuffled."""
        keys = [self.next() for _ in range(count)]
        return sorted(range(count), key=keys.__getitem__)


class _Gardener:
    def __init__(self, chance: _Chance, allowed: frozenset[Family]) -> None:
        self._chance = chance
        self._allowed = allowed

    def grow(
        self, leaves: int, share: float, used: frozenset[str], *, is_and: bool
    ) -> Inner | Template:
        """A tree with this number of leaves over attributes not yet used."""
        if leaves == 1:
            return self._leaf(share, used)
        # Large branches first: single leaves can make good what those miss.
        sizes = sorted(self._split(leaves, 6 if is_and else 3), reverse=True)
        grow = self._conjunction if is_and else self._disjunction
        children = grow(sizes, share, used)
        shares = [child.share for child in children]
        total = math.prod(shares) if is_and else 1 - math.prod(1 - each for each in shares)
        order = self._chance.order(len(children))
        return Inner(is_and, tuple([children[i] for i in order]), total)

    def _split(self, leaves: int, most: int) -> list[int]:
        sizes = [1] * (2 + self._chance.below(min(leaves, most) - 1))
        for _ in range(leaves - len(sizes)):
            sizes[self._chance.below(len(sizes))] += 1
        return sizes

    def _conjunction(
        self, sizes: Sequence[int], share: float, used: frozenset[str]
    ) -> list[Inner | Template]:
        # Squares of an exponential law: often one child decides and the others add little.
        weights = [math.log(1 - self._chance.next()) ** 2 for _ in sizes]
        left = math.log(share)
        children: list[Inner | Template] = []
        for i, size in enumerate(sizes):
            wanted = math.exp(left * weights[i] / sum(weights[i:]))
            child = self.grow(size, wanted, used, is_and=False)
            used |= {template.attribute for template in _templates(child)}
            left = min(left - math.log(child.share), 0.0)
            children.append(child)
        return children

    def _disjunction(
        self, sizes: Sequence[int], share: float, used: frozenset[str]
    ) -> list[Inner | Template]:
        weights = [0.5 + self._chance.next() for _ in sizes]
        left = share
        children: list[Inner | Template] = []
        for i, size in enumerate(sizes):
            child = self.grow(size, left * weights[i] / sum(weights[i:]), used, is_and=True)
            if isinstance(child, Template):
                # Lest there be `level = 'level 4' or level = 'level 4'`.
                used |= {child.attribute}
            left = max(left - child.share, share / 10)
            children.append(child)
        return children

    def _leaf(self, share: float, used: frozenset[str]) -> Template:
        options = [option for option in self._options(share) if option.attribute not in used]
        fitting: dict[Family, list[Option]] = {}
        for option in options:
            if share / _TOLERANCE <= option.share <= share * _TOLERANCE:
                fitting.setdefault(option.family, []).append(option)
        if not fitting:
            nearest = min(options, key=lambda option: abs(math.log(option.share / share)))
            fitting = {nearest.family: [nearest]}
        point = self._chance.next() * sum(_WEIGHTS[family] for family in fitting)
        for family in fitting:
            point -= _WEIGHTS[family]
            if point < 0:
                break
        notations = _NOTATIONS[family]
        chosen = fitting[family][self._chance.below(len(fitting[family]))]
        return Template(chosen, notations[self._chance.below(len(notations))])

    def _options(self, share: float) -> Iterator[Option]:
        """All templates, those that can be wider or narrower with about the wanted share."""
        for option in _fixed_options():
            if option.family in self._allowed:
                yield option
        for name, of in attributes().items():
            wanted = share / of.present
            if of.is_ordered:
                part = min(max(wanted, _NARROWEST_RANGE, 2 / of.size), _WIDEST_RANGE)
                yield Option(name, "range", of.present * part, of, part)
            if "in" in self._allowed and of.can_be_listed and not of.zipf:
                longest = min(_LONGEST_LIST, of.size // 2)
                length = min(max(round(wanted * of.size), 2), longest)
                yield Option(name, "in", of.present * length / of.size, of, length)


@cache
def _fixed_options() -> tuple[Option, ...]:
    """The templates whose share their attribute alone decides."""
    options: list[Option] = []
    for name, of in attributes().items():
        if of.can_be_named:
            options.append(Option(name, "=", of.present * of.equal_share, of))
        if of.can_be_listed:
            options.append(Option(name, "!=", of.present * (1 - of.equal_share), of))
        for starts, patterns in zip(of.prefixes, of.patterns, strict=True):
            options.append(Option(name, "starts_with", of.present / starts.size, starts))
            options.append(Option(name, "like", of.present / patterns.size, patterns))
        if of.missing:
            options.append(Option(name, "null", of.missing, of))
            options.append(Option(name, "not null", of.present, of))
    return tuple(options)


def _templates(node: Inner | Template) -> Iterator[Template]:
    if isinstance(node, Template):
        yield node
    else:
        for child in node.children:
            yield from _templates(child)


def _filled(node: Inner | Template, constants: Iterator[Sequence[Value]]) -> Filter:
    if isinstance(node, Template):
        return node.filled(next(constants))
    children = tuple([_filled(child, constants) for child in node.children])
    return And(children) if node.is_and else Or(children)
