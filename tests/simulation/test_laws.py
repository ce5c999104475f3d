"""Laws 2 and 7 on random networks: a policy never changes deliveries, a seed fixes the trace.

The seed draws topology, history, faults and policies. A failure prints the seed; `boolcast
simulate --seed N` plays the same run again.
"""

import pytest
from msgspec.structs import replace

from boolcast.model.identifiers import PublicationId
from boolcast.routing.broker import Broker
from boolcast.routing.effects import Complain, Deliver, Effect
from boolcast.routing.stimuli import Stimulus
from boolcast.simulation.checker import Subscriber
from boolcast.simulation.observation import Observer
from boolcast.simulation.plans import Plan
from boolcast.simulation.runs import Run, outcome_of, outcomes

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
            self.run.simulation.processes[broker].stack.broker.validate()


class Deliveries(Observer):
    """What clients got, taken down without asking whether they should."""

    def __init__(self) -> None:
        self.seen: set[tuple[Subscriber, PublicationId]] = set()

    def delivers(self, time, broker, client, publication, event, names):
        self.seen |= {((broker, client, name), publication) for name in names}


class Played:
    """A run to its end, with what clients got."""

    def __init__(self, plan: Plan, *, validates: bool = False) -> None:
        self.deliveries = Deliveries()
        validation = Validation()
        self.run = Run(plan, observers=[self.deliveries, validation])
        if validates:
            validation.run = self.run
        self.run.begin()
        self.outcome = self.run.finish()

    def settled(self) -> set[tuple[Subscriber, PublicationId]]:
        return set(self.run.checker.settled())


def differences(one: Played, other: Played) -> tuple[int, set[tuple[Subscriber, PublicationId]]]:
    """How many pairs are settled in both runs, and which of them only one has delivered."""
    pairs = one.settled() & other.settled()
    return len(pairs), pairs & (one.deliveries.seen ^ other.deliveries.seen)


def check(seed: int) -> int:
    """Laws 1 and 2 for a seed: how many pairs were compared with plain flooding."""
    plan = Plan(seed=seed, engine="scan")
    policy, flooding = Played(plan, validates=True), Played(replace(plan, policy="flood"))
    compared, different = differences(policy, flooding)
    assert not different, (seed, policy.outcome.policy, sorted(different)[:5])
    assert policy.outcome.is_right, (seed, policy.outcome.policy, policy.outcome.problems())
    return compared


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, 100, CHUNK))
def test_a_random_network_delivers_what_flooding_does(start):
    """On pairs that are settled under both, whatever the policy and the faults."""
    compared = sum(map(check, range(start, start + CHUNK)))
    assert compared > 40 * CHUNK, "most of what is published must be held against something"


@pytest.mark.long
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("start", range(100, 2_100, 100))
def test_two_thousand_random_networks(start):
    assert sum(map(check, range(start, start + 100))) > 40 * 100


def test_the_comparison_with_flooding_finds_a_broken_policy(monkeypatch):
    """Without asking the checker."""
    handle = Broker.handle

    def drop_under_covering(self: Broker, stimulus: Stimulus, *, now: float) -> list[Effect]:
        effects = handle(self, stimulus, now=now)
        if self.state.configuration.covering == "none":
            return effects
        return [each for each in effects if not (isinstance(each, Deliver) and now % 1 < 0.1)]

    monkeypatch.setattr(Broker, "handle", drop_under_covering)
    plan = Plan(seed=1, policy="active", faults="none", engine="scan")
    compared, different = differences(Played(plan), Played(replace(plan, policy="flood")))
    assert 0 < len(different) < compared


def same_traces(seeds: range) -> None:
    """Law 7: in every process, whatever its hash seed."""
    plans = [Plan(seed=seed, engine="scan") for seed in seeds]
    here = list(outcomes(plans, cores=1))
    assert list(outcomes(plans, cores=2)) == here
    assert len({outcome.trace for outcome in here}) == len(plans)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_trace_in_every_process():
    same_traces(range(64))


@pytest.mark.long
@pytest.mark.timeout(3_600)
def test_two_thousand_traces():
    same_traces(range(100, 2_100))


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


@pytest.mark.parametrize("policy", ["flood", "active", "incremental-packing"])
def test_the_link_protocol_changes_no_delivery(policy):
    """`DirectStack` against its twin, on perfect wires."""
    total = 0
    for seed in range(5):
        plan = Plan(seed=seed, topology="tree:2x2", policy=policy, faults="none", engine="scan")
        direct = Played(plan)
        # Faults that do nothing in time still ask for the protocol.
        protocol = Played(replace(plan, faults="repetition:0.000001"))
        assert direct.run.drawn.is_direct
        assert not protocol.run.drawn.is_direct
        compared, different = differences(direct, protocol)
        assert not different
        total += compared
    assert total > 50 * 5
