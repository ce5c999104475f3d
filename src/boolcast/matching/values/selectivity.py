"""Selectivity: the estimated share of events that satisfy a test.

Estimates come from weighted values: of events seen, or the bins of given statistics. Without
values the kind of test gives a guess, which also keeps estimates from few values away from 0
and 1.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from boolcast.model.events import Event
from boolcast.model.statistics import Statistics
from boolcast.model.values import EventValue

if TYPE_CHECKING:
    from boolcast.matching.values.ranks import RankSpace

WeightedValues = list[tuple[EventValue | None, float]]

_GUESS_WEIGHT: Final = 2.0
_RANGE_GUESS: Final = 0.3
_CEILING: Final = 0.95


class Selectivity:
    """Estimates for tests on any attribute; made once for each segment that is built."""

    def __init__(self, values: Mapping[str, WeightedValues], total: float) -> None:
        self._values = values
        self._total = total
        self._known: dict[str, tuple[RankSpace, NDArray[np.float64]]] = {}

    @classmethod
    def unknown(cls) -> "Selectivity":
        return cls({}, 0.0)

    @classmethod
    def from_events(cls, events: Sequence[Event]) -> "Selectivity":
        """From a sample of events."""
        names = {name for event in events for name in event}
        values: dict[str, WeightedValues] = {
            name: [(event.get(name), 1.0) for event in events] for name in names
        }
        return cls(values, float(len(events)))

    @classmethod
    def from_statistics(cls, statistics: Statistics) -> "Selectivity":
        """From history: half the weight of each bin at either end of it."""
        values: dict[str, WeightedValues] = {}
        for name, known in statistics.attributes.items():
            weighted: WeightedValues = [(None, float(statistics.events - known.events))]
            for bins in known.bins.values():
                for each in bins:
                    weighted += [(each.low, each.events / 2), (each.high, each.events / 2)]
            values[name] = weighted
        return cls(values, float(statistics.events))

    def shares(
        self, attribute: str, space: "RankSpace", bounds: NDArray[np.int32]
    ) -> NDArray[np.float64]:
        """For each row of bounds, the share of events whose value lies between them."""
        widths = bounds[:, 1::2] - bounds[:, ::2]
        points = (widths == 1).sum(axis=1)
        ranges = (widths > 1).sum(axis=1)
        guess = np.minimum(points / max(space.size / 2, 2.0) + ranges * _RANGE_GUESS, _CEILING)
        weighted = self._values.get(attribute)
        if weighted is None:
            # Other attributes were seen, but not this one: it is mostly missing.
            missing_only = self._total / (self._total + _GUESS_WEIGHT)
            at_missing = (bounds[:, 0] <= 1) & (bounds[:, 1] > 1)
            mostly: NDArray[np.float64] = np.where(at_missing, missing_only, 0.0) + guess * (
                1 - missing_only
            )
            return mostly
        below = self._below(attribute, space, weighted)
        inside = (below[bounds[:, 1::2]] - below[bounds[:, ::2]]).sum(axis=1)
        shares: NDArray[np.float64] = (inside + _GUESS_WEIGHT * guess) / (
            self._total + _GUESS_WEIGHT
        )
        return shares

    def _below(
        self, attribute: str, space: "RankSpace", weighted: WeightedValues
    ) -> NDArray[np.float64]:
        """The weight of all values below each bound; kept, as many tests ask for one attribute."""
        known = self._known.get(attribute)
        if known is not None and known[0] is space:
            return known[1]
        below = np.zeros(space.size + 1)
        for value, weight in weighted:
            below[space.rank(value) + 1] += weight
        np.cumsum(below, out=below)
        self._known[attribute] = space, below
        return below
