"""`boolcast reproduce`."""

import json

import pyarrow.parquet as pq
import pytest

from tests.cli.running import run

# Few events, so that it takes seconds; far too small for the check to hold.
SMALL = ("reproduce", "unsubscription", "--part", "x9", "--scale", "0.004", "--cores", "1")


@pytest.mark.slow
def test_figures_checks_and_plots(tmp_path):
    result = run(*SMALL, "--output", tmp_path)
    assert result.code in {0, 1}, result.errors
    assert "✓ 1. deliveries that are missing or wrong: 0 of" in result.output
    assert "10. core table saved by incremental" in result.output
    names = {path.name for path in tmp_path.iterdir()}
    assert names >= {"figures.json", "brokers.parquet", "curves.parquet", "runs"}
    assert "unsubscription-x9.svg" in names
    brokers = pq.read_table(tmp_path / "brokers.parquet")
    assert set(brokers["broker"].to_pylist()) == set("ABCDE")
    assert len(list((tmp_path / "runs").iterdir())) == 4

    # Nothing is run again, and the figures are the same.
    (again,) = run(*SMALL, "--output", tmp_path, "--json").json
    assert again == json.loads((tmp_path / "figures.json").read_bytes())
    assert [check["number"] for check in again["checks"]] == [1, 10]


def test_a_part_that_is_not_there():
    result = run("reproduce", "unsubscription", "--part", "x3,x7")
    assert result.code == 2
    assert "x2, x3, x4, x5, x6, x9, or all" in result.errors


def test_an_experiment_on_advertisements_that_is_not_there():
    result = run("reproduce", "advertisements", "--part", "overlap,covering")
    assert result.code == 2
    assert "overlap, pruning, combined, or all" in result.errors


def test_a_part_of_pruning_that_is_not_there():
    result = run("reproduce", "pruning", "--part", "x2")
    assert result.code == 2
    assert "x5, x3, or all" in result.errors
