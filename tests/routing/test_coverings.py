"""Who covers whom, by proofs and by diagrams: never a wrong yes, and the same for conjunctions."""

from typing import get_args

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from boolcast.algebra import covers
from boolcast.filters.parsing import parse
from boolcast.matching.relations.analysed_filters import AnalysedFilter, FilterAnalyser
from boolcast.matching.relations.coverings import Coverings
from boolcast.routing.policies.registry import COVERING_TESTS
from boolcast.routing.protocol.configuration import CoveringSettings, CoveringTest
from boolcast.routing.tables.covering_graph import Node
from tests.routing.test_candidates import CONJUNCTIONS
from tests.strategies import filters

KINDS: tuple[CoveringTest, ...] = get_args(CoveringTest)


def filled(
    kind: CoveringTest, analyser: FilterAnalyser, rows: list[AnalysedFilter], removed: set[int]
):
    coverings: Coverings[Node] = COVERING_TESTS[kind](CoveringSettings(), analyser)
    nodes = [Node(form, number) for number, form in enumerate(rows)]
    for node in nodes:
        coverings.add(node)
    for node in nodes:
        if node.order in removed:
            coverings.remove(node)
    return coverings


def relations(coverings: Coverings[Node], form: AnalysedFilter) -> tuple[list[int], list[int]]:
    """The orders of those that cover a form, and of those that it covers."""
    new = Node(form, -1)
    above = [each for each in coverings.covering(form) if coverings.covers(each, new)]
    below = [each for each in coverings.covered(form) if coverings.covers(new, each)]
    return [each.order for each in above], [each.order for each in below]


@pytest.mark.parametrize("kind", KINDS)
@given(
    several=st.lists(filters(small=True), max_size=8),
    new=filters(small=True),
    removed=st.sets(st.integers(0, 7)),
)
def test_never_a_wrong_yes(kind, several, new, removed):
    """R13. Of residuals the algebra knows nothing, and has not contradicted what it cannot."""
    analyser = FilterAnalyser()
    # A contradiction is never stored: nobody need know it.
    rows = [form for each in several if not (form := analyser.analyse(each)).is_never]
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
    rows = [form for text in several if not (form := analyser.analyse(parse(text))).is_never]
    asked = analyser.analyse(parse(new))
    if asked.is_never:
        return
    one, other = (relations(filled(kind, analyser, rows, set()), asked) for kind in KINDS)
    assert one == other
