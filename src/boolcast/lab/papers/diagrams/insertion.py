"""What inserting subscriptions one by one takes, each with its covering test (P2-X4).

The paper's algorithm evaluates all diagrams in one pass or two, and finds which predicates imply
each other by comparing them or by a cache; ours searches from what the new filter bears on, and
finds them by ranges. Three tables, one for each way of finding implications, take up the same
subscriptions. Search says what is covered; the others are asked the same, on a sample.
"""

from itertools import islice
from time import process_time
from typing import Final

import msgspec

from boolcast.filters.expressions import Filter
from boolcast.lab.papers.diagrams.tables import LEARNT, SetName, filters_of, pairs_of
from boolcast.matching.diagrams.covering import Method
from boolcast.matching.diagrams.diagrams import Diagrams
from boolcast.matching.diagrams.implications import WAYS, Way
from boolcast.matching.diagrams.questions import Question
from boolcast.model.identifiers import SubscriptionId
from boolcast.optimising.merging.groups import AttributeOrder

METHODS: Final[tuple[Method, ...]] = ("search", "one pass", "two passes")
_STEPS: Final = 20


class InsertionSetting(msgspec.Struct, frozen=True, kw_only=True, tag="insertion"):
    """Subscriptions of a set; of each of 20 steps the last `samples` are asked in all ways."""

    set: SetName
    subscriptions: int
    samples: int
    seed: int

    @property
    def label(self) -> str:
        """A name of its own for each run of a reproduction."""
        return f"insertion-{self.set}-{self.subscriptions}-{self.samples}-{self.seed}"

    @property
    def work(self) -> float:
        """About how long it takes, in subscriptions."""
        return 5.0 * self.subscriptions


class InsertionPoint(msgspec.Struct, frozen=True, kw_only=True):
    """After so many subscriptions: the µs for one of the last step, on average.

    Finding implications, by the way to do it, and evaluating diagrams, by method, are of the
    samples; putting it in, by way, is of the whole step. `evaluated` are diagrams by method.
    """

    subscriptions: int
    entries: int
    variables: int
    predicates: dict[Way, float]
    insertion: dict[Way, float]
    diagrams: dict[Method, float]
    evaluated: dict[Method, float]


class InsertionFigures(msgspec.Struct, frozen=True, kw_only=True, tag="insertion"):
    """The course of it; `different` samples were not answered alike by all."""

    setting: InsertionSetting
    points: list[InsertionPoint]
    different: int

    def evaluated(self, method: Method) -> float:
        """Diagrams that a method evaluates for an insertion, on average of all samples."""
        return sum(point.evaluated[method] for point in self.points) / len(self.points)


class _Tables:
    """The same subscriptions in three ways, and what they took since the last point."""

    def __init__(self, order: tuple[str, ...], filters: dict[SubscriptionId, Filter]) -> None:
        self.by_way = {way: Diagrams(order, way=way) for way in WAYS}
        self.different = 0
        self._filters = filters
        self._begin()

    def insert(self, name: SubscriptionId) -> None:
        """Leave it out if it is covered, else put it in the place of what it covers."""
        covering = self.by_way["ranges"].covering(self._filters[name])
        if covering.covered_by:
            return
        for way, diagrams in self.by_way.items():
            start = process_time()
            for each in covering.covers:
                diagrams.remove(each)
            diagrams.add(name, self._filters[name])
            self._insertion[way] += process_time() - start

    def ask(self, name: SubscriptionId) -> None:
        """Ask what covers it and what it covers, in all ways and by all methods."""
        questions: dict[Way, Question] = {}
        for way, diagrams in self.by_way.items():
            start = process_time()
            questions[way] = diagrams.question(self._filters[name])
            self._predicates[way] += process_time() - start
        answers = [self.by_way[way].covering(each) for way, each in questions.items()]
        for method in METHODS:
            start = process_time()
            answer = self.by_way["ranges"].covering(questions["ranges"], method)
            self._diagrams[method] += process_time() - start
            self._evaluated[method] += answer.diagrams
            answers.append(answer)
        told = {(bool(each.covered_by), frozenset(each.covers)) for each in answers}
        self.different += len(told) > 1

    def point(self, number: int, step: int, samples: int) -> InsertionPoint:
        """What it took since the last one."""
        found = InsertionPoint(
            subscriptions=number,
            entries=len(self.by_way["ranges"]),
            variables=len(self.by_way["ranges"].variables),
            predicates={way: each / samples * 1e6 for way, each in self._predicates.items()},
            insertion={way: each / step * 1e6 for way, each in self._insertion.items()},
            diagrams={method: each / samples * 1e6 for method, each in self._diagrams.items()},
            evaluated={method: each / samples for method, each in self._evaluated.items()},
        )
        self._begin()
        return found

    def _begin(self) -> None:
        self._predicates: dict[Way, float] = dict.fromkeys(WAYS, 0.0)
        self._insertion: dict[Way, float] = dict.fromkeys(WAYS, 0.0)
        self._diagrams: dict[Method, float] = dict.fromkeys(METHODS, 0.0)
        self._evaluated: dict[Method, float] = dict.fromkeys(METHODS, 0.0)


def insertion_figures(setting: InsertionSetting) -> InsertionFigures:
    """Run one."""
    pairs = pairs_of(setting.set, setting.subscriptions, setting.seed)
    filters = filters_of(pairs, setting.subscriptions)
    tables = _Tables(AttributeOrder.of(islice(filters.values(), LEARNT)).names, filters)
    step = max(setting.subscriptions // _STEPS, setting.samples)
    points: list[InsertionPoint] = []
    for number, name in enumerate(filters, 1):
        if (number - 1) % step >= step - setting.samples:
            tables.ask(name)
        tables.insert(name)
        if number % step == 0:
            points.append(tables.point(number, step, setting.samples))
    return InsertionFigures(setting=setting, points=points, different=tables.different)
