"""Which of many entries overlap with a filter: by pairs, by the index, or by both.

*Pairs*: the algebra proves one pair after the other, exactly within its budget. *Index*: the index
of violating predicates (P3-B4) looks at all entries at once and may find too many. *Both*: the
index finds a few entries, and the algebra refutes the false ones, which are counted. None of the
three misses an overlap. Whether a pair overlaps does not depend on the other entries, so both sides
of a link agree, unless a budget ran out.
"""

from collections.abc import Callable
from itertools import islice
from typing import Final, Protocol, TypeVar

import msgspec

from boolcast.filters.expressions import Filter
from boolcast.matching.relations.analysed_filters import AnalysedFilter, FilterAnalyser
from boolcast.routing.tables.entries import Entry

T = TypeVar("T", int, bool)

FEW: Final = 32
"""Up to this many entries, testing pairs is always faster."""

INDEXED_COSTS: Final = 32
"""Indexing an entry costs as much as this many pairs that ranges decide."""

HANDFUL: Final = 8
"""Pairs to test before the index is asked for any overlap."""

PROOF_COSTS: Final = 100
"""A proof costs as much as this many such pairs."""


class OverlapCounts(msgspec.Struct):
    """How many questions were asked, and how many overlaps were found.

    The second stage `checked` overlaps of the index and `refuted` some.
    """

    asked: int = 0
    found: int = 0
    checked: int = 0
    refuted: int = 0

    def count(self, found: T) -> T:
        """Note a question, and how many overlaps were its answer."""
        self.asked += 1
        self.found += found
        return found

    @property
    def false_share(self) -> float:
        """The share of overlaps found by the index that the algebra removed."""
        return self.refuted / max(self.checked, 1)


class Overlaps(Protocol):
    """Entries that come and go, asked for those that overlap with a filter."""

    def add(self, entry: Entry) -> None: ...

    def remove(self, entry: Entry) -> None: ...

    def has_any(self, analysed: AnalysedFilter) -> bool:
        """True if one of the entries overlaps with the filter: scenario First."""

    def all(self, analysed: AnalysedFilter, is_wanted: Callable[[Entry], bool]) -> list[Entry]:
        """Those of the wanted entries that overlap, in the order of their coming: All."""


class Found(Protocol):
    """What an index finds."""

    @property
    def names(self) -> list[str]: ...


class FilterIndex(Protocol):
    """What is asked of the index; `matching.relations.overlap_index.OverlapIndex` is one."""

    def add(self, name: str, filter: Filter) -> None: ...

    def remove(self, name: str) -> None: ...

    def first(self, filter: Filter) -> Found: ...

    def all(self, filter: Filter) -> Found: ...


class ByPairs:
    """Every entry is held against the filter, by ranges and else by a proof."""

    def __init__(self, analyser: FilterAnalyser, figures: OverlapCounts) -> None:
        self._analyser = analyser
        self._figures = figures
        self.entries: dict[str, Entry] = {}

    def add(self, entry: Entry) -> None:
        self.entries[entry.id] = entry

    def remove(self, entry: Entry) -> None:
        del self.entries[entry.id]

    def has_any(self, analysed: AnalysedFilter) -> bool:
        overlaps = self._analyser.overlaps
        answer = any(overlaps(each.analysed, analysed) for each in self.entries.values())
        return self._figures.count(answer)

    def all(self, analysed: AnalysedFilter, is_wanted: Callable[[Entry], bool]) -> list[Entry]:
        overlaps = self._analyser.overlaps
        entries = self.entries.values()
        found = [each for each in entries if is_wanted(each) and overlaps(each.analysed, analysed)]
        self._figures.count(len(found))
        return found


class ByIndex:
    """The index alone: fast, and sometimes an overlap too many."""

    def __init__(self, index: FilterIndex, figures: OverlapCounts) -> None:
        self._index = index
        self._figures = figures
        self._entries: dict[str, Entry] = {}

    def add(self, entry: Entry) -> None:
        self._entries[entry.id] = entry
        self._index.add(entry.id, entry.analysed.filter)

    def remove(self, entry: Entry) -> None:
        del self._entries[entry.id]
        self._index.remove(entry.id)

    def has_any(self, analysed: AnalysedFilter) -> bool:
        return self._figures.count(bool(self._index.first(analysed.filter).names))

    def all(self, analysed: AnalysedFilter, is_wanted: Callable[[Entry], bool]) -> list[Entry]:
        entries = [self._entries[name] for name in self._index.all(analysed.filter).names]
        found = [each for each in entries if is_wanted(each)]
        self._figures.count(len(found))
        return found


class ByIndexAndProof:
    """The index, and a proof for what it finds.

    The index is brought up to date once looking at pairs instead has cost as much: of few
    entries, or of many that are hardly ever asked for, none is made at all.
    """

    def __init__(
        self, index: Callable[[], FilterIndex], analyser: FilterAnalyser, figures: OverlapCounts
    ) -> None:
        self._make_index = index
        self._index: FilterIndex | None = None
        self._analyser = analyser
        self._figures = figures
        self._pairs = ByPairs(analyser, figures)
        self._entries = self._pairs.entries
        self._new: dict[str, Filter] = {}
        self._spent = 0

    def add(self, entry: Entry) -> None:
        self._pairs.add(entry)
        self._new[entry.id] = entry.analysed.filter

    def remove(self, entry: Entry) -> None:
        self._pairs.remove(entry)
        if self._new.pop(entry.id, None) is None:
            assert self._index is not None
            self._index.remove(entry.id)

    def has_any(self, analysed: AnalysedFilter) -> bool:
        index = self._worthwhile()
        if index is None:
            proofs = self._analyser.proofs
            answer = self._pairs.has_any(analysed)
            self._spend(proofs)
            return answer
        return self._figures.count(self._is_soon_found(analysed) or self._is_found(index, analysed))

    def all(self, analysed: AnalysedFilter, is_wanted: Callable[[Entry], bool]) -> list[Entry]:
        index = self._worthwhile()
        if index is None:
            proofs = self._analyser.proofs
            answer = self._pairs.all(analysed, is_wanted)
            self._spend(proofs)
            return answer
        entries = [self._entries[name] for name in index.all(analysed.filter).names]
        found = [each for each in entries if is_wanted(each) and self._is_proven(each, analysed)]
        self._figures.count(len(found))
        return found

    def _is_soon_found(self, analysed: AnalysedFilter) -> bool:
        """True if one of a handful overlaps: where most do, the index is not worth asking."""
        handful = islice(self._entries.values(), HANDFUL)
        return any(self._analyser.overlaps(each.analysed, analysed) for each in handful)

    def _is_found(self, index: FilterIndex, analysed: AnalysedFilter) -> bool:
        first = index.first(analysed.filter).names
        if not first or self._is_proven(self._entries[first[0]], analysed):
            return bool(first)
        names = index.all(analysed.filter).names
        return any(
            self._is_proven(self._entries[name], analysed) for name in names if name not in first
        )

    def _is_proven(self, entry: Entry, analysed: AnalysedFilter) -> bool:
        is_overlap = self._analyser.overlaps(entry.analysed, analysed)
        self._figures.checked += 1
        self._figures.refuted += not is_overlap
        return is_overlap

    def _spend(self, proofs_before: int) -> None:
        """Note what a look at all pairs has cost."""
        self._spent += len(self._entries) + PROOF_COSTS * (self._analyser.proofs - proofs_before)

    def _worthwhile(self) -> FilterIndex | None:
        """The index of all entries, or None while pairs are the cheaper way."""
        count = len(self._entries)
        if count <= FEW or self._spent + count < INDEXED_COSTS * len(self._new):
            return None
        if self._index is None:
            self._index = self._make_index()
        for name, filter in self._new.items():
            self._index.add(name, filter)
        self._new.clear()
        self._spent = 0
        return self._index
