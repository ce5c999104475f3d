"""Reproductions on Spark: a task for each run, nothing run twice, and the commands."""

import json
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from time import sleep
from unittest.mock import Mock

import pyarrow.parquet as pq
import pytest
from msgspec.structs import replace
from pyspark.sql import SparkSession
from pyspark.sql.functions import spark_partition_id

from boolcast.lab.papers.advertisements.overlap import OverlapFigures, OverlapSetting
from boolcast.lab.papers.advertisements.pruning import PruningFigures, PruningSetting
from boolcast.lab.papers.advertisements.run import FIGURES, RunFigures, Setting, run
from boolcast.lab.papers.runs import are_kept, reproduce
from boolcast.lab.papers.spark_runner import by_spark, tasks
from tests.cli.running import run as boolcast

PRUNING = PruningSetting(
    part="pruning", kind="A6", subscriptions=60, advertisements=40, samples=20, steps=4, seed=3
)
CHOSEN: list[Setting] = [
    PRUNING,
    replace(PRUNING, part="combined", kind="A1-8", subscription_pruning=0.5),
    OverlapSetting(advertisements=50, first=20, all=20, seed=3),
]


def test_each_run_is_a_task(spark: SparkSession):
    frame = tasks(spark, 3).withColumn("task", spark_partition_id())
    assert [(row.number, row.task) for row in frame.collect()] == [(0, 0), (1, 1), (2, 2)]


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
    runner = by_spark(lambda: nullcontext(spark), run, FIGURES, tmp_path)
    first = reproduce(CHOSEN[:2], runner, FIGURES, tmp_path)
    assert [each.setting for each in first] == CHOSEN[:2]
    told: list[float] = []
    again = reproduce(CHOSEN, runner, FIGURES, tmp_path, lambda share, text: told.append(share))
    assert again[:2] == first
    assert [without_times(each) for each in again] == [without_times(run(each)) for each in CHOSEN]
    assert told[-1] == 1.0
    no_spark = Mock()
    without = by_spark(no_spark, run, FIGURES, tmp_path)
    assert reproduce(CHOSEN, without, FIGURES, tmp_path) == again
    no_spark.assert_not_called()


def failing(folder: Path, setting: Setting) -> RunFigures:
    """The first of the chosen fails as soon as the second, which may run beside it, is kept."""
    if setting == CHOSEN[0]:
        while not are_kept(folder, CHOSEN[1:2]):
            sleep(0.05)
        raise ValueError(setting.label)
    return run(setting)


def test_what_was_run_before_another_failed_is_kept(spark: SparkSession, tmp_path):
    runner = by_spark(lambda: nullcontext(spark), partial(failing, tmp_path), FIGURES, tmp_path)
    with pytest.raises(Exception, match=CHOSEN[0].label):
        reproduce([CHOSEN[1], CHOSEN[0]], runner, FIGURES, tmp_path)
    assert [path.stem for path in (tmp_path / "runs").glob("*.json")] == [CHOSEN[1].label]


def test_figures_checks_and_plots_of_pruning(spark: SparkSession, tmp_path):
    # Far too small for all checks to hold.
    small = ("reproduce", "pruning", "--part", "x5", "--scale", "0.0003", "--cores", "2")
    result = boolcast(*small, "--output", tmp_path)
    assert result.code in {0, 1}, result.errors
    assert "✓ 1. prunings to exhaustion and predicates lost, class 1, 2, 3:" in result.output
    points = pq.read_table(tmp_path / "x5.parquet")
    assert set(points["class"].to_pylist()) == {"1", "2", "3", "1-3"}
    assert sum(points["is_cut_off"].to_pylist()) == 4
    assert "<svg" in (tmp_path / "pruning-x5.svg").read_text(encoding="utf-8")
    assert len(list((tmp_path / "runs").iterdir())) == 4

    # Nothing is run again, and the figures are the same.
    (again,) = boolcast(*small, "--output", tmp_path, "--json").json
    assert again == json.loads((tmp_path / "figures.json").read_bytes())
    assert {check["number"] for check in again["checks"]} == {1, 2, 3, 4, 5}


def test_figures_checks_and_plots_of_advertisements(spark: SparkSession, tmp_path):
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
