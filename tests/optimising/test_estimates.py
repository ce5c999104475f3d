"""Estimates of AND and OR, and of whole trees."""

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boolcast.optimising.statistics.estimates import SHARE_RULES, Estimate
from tests.optimising.pruning_histories import S1, S1_SHARES, known, tree

of_and, of_or = partial(SHARE_RULES.joined, True), partial(SHARE_RULES.joined, False)


def points(*shares: float) -> list[Estimate]:
    return [Estimate(share, share, share) for share in shares]


@pytest.mark.parametrize(
    ("join", "shares", "expected"),
    [
        (of_and, (0.5, 0.8), (0.3, 0.4, 0.5)),
        (of_or, (0.5, 0.8), (0.8, 0.9, 1.0)),
        (of_and, (0.2, 0.3, 0.9), (0, 0.054, 0.2)),
        (of_or, (0.2, 0.3, 0.9), (0.9, 0.944, 1.0)),
    ],
)
def test_the_worked_examples_of_and_and_or(join, shares, expected):
    """P1-T3."""
    assert join(points(*shares)) == pytest.approx(expected, abs=1e-12)


def test_the_estimates_within_a_tree():
    """P1-T5: the inner ANDs, the OR, and the root."""
    root = tree(S1, known(S1_SHARES))
    either = root.children[2]
    assert either.children[0].estimate == pytest.approx((0.1, 0.18, 0.2), abs=1e-9)
    assert either.children[1].estimate == pytest.approx((0.5, 0.56, 0.7), abs=1e-9)
    assert either.estimate == pytest.approx((0.5, 0.6392, 0.9), abs=1e-9)
    assert root.estimate == pytest.approx((0, 0.000895, 0.01), abs=1e-6)


shares = st.floats(0, 1)


@st.composite
def estimates(draw: st.DrawFn) -> Estimate:
    return Estimate(*sorted(draw(st.tuples(shares, shares, shares))))


@given(st.sampled_from((of_and, of_or)), st.lists(estimates(), min_size=2), st.data())
def test_a_more_general_child_lowers_nothing(join, children, data):
    place = data.draw(st.integers(0, len(children) - 1))
    raised = [data.draw(st.floats(part, 1)) for part in children[place]]
    others = [*children[:place], Estimate(*raised), *children[place + 1 :]]
    before, after = join(children), join(others)
    assert all(new >= old - 1e-9 for old, new in zip(before, after, strict=True))
    assert before.degradation_to(after) >= -1e-9


@given(st.sampled_from((of_and, of_or)), st.lists(estimates(), min_size=2))
def test_the_average_lies_between_the_bounds(join, children):
    minimum, average, maximum = join(children)
    assert minimum - 1e-9 <= average <= maximum + 1e-9
    assert minimum >= 0
    assert maximum <= 1


@given(st.lists(st.lists(st.booleans(), min_size=4, max_size=4), min_size=1, max_size=12))
def test_the_bounds_hold_for_all_events_whatever_they_have_in_common(rows):
    """(a and b) or (c and d) over events of four truth values."""
    count = len(rows)
    a, b, c, d = points(*(sum(row[i] for row in rows) / count for i in range(4)))
    estimate = of_or([of_and([a, b]), of_and([c, d])])
    share = sum((row[0] and row[1]) or (row[2] and row[3]) for row in rows) / count
    assert estimate.minimum - 1e-9 <= share <= estimate.maximum + 1e-9
