"""`boolcast simulate`."""

import json
import os
import re
import signal
import subprocess
import sys

import pyarrow.parquet as pq
import pytest

from boolcast.cli import simulate_report
from boolcast.routing.core.broker import Broker
from boolcast.routing.protocol.effects import Effect
from boolcast.routing.protocol.stimuli import ClientPublishes, ClientSubscribes, Stimulus
from boolcast.routing.tables.neighbours import Neighbour
from boolcast.simulation.scenarios.plans import Plan
from boolcast.simulation.scenarios.scenarios import Load
from tests.cli.running import run

SMALL = ("simulate", "--workload", "groups", "--topology", "tree:2x2", "--faults", "none")
SEEDS = ("simulate", "--seeds", "1..400", "--cores", "1", "--policy", "flood")
FEW = ("--subscriptions", "60", "--publications", "200", "--unsubscriptions", "2")


def test_a_run_is_summed_up():
    result = run(*SMALL, *FEW, "--policy", "active", "--seed", "7")
    assert result.code == 0, result.errors
    assert result.output.startswith("seed 7: 7 brokers, propagation=towards,covering=active")
    for word in ("messages, Publish", "delay, mean / p50 / p99", "triggered", "✓", "trace "):
        assert word in result.output


def test_brokers_match_with_another_engine():
    options = (*SMALL, *FEW, "--policy", "covering.test=diagrams", "--seed", "7")
    plain, diagrams = (run(*options, "--engine", name, "--json") for name in ("access", "mbd"))
    assert (plain.code, diagrams.code) == (0, 0), diagrams.errors
    (one,), (other,) = plain.json, diagrams.json
    assert one["outcome"]["verdict"] == other["outcome"]["verdict"]
    refused = run(*options, "--engine", "counter")
    assert refused.code == 2
    assert "take access, scan, counting, mbd" in refused.errors


def test_the_same_seed_replays_the_same_trace():
    first, again = (run("simulate", "--seed", "11").output for _ in range(2))
    assert first == again
    assert run("simulate", "--seed", "12").output != first


def test_json_holds_the_same():
    (report,) = run(*SMALL, *FEW, "--policy", "lazy", "--json").json
    assert report["outcome"]["verdict"]["count"] == 0
    assert report["summary"]["messages"]["Publish"] == report["summary"]["forwards"]
    assert report["summary"]["deliveries"]["p50"] <= report["summary"]["deliveries"]["p99"]


def test_links_that_are_left_out_are_named(tmp_path):
    path = tmp_path / "ring.json"
    path.write_text('{"brokers": ["A", "B", "C"], "links": [["A", "B"], ["B", "C"], ["C", "A"]]}')
    for words in (["--seed", "1"], ["--seeds", "1..1"]):
        arguments = ("simulate", "-t", path, "-f", "none", *words)
        assert "without 1 link that would close a cycle: B-C\n" in run(*arguments).output
        (report,) = run(*arguments, "--json").json
        assert report.get("outcome", report)["left_out"] == [["B", "C"]]


@pytest.mark.slow
def test_metrics_and_a_picture(tmp_path):
    picture = tmp_path / "picture.png"
    result = run(*SMALL, *FEW, "--output", tmp_path / "metrics", "--plot", picture)
    assert result.code == 0, result.errors
    names = sorted(path.name for path in (tmp_path / "metrics").iterdir())
    assert names == ["brokers.parquet", "delays.parquet", "links.parquet"]
    brokers = pq.read_table(tmp_path / "metrics" / "brokers.parquet")
    assert len(brokers) >= 200 * 7
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_many_seeds():
    result = run("simulate", "--seeds", "1..6", "--cores", "2")
    assert result.code == 0
    assert result.output.startswith("6 seeds: ")
    assert "✓ all expected deliveries arrived" in result.output


TELLS_PROGRESS = """
import sys
from contextlib import contextmanager
from boolcast.cli import main, simulate_report

@contextmanager
def shares(title):
    yield lambda share, text: print(text, file=sys.stderr, flush=True)

simulate_report.shares = shares
if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize(
    ("cores", "as_json"), [("1", False), pytest.param("2", True, marks=pytest.mark.slow)]
)
def test_ctrl_c_ends_many_seeds_with_their_tally(tmp_path, cores, as_json):
    script = tmp_path / "tells_progress.py"
    script.write_text(TELLS_PROGRESS)
    words = [
        "simulate",
        "--seeds",
        "1..1000000",
        "--cores",
        cores,
        "--policy",
        "flood",
        "--engine",
        "scan",
    ]
    with subprocess.Popen(
        [sys.executable, script, *words, *(["--json"] if as_json else [])],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stderr is not None
        seeds = [process.stderr.readline() for _ in range(3)]
        os.killpg(process.pid, signal.SIGINT)
        output, errors = process.communicate(timeout=60)
    assert seeds == ["seed 1\n", "seed 2\n", "seed 3\n"]
    assert process.returncode == 130
    assert "Traceback" not in errors
    if as_json:
        report = json.loads(output)
        assert (report["seeds"] >= 3, report["failing"]) == (True, None)
        assert report["interrupted"]
    else:
        assert re.match(r"interrupted after \d+ seeds: [\d,]+ messages, .* expected deliv", output)
        assert "✓" not in output


@pytest.mark.parametrize("function", ["draw", "outcomes"])
def test_ctrl_c_before_the_first_seed_ends_with_a_tally(monkeypatch, function):
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(simulate_report, function, interrupt)
    result = run("simulate", "--seeds", "1..5", "--cores", "1")
    assert (result.code, result.errors) == (130, "")
    assert result.output.startswith("interrupted after 0 seeds: 0 messages, 0 faults, 0 expected")


def test_the_command_that_repeats_a_run_has_all_its_options():
    load = Load(subscriptions=7, publications=8, unsubscriptions=9, interval_ms=1.5)
    plan = Plan(
        seed=3,
        topology="line:5",
        workload="groups",
        policy="lazy",
        engine="mbd",
        faults="crash:2,loss:0.05",
        load=load,
        latency_ms=2.5,
        bytes_per_second=9.0,
    )
    command = simulate_report._command(plan)
    expected = (
        "boolcast simulate --seed 3 --topology line:5 --workload groups --policy lazy "
        "--faults crash:2,loss:0.05 --engine mbd --latency-ms 2.5 --bytes-per-second 9.0 "
        "--subscriptions 7 --publications 8 --unsubscriptions 9 --interval-ms 1.5"
    )
    assert command == expected
    assert simulate_report._command(Plan(seed=3)) == "boolcast simulate --seed 3"


@pytest.mark.slow
def test_the_first_failing_seed_is_shown_with_the_command_that_replays_it(monkeypatch):
    monkeypatch.setattr(Neighbour, "may_want", lambda self, advertisement: False)
    result = run(*SEEDS)
    assert result.code == 1
    assert "✗ missing: " in result.output
    command = result.output.splitlines()[-1].removeprefix("again: boolcast ").split()
    again = run(*command)
    assert again.code == 1
    trace = [line for line in result.output.splitlines() if line.startswith("trace ")]
    assert trace[0] in again.output
    (report,) = run(*SEEDS, "--json").json
    assert report["failing"]["seed"] == int(command[command.index("--seed") + 1])


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (ClientPublishes, ()),
        (ClientSubscribes, (*SMALL[1:], *FEW)),
    ],
)
def test_a_broker_that_breaks_fails_its_seed_and_again_when_that_is_replayed(
    kind, words, monkeypatch
):
    handle = Broker.handle

    def broken(self: Broker, stimulus: Stimulus, *, now: float) -> list[Effect]:
        if type(stimulus) is kind:
            raise KeyError("broken")
        return handle(self, stimulus, now=now)

    monkeypatch.setattr(Broker, "handle", broken)
    result = run("simulate", "--seeds", "3..4", "--cores", "1", *words)
    assert result.code == 1
    found = result.output.splitlines()
    assert found[1].startswith("seed 3 fails")
    assert found[2] == "✗ KeyError: 'broken'"
    again = run(*found[-1].removeprefix("again: boolcast ").split())
    assert again.code == 1
    assert again.output.splitlines()[-2:] == found[2:4]
    assert found[3].startswith("trace ")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--topology", "ring:3"], "there is no topology"),
        (["--policy", "eager"], "there is no policy"),
        (["--faults", "quake"], "there is no fault"),
        (["--workload", "nothing"], "there is no workload"),
        (["--seeds", "5"], "such as 1..1000"),
        (["--seeds", "9..1"], "such as 1..1000"),
        (["--seeds", "1..2", "--output", "x"], "give --seed"),
        (["--policy", "covering=none,unsubscription=packing"], "needs covering"),
    ],
)
def test_wrong_usage(arguments, problem):
    result = run("simulate", *arguments)
    assert result.code == 2
    assert problem in result.errors


def test_what_brokers_warn_of_is_shown():
    """A target below the floor: nothing is pruned, and that is said."""
    command = ("simulate", "-t", "line:3", "-w", "auction", "-f", "none", "--publications", "40")
    policy = "rewriting=pruning,memory_target=0,reviews.events=5"
    result = run(*command, "--subscriptions", "20", "--policy", policy)
    assert result.code == 0
    assert "! B0: nothing more was rewritten: no pruning leaves 0 predicates" in result.output
    (report,) = run(*command, "--subscriptions", "20", "--policy", policy, "--json").json
    warned = [broker for brokers in report["summary"]["warnings"].values() for broker in brokers]
    assert sorted(warned) == ["B0", "B2"]
    assert report["summary"]["pruned"] == 0
    assert report["summary"]["overlaps"]["asked"] > 0


def test_a_target_that_is_missed_is_shown():
    """The budget ends pruning long before."""
    command = ("simulate", "-t", "line:3", "-w", "auction", "-f", "none", "--publications", "40")
    policy = "rewriting=pruning,memory_target=40,false_positive_budget=0,reviews.events=5"
    result = run(*command, "--subscriptions", "20", "--policy", policy)
    assert result.code == 0
    assert "! B0: rewriting: the target of 40 predicates is missed: " in result.output
