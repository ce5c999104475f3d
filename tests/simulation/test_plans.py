"""Plans in words, what the seed draws, and what makes no plan."""

from collections import Counter
from math import inf, nan
from typing import get_args

import msgspec
import pytest

from boolcast.errors import BoolcastError, ConfigurationError, FileError, UsageError
from boolcast.routing.protocol.configuration import PRESETS, Configuration, Merging, settings_of
from boolcast.routing.protocol.stimuli import ClientLeaves
from boolcast.simulation.runs import describe, outcome_of
from boolcast.simulation.scenarios.combinations import combinations
from boolcast.simulation.scenarios.faults import KINDS, BrokenLink, Fault
from boolcast.simulation.scenarios.plans import Plan, draw, policies_of
from boolcast.simulation.scenarios.scenarios import SCENARIOS, Load


@pytest.mark.slow
@pytest.mark.parametrize("policy", PRESETS)
@pytest.mark.parametrize("workload", SCENARIOS)
def test_every_policy_under_every_load(policy, workload):
    load = Load(subscriptions=200, publications=300, unsubscriptions=5, groups=3)
    plan = Plan(
        seed=1, topology="tree:2x2", workload=workload, policy=policy, faults="none", load=load
    )
    outcome = outcome_of(plan)
    assert outcome.is_right, outcome.problems()
    assert outcome.verdict is not None
    assert outcome.verdict.settled > 0


@pytest.mark.parametrize("fault", [*KINDS, "loss", "repetition", "lateness"])
def test_every_fault_alone(fault):
    for seed in range(4):
        outcome = outcome_of(Plan(seed=seed, topology="random:5", faults=fault, engine="scan"))
        assert outcome.is_right, outcome.problems()


@pytest.mark.slow
def test_the_seed_draws_everything():
    drawn = [draw(Plan(seed=seed)) for seed in range(200)]
    assert {len(each.topology.brokers) for each in drawn} == set(range(2, 8))
    assert len({each.configuration for each in drawn}) > 50
    kinds = Counter(type(fault).__name__ for each in drawn for fault in each.faults)
    assert set(kinds) == {"BrokenLink", "Slow", "Clog", "Crash", "Pause"}
    assert {each.is_direct for each in drawn} == {True, False}
    assert any(each.wires.loss and each.wires.lateness for each in drawn)


def test_clients_leave():
    """Subscribers and publishers, in most histories."""
    leaving = [
        action.request.client[0]
        for seed in range(40)
        for action in draw(Plan(seed=seed)).scenario.actions
        if isinstance(action.request, ClientLeaves)
    ]
    assert len(leaving) > 20
    assert set(leaving) == {"s", "a"}


def test_seeds_in_a_row_go_through_all_policies():
    drawn = Counter(policies_of(draw(Plan(seed=seed)).configuration) for seed in range(100))
    assert set(drawn) == set(map(policies_of, combinations()))
    assert min(drawn.values()) >= 100 // len(drawn)
    assert policies_of(Configuration()) in drawn


def test_what_policies_leave_open_is_drawn():
    step = len(set(map(policies_of, combinations())))
    drawn = [draw(Plan(seed=seed * step - 1, faults="none")).configuration for seed in range(1, 80)]
    assert len(set(map(policies_of, drawn))) == 1
    for name, values in {
        "unsubscription.threshold": 4,
        "unsubscription.slack": 2,
        "unsubscription.collects_ghosts": 2,
        "propagation.overlap": 3,
    }.items():
        assert len({settings_of(each)[name] for each in drawn}) == values
    assert 20 < sum(each.policies.reviews_entries for each in drawn) < 60
    assert {each.policies.merging.kind for each in drawn} == set(get_args(Merging))


def test_all_legal_combinations():
    """Packing and incremental need covering (P4-B3), and incremental needs advertisements."""
    found = Counter(
        (policies.propagation.kind, policies.covering.kind, policies.unsubscription.kind)
        for policies in (each.policies for each in combinations())
    )
    # Plain 2 × 3, packing 2 × 2, both kinds of incremental with advertisements 2 × 2.
    assert len(found) == 6 + 4 + 4
    assert ("flood", "active", "incremental") not in found
    assert ("towards", "none", "packing") not in found


def test_a_description_is_a_policy():
    for seed in range(20):
        drawn = draw(Plan(seed=seed))
        again = draw(Plan(seed=seed, policy=describe(drawn)))
        assert again.configuration == drawn.configuration


def test_faults_from_a_file(tmp_path):
    faults: list[Fault] = [BrokenLink(at=1.0, seconds=2.0, links=(("B0", "B1"),))]  # type: ignore[arg-type]
    path = tmp_path / "faults.json"
    path.write_bytes(msgspec.json.encode(faults))
    drawn = draw(Plan(seed=1, topology="line:2", faults=str(path)))
    assert drawn.faults == faults


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[", "no faults"),
        ('[{"type": "quake", "at": 1, "seconds": 1}]', "no faults"),
        ('[{"type": "pause", "at": 1, "seconds": 1, "broker": "X"}]', "no broker X"),
        ('[{"type": "cut", "at": 1, "seconds": 1, "links": [["B0", "B2"]]}]', "no link B0-B2"),
        (
            '[{"type": "clog", "at": 1, "seconds": 1, "sender": "B2", "receiver": "B0"}]',
            "no link B2-B0",
        ),
        ('[{"type": "pause", "at": -1, "seconds": 1, "broker": "B0"}]', "at 0 s or later"),
        ('[{"type": "pause", "at": 1e300, "seconds": 1, "broker": "B0"}]', "up to 100,000,000 s"),
        ('[{"type": "pause", "at": 1, "seconds": 1e308, "broker": "B0"}]', "up to 100,000 s"),
        (
            '[{"type": "slow", "at": 1, "seconds": 1, "link": ["B0", "B1"], "factor": 0}]',
            "by more than 0",
        ),
    ],
)
def test_what_is_wrong_with_a_file_of_faults(tmp_path, text, problem):
    path = tmp_path / "faults.json"
    path.write_text(text)
    with pytest.raises(FileError, match=problem):
        draw(Plan(seed=1, topology="line:3", faults=str(path)))


@pytest.mark.parametrize(
    ("choice", "error", "problem"),
    [
        ({"workload": "nothing"}, UsageError, "there is no workload"),
        ({"policy": "eager"}, UsageError, "there is no policy"),
        ({"policy": "covering=eager"}, ConfigurationError, "^covering is 'none', .*not 'eager'"),
        ({"policy": "engine=scan,covering=lazy"}, UsageError, "engine is no policy: use --engine"),
        ({"policy": "durable=false"}, UsageError, "durable is no policy: brokers are durable if"),
        ({"policy": "covering=none,unsubscription=packing"}, BoolcastError, "needs covering"),
        ({"policy": "unsubscription.threshold=7"}, ConfigurationError, "share from 0 to 1"),
        ({"faults": "quake"}, UsageError, "there is no fault"),
        ({"faults": "cut:many"}, UsageError, "has no number"),
        ({"faults": "loss:2"}, UsageError, "is a share"),
        ({"faults": "loss:nan"}, UsageError, "is a share"),
        ({"faults": "cut:-3"}, UsageError, "0 to 10,000 times"),
        ({"faults": "cut:99999999"}, UsageError, "0 to 10,000 times"),
        ({"policy": "acknowledgement_seconds=0"}, ConfigurationError, "0.01 or more"),
        ({"latency_ms": nan}, UsageError, "latency_ms is a number from 0 on"),
        ({"latency_ms": inf}, UsageError, "latency_ms is a number from 0 on"),
        ({"bytes_per_second": nan}, UsageError, "bytes_per_second is a number"),
        ({"workload": "groups", "load": Load(interval_ms=nan)}, UsageError, "must fit into"),
        ({"workload": "groups", "load": Load(interval_ms=inf)}, UsageError, "must fit into"),
        ({"workload": "groups", "load": Load(interval_ms=1e300)}, UsageError, "must fit into"),
        ({"faults": "missing.json"}, FileError, "cannot read"),
    ],
)
def test_what_makes_no_plan(choice, error, problem):
    with pytest.raises(error, match=problem):
        draw(Plan(seed=1, **choice))


@pytest.mark.parametrize("policy", ["pruning", "replacement", "merging", "advertisement-pruning"])
def test_a_random_history_is_long_enough_for_reviews(policy):
    """It has few events; with the usual thousand before a review nothing would be rewritten."""
    assert draw(Plan(seed=1, policy=policy)).configuration.policies.reviews.events == 2
    assert (
        draw(Plan(seed=1, policy=policy, workload="auction")).configuration.policies.reviews.events
        == 1_000
    )
    own = f"preset={policy},reviews.events=7"
    assert draw(Plan(seed=1, policy=own)).configuration.policies.reviews.events == 7
    traces = {outcome_of(Plan(seed=3, policy=each)).trace for each in ("active", policy)}
    assert len(traces) == 2
