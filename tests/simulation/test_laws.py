"""Laws 2 and 7 on random networks: a policy never changes deliveries, a seed fixes the trace.

The seed draws topology, history, faults and policies. A failure prints the seed; `boolcast
simulate --seed N` plays the same run again.
"""

import msgspec
import pytest
from msgspec.structs import replace

from boolcast.routing.configuration import Configuration
from boolcast.routing.effects import Complain
from boolcast.simulation.combinations import combinations, simplifications
from boolcast.simulation.observation import Observer
from boolcast.simulation.plans import Plan
from boolcast.simulation.runs import Run, outcome_of, outcomes
from tests.routing.network import check_engine

CHUNK = 20


class Validation(Observer):
    """Asserts every invariant of a broker's tables after each step, and that none is blamed.

    All brokers keep to the protocol, whatever the faults, so none may complain of another.
    """

    run: Run | None = None

    def remarks(self, time, broker, effect):
        assert not isinstance(effect, Complain), effect

    def steps(self, time, broker, job, step):
        if self.run is not None:
            checked = self.run.simulation.processes[broker].stack.broker
            checked.validate()
            check_engine(checked)


def check(seed: int, **choice) -> Run:
    validation = Validation()
    run = Run(Plan(seed=seed, engine="scan", **choice), observers=[validation])
    validation.run = run
    outcome = run.finish()
    assert outcome.is_right, (seed, outcome.policy, outcome.problems())
    return run


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, 100, CHUNK))
def test_a_random_network_delivers_what_it_should(start):
    settled = 0
    for seed in range(start, start + CHUNK):
        verdict = check(seed).checker.verdict()
        settled += verdict.settled
    assert settled > 50 * CHUNK, "most of what is published must be held against something"


@pytest.mark.long
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("start", range(100, 2_100, 100))
def test_two_thousand_random_networks(start):
    for seed in range(start, start + 100):
        check(seed)


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, 40, CHUNK))
def test_deliveries_are_those_of_flooding(start):
    """On pairs that are settled under both, whatever the policy and the faults."""
    compared = 0
    for seed in range(start, start + CHUNK):
        policy, flooding = check(seed).checker, check(seed, policy="flood").checker
        pairs = set(policy.settled()) & set(flooding.settled())
        compared += len(pairs)
        assert {pair for pair in pairs if policy.was_delivered(*pair)} == {
            pair for pair in pairs if flooding.was_delivered(*pair)
        }, seed
    assert compared > 20 * CHUNK


SIMPLIFICATIONS = simplifications()[1:]


def written(configuration: Configuration) -> str:
    """A configuration as a plan takes it, but for what the plan says itself."""
    usual = msgspec.structs.asdict(Configuration())
    fields = msgspec.structs.asdict(configuration)
    own = ("engine", "durable")
    return ",".join(
        f"{name}={str(value).lower()}"
        for name, value in fields.items()
        if name not in own and (value != usual[name] or name == "propagation")
    )


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(SIMPLIFICATIONS)))
def test_simpler_entries_with_every_kind_of_covering(number):
    """Law 2 for P1's policies, all with all, and with the whole family of P2 and P4, and faults.

    Deliveries are compared with those of flooding where nothing is simplified.
    """
    fields = SIMPLIFICATIONS[number]
    flooding = check(number, policy="flood").checker
    chosen: dict[tuple[str, ...], Configuration] = {}
    for each in combinations():
        if all(getattr(each, name) == value for name, value in fields.items()):
            chosen[each.propagation, each.covering, each.unsubscription] = each
    assert len(chosen) == 14
    compared = 0
    # Half of them; all are for `test_every_legal_combination`.
    for configuration in list(chosen.values())[number % 2 :: 2]:
        checker = check(number, policy=written(configuration)).checker
        pairs = set(checker.settled()) & set(flooding.settled())
        compared += len(pairs)
        for pair in pairs:
            assert checker.was_delivered(*pair)
            assert flooding.was_delivered(*pair)
    assert compared > 0


@pytest.mark.long
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("start", range(0, 5_088, 318))
def test_every_legal_combination(start):
    everything = combinations()
    assert len(everything) == 5_088
    for number in range(start, start + 318):
        check(number, policy=written(everything[number]))


@pytest.mark.slow
def test_the_same_seed_gives_the_same_trace_in_every_process():
    """Law 7: whatever the hash seed of the process."""
    plans = [Plan(seed=seed, engine="scan") for seed in range(8)]
    here = list(outcomes(plans, cores=1))
    assert list(outcomes(plans, cores=2)) == here
    assert len({outcome.trace for outcome in here}) == len(plans)


def test_a_trace_depends_on_every_part_of_a_plan():
    plan = Plan(seed=3, topology="line:4", policy="active", faults="cut:2,loss", engine="scan")
    variants = [
        plan,
        replace(plan, topology="star:4"),
        replace(plan, policy="lazy"),
        replace(plan, faults="none"),
        replace(plan, latency_ms=11.0),
        replace(plan, seed=4),
    ]
    assert len({outcome_of(each).trace for each in variants}) == len(variants)


def test_the_link_protocol_changes_no_delivery():
    """`DirectStack` against its twin, on perfect wires."""
    plain = Plan(seed=3, topology="tree:2x2", policy="incremental", faults="none", engine="scan")
    runs = [check(3, topology="tree:2x2", policy="incremental", faults="none")]
    # Faults that do nothing in time still ask for the protocol.
    runs.append(Run(replace(plain, faults="repetition:0.000001")))
    assert runs[0].drawn.is_direct
    assert not runs[1].drawn.is_direct
    assert runs[1].finish().is_right
    common = set(runs[0].checker.settled()) & set(runs[1].checker.settled())
    assert len(common) > 50
