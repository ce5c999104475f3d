"""Look up subscriptions among many advertisements, as trees and as conjunctions (P3-X2, P3-X3).

One index holds the advertisements as they are, the other the conjunctions of their disjunctive
normal forms. Both answer the same questions in turn, so a slow moment of the machine affects both.
Times are processor time; the work is the same everywhere.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from time import process_time
from typing import Final, Literal

import msgspec

from boolcast.algebra.normal_forms import to_dnf
from boolcast.filters.expressions import Filter, conjunction
from boolcast.matching.relations.overlap_index import OverlapIndex, OverlapWork
from boolcast.workloads import PRESETS, Auction
from boolcast.workloads.classes import SUBSCRIPTION_CLASSES

Representation = Literal["boolean", "conjunctive"]
Scenario = Literal["first", "all"]

MIX: Final = "S1-3"
"""The three classes of subscriptions together."""


class OverlapSetting(msgspec.Struct, frozen=True, kw_only=True, tag="overlap"):
    """The number of advertisements, and of subscriptions that ask in each scenario."""

    advertisements: int
    first: int
    all: int
    seed: int

    @property
    def part(self) -> str:
        """The experiment."""
        return "overlap"

    @property
    def label(self) -> str:
        """A name that no other run of the reproduction has."""
        return f"overlap-{self.advertisements}-{self.first}-{self.all}-{self.seed}"

    @property
    def work(self) -> float:
        """Roughly how long it takes, in advertisements."""
        return self.advertisements * (1.0 + (self.first + 4 * self.all) / 10_000)


class IndexSize(msgspec.Struct, frozen=True):
    """The filters of an index, its distinct predicates, and the associations between both."""

    filters: int
    predicates: int
    associations: int


class OverlapRow(msgspec.Struct, frozen=True, kw_only=True):
    """Means over all questions of one class of subscriptions, scenario and representation.

    `found` and `candidates` are per registered filter: an advertisement or a conjunction.
    """

    subscriptions: str
    scenario: Scenario
    form: Representation
    questions: int
    answered: float
    found: float
    sets: float
    candidates: float
    associations: float
    leaves: float
    milliseconds: float

    @property
    def work(self) -> float:
        """Counters incremented, and leaves of candidates evaluated."""
        return self.associations + self.leaves


class OverlapFigures(msgspec.Struct, frozen=True, kw_only=True, tag="overlap"):
    """The figures of a run; `disagreements` counts questions with two different answers."""

    setting: OverlapSetting
    sizes: dict[Representation, IndexSize]
    rows: list[OverlapRow]
    disagreements: int
    processor_seconds: float

    def row(
        self, subscriptions: str, scenario: Scenario, form: Representation = "boolean"
    ) -> OverlapRow:
        """The row of a class, scenario and representation."""
        key = (subscriptions, scenario, form)
        return next(e for e in self.rows if (e.subscriptions, e.scenario, e.form) == key)


class _Answer(msgspec.Struct, frozen=True):
    subscriptions: str
    scenario: Scenario
    form: Representation
    found: int
    work: OverlapWork
    seconds: float


def overlap_figures(setting: OverlapSetting) -> OverlapFigures:
    """Register the advertisements in both indexes, and ask."""
    begun = process_time()
    auction = Auction(PRESETS["P3"], seed=setting.seed)
    boolean, conjunctive = OverlapIndex(), OverlapIndex()
    for row, filter in enumerate(auction.advertisement_filters(0, setting.advertisements)):
        boolean.add(str(row), filter)
        for number, clause in enumerate(to_dnf(filter).clauses):
            conjunctive.add(f"{row}.{number}", conjunction(clause))
    indexes: dict[Representation, OverlapIndex] = {"boolean": boolean, "conjunctive": conjunctive}
    answers = [
        *_answers(auction, setting.first, "first", indexes, _first),
        *_answers(auction, setting.all, "all", indexes, OverlapIndex.count),
    ]
    sizes = {form: _size(index) for form, index in indexes.items()}
    return OverlapFigures(
        setting=setting,
        sizes=sizes,
        rows=list(_rows(answers, sizes)),
        disagreements=_disagreements(answers),
        processor_seconds=process_time() - begun,
    )


def _first(index: OverlapIndex, filter: Filter) -> tuple[int, OverlapWork]:
    answer = index.first(filter)
    return len(answer.names), answer.work


def _size(index: OverlapIndex) -> IndexSize:
    return IndexSize(len(index), len(index.predicates), int(index.occurrences.sum()))


def _answers(
    auction: Auction,
    questions: int,
    scenario: Scenario,
    indexes: Mapping[Representation, OverlapIndex],
    ask: Callable[[OverlapIndex, Filter], tuple[int, OverlapWork]],
) -> Iterator[_Answer]:
    classes = auction.subscriptions(0, questions)["class"].to_pylist()
    forms = list(indexes)
    for number, filter in enumerate(auction.subscription_filters(0, questions)):
        if not number:
            # The first question compiles kernels and sorts associations.
            for index in indexes.values():
                ask(index, filter)
        # The first one finds cold caches, so they take turns.
        turn = number % len(forms)
        for form in (*forms[turn:], *forms[:turn]):
            begun = process_time()
            found, work = ask(indexes[form], filter)
            spent = process_time() - begun
            yield _Answer(classes[number], scenario, form, found, work, spent)


def _rows(
    answers: Iterable[_Answer], sizes: Mapping[Representation, IndexSize]
) -> Iterator[OverlapRow]:
    groups: dict[tuple[str, Scenario, Representation], list[_Answer]] = {}
    for each in answers:
        for subscriptions in (each.subscriptions, MIX):
            groups.setdefault((subscriptions, each.scenario, each.form), []).append(each)
    for subscriptions in (*SUBSCRIPTION_CLASSES, MIX):
        for (name, scenario, form), group in groups.items():
            if name == subscriptions:
                count, filters = len(group), sizes[form].filters
                yield OverlapRow(
                    subscriptions=subscriptions,
                    scenario=scenario,
                    form=form,
                    questions=count,
                    answered=sum(each.found > 0 for each in group) / count,
                    found=sum(each.found for each in group) / count / filters,
                    sets=sum(each.work.sets for each in group) / count,
                    candidates=sum(each.work.candidates for each in group) / count / filters,
                    associations=sum(each.work.associations for each in group) / count,
                    leaves=sum(each.work.leaves for each in group) / count,
                    milliseconds=1_000 * sum(each.seconds for each in group) / count,
                )


def _disagreements(answers: Iterable[_Answer]) -> int:
    """Questions for which only one of the indexes finds anything."""
    found: dict[Representation, list[bool]] = {"boolean": [], "conjunctive": []}
    for each in answers:
        found[each.form].append(each.found > 0)
    pairs = zip(found["boolean"], found["conjunctive"], strict=True)
    return sum(one != other for one, other in pairs)
