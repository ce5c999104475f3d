"""Rows drawn on Spark are the rows drawn here, however they are spread."""

import pytest
from msgspec.structs import replace

from boolcast.pipeline.spark import workloads
from boolcast.workloads import PRESETS, Auction, Diverse, Unselective, Workload

ROWS = 1_000
START = 50

WORKLOADS: dict[str, Workload] = {
    "auction": Auction(replace(PRESETS["auction-zipf"], titles=5_000), seed=3),
    "diverse": Diverse(seed=3),
    "unselective": Unselective(seed=3),
}


@pytest.mark.parametrize("workload", WORKLOADS.values(), ids=WORKLOADS)
@pytest.mark.parametrize("partitions", [1, 3])
def test_events_are_those_of_the_workload_with_their_numbers(spark, workload, partitions):
    drawn = workloads.events(spark, workload, ROWS, start=START, partitions=partitions)
    expected = workload.events(START, ROWS).to_pylist()
    table = drawn.toArrow()
    assert drawn.rdd.getNumPartitions() == partitions
    assert table.to_pylist() == [{"event": START + i, **row} for i, row in enumerate(expected)]


@pytest.mark.parametrize("workload", WORKLOADS.values(), ids=WORKLOADS)
def test_subscriptions_are_those_of_the_workload(spark, workload: Workload):
    drawn = workloads.subscriptions(spark, workload, ROWS, start=START, partitions=4)
    assert drawn.toArrow().to_pylist() == workload.subscriptions(START, ROWS).to_pylist()


def test_slices_smaller_than_a_partition_change_nothing(spark):
    """What a task is given at a time is Spark's business."""
    workload = WORKLOADS["auction"]
    setting = "spark.sql.execution.arrow.maxRecordsPerBatch"
    before = spark.conf.get(setting)
    spark.conf.set(setting, "7")
    try:
        drawn = workloads.events(spark, workload, 100, partitions=2, event_id="id").toArrow()
    finally:
        spark.conf.set(setting, before)
    assert drawn["id"].to_pylist() == list(range(100))
    assert drawn.drop_columns("id").to_pylist() == workload.events(0, 100).to_pylist()


def test_the_row_number_is_never_null(spark):
    schema = workloads.events(spark, WORKLOADS["auction"], 10).schema
    assert not schema["event"].nullable
    assert schema["price"].simpleString() == "price:bigint"
