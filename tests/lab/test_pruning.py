"""P1's pruning of one broker, small: what does not hang on size must come out as published."""

import msgspec
import pytest

from boolcast.lab.benchmarks.match.engines import pairs
from boolcast.lab.papers.pruning.experiment import (
    SETTINGS,
    PruningCurve,
    PruningExperiment,
    Setting,
    pruning_auction,
)
from boolcast.lab.papers.pruning.one_broker import pruning_curve, pruning_points
from boolcast.lab.papers.selectivities import learnt_selectivities
from boolcast.matching.counting.engine import CountingMatcher
from boolcast.matching.counting.forests import Forest
from boolcast.matching.matcher import Matcher
from boolcast.model.identifiers import SubscriptionId
from boolcast.optimising.pruning.queues import SelectivityQueue
from boolcast.optimising.statistics.selectivities import Selectivities

pytestmark = pytest.mark.slow

SUBSCRIPTIONS = 300

# As small as the shape of the curve allows: classes with a category need some categories.
SIZES: dict[Setting, tuple[int, int]] = {
    "1": (SUBSCRIPTIONS, 12),
    "2": (SUBSCRIPTIONS, 24),
    "3": (1_000, 12),
    "1-3": (1_000, 12),
}


TINY = PruningExperiment(
    setting="1-3",
    subscriptions=60,
    steps=3,
    events=100,
    training_events=300,
    timing_events=50,
)


class Curves(dict[Setting, PruningCurve]):
    """Drawn when they are asked for, which takes seconds each."""

    def __missing__(self, setting: Setting) -> PruningCurve:
        size, steps = SIZES[setting]
        self[setting] = pruning_curve(
            PruningExperiment(
                setting=setting,
                subscriptions=size,
                steps=steps,
                events=1_000,
                training_events=10_000,
            )
        )
        return self[setting]


@pytest.fixture(scope="module")
def curves() -> Curves:
    return Curves()


@pytest.mark.parametrize(
    ("setting", "operations", "predicates"), [("1", 4, 5), ("2", 8, 11), ("3", 3, 5)]
)
def test_the_structure_is_that_of_the_classes(curves, setting, operations, predicates):
    """P1-X5, the first check: exact, and independent of any machine."""
    first, last = curves[setting].points[0], curves[setting].points[-1]
    assert last.operations == operations * curves[setting].subscriptions
    assert first.predicates - last.predicates == predicates * curves[setting].subscriptions


@pytest.mark.parametrize(
    ("setting", "proportion", "tolerance"),
    [("1", 0.75, 0.08), ("2", 0.88, 0.05), ("3", 0.58, 0.10)],
)
def test_the_cut_off_lies_where_it_was_published(curves, setting, proportion, tolerance):
    """P1-X5, the second check."""
    curve = curves[setting]
    assert curve.proportion(curve.cut_off) == pytest.approx(proportion, abs=tolerance)


def test_the_cut_offs_come_in_the_published_order(curves):
    first, second, third = (curves[name].proportion(curves[name].cut_off) for name in "123")
    assert third < first < second


@pytest.mark.parametrize(
    ("setting", "relief", "tolerance"),
    [("1", 0.80, 0.05), ("2", 0.91, 0.05), ("3", 0.55, 0.08), ("1-3", 0.78, 0.05)],
)
def test_the_relief_of_memory_is_the_published_one(curves, setting, relief, tolerance):
    """P1-X5, the third check; in the mix two points gain nearly the same, and this is one size."""
    curve = curves[setting]
    assert curve.relief(curve.cut_off) == pytest.approx(relief, abs=tolerance)


@pytest.mark.parametrize("setting", SETTINGS)
def test_most_of_the_matching_events_come_after_the_cut_off(curves, setting):
    """P1-X5, the fourth check; its 5 % hold from 20,000 subscriptions on."""
    curve = curves[setting]
    before, whole = curve.growth(curve.cut_off), curve.growth(curve.points[-1])
    assert 0 <= before < 0.1
    assert whole - before >= 5 * before
    growths = [curve.growth(point) for point in curve.points]
    assert growths == sorted(growths)


@pytest.mark.parametrize(("setting", "saved"), [("1", 0.5), ("2", 0.5), ("3", 0.25), ("1-3", 0.5)])
def test_the_work_falls(curves, setting, saved):
    """P1-X5, the fifth check: associations touched and trees looked at."""
    curve = curves[setting]
    assert 1 - curve.cut_off.work / curve.points[0].work >= saved


def test_times_are_taken_when_asked_for():
    curve = pruning_curve(TINY)
    assert all(point.counting_microseconds and point.access_microseconds for point in curve.points)


def test_points_by_themselves_are_those_of_the_whole_curve():
    untimed = msgspec.structs.replace(TINY, timing_events=0)
    whole = pruning_curve(untimed).points
    assert pruning_points(untimed, 0, 1) + pruning_points(untimed, 2, 3) == whole
    # The access engine counts matching events where times are taken: the same ones.
    assert [each.matching for each in pruning_curve(TINY).points] == [
        each.matching for each in whole
    ]


def test_what_is_learnt_of_predicates_is_what_matching_whole_filters_learns():
    """P1-B5: the counters are those of predicates, whatever filters they stand in."""
    filters = list(TINY.auction.subscription_filters(0, TINY.subscriptions))
    matcher = CountingMatcher()
    for row, filter in enumerate(filters):
        matcher.add(str(row), filter)
    for events in TINY.lessons():
        pairs(matcher, events)
    whole = Selectivities(matcher.statistics())
    learnt = learnt_selectivities(filters, TINY.lessons())
    predicates = Forest()
    for filter in filters:
        predicates.plant(filter)
    for predicate in predicates.leaves:
        assert learnt.estimate(predicate) == whole.estimate(predicate)


def test_the_estimated_cut_off_is_near_the_measured_one(curves):
    """A broker that has only its statistics stops about where the experiment would."""
    auction = pruning_auction("2", SUBSCRIPTIONS, 1)
    matcher = CountingMatcher()
    filters = list(auction.subscription_filters(0, SUBSCRIPTIONS))
    for row, filter in enumerate(filters):
        matcher.add(str(row), filter)
    list(matcher.match_batch(auction.events(5_000, 4_000)))
    queue = SelectivityQueue(Selectivities(matcher.statistics()))
    for row, filter in enumerate(filters):
        queue.add(SubscriptionId(str(row)), filter)
    curve = curves["2"]
    estimated = queue.cut_off().count / curve.points[-1].operations
    assert estimated == pytest.approx(curve.proportion(curve.cut_off), abs=0.05)


@pytest.mark.parametrize("engine", [CountingMatcher, Matcher])
def test_a_pruned_table_matches_all_that_the_whole_one_does(engine):
    """P1-T9, by the engines: what a client gets is then decided by the original, as ever."""
    auction = pruning_auction("1-3", SUBSCRIPTIONS, 2)
    whole, pruned = engine(), engine()
    queue = SelectivityQueue(Selectivities(CountingMatcher().statistics()))
    originals = {
        SubscriptionId(f"s{row}"): filter
        for row, filter in enumerate(auction.subscription_filters(0, SUBSCRIPTIONS))
    }
    for name, filter in originals.items():
        whole.add(name, filter)
        queue.add(name, filter)
    queue.prune(queue.cut_off())
    for name in originals:
        pruned.add(name, queue.filter_of(name))
    events = auction.events(0, 300)
    rows = events.to_pylist()
    passed = pairs(pruned, events)
    delivered = {
        (row, name) for row, name in passed if originals[SubscriptionId(name)].accepts(rows[row])
    }
    assert delivered == pairs(whole, events)
    assert delivered < passed
