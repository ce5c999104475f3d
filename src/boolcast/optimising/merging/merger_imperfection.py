"""How imperfect a merger is: how many events it accepts that none of its constituents accepts.

Their share of all events that count is compared with a threshold (IMT). The degree D is their share
of what the merger accepts: of all events by definition 1, of advertised events by definition 2
(P2-B11). Both are taken against the original constituents, never against earlier mergers.
"""

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from boolcast.filters.expressions import Filter
from boolcast.optimising.merging.boxes import EVERY_EVENT, Box, boxes_of, difference

if TYPE_CHECKING:
    from boolcast.optimising.statistics.probabilities import Probabilities

_MOST_BOXES: Final = 256
"""With more boxes than this too much is counted, never too little."""


class Imperfection(NamedTuple):
    """`degree` is D or D'; `share` is what a threshold limits. Both are 0 for a perfect merger."""

    degree: float
    share: float


class Audience(Protocol):
    """The events that count."""

    def probability(self, box: Box) -> float:
        """The probability that an event counts and lies in the box."""


def _probability_of(box: Box, probabilities: "Probabilities") -> float:
    """The probability that an event lies in the box."""
    values = (probabilities.of_values(name, values) for name, values in box.ranges.items())
    return math.prod(values) * math.prod(map(probabilities.of_predicate, box.others))


class AllEvents:
    """All events count: definition 1."""

    def __init__(self, probabilities: "Probabilities") -> None:
        self._probabilities = probabilities

    def probability(self, box: Box) -> float:
        return _probability_of(box, self._probabilities)


class Advertised:
    """Events that one of the advertisements accepts count: definition 2.

    An advertisement that is not a conjunction counts as its conjunctions. Predicates that are not
    sets of values are ignored, so too many events may count, never too few (R8).
    """

    def __init__(self, probabilities: "Probabilities", advertisements: Iterable[Filter]) -> None:
        self._probabilities = probabilities
        self._boxes = [
            Box(box.ranges) for each in dict.fromkeys(advertisements) for box in boxes_of(each)
        ]
        self._names = {name for box in self._boxes for name in box.ranges}
        self._known: dict[tuple[tuple[str, object], ...], float] = {}

    def probability(self, box: Box) -> float:
        # Attributes that no advertisement constrains are independent, so they need no cache.
        seen = {name: values for name, values in box.ranges.items() if name in self._names}
        key = tuple(seen.items())
        share = self._known.get(key)
        if share is None:
            share = self._known[key] = self._advertised(Box(seen))
        unseen = {name: values for name, values in box.ranges.items() if name not in self._names}
        return share * _probability_of(Box(unseen, box.others), self._probabilities)

    def _advertised(self, box: Box) -> float:
        """What the first advertisement accepts, what of the rest the second accepts, and so on."""
        rest, share = [box], 0.0
        for advertised in self._boxes:
            common = (each.within(advertised) for each in rest)
            share += sum(
                _probability_of(each, self._probabilities) for each in common if each is not None
            )
            rest = [left for each in rest for left in each.without(advertised)]
            if len(rest) > _MOST_BOXES:
                return share + sum(_probability_of(each, self._probabilities) for each in rest)
        return share


def imperfection_of(
    merger: Filter, constituents: Iterable[Filter], audience: Audience
) -> Imperfection:
    """The imperfection of a merger; one that is not a conjunction counts as accepting all.

    >>> from boolcast.filters.parsing import parse
    >>> from boolcast.optimising.statistics.probabilities import Range, Uniform
    >>> prices = AllEvents(Uniform({"price": Range(0, 99)}))
    >>> imperfection_of(parse("price <= 49"), [parse("price < 40")], prices)
    Imperfection(degree=0.2, share=0.1)
    """
    boxes = boxes_of(merger)
    if not boxes:
        return Imperfection(0.0, 0.0)
    whole = boxes[0] if len(boxes) == 1 else EVERY_EVENT
    inside = [box for each in constituents for box in _exact_boxes(each)]
    share = sum(map(audience.probability, difference(whole, inside, _MOST_BOXES)), 0.0)
    accepted = audience.probability(whole)
    # Upper bounds of the pieces may add up to more than that of the whole.
    return Imperfection(min(share / accepted, 1.0) if accepted else 0.0, share)


def _exact_boxes(filter: Filter) -> Sequence[Box]:
    """Boxes without any event that the filter refuses."""
    boxes = boxes_of(filter)
    return [] if boxes == [EVERY_EVENT] else boxes
