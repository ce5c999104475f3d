"""What `boolcast bench spark` makes of its figures, without Spark."""

import os
import subprocess
import sys

import pytest
from msgspec.structs import replace

from boolcast.lab.benchmarks.choices import SparkPart
from boolcast.lab.benchmarks.figures import SparkFigures, SparkRatio
from boolcast.lab.benchmarks.spark import run as benchmark
from boolcast.lab.benchmarks.spark.process_times import tree_seconds
from boolcast.lab.benchmarks.spark.run import SparkChoice
from tests.cli.running import run
from tests.lab import sample_figures

RATES = {
    "class-1": {
        "join": 1_000_000.0,
        "boolcast": 600_000.0,
        "boolcast from files": 1_500_000.0,
        "transport": 1_200_000.0,
    },
    "auction": {
        "joins": 100_000.0,
        "joins with a bound": 220_000.0,
        "boolcast": 110_000.0,
        "boolcast from files": 150_000.0,
        "boolcast from more files": 160_000.0,
        "rows": 22_000.0,
        "lists": 55_000.0,
        "transport": 900_000.0,
    },
    "diverse": {"theta join": 20.0, "boolcast": 10_000.0},
    "stream": {"batch": 20_000.0, "stream": 16_000.0, "stream with changes": 12_000.0},
}


def figures(workload: str, contender: str, rate: float, cores: int) -> SparkFigures:
    is_sample = contender == "theta join"
    return SparkFigures(
        workload=workload,
        contender=contender,
        what="what it does",
        cores=cores,
        subscriptions=1_000 if is_sample else 200_000,
        scaled_to=200_000,
        events=1_000,
        seconds=1_000 / rate,
        events_per_second=rate,
        scaled_events_per_second=rate / 200 if is_sample else rate,
        core_microseconds_per_event=20.0,
        matches_per_event=2.5,
        batch_seconds=(1.0, 4.0, 1.0, 2.0, 2.0) if contender == "stream with changes" else (),
    )


@pytest.fixture
def measured(monkeypatch):
    """Figures out of thin air, in the place of processes that take minutes."""
    orders = []

    def pretend(order, begin):
        orders.append(order)
        begin("starting Spark")
        cores = len(order.processors)
        if order.part is SparkPart.CORES:
            yield figures("auction", "boolcast", 60_000.0 if cores == 1 else 110_000.0, cores)
            yield figures("auction", "boolcast from files", 100_000.0 * cores, cores)
            return
        for contender, rate in RATES[order.part].items():
            yield figures(order.part, contender, rate, cores)

    monkeypatch.setattr(benchmark, "_measured", pretend)
    monkeypatch.setattr(
        benchmark,
        "_engine",
        lambda choice, cores: replace(sample_figures.ACCESS, events_per_second=200_000 / cores),
    )
    monkeypatch.setattr(benchmark, "processors", lambda: [0, 1])
    monkeypatch.setattr(benchmark, "java_home", lambda: None)
    return orders


def choice_of(*parts: SparkPart) -> SparkChoice:
    return SparkChoice(
        parts=parts,
        subscriptions=200_000,
        events=1_000,
        theta_subscriptions=1_000,
        theta_events=100,
        cores=2,
        repeats=2,
        seed=1,
    )


def test_the_ratios(measured):
    found = benchmark.run(choice_of(*SparkPart), lambda title: None)
    ratios = [each for each in found if isinstance(each, SparkRatio)]
    assert [(round(each.ratio, 3), each.target) for each in ratios] == [
        (0.6, 0.5),
        (1.5, None),
        (0.5, None),
        (0.55, None),
        (0.5, None),
        (0.275, None),
        (0.75, None),
        (0.5, None),
        (0.375, None),
        (0.8, 0.6),
        (0.5, None),
        (0.4, None),
        (1.1, 1.0),
        (0.5, None),
        (0.2, None),
        (0.5, None),
        # As if 20 events a second with 1,000 subscriptions were 0.1 with 200,000.
        (100_000.0, 50.0),
        (1.833, 1.7),
        (2.0, 1.7),
        (0.8, 0.7),
        (0.75, None),
        (0.5, 0.5),
    ]


def test_one_core_and_all_of_them(measured):
    list(benchmark.run(choice_of(SparkPart.CORES), lambda title: None))
    assert [order.processors for order in measured] == [(0,), (0, 1)]


def test_the_bar_knows_its_length():
    assert choice_of(SparkPart.CLASS_1).steps == 2 + 4 * 3
    assert choice_of(SparkPart.CORES).steps == 2 * (2 + 2 * 3)


def test_the_tables(measured):
    result = run("bench", "spark", "--part", "class-1,diverse")
    assert result.code == 0
    assert "0.1*" in result.output
    assert "≥ 50" in result.output
    assert "class 1: boolcast, times the broadcast join" in result.output


def test_as_json(measured):
    result = run("bench", "spark", "--part", "auction", "--json")
    assert [each["measure"] for each in result.json][:7] == ["spark"] * 7
    assert {each["measure"] for each in result.json} == {"spark", "batch", "ratio"}


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--part", "nonsense"], "--part knows class-1, auction, diverse, cores, stream and all"),
        (["--cores", "1000000"], "--cores 1000000 is more than"),
    ],
)
def test_wrong_usage(arguments, problem):
    result = run("bench", "spark", *arguments)
    assert result.code == 2
    assert problem in result.errors


def test_a_process_that_fails_is_a_bug_of_ours(monkeypatch):
    monkeypatch.setattr(sys, "executable", "false")
    order = benchmark._order(choice_of(SparkPart.CORES), SparkPart.CORES, 1)
    with pytest.raises((AssertionError, BrokenPipeError)):
        list(benchmark._measured(order, lambda title: None))


def test_processor_time_is_that_of_children_too():
    before = tree_seconds(os.getpid())
    assert before is not None
    work = "x = 0\nfor i in range(3_000_000): x += i"
    subprocess.run([sys.executable, "-c", work], check=True)
    after = tree_seconds(os.getpid())
    assert after is not None
    assert after - before > 0.05
