"""Conjunctions that share their ends: sets A and B of P2-X1, for covering and merging.

A subscription is one predicate on an *upper* attribute, which compares it with a number, and a
*tail* of two or three equalities on *lower* attributes. Tail and upper attribute come in pairs,
of which there are fewer than subscriptions: so many subscriptions differ in the upper predicate
only. Events have all 20 attributes, each with any of its numbers at the same probability. An
advertisement gives one upper attribute an interval of half its range, and says nothing else.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final

import msgspec
import numpy as np
import pyarrow as pa

from boolcast.filters.expressions import And, Between, Comparison, Filter, Leaf, Operator
from boolcast.filters.printing import to_text
from boolcast.model.events import Event
from boolcast.model.schemas import Attribute, Schema
from boolcast.workloads.draws import Draws, Rows, batches_of_rows, cumulative_shares

UPPER: Final = tuple(f"u{number}" for number in range(10))
LOWER: Final = tuple(f"l{number}" for number in range(10))
ATTRIBUTES: Final = UPPER + LOWER
"""All of them in the order of P2-B3: what subscriptions differ in comes first."""

_OPERATORS: Final[tuple[Operator, ...]] = ("<", ">", "=")
_LONGEST_TAIL: Final = 3
_SUBSCRIPTIONS: Final = pa.schema(
    [(name, pa.string()) for name in ("subscription", "class", "filter")]
)
_EVENTS: Final = pa.schema([(name, pa.int64()) for name in ATTRIBUTES])


class PairParameters(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`upper_values` and `lower_values` are how many numbers attributes have, from 1 on.

    `weights` are the shares of `<`, `>` and `=`. How much is covered or merged depends strongly
    on the number of subscriptions for each of the `pairs`: P2-X1 has 200,000 of them.
    """

    pairs: int
    upper_values: int
    lower_values: int
    weights: tuple[float, float, float]


PAIR_SETS: Final[Mapping[str, PairParameters]] = {
    "A": PairParameters(pairs=25_000, upper_values=33, lower_values=100, weights=(0.35, 0.35, 0.3)),
    "B": PairParameters(pairs=60_000, upper_values=83, lower_values=250, weights=(0.25, 0.25, 0.5)),
}
"""The two sets of P2-X1: some 2,000 distinct predicates, and some 5,000."""


class Pairs:
    """Any slice of a workload without end; rows count from 0 and depend on seed and number.

    >>> pairs = Pairs("A", seed=1)
    >>> print(pairs.subscription(3))
    u0 < 10 and l1 = 87 and l6 = 25
    >>> print(pairs.advertisement(3))
    u9 between 12 and 27
    """

    def __init__(self, parameters: PairParameters | str, *, seed: int) -> None:
        self.parameters = PAIR_SETS[parameters] if isinstance(parameters, str) else parameters
        self.seed = seed
        self._draws = Draws(seed)

    @property
    def sizes(self) -> dict[str, int]:
        """How many numbers each attribute has."""
        upper = dict.fromkeys(UPPER, self.parameters.upper_values)
        return upper | dict.fromkeys(LOWER, self.parameters.lower_values)

    @property
    def schema(self) -> Schema:
        """Every attribute is an integer within bounds, and none is missing."""
        return Schema(
            {
                name: Attribute("number", integer=True, minimum=1, maximum=size, required=True)
                for name, size in self.sizes.items()
            }
        )

    def events(self, start: int, count: int) -> pa.Table:
        """A column of integers for each of the 20 attributes, no nulls."""
        batches = (
            pa.record_batch(
                [
                    self._draws.integers(f"event.{name}", rows, 1, size)
                    for name, size in self.sizes.items()
                ],
                schema=_EVENTS,
            )
            for rows in batches_of_rows(start, count)
        )
        return pa.Table.from_batches(batches, _EVENTS)

    def event(self, row: int) -> Event:
        """One row of `events`."""
        (members,) = self.events(row, 1).to_pylist()
        return Event(members)

    def subscriptions(self, start: int, count: int) -> pa.Table:
        """Columns `subscription` (such as `s17`), `class` (`T2` or `T3`, the tail), `filter`."""
        filters = list(self._rows(start, count))
        columns = [
            [f"s{start + row}" for row in range(count)],
            [f"T{len(leaves) - 1}" for leaves in filters],
            [" and ".join(map(_text, leaves)) for leaves in filters],
        ]
        arrays = [pa.array(column, pa.string()) for column in columns]
        return pa.Table.from_arrays(arrays, schema=_SUBSCRIPTIONS)

    def subscription_filters(self, start: int, count: int) -> Iterator[Filter]:
        """The column `filter` of `subscriptions` as trees, made lazily."""
        return map(And, self._rows(start, count))

    def subscription(self, row: int) -> Filter:
        """One filter."""
        return next(self.subscription_filters(row, 1))

    def advertisement_filters(self, start: int, count: int) -> Iterator[Filter]:
        """Advertisements, of which P2-X1 has 20."""
        size = self.parameters.upper_values
        for rows in batches_of_rows(start, count):
            names = self._draws.integers("advertisement.attribute", rows, 0, len(UPPER) - 1)
            lows = self._draws.integers("advertisement.low", rows, 1, size - size // 2 + 1)
            for name, low in zip(names.tolist(), lows.tolist(), strict=True):
                yield Between(UPPER[name], low, low + size // 2 - 1)

    def advertisement(self, row: int) -> Filter:
        """One filter."""
        return next(self.advertisement_filters(row, 1))

    def _rows(self, start: int, count: int) -> Iterator[tuple[Leaf, ...]]:
        """The predicates of each subscription, in the order of the attributes."""
        draws, parameters = self._draws, self.parameters
        shares = cumulative_shares(parameters.weights)
        for rows in batches_of_rows(start, count):
            pairs = draws.integers("subscription.pair", rows, 0, parameters.pairs - 1)
            operators = draws.picks("subscription.operator", rows, shares)
            values = draws.integers("subscription.value", rows, 1, parameters.upper_values)
            columns = (operators.tolist(), values.tolist(), self._pairs(pairs.astype(np.uint64)))
            for operator, value, (upper, tail) in zip(*columns, strict=True):
                top = _comparison(UPPER[upper], _OPERATORS[operator], value)
                equalities = [_comparison(LOWER[name], "=", each) for name, each in sorted(tail)]
                yield (top, *equalities)

    def _pairs(self, pairs: Rows) -> Iterator[tuple[int, list[tuple[int, int]]]]:
        """The upper attribute of each pair, and its tail: lower attributes and their values."""
        draws = self._draws
        uppers = draws.integers("pair.upper", pairs, 0, len(UPPER) - 1).tolist()
        lengths = draws.integers("pair.length", pairs, 2, _LONGEST_TAIL).tolist()
        lots = np.stack([draws.fractions(f"pair.{name}", pairs) for name in LOWER], axis=1)
        names = np.argsort(lots, axis=1, kind="stable")[:, :_LONGEST_TAIL].tolist()
        values = np.stack(
            [
                draws.integers(f"pair.value{position}", pairs, 1, self.parameters.lower_values)
                for position in range(_LONGEST_TAIL)
            ],
            axis=1,
        ).tolist()
        for upper, length, chosen, each in zip(uppers, lengths, names, values, strict=True):
            yield upper, list(zip(chosen[:length], each[:length], strict=True))


@lru_cache(maxsize=65_536)
def _comparison(attribute: str, operator: Operator, value: int) -> Comparison:
    return Comparison(attribute, operator, value)


@lru_cache(maxsize=65_536)
def _text(leaf: Leaf) -> str:
    return to_text(leaf)
