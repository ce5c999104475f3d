"""P1's pruning of five brokers in a line, small: deliveries stay, and little more travels."""

import pytest

from boolcast.lab.papers.pruning.experiment import BROKERS, NetworkCurve, PruningExperiment
from boolcast.lab.papers.pruning.network import network_curve

pytestmark = pytest.mark.slow

SUBSCRIPTIONS, EVENTS = 300, 400


@pytest.fixture(scope="module")
def curve() -> NetworkCurve:
    return network_curve(
        PruningExperiment(
            setting="1", subscriptions=SUBSCRIPTIONS, events=EVENTS, steps=8, timing_events=EVENTS
        )
    )


def test_deliveries_are_those_of_whole_tables(curve):
    """P1-X5, check 7a."""
    assert curve.points[0].deliveries > 0
    assert all(point.are_deliveries_the_same for point in curve.points)
    assert len({point.deliveries for point in curve.points}) == 1


def test_the_structure_is_that_of_the_class(curve):
    """Each subscription has 4 prunings and 5 predicates to lose, at all brokers but its own."""
    first, last = curve.points[0], curve.points[-1]
    assert (first.operations, last.operations) == (0, 4 * SUBSCRIPTIONS)
    assert first.predicates == 6 * SUBSCRIPTIONS * (BROKERS - 1)
    assert last.predicates == SUBSCRIPTIONS * (BROKERS - 1)


def test_little_more_travels_up_to_the_cut_off(curve):
    """P1-X5, checks 3 and 7b: at 0.75 of all prunings 0.80 of the predicates are gone."""
    assert curve.proportion(curve.cut_off) == 0.75
    assert curve.relief(curve.cut_off) == pytest.approx(0.80, abs=0.07)
    assert curve.growth(curve.cut_off) <= 0.15
    assert curve.growth(curve.points[-1]) > 4 * curve.growth(curve.cut_off)
    for point in curve.points:
        # An event is matched where it is published, and once for each link that it crosses.
        assert point.matched == EVENTS + point.passing
        assert len(point.links) == BROKERS - 1


def test_times_are_measured(curve):
    assert all(point.counting_microseconds is not None for point in curve.points)
    assert curve.saving(curve.points[0]) == 0
