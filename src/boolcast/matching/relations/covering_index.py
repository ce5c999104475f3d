"""Which stored filters cover a given one, and which does it cover, while filters come and go?

There are two implementations. `ByProofs` finds candidates by ranges and witnesses and proves each
pair. `ByDiagrams` reads both answers off shared decision diagrams. Both are sound, neither is
complete (R13): a proof has a budget, and diagrams miss a covering that only several predicates
together prove.
"""

from typing import TYPE_CHECKING, Generic, Protocol

from boolcast.matching.relations.analysed_filters import AnalysedFilter, FilterAnalyser, may_cover
from boolcast.matching.relations.range_index import RangeIndex, Stored, T
from boolcast.matching.relations.witness_index import (
    SubstringIndex,
    UnionIndex,
    WitnessTexts,
    WitnessValues,
)

if TYPE_CHECKING:
    from boolcast.matching.diagrams.diagrams import Diagrams


_Index = RangeIndex[T] | UnionIndex[T] | SubstringIndex[T] | WitnessValues[T] | WitnessTexts[T]


class CoveringIndex(Protocol[T]):
    """Stored filters, asked for candidates first, then about each of them."""

    def add(self, stored: T) -> None:
        """Index something; nothing else may have its order."""

    def remove(self, stored: T) -> None:
        """Forget something that was added."""

    def covering(self, specific: AnalysedFilter) -> list[T]:
        """Whatever may cover the filter, by order."""

    def covered(self, general: AnalysedFilter) -> list[T]:
        """Whatever the filter may cover, by order."""

    def covers(self, general: T, specific: T) -> bool:
        """True only if it is so; one of the two must be what was asked about last."""


class ByProofs(Generic[T]):
    """Candidates from indexes, proven by the algebra (decision 25).

    Each filter goes into the index that describes it best. What a filter with unions, or with a
    required substring, covers is found among the witnesses of all others; these are indexed
    when the first such filter asks.
    """

    def __init__(self, analyser: FilterAnalyser) -> None:
        self._analyser = analyser
        self._by_ranges: RangeIndex[T] = RangeIndex()
        self._by_unions: UnionIndex[T] = UnionIndex()
        self._by_substrings: SubstringIndex[T] = SubstringIndex()
        self._ranges_of_others: RangeIndex[T] = RangeIndex()
        """What is in the last two, only to find what a filter with mere ranges covers."""
        self._witness_values: WitnessValues[T] | None = None
        self._witness_texts: WitnessTexts[T] | None = None
        self._stored: dict[T, None] = {}
        self._inexact = 0
        """How many stored filters are more than their ranges; with none, no witness is needed."""

    def add(self, stored: T) -> None:
        for index in self._indexes(stored.analysed):
            index.add(stored)
        self._stored[stored] = None
        self._inexact += not stored.analysed.is_exact

    def remove(self, stored: T) -> None:
        for index in self._indexes(stored.analysed):
            index.remove(stored)
        del self._stored[stored]
        self._inexact -= not stored.analysed.is_exact

    def _indexes(self, analysed: AnalysedFilter) -> list[_Index[T]]:
        """The indexes that hold a filter like this."""
        indexes: list[_Index[T] | None] = [self._witness_values, self._witness_texts]
        if analysed.unions:
            indexes += [self._ranges_of_others, self._by_unions]
        elif analysed.substring:
            indexes += [self._ranges_of_others, self._by_substrings]
        else:
            indexes.append(self._by_ranges)
        return [index for index in indexes if index is not None]

    def covering(self, specific: AnalysedFilter) -> list[T]:
        found = list(self._by_ranges.covering(specific))
        if self._by_unions:
            found += self._by_unions.accepting(specific.witnesses)
        if self._by_substrings:
            found += self._by_substrings.accepting(specific.witnesses)
        if self._inexact or not specific.is_exact:
            found = [each for each in found if _is_candidate(each.analysed, specific)]
        return _by_order(found)

    def covered(self, general: AnalysedFilter) -> list[T]:
        if general.unions:
            if self._witness_values is None:
                self._witness_values = WitnessValues(self._stored)
            found = self._witness_values.within(general.unions)
        elif general.substring:
            if self._witness_texts is None:
                self._witness_texts = WitnessTexts(self._stored)
            found = self._witness_texts.containing(general.substring)
        else:
            found = list(self._by_ranges.covered(general))
            if self._ranges_of_others:
                found += self._ranges_of_others.covered(general)
        if self._inexact or not general.is_exact:
            found = [each for each in found if _is_candidate(general, each.analysed)]
        return _by_order(found)

    def covers(self, general: T, specific: T) -> bool:
        return self._analyser.covers(general.analysed, specific.analysed)


def _is_candidate(general: AnalysedFilter, specific: AnalysedFilter) -> bool:
    """Between exact filters the ranges decide, and no witness need be found."""
    return (general.is_exact and specific.is_exact) or may_cover(general, specific)


def _by_order(found: list[T]) -> list[T]:
    return sorted(dict.fromkeys(found), key=_order)


def _order(stored: Stored) -> int:
    return stored.order


class ByDiagrams(Generic[T]):
    """Both answers at once from shared decision diagrams, which must start empty (P2-B5).

    What they find needs no proof.
    """

    def __init__(self, diagrams: "Diagrams") -> None:
        self._diagrams = diagrams
        self._stored: dict[str, T] = {}
        self._asked: AnalysedFilter | None = None
        self._above: dict[T, None] = {}
        self._below: dict[T, None] = {}

    def add(self, stored: T) -> None:
        self._asked = None
        self._stored[str(stored.order)] = stored
        self._diagrams.add(str(stored.order), stored.analysed.filter)

    def remove(self, stored: T) -> None:
        self._asked = None
        del self._stored[str(stored.order)]
        self._diagrams.remove(str(stored.order))

    def covering(self, specific: AnalysedFilter) -> list[T]:
        self._ask(specific)
        return list(self._above)

    def covered(self, general: AnalysedFilter) -> list[T]:
        self._ask(general)
        return list(self._below)

    def covers(self, general: T, specific: T) -> bool:
        # Equal filters are analysed once: then either of the two may be the one asked about.
        assert self._asked in {general.analysed, specific.analysed}, "not what was asked about last"
        return (specific.analysed is self._asked and general in self._above) or (
            general.analysed is self._asked and specific in self._below
        )

    def _ask(self, analysed: AnalysedFilter) -> None:
        if analysed is not self._asked:
            found = self._diagrams.relations(analysed.filter)
            self._above = self._named(found.covered_by)
            self._below = self._named(found.covers)
            self._asked = analysed

    def _named(self, names: list[str]) -> dict[T, None]:
        return dict.fromkeys(self._stored[name] for name in sorted(names, key=int))
