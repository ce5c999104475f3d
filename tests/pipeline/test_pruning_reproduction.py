"""`boolcast reproduce pruning`: runs spread by Spark."""

import json
import os

import pyarrow.parquet as pq

from boolcast.experiments.spread import carried_out, orders_of, spread
from tests.cli.running import run

# Far too small for all checks to hold.
SMALL = ("reproduce", "pruning", "--part", "x5", "--scale", "0.0003", "--cores", "2")


def with_its_process(order: str) -> str:
    return f"{order} by {os.getpid()}"


def test_each_order_is_a_row_and_a_task_of_its_own(spark):
    orders = orders_of(spark, ["c", "a", "b"])
    placed = orders.selectExpr("order", "spark_partition_id() as task").collect()
    assert [(row["order"], row["task"]) for row in placed] == [("c", 0), ("a", 1), ("b", 2)]
    assert carried_out(orders, with_its_process).columns == ["result"]
    results = spread(spark, with_its_process, ["c", "a", "b"])
    assert [result.split(" by ")[0] for result in results] == ["c", "a", "b"]
    assert str(os.getpid()) not in {result.split(" by ")[1] for result in results}
    assert spread(spark, with_its_process, []) == []


def test_figures_checks_and_plots(spark, tmp_path):
    result = run(*SMALL, "--output", tmp_path)
    assert result.code in {0, 1}, result.errors
    assert "✓ 1. prunings to exhaustion and predicates lost, class 1, 2, 3:" in result.output
    points = pq.read_table(tmp_path / "x5.parquet")
    assert set(points["class"].to_pylist()) == {"1", "2", "3", "1-3"}
    assert sum(points["is_cut_off"].to_pylist()) == 4
    assert "<svg" in (tmp_path / "pruning-x5.svg").read_text(encoding="utf-8")
    assert len(list((tmp_path / "runs").iterdir())) == 4

    # Nothing is run again, and the figures are the same.
    (again,) = run(*SMALL, "--output", tmp_path, "--json").json
    assert again == json.loads((tmp_path / "figures.json").read_bytes())
    assert {check["number"] for check in again["checks"]} == {1, 2, 3, 4, 5}
