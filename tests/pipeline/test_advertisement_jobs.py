"""The experiments on advertisements as a Spark job: one task each, nothing run twice."""

import json
from contextlib import nullcontext
from unittest.mock import Mock

import pyarrow.parquet as pq
from msgspec.structs import replace
from pyspark.sql import SparkSession
from pyspark.sql.functions import spark_partition_id

from boolcast.experiments.advertisement_jobs import configurations, reproduce
from boolcast.experiments.advertisement_overlap import OverlapFigures, OverlapSetting
from boolcast.experiments.advertisement_pruning import PruningFigures, PruningSetting
from boolcast.experiments.advertisements import RunFigures, Setting, run
from tests.cli.running import run as boolcast

PRUNING = PruningSetting(
    part="pruning", kind="A6", subscriptions=60, advertisements=40, samples=20, steps=4, seed=3
)
CHOSEN: list[Setting] = [
    PRUNING,
    replace(PRUNING, part="combined", kind="A1-8", subscription_pruning=0.5),
    OverlapSetting(advertisements=50, first=20, all=20, seed=3),
]


def test_each_configuration_is_a_task(spark: SparkSession):
    frame = configurations(spark, CHOSEN).withColumn("task", spark_partition_id())
    assert [row.task for row in frame.collect()] == [0, 1, 2]


def without_times(figures: RunFigures) -> object:
    """What must be the same wherever and however often it is run."""
    match figures:
        case OverlapFigures():
            rows = [replace(each, milliseconds=0.0) for each in figures.rows]
            return replace(figures, rows=rows, processor_seconds=0.0)
        case PruningFigures():
            points = [
                replace(each, all_milliseconds=0.0, first_milliseconds=0.0)
                for each in figures.points
            ]
            return replace(figures, points=points, processor_seconds=0.0)


def test_spark_finds_what_one_process_does_and_runs_nothing_twice(spark: SparkSession, tmp_path):
    first = reproduce(lambda: nullcontext(spark), CHOSEN[:2], tmp_path)
    assert [each.setting for each in first] == CHOSEN[:2]
    told: list[float] = []
    again = reproduce(
        lambda: nullcontext(spark), CHOSEN, tmp_path, lambda share, text: told.append(share)
    )
    assert again[:2] == first
    assert [without_times(each) for each in again] == [without_times(run(each)) for each in CHOSEN]
    assert all(0 <= share <= 1 for share in told)
    no_spark = Mock()
    assert reproduce(no_spark, CHOSEN, tmp_path) == again
    no_spark.assert_not_called()


def test_the_command_writes_figures_checks_and_plots(spark: SparkSession, tmp_path):
    command = ("reproduce", "advertisements", "--part", "overlap", "--scale", "0.002")
    result = boolcast(*command, "--cores", "2", "--output", tmp_path)
    assert result.code in {0, 1}, result.errors
    assert "10. questions that Boolean and conjunctive answer differently: 0 of" in result.output
    names = {path.name for path in tmp_path.iterdir()}
    assert names >= {"figures.json", "overlaps.parquet", "advertisements-overlap.svg", "runs"}
    table = pq.read_table(tmp_path / "overlaps.parquet")
    assert set(table["form"].to_pylist()) == {"boolean", "conjunctive"}
    assert len(list((tmp_path / "runs").iterdir())) == 6

    (again,) = boolcast(*command, "--cores", "2", "--output", tmp_path, "--json").json
    assert again == json.loads((tmp_path / "figures.json").read_bytes())
    assert {check["number"] for check in again["checks"]} == {8, 10}
    assert spark.range(1).count() == 1, "a session that was there before is left alone"
