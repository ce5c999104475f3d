"""The cost of inserting subscriptions one by one, each with its covering test (P2-X4).

The paper's algorithm evaluates all diagrams in one pass or two. It finds implications between
predicates by comparing them or with a cache. Ours searches only the diagrams that the new filter
concerns, and finds implications by ranges. Three tables, one for each way of finding implications,
hold the same subscriptions. Search decides what is covered; a sample is put to the others too.
"""

from itertools import islice
from time import process_time
from typing import Final

import msgspec

from boolcast.filters.expressions import Filter
from boolcast.lab.papers.diagrams.workload import LEARNT, SetName, filters_of, pairs_of
from boolcast.matching.diagrams.covering import Method
from boolcast.matching.diagrams.diagrams import Diagrams
from boolcast.matching.diagrams.implications import WAYS, Way
from boolcast.matching.diagrams.questions import Question
from boolcast.model.identifiers import SubscriptionId
from boolcast.optimising.merging.groups import AttributeOrder

METHODS: Final[tuple[Method, ...]] = ("search", "one pass", "two passes")
_STEPS: Final = 20


class InsertionSetting(msgspec.Struct, frozen=True, kw_only=True, tag="insertion"):
    """Subscriptions of a set; the last `samples` of each of 20 steps are tested in all ways."""

    set: SetName
    subscriptions: int
    samples: int
    seed: int

    @property
    def label(self) -> str:
        """A name that no other run of the reproduction has."""
        return f"insertion-{self.set}-{self.subscriptions}-{self.samples}-{self.seed}"

    @property
    def work(self) -> float:
        """Roughly how long it takes, in subscriptions."""
        return 5.0 * self.subscriptions


class InsertionPoint(msgspec.Struct, frozen=True, kw_only=True):
    """The mean cost of an insertion in the last step, in µs.

    `predicates` (finding implications, by way) and `diagrams` (evaluating them, by method) are
    means of the samples, `insertion` (by way) of the whole step. `evaluated` counts diagrams by
    method.
    """

    subscriptions: int
    entries: int
    variables: int
    predicates: dict[Way, float]
    insertion: dict[Way, float]
    diagrams: dict[Method, float]
    evaluated: dict[Method, float]


class InsertionFigures(msgspec.Struct, frozen=True, kw_only=True, tag="insertion"):
    """The figures of a run; for `different` samples, the answers were not all the same."""

    setting: InsertionSetting
    points: list[InsertionPoint]
    different: int

    def evaluated(self, method: Method) -> float:
        """The mean number of diagrams that a method evaluates for an insertion."""
        return sum(point.evaluated[method] for point in self.points) / len(self.points)


class _Tables:
    """The same subscriptions in three tables, and the time spent since the last point."""

    def __init__(self, order: tuple[str, ...], filters: dict[SubscriptionId, Filter]) -> None:
        self.by_way = {way: Diagrams(order, way=way) for way in WAYS}
        self.different = 0
        self._filters = filters
        self._begin()

    def insert(self, name: SubscriptionId) -> None:
        """Insert the subscription and remove what it covers, unless it is covered itself."""
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
        """Find what covers it and what it covers, in all ways and by all methods."""
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
        distinct = {(bool(each.covered_by), frozenset(each.covers)) for each in answers}
        self.different += len(distinct) > 1

    def point(self, number: int, step: int, samples: int) -> InsertionPoint:
        """The costs since the last point."""
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
    """Carry out one run."""
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
