"""The table of engines: its ratios, its growth, and that engines must agree to be in it."""

import pytest
from msgspec.structs import replace

from boolcast.lab.benchmarks.choices import EngineName, WorkloadName
from boolcast.lab.benchmarks.match import batches
from boolcast.lab.benchmarks.match.batches import SharedWorkload, growth, with_ratios
from boolcast.lab.benchmarks.match.engines import ENGINES, MeasuredEngine
from boolcast.matching.scan import ScanMatcher
from tests.lab import sample_figures

ACCESS, COUNTING, _, SCAN = EngineName
FIGURES = replace(sample_figures.ACCESS, subscriptions=1_000, events=100)


def test_ratios_are_to_what_was_measured():
    counting = replace(FIGURES, engine=COUNTING, microseconds_per_event=1_500.0)
    access, other = with_ratios([FIGURES, counting])
    assert (access.times_counting, access.times_scan) == (150.0, None)
    assert (other.times_counting, other.times_scan) == (1.0, None)
    scan = replace(FIGURES, engine=SCAN, microseconds_per_event=30_000.0)
    assert [each.times_scan for each in with_ratios([FIGURES, counting, scan])] == [3_000, 20, 1]


def test_growth_is_of_the_time_for_a_candidate_or_match():
    assert FIGURES.nanoseconds_per_look == 50.0
    # Twice the time for twice the looks is no growth.
    large = replace(
        FIGURES,
        subscriptions=5_000,
        microseconds_per_event=20.0,
        candidates_per_event=300.0,
        matches_per_event=100.0,
    )
    largest = replace(FIGURES, subscriptions=9_000, microseconds_per_event=15.0)
    zipf = replace(largest, workload=WorkloadName.AUCTION_ZIPF)
    counting = replace(large, engine=COUNTING, candidates_per_event=None)
    found = growth([largest, zipf, FIGURES, counting, large])
    assert [(each.fewer_subscriptions, each.more_subscriptions, each.growth) for each in found] == [
        (1_000, 5_000, 1.0),
        (5_000, 9_000, 1.5),
    ]


def test_a_look_takes_no_time_where_there_is_none():
    idle = replace(FIGURES, candidates_per_event=0.0, matches_per_event=0.0)
    assert idle.nanoseconds_per_look is None
    assert growth([idle, replace(idle, subscriptions=2_000)]) == []


@pytest.fixture
def shared(monkeypatch):
    monkeypatch.setattr(batches, "BATCH_EVENTS", 70)
    return SharedWorkload(WorkloadName.AUCTION, 300, 200, 1)


@pytest.mark.slow
def test_figures_of_all_engines(shared):
    access, counting, _, scan = (shared.measure(name, 1) for name in EngineName)
    assert [each.events for each in (access, counting, scan)] == [200, 10, 2]
    expected = ENGINES[SCAN].make()
    for entry in shared._subscriptions.to_pylist():
        expected.add(entry["subscription"], entry["filter"])
    matches = expected.match_batch(shared._events).read_all()
    assert access.matches_per_event == len(matches) / 200
    assert access.candidates_per_event is not None
    assert 0 < access.candidates_per_event < 300
    assert access.structure_bytes is not None
    assert 20 < access.structure_bytes < 2_000
    assert access.text_bytes is not None
    texts = sum(map(len, shared._subscriptions["filter"].to_pylist())) / 300
    assert texts < access.text_bytes < texts + 100
    assert counting.structure_bytes is None
    for each in (access, counting, scan):
        assert each.microseconds_per_event == pytest.approx(1e6 / each.events_per_second)
        assert each.load_seconds > 0


def test_what_is_measured_was_not_learned_from(shared):
    learned = {str(event) for event in shared._lesson.to_pylist()}
    assert len(shared._lesson) == 70
    assert not learned & {str(event) for event in shared._events.to_pylist()}


class Forgetful(ScanMatcher):
    """Has no match for the first event."""

    def match_batch(self, events):
        return super().match_batch(events.slice(1) if len(events) > 1 else events)


def test_engines_that_disagree_do_not_come_into_one_table(monkeypatch):
    shared = SharedWorkload(WorkloadName.UNSELECTIVE, 50, 200, 1)
    shared.measure(ACCESS, 1)
    monkeypatch.setitem(ENGINES, SCAN, MeasuredEngine(Forgetful, 1))
    with pytest.raises(AssertionError, match="scan and access disagree"):
        shared.measure(SCAN, 1)


def test_engines_are_compared_on_events_that_match(monkeypatch):
    shared = SharedWorkload(WorkloadName.AUCTION, 50, 200, 1)
    shared.measure(ACCESS, 1)
    matches = ENGINES[SCAN].make()
    for entry in shared._subscriptions.to_pylist():
        matches.add(entry["subscription"], entry["filter"])
    assert shared._compared is not None
    found = matches.match_batch(shared._compared).read_all()["event"].unique()
    assert len(found) == len(shared._compared) == 4
