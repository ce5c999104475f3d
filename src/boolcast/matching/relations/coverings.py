"""Who covers whom among filters that come and go: proven pair by pair, or read off diagrams.

A relation graph asks. Both answers are sound, and neither is complete (R13): a proof has a budget,
and diagrams see no covering that several predicates prove only together.
"""

from typing import TYPE_CHECKING, Generic, Protocol

from boolcast.matching.relations.analysed_filters import AnalysedFilter, FilterAnalyser
from boolcast.matching.relations.candidates import Candidates
from boolcast.matching.relations.interval_index import T

if TYPE_CHECKING:
    from boolcast.matching.diagrams.diagrams import Diagrams


class Coverings(Protocol[T]):
    """Filters, asked which of them may cover a form, which it may cover, and then which do."""

    def add(self, stored: T) -> None:
        """Take something up; its order must be its own."""

    def remove(self, stored: T) -> None:
        """Forget something that was added."""

    def covering(self, form: AnalysedFilter) -> list[T]:
        """Whatever may cover the form, in the order of their numbers."""

    def covered(self, form: AnalysedFilter) -> list[T]:
        """Whatever the form may cover, in the order of their numbers."""

    def covers(self, general: T, specific: T) -> bool:
        """True only if it is so; one of the two is what was asked about last."""


class ByProofs(Candidates[T]):
    """Candidates by their ranges, proven by the algebra (decision 25)."""

    def __init__(self, analyser: FilterAnalyser) -> None:
        super().__init__()
        self._analyser = analyser

    def covers(self, general: T, specific: T) -> bool:
        return self._analyser.covers(general.form, specific.form)


class ByDiagrams(Generic[T]):
    """Both questions at once by shared decision diagrams, which must be empty at first (P2-B5).

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
        self._diagrams.add(str(stored.order), stored.form.filter)

    def remove(self, stored: T) -> None:
        self._asked = None
        del self._stored[str(stored.order)]
        self._diagrams.remove(str(stored.order))

    def covering(self, form: AnalysedFilter) -> list[T]:
        self._ask(form)
        return list(self._above)

    def covered(self, form: AnalysedFilter) -> list[T]:
        self._ask(form)
        return list(self._below)

    def covers(self, general: T, specific: T) -> bool:
        # Equal filters have the same form: then either of the two may be the one asked about.
        assert self._asked in {general.form, specific.form}, "asked of what was found"
        return (specific.form is self._asked and general in self._above) or (
            general.form is self._asked and specific in self._below
        )

    def _ask(self, form: AnalysedFilter) -> None:
        if form is not self._asked:
            found = self._diagrams.relations(form.filter)
            self._above = self._named(found.covered_by)
            self._below = self._named(found.covers)
            self._asked = form

    def _named(self, names: list[str]) -> dict[T, None]:
        return dict.fromkeys(self._stored[name] for name in sorted(names, key=int))
