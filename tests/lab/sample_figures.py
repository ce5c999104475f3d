"""Figures of an engine, for tests that measure nothing."""

from boolcast.lab.benchmarks.choices import EngineName, WorkloadName
from boolcast.lab.benchmarks.figures import BatchFigures

ACCESS = BatchFigures(
    workload=WorkloadName.AUCTION,
    subscriptions=200_000,
    engine=EngineName.ACCESS,
    events=1_000,
    load_seconds=1.0,
    settle_seconds=1.0,
    events_per_second=100_000.0,
    microseconds_per_event=10.0,
    candidates_per_event=150.0,
    matches_per_event=50.0,
    structure_bytes=None,
    filter_bytes=None,
    id_bytes=None,
    text_bytes=None,
)
