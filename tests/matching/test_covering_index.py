"""Covering by proofs and by diagrams: never a wrong yes, and the same for conjunctions."""

from typing import Literal, get_args

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from boolcast.algebra import covers
from boolcast.filters.parsing import parse
from boolcast.matching.diagrams.diagrams import Diagrams
from boolcast.matching.relations.analysed_filters import AnalysedFilter, FilterAnalyser
from boolcast.matching.relations.covering_index import ByDiagrams, ByProofs, CoveringIndex
from tests.matching.test_covering_candidates import CONJUNCTIONS, Stored
from tests.strategies import filters

Kind = Literal["proofs", "diagrams"]
KINDS: tuple[Kind, ...] = get_args(Kind)


def filled(kind: Kind, analyser: FilterAnalyser, rows: list[AnalysedFilter], removed: set[int]):
    index: CoveringIndex[Stored]
    index = ByProofs(analyser) if kind == "proofs" else ByDiagrams(Diagrams(()))
    several = [Stored(each, number) for number, each in enumerate(rows)]
    for stored in several:
        index.add(stored)
    for stored in several:
        if stored.order in removed:
            index.remove(stored)
    return index


def relations(index: CoveringIndex[Stored], asked: AnalysedFilter) -> tuple[list[int], list[int]]:
    """The orders of the filters that cover this one, and of those that it covers."""
    new = Stored(asked, -1)
    above = [each for each in index.covering(asked) if index.covers(each, new)]
    below = [each for each in index.covered(asked) if index.covers(new, each)]
    return [each.order for each in above], [each.order for each in below]


@pytest.mark.parametrize("kind", KINDS)
@given(
    several=st.lists(filters(small=True), max_size=8),
    new=filters(small=True),
    removed=st.sets(st.integers(0, 7)),
)
def test_never_a_wrong_yes(kind, several, new, removed):
    """R13. The algebra knows nothing of residuals: without a witness it contradicts nothing."""
    analyser = FilterAnalyser()
    # A contradiction is never stored.
    rows = [row for each in several if not (row := analyser.analyse(each)).is_never]
    above, below = relations(filled(kind, analyser, rows, removed), analyser.analyse(new))
    assert above == sorted(above)
    assert below == sorted(below)
    assert removed.isdisjoint(above + below)
    for general, specific in [
        *((rows[order].filter, new) for order in above),
        *((new, rows[order].filter) for order in below),
    ]:
        verdict = covers(general, specific)
        assert verdict.holds or verdict.witness is None


PLAIN = CONJUNCTIONS.filter(lambda text: not any(part in text for part in ("like", "(t,")))


@example(several=["x = 0"], new="x = 0")
@given(several=st.lists(PLAIN, max_size=8, unique=True), new=PLAIN)
def test_both_see_the_same_among_conjunctions(several, new):
    analyser = FilterAnalyser()
    rows = [row for text in several if not (row := analyser.analyse(parse(text))).is_never]
    asked = analyser.analyse(parse(new))
    if asked.is_never:
        return
    one, other = (relations(filled(kind, analyser, rows, set()), asked) for kind in KINDS)
    assert one == other
