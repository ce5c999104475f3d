"""Analysed filters and the candidate indexes over them: no covering filter is overlooked."""

from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boolcast.algebra import covers, overlaps
from boolcast.filters.evaluation import evaluate
from boolcast.filters.parsing import parse
from boolcast.matching.relations import covering_index
from boolcast.matching.relations.analysed_filters import AnalysedFilter, FilterAnalyser, may_cover
from boolcast.matching.relations.covering_index import ByProofs
from boolcast.model.events import Event
from boolcast.workloads import Auction, Diverse
from tests.strategies import events, filters


class Stored(NamedTuple):
    analysed: AnalysedFilter
    order: int


LEAVES = st.one_of(
    st.builds(lambda x: f"group = {x}", st.integers(0, 2)),
    st.builds(lambda x: f"type = '{x}'", st.sampled_from("ab")),
    st.builds(lambda x, w: f"x between {x} and {x + w}", st.integers(0, 9), st.integers(0, 4)),
    st.builds(lambda x: f"x < {x}", st.integers(0, 9)),
    st.builds(lambda y: f"y in ({y}, {y + 2})", st.integers(0, 4)),
    st.sampled_from(["flag = true", "flag = false", "t is null", "t is not null"]),
    st.sampled_from(["starts_with(t, 'a')", "t >= 'ab' and t < 'ac'"]),
    st.builds(
        lambda text, template: template.format(text),
        st.text("ab", min_size=1, max_size=4),
        st.sampled_from(["contains(t, '{}')", "t like '%{}_b%'", "t like 'a%{}%'", "t like '_{}'"]),
    ),
)
CONJUNCTIONS = st.lists(LEAVES, min_size=1, max_size=4).map(" and ".join)
DISJUNCTIONS = st.lists(CONJUNCTIONS, min_size=1, max_size=3).map(" or ".join)
CLAUSES = st.lists(DISJUNCTIONS.map("({})".format), min_size=1, max_size=3).map(" and ".join)
ANY = st.one_of(CONJUNCTIONS, CLAUSES, CLAUSES.map("not ({})".format)).map(parse) | filters(
    small=True
)


@given(trees=st.lists(ANY, min_size=2, max_size=8), removed=st.sets(st.integers(0, 7)))
def test_every_covering_is_among_the_candidates(trees, removed):
    analyser = FilterAnalyser()
    several = [Stored(analyser.analyse(tree), order) for order, tree in enumerate(trees)]
    # A contradiction is never stored.
    several = [stored for stored in several if not stored.analysed.is_never]
    index: ByProofs[Stored] = ByProofs(analyser)
    for stored in several:
        index.add(stored)
    for stored in [stored for stored in several if stored.order in removed]:
        index.remove(stored)
    kept = [stored for stored in several if stored.order not in removed]
    for stored in several:
        asked = stored.analysed
        assert {each for each in kept if analyser.covers(each.analysed, asked)} <= set(
            index.covering(asked)
        )
        assert {each for each in kept if analyser.covers(asked, each.analysed)} <= set(
            index.covered(asked)
        )


@given(
    left=filters(small=True),
    right=filters(small=True),
    rows=st.lists(events(small=True).map(Event.from_python), max_size=20),
)
def test_what_analysis_says_is_sound(left, right, rows):
    """R13: ranges may hide a covering and never invent one; overlaps the other way round.

    Ranges know a little about residual predicates, the algebra nothing: a verdict without a
    witness does not contradict them.
    """
    analyser = FilterAnalyser()
    one, other = analyser.analyse(left), analyser.analyse(right)
    if analyser.covers(one, other):
        verdict = covers(left, right)
        assert verdict or verdict.witness is None
        assert all(evaluate(left, event, True) for event in rows if evaluate(right, event, True))
    if not analyser.overlaps(one, other):
        verdict = overlaps(left, right)
        assert not verdict or verdict.witness is None
        assert not any(
            evaluate(left, event, True) and evaluate(right, event, True) for event in rows
        )


@given(left=CONJUNCTIONS, right=CONJUNCTIONS)
def test_conjunctions_are_compared_completely(left, right):
    analyser = FilterAnalyser()
    one, other = analyser.analyse(parse(left)), analyser.analyse(parse(right))
    assert analyser.covers(one, other) == bool(covers(one.filter, other.filter))
    assert analyser.overlaps(one, other) == bool(overlaps(one.filter, other.filter))


def test_a_child_among_many_has_few_candidates():
    """The workload of P4-X1: one root and 500 children of equal width."""
    analyser = FilterAnalyser()
    index: ByProofs[Stored] = ByProofs(analyser)

    def analysed(text: str) -> AnalysedFilter:
        return analyser.analyse(parse(text))

    index.add(Stored(analysed("group = 7"), 0))
    for low in range(500):
        text = f"group = 7 and x between {10 * low} and {10 * low + 100}"
        index.add(Stored(analysed(text), low + 1))
    inside = analysed("group = 7 and x between 1000 and 1100")
    assert [stored.order for stored in index.covering(inside)] == [0, 101]
    assert [stored.order for stored in index.covered(inside)] == [101]
    assert [stored.order for stored in index.covered(analysed("group = 8"))] == []
    assert len(index.covered(analysed("group = 7"))) == 501


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[AnalysedFilter]:
    """Grows by one for every pair that is checked with witnesses."""
    looked: list[AnalysedFilter] = []

    def look(general: AnalysedFilter, specific: AnalysedFilter) -> bool:
        looked.append(general)
        return may_cover(general, specific)

    monkeypatch.setattr(covering_index, "may_cover", look)
    return looked


@pytest.mark.slow
@pytest.mark.parametrize("workload", [Auction, Diverse])
def test_few_of_a_workload_are_looked_at(workload, looks):
    """Also of ANDs of ORs; comparing each with all others would take 400 looks for each."""
    analyser = FilterAnalyser()
    index: ByProofs[Stored] = ByProofs(analyser)
    found = 0
    rows = [analyser.analyse(each) for each in workload(seed=1).subscription_filters(0, 400)]
    for number, each in enumerate(rows):
        found += len(index.covering(each)) + len(index.covered(each))
        index.add(Stored(each, number))
    assert found < len(rows) / 10
    assert len(looks) < 15 * len(rows)


def test_few_patterns_on_one_attribute_are_looked_at(looks):
    analyser = FilterAnalyser()
    index: ByProofs[Stored] = ByProofs(analyser)
    rows = [analyser.analyse(parse(f"contains(title, 'w{number}x')")) for number in range(200)]
    for number, each in enumerate(rows):
        assert index.covering(each) == index.covered(each) == []
        index.add(Stored(each, number))
    assert len(looks) < 10 * len(rows)
    narrow = analyser.analyse(parse("title like '%a w77x b%'"))
    (general,) = index.covering(narrow)
    assert general.analysed is rows[77]
    index.add(Stored(narrow, len(rows)))
    assert [each.order for each in index.covered(rows[77])] == [77, len(rows)]
