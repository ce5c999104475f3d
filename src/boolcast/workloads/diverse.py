"""The diverse workload: many shapes of filters over many attributes, as when everybody writes
their own.

The subscriptions fall into 1,500 random shapes, all equally frequent, of 2 to 20 predicates
each (`random_shapes`) over the 30 attributes of `attributes`. They use equalities, `in`,
one- and two-sided ranges of numbers, strings and timestamps, prefixes, null tests and a few
`!=`. A tenth of the shapes has neither `=` nor `in`. The shapes' shares are spread evenly, by
their logarithm, from 10⁻⁷ to 7 · 10⁻⁴, which makes about 20 matches an event at 200,000
subscriptions; no range takes less than a hundredth of its attribute's values.
"""

from collections.abc import Iterator
from functools import cached_property
from typing import Final

import pyarrow as pa

from boolcast.filters.expressions import Filter
from boolcast.model.events import Event
from boolcast.workloads.attributes import attributes
from boolcast.workloads.draws import Draws, batches_of_rows
from boolcast.workloads.random_shapes import Shape, fractions_needed, random_shape

SHAPES: Final = 1_500
_FEWEST: Final = 2
_MOST: Final = 20
_WITHOUT_EQUALITY: Final = 10
_LEAST_LOGARITHM: Final = -7.0
_GREATEST_LOGARITHM: Final = -3.15
_SUBSCRIPTIONS: Final = pa.schema(
    [(name, pa.string()) for name in ("subscription", "class", "filter")]
)


class Diverse:
    """Any slice of a workload without end; rows count from 0.

    A row depends on the seed and its own number only. An instance is cheap to make and to
    pickle; the shapes are drawn when first needed, in about a second.
    """

    def __init__(self, *, seed: int) -> None:
        self.seed = seed
        self._draws = Draws(seed)

    def __reduce__(self) -> tuple[object, ...]:
        return _made, (self.seed,)

    @cached_property
    def shapes(self) -> tuple[Shape, ...]:
        """The shapes of the filters; every tenth, from the first on, has no equality."""
        return tuple([self._shape(number) for number in range(SHAPES)])

    def _shape(self, number: int) -> Shape:
        (rows,) = batches_of_rows(number, 1)
        predicates = int(self._draws.integers("shape.predicates", rows, _FEWEST, _MOST)[0])
        position = float(self._draws.fractions("shape.share", rows)[0])
        logarithm = _LEAST_LOGARITHM + position * (_GREATEST_LOGARITHM - _LEAST_LOGARITHM)
        return random_shape(
            self._draws,
            number,
            predicates=predicates,
            share=10**logarithm,
            has_equality=number % _WITHOUT_EQUALITY != 0,
        )

    def events(self, start: int, count: int) -> pa.Table:
        """A column for each of the 30 attributes; nulls are missing."""
        known = attributes()
        schema = pa.schema([(name, attribute.array.type) for name, attribute in known.items()])
        batches = (
            pa.record_batch(
                [
                    attribute.column(self._draws, f"event.{name}", rows)
                    for name, attribute in known.items()
                ],
                schema=schema,
            )
            for rows in batches_of_rows(start, count)
        )
        return pa.Table.from_batches(batches, schema)

    def event(self, row: int) -> Event:
        """One row of `events`."""
        (members,) = self.events(row, 1).to_pylist()
        return Event.from_python(members)

    def subscriptions(self, start: int, count: int) -> pa.Table:
        """Columns `subscription` (such as `s17`), `class` (`D17`, the shape) and `filter`."""
        batches = []
        for first, kinds, fractions in self._draw(start, count):
            columns = [
                [f"s{first + i}" for i in range(len(kinds))],
                [f"D{kind}" for kind in kinds],
                [self.shapes[kind].text(each) for kind, each in zip(kinds, fractions, strict=True)],
            ]
            arrays = [pa.array(column, pa.string()) for column in columns]
            batches.append(pa.record_batch(arrays, schema=_SUBSCRIPTIONS))
        return pa.Table.from_batches(batches, _SUBSCRIPTIONS)

    def subscription_filters(self, start: int, count: int) -> Iterator[Filter]:
        """The column `filter` of `subscriptions` as trees, made lazily."""
        for _, kinds, fractions in self._draw(start, count):
            for kind, each in zip(kinds, fractions, strict=True):
                yield self.shapes[kind].filter(each)

    def subscription(self, row: int) -> Filter:
        """One filter."""
        return next(self.subscription_filters(row, 1))

    def subscription_class(self, row: int) -> str:
        """The class of one row, such as `D17`."""
        ((_, (kind,), _),) = self._draw(row, 1)
        return f"D{kind}"

    def _draw(
        self, start: int, count: int
    ) -> Iterator[tuple[int, list[int], Iterator[tuple[float, ...]]]]:
        """Batches: the number of the first row, the rows' shapes, and fractions to fill them."""
        for rows in batches_of_rows(start, count):
            kinds = self._draws.integers("subscription.class", rows, 0, SHAPES - 1).tolist()
            columns = [
                self._draws.fractions(f"subscription.{slot}", rows).tolist()
                for slot in range(fractions_needed(_MOST))
            ]
            yield int(rows[0]), kinds, zip(*columns, strict=True)


def _made(seed: int) -> Diverse:
    return Diverse(seed=seed)
