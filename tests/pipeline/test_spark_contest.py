"""The contenders of `boolcast bench spark` find the same matches, and so does the engine."""

from collections import Counter

import pytest

from boolcast.lab.benchmarks.choices import SparkPart
from boolcast.lab.benchmarks.match.engines import auction
from boolcast.lab.benchmarks.spark.contenders import EVENT
from boolcast.lab.benchmarks.spark.joins import Tables, fixed_positions, greatest_bound, hand_split
from boolcast.lab.benchmarks.spark.order import Order
from boolcast.lab.benchmarks.spark.part_process import run
from boolcast.lab.benchmarks.spark.streams import FILES
from boolcast.lab.benchmarks.spark.theta_joins import theta_matched, theta_table
from boolcast.matching.matcher import Matcher
from boolcast.pipeline import read_batches
from boolcast.pipeline.spark import workloads
from boolcast.workloads import Diverse, Workload

SIZE = 400
EVENTS = 300


def expected(workload: Workload, subscriptions: int, events: int) -> Counter[int]:
    matcher = Matcher()
    matcher.add_many(workload.subscriptions(0, subscriptions))
    found = matcher.match_batch(workload.events(0, events)).read_all()
    return Counter(int(name[1:]) for name in found["subscription"].to_pylist())


def counts(frame) -> Counter[int]:
    rows = frame.groupBy("subscription").count().collect()
    return Counter({row["subscription"]: row["count"] for row in rows})


def test_the_joins_split_by_hand_find_all_matches_once(spark, tmp_path):
    workload = auction("auction", SIZE, 1)
    classes = workload.subscriptions(0, SIZE)["class"].to_pylist()
    filters = list(enumerate(workload.subscription_filters(0, SIZE)))
    tables = {
        name: Tables(spark, tmp_path / name).of_shape(
            [filters[i] for i in range(SIZE) if classes[i] == name], fixed_positions(name)
        )
        for name in ("S1", "S2", "S3")
        if (tmp_path / name).mkdir() is None
    }
    events = workloads.events(spark, workload, EVENTS, partitions=2).persist()
    found = counts(hand_split(events, tables))
    assert found == expected(workload, SIZE, EVENTS)
    assert counts(hand_split(events, tables, bound=greatest_bound(tables))) == found
    assert {classes[number] for number in found} == {"S1", "S2", "S3"}


@pytest.mark.long
def test_the_theta_join_finds_all_matches_once(spark, tmp_path):
    """Its filters have negations, lists, prefixes, null tests, and several ways to match."""
    workload = Diverse(seed=2)
    table = theta_table(Tables(spark, tmp_path), enumerate(workload.subscription_filters(0, SIZE)))
    events = workloads.events(spark, workload, 2 * EVENTS, partitions=2).persist()
    found = counts(theta_matched(events, table, EVENT))
    assert found == expected(workload, SIZE, 2 * EVENTS)
    assert found.total() > 10


@pytest.mark.parametrize(
    "part",
    [
        pytest.param(SparkPart.CLASS_1, marks=pytest.mark.long),
        SparkPart.AUCTION,
        pytest.param(SparkPart.DIVERSE, marks=pytest.mark.long),
        pytest.param(SparkPart.STREAM, marks=pytest.mark.long),
    ],
)
def test_a_part_is_measured(spark, tmp_path, monkeypatch, part):
    """Contenders that disagree would raise."""
    # The one that is there has other settings.
    monkeypatch.setattr(
        "boolcast.lab.benchmarks.spark.part_process.session", lambda *_, **__: spark
    )
    order = Order(
        part=part,
        processors=(0, 1),
        subscriptions=SIZE,
        events=EVENTS,
        theta_subscriptions=SIZE // 4,
        theta_events=EVENTS,
        repeats=1,
        seed=1,
    )
    begun: list[str] = []
    figures = {each.contender: each for each in run(order, tmp_path, begun.append)}
    assert ("stream" if part is SparkPart.STREAM else "boolcast") in figures
    assert len(begun) == 2 + 2 * len(figures)
    for each in figures.values():
        assert each.events_per_second == pytest.approx(each.events / each.seconds)
        assert each.core_microseconds_per_event
    if part is SparkPart.DIVERSE:
        theta = figures["theta join"]
        assert theta.scaled_events_per_second == pytest.approx(theta.events_per_second / 4)
    if part is SparkPart.STREAM:
        assert figures["batch"].batch_seconds == ()
        assert len(figures["stream"].batch_seconds) == FILES // 2
        batches = read_batches(tmp_path / "auction" / "stream-1-1")
        assert len({each.version for each in batches}) > 2
    if part is SparkPart.AUCTION:
        assert figures["joins"].matches_per_event == figures["boolcast"].matches_per_event
        assert len(list((tmp_path / "auction" / "rows").glob("*.parquet"))) > 0
