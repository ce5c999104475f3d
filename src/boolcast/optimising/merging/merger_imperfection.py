"""How imperfect a merger is: the events that it lets pass and none of its constituents does.

The degree D is their part of all that it lets pass, by definition 1, or of all that it lets pass
and somebody has advertised, by definition 2 (P2-B11). What a threshold (IMT) is held against is
the probability that an event is one of them. Degrees are always taken against the original
constituents, never against earlier mergers.
"""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple, Protocol

from boolcast.filters.expressions import Filter
from boolcast.optimising.merging.boxes import EVERY_EVENT, Box, boxes_of, difference
from boolcast.optimising.statistics.probabilities import Chances, chance_of

_PARTS: Final = 256
"""Into how many boxes an event set may fall; past it too much is counted, never too little."""


class Degree(NamedTuple):
    """`imperfection` is what a threshold is for; `degree` is D or D'. A perfect merger has 0."""

    degree: float
    imperfection: float


class Audience(Protocol):
    """Which events count."""

    def chance(self, box: Box) -> float:
        """That an event counts and lies in the box."""


class AllEvents:
    """All of them: definition 1."""

    def __init__(self, chances: Chances) -> None:
        self._chances = chances

    def chance(self, box: Box) -> float:
        return chance_of(box, self._chances)


class Advertised:
    """Those that an advertisement accepts, one of some: definition 2.

    An advertisement that is no conjunction counts as the conjunctions that it is made of. Where
    it says something that is no set of values it counts as if it did not, so too many events may
    count, never too few (R8).
    """

    def __init__(self, chances: Chances, advertisements: Iterable[Filter]) -> None:
        self._chances = chances
        self._boxes = [
            Box(box.ranges) for each in dict.fromkeys(advertisements) for box in boxes_of(each)
        ]
        self._names = {name for box in self._boxes for name in box.ranges}
        self._known: dict[tuple[tuple[str, object], ...], float] = {}

    def chance(self, box: Box) -> float:
        # What no advertisement looks at is independent of them, so there is less to remember.
        seen = {name: cuts for name, cuts in box.ranges.items() if name in self._names}
        key = tuple(seen.items())
        share = self._known.get(key)
        if share is None:
            share = self._known[key] = self._advertised(Box(seen))
        unseen = {name: cuts for name, cuts in box.ranges.items() if name not in self._names}
        return share * chance_of(Box(unseen, box.others), self._chances)

    def _advertised(self, box: Box) -> float:
        """The parts that the first advertisement has, of the rest those of the second, …"""
        rest, share = [box], 0.0
        for advertised in self._boxes:
            common = (each.within(advertised) for each in rest)
            share += sum(chance_of(each, self._chances) for each in common if each is not None)
            rest = [part for each in rest for part in each.without(advertised)]
            if len(rest) > _PARTS:
                return share + sum(chance_of(each, self._chances) for each in rest)
        return share


def degree_of(merger: Filter, constituents: Iterable[Filter], audience: Audience) -> Degree:
    """How imperfect a merger of some filters is; one that is no conjunction counts as all events.

    >>> from boolcast.filters.parsing import parse
    >>> from boolcast.optimising.statistics.probabilities import Range, Uniform
    >>> prices = AllEvents(Uniform({"price": Range(0, 99)}))
    >>> degree_of(parse("price <= 49"), [parse("price < 40")], prices)
    Degree(degree=0.2, imperfection=0.1)
    """
    boxes = boxes_of(merger)
    if not boxes:
        return Degree(0.0, 0.0)
    whole = boxes[0] if len(boxes) == 1 else EVERY_EVENT
    inside = [box for each in constituents for box in _exact_boxes(each)]
    imperfection = sum(map(audience.chance, difference(whole, inside, _PARTS)), 0.0)
    passing = audience.chance(whole)
    # Where values are known at most, the parts may seem more than the whole.
    return Degree(min(imperfection / passing, 1.0) if passing else 0.0, imperfection)


def _exact_boxes(filter: Filter) -> Sequence[Box]:
    """Boxes of nothing that the filter refuses."""
    boxes = boxes_of(filter)
    return [] if boxes == [EVERY_EVENT] else boxes
