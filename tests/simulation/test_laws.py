"""Laws 2 and 7 on random networks: a policy never changes deliveries, a seed fixes the trace.

The seed draws topology, history, faults and policies. A failure prints the seed; `boolcast
simulate --seed N` plays the same run again.
"""

from functools import cache

import pytest
from msgspec.structs import replace

from boolcast.model.identifiers import BrokerId, PublicationId
from boolcast.routing.core.broker import Broker
from boolcast.routing.protocol.configuration import Configuration, EngineName, settings_of
from boolcast.routing.protocol.effects import Complain, Deliver, Effect, ReviewReport
from boolcast.routing.protocol.stimuli import Stimulus
from boolcast.simulation.judging.checker import Subscriber
from boolcast.simulation.network.observation import Observer
from boolcast.simulation.runs import Run, outcome_of, outcomes
from boolcast.simulation.scenarios.combinations import combinations, simplifications
from boolcast.simulation.scenarios.plans import Plan
from boolcast.simulation.scenarios.scenarios import Load
from tests.routing.network import check_engine
from tests.simulation.covering_arrays import covering_array, groups

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
            checked = self.run.simulation.broker(broker)
            checked.validate()
            check_engine(checked)


class Deliveries(Observer):
    """What clients got, taken down without asking whether they should."""

    def __init__(self) -> None:
        self.seen: set[tuple[Subscriber, PublicationId]] = set()

    def delivers(self, time, broker, client, publication, event, names):
        self.seen |= {((broker, client, name), publication) for name in names}


class Merging(Observer):
    """How many mergers each broker has said that it had, when they were most."""

    def __init__(self) -> None:
        self.most: dict[BrokerId, int] = {}

    def remarks(self, time, broker, effect):
        if isinstance(effect, ReviewReport):
            self.most[broker] = max(self.most.get(broker, 0), effect.mergers)


class Played:
    """A run to its end, with what clients got."""

    def __init__(self, plan: Plan, *, validates: bool = False) -> None:
        self.deliveries = Deliveries()
        self.merging = Merging()
        validation = Validation()
        self.run = Run(plan, observers=[self.deliveries, self.merging, validation])
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


def check(seed: int, policy: str = "random", engine: EngineName = "scan") -> int:
    """Laws 1 and 2 for a seed: how many pairs were compared with plain flooding."""
    return compare(Plan(seed=seed, engine=engine, policy=policy))[0]


def compare(plan: Plan) -> tuple[int, Played]:
    """The same for any plan, and its run."""
    flood = replace(plan, policy="flood", engine="scan")
    chosen, flooding = Played(plan, validates=True), Played(flood)
    compared, different = differences(chosen, flooding)
    assert not different, (plan.seed, chosen.outcome.policy, sorted(different)[:5])
    assert chosen.outcome.is_right, (plan.seed, chosen.outcome.policy, chosen.outcome.problems())
    return compared, chosen


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, 100, CHUNK))
def test_a_random_network_delivers_what_flooding_does(start):
    """On pairs that are settled under both, whatever the policy and the faults."""
    compared = sum(map(check, range(start, start + CHUNK)))
    assert compared > 40 * CHUNK, "most of what is published must be held against something"


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["random", "covering.test=diagrams", "merging=perfect"])
def test_decision_diagrams_match_and_cover(policy):
    """P2 in one broker: its engine, and what its diagrams find covered, with faults."""
    assert sum(check(seed, policy, "mbd") for seed in range(8)) > 40 * 8


@pytest.mark.slow
@pytest.mark.parametrize(
    ("policy", "subscriptions", "least"),
    [
        ("covering=none,merging=perfect", 40, 20),
        ("covering=none,merging=perfect,merging.moment=entries,merging.starts_at=12", 40, 20),
        ("merging=imperfect,merging.imperfection=0.5", 40, 10),
        # What covering leaves is seldom alike.
        ("merging=perfect", 100, 3),
        ("covering.test=diagrams,merging=perfect", 100, 3),
    ],
)
def test_mergers_by_rules_that_are_made(policy, subscriptions, least):
    """Law 2 with faults, where many subscriptions differ in one predicate only."""
    load = Load(subscriptions=subscriptions, publications=60)
    policy += ",reviews.events=2"
    compared = mergers = 0
    for seed in (0, 3, 5):
        plan = Plan(seed=seed, engine="mbd", policy=policy, workload="pairs", load=load)
        pairs, played = compare(plan)
        assert played.run.drawn.faults
        compared += pairs
        mergers += sum(played.merging.most.values())
    assert compared > 0
    assert mergers >= least


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
        if self.state.configuration.policies.covering.kind == "none":
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


SIMPLIFICATIONS = simplifications()[1:]
SIMPLIFYING = {name for fields in SIMPLIFICATIONS for name in fields}


def written(configuration: Configuration) -> str:
    """A configuration as a plan takes it, but for what the plan says itself."""
    usual = settings_of(Configuration())
    fields = settings_of(configuration)
    own = ("engine", "durable")
    return ",".join(
        f"{name}={str(value).lower()}"
        for name, value in fields.items()
        if name not in own and (value != usual[name] or name == "propagation")
    )


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(SIMPLIFICATIONS)))
def test_simpler_entries_with_every_kind_of_covering(number):
    """Law 2 for P1's policies, P3's and mergers, with the family of P2 and P4, and faults.

    Deliveries are compared with those of flooding where nothing is simplified.
    """
    usual = settings_of(Configuration())
    fields = {name: SIMPLIFICATIONS[number].get(name, usual[name]) for name in SIMPLIFYING}
    chosen: dict[tuple[str, ...], Configuration] = {}
    for each in combinations():
        settings = settings_of(each)
        if all(settings[name] == value for name, value in fields.items()):
            chosen[settings["propagation"], settings["covering"], settings["unsubscription"]] = each
    # What is advertised is not known everywhere under flooding.
    asked = fields["advertisement_rewriting"], fields["merging.imperfection_of"]
    # Without advertisements to be covered there is nothing for diagrams where covering is none.
    by_diagrams = fields["covering.test"] == "diagrams"
    assert len(chosen) == (14 - by_diagrams if asked == ("none", "events") else 9)
    # Some of them; all are for `test_every_legal_combination`.
    some = list(chosen.values())[number % 5 :: 5]
    compared = [check(number + 60 * row, written(each)) for row, each in enumerate(some)]
    assert sum(compared) > 0


@cache
def array(strength: int) -> list[Configuration]:
    return covering_array(combinations(), strength, seed=1)


@pytest.mark.slow
def test_a_covering_array_has_every_two_choices_together():
    chosen = array(2)
    assert len(chosen) < 100
    assert groups(chosen, 2) == groups(combinations(), 2)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(10))
def test_every_two_choices_together(first):
    """Law 2 with faults, whatever two policies, limits or parameters a broker is given."""
    some = array(2)[first::10]
    assert sum(check(20_000 + 10 * n + first, written(each)) for n, each in enumerate(some)) > 0


@pytest.mark.long
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("first", range(8))
def test_every_three_choices_together(first):
    for number, configuration in enumerate(array(3)[first::8]):
        check(30_000 + 8 * number + first, written(configuration))


@pytest.mark.long
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("first", range(32))
def test_every_legal_combination(first):
    for number, configuration in enumerate(combinations()[first::32]):
        check(32 * number + first, written(configuration))


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
    """`DirectProcess` against its twin, on perfect wires."""
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
