"""One filter pruned before it is sent."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from boolcast.algebra import covers
from boolcast.filters.parsing import parse
from boolcast.optimising.pruning.pre_pruning import pre_prune
from boolcast.optimising.pruning.trees import Tree, prepared
from tests.optimising.pruning_histories import S1, S1_SHARES, known, shares_for
from tests.strategies import filters


@pytest.mark.parametrize(
    ("predicates", "degradation", "expected"),
    [
        (6, 1.0, S1),
        (0, 0.0, S1),
        (5, 1.0, S1.replace("condition = 'new' and price < 25", "condition = 'new'")),
        (2, 1.0, "title = 'Harry Potter' and ending < 24"),
        (0, 0.001, "title = 'Harry Potter' and ending < 24"),
        # As far as possible, even if the target is out of reach.
        (0, 1.0, "title = 'Harry Potter'"),
    ],
)
def test_neighbours_may_get_different_filters(predicates, degradation, expected):
    """P1-B8."""
    pruned = pre_prune(parse(S1), known(S1_SHARES), predicates=predicates, degradation=degradation)
    assert str(pruned) == expected


def test_what_is_not_pruned_stays_as_it_was_written():
    written = parse("not price < 25.0")
    assert pre_prune(written, known({})) is written


@pytest.mark.parametrize("wrong", [{"predicates": -1}, {"degradation": 1.5}])
def test_nonsense_is_refused(wrong):
    with pytest.raises(ValueError, match="at least 0"):
        pre_prune(parse("a = 1"), known({}), **wrong)


@given(filters(small=True), st.floats(0, 1), st.data())
def test_the_form_sent_covers_the_original_within_its_degradation(filter, degradation, data):
    """P1-T9, law 4."""
    selectivities = data.draw(shares_for([filter]))
    sent = pre_prune(filter, selectivities, degradation=degradation)
    verdict = covers(sent, filter)
    assume(not verdict.exhausted)
    assert verdict.holds
    before, after = (Tree.of(prepared(each), selectivities).estimate for each in (filter, sent))
    assert before.degradation_to(after) <= degradation + 1e-9
