"""Advertisements of neighbours pruned (P3-B5 to P3-B9): what is told for it, and what never is."""

from math import inf
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boolcast.algebra import covers
from boolcast.errors import ConfigurationError, UnadvertisedError
from boolcast.filters.expressions import Filter
from boolcast.filters.parsing import parse
from boolcast.matching.relations.analysed_filters import FilterAnalyser
from boolcast.matching.relations.overlap_index import OverlapIndex
from boolcast.model.identifiers import AdvertisementId, BrokerId
from boolcast.model.statistics import Statistics
from boolcast.optimising.pruning.overlap_ranks import OverlapRanks
from boolcast.optimising.pruning.trees import Tree, prepared
from boolcast.optimising.statistics.selectivities import Selectivities
from boolcast.routing.policies.registry import ADVERTISEMENT_REWRITING
from boolcast.routing.protocol.configuration import (
    AdvertisementRewritingSettings,
    Policies,
    configure,
)
from boolcast.routing.protocol.effects import Refuse
from boolcast.routing.protocol.messages import Advertise, Unadvertise
from boolcast.routing.protocol.stimuli import Received
from boolcast.routing.tables.entries import Entry
from boolcast.simulation.scenarios.combinations import ADVERTISEMENT_REWRITING as VARIANTS
from tests.routing.histories import FILTERS, STATISTICS
from tests.routing.network import Delivery, Network, chain
from tests.strategies import filters

# The rarer what it excludes, the more a predicate rules out: x > 5 more than y = 1.
HISTORY = Statistics(events=1_000, predicates={"x < 3": 0, "y = 2": 900, "x > 7": 100})
WANTED, UNWANTED = "y = 1 and x > 7", "y = 2 and x > 7"
_FILTERS = st.sampled_from([parse(text) for text in FILTERS]) | filters()
_NUMBERS = st.integers(0, 5)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), _NUMBERS, _FILTERS),
        st.tuples(st.just("add"), _NUMBERS, _FILTERS),
        st.tuples(st.just("remove"), _NUMBERS, st.none()),
        st.tuples(st.just("review"), st.none(), st.lists(_FILTERS, max_size=4)),
    ),
    max_size=20,
)


@given(variant=st.sampled_from(VARIANTS), steps=STEPS)
def test_what_is_asked_covers_what_came(variant: dict[str, Any], steps):
    """Law 4, whatever comes and goes between reviews."""
    policies = configure(variant).policies
    policy = ADVERTISEMENT_REWRITING[policies.advertisement_rewriting.kind](policies)
    analyser = FilterAnalyser()
    originals: dict[AdvertisementId, Filter] = {}
    held: dict[AdvertisementId, Filter] = {}
    for action, number, argument in [*steps, ("review", None, [parse("x < 3 and y = 1")])]:
        name = AdvertisementId(f"a{number}")
        if action == "add" and name not in originals:
            policy.add(name, argument)
            originals[name] = held[name] = argument
        elif action == "remove" and name in originals:
            policy.remove(name)
            del originals[name], held[name]
        elif action == "review":
            subscriptions = [
                Entry(f"s{place}", analyser.analyse(filter), place, link=BrokerId("B"))
                for place, filter in enumerate(argument)
            ]
            former = dict(held)
            policy.note_subscriptions()
            done = policy.review(subscriptions, Selectivities(STATISTICS))
            held |= done.changed
            lost = policy.lost(subscriptions, Selectivities(STATISTICS))
            assert lost <= (policies.advertisement_rewriting.rank_budget or 1.0) + 1e-9
            if not done.may_narrow:
                assert all(covers(held[each], former[each]) for each in done.changed)
        assert held == {**originals, **policy.rewritten}
    for name, filter in held.items():
        assert covers(filter, originals[name])
    assert policy.removed() >= 0


def rank(filter: Filter, ranks: OverlapRanks) -> float:
    return Tree.of(prepared(filter), ranks).estimate.average


_BUDGETS: list[dict[str, Any]] = [
    {"advertisement_rewriting.rank_budget": 0.3},
    {"advertisement_rewriting.rank_budget": 0.0, "reviews.changes": "still-best"},
    {
        "advertisement_rewriting.rank_budget": 0.3,
        "reviews.changes": "tolerant",
        "reviews.change_bound": 0.2,
    },
    {"advertisement_rewriting.rank_budget": 0.3, "advertisement_rewriting.memory_target": 4},
    {},
]
_COUNTS = st.fixed_dictionaries(
    dict.fromkeys(("y = 1", "x < 3", "x = 2", "x >= 2"), st.integers(0, 100))
)
_HISTORY = st.lists(
    st.one_of(
        st.tuples(st.just("add"), _NUMBERS, st.sampled_from([parse(text) for text in FILTERS])),
        st.tuples(st.just("remove"), _NUMBERS, st.none()),
        st.tuples(st.just("want"), _NUMBERS, _FILTERS),
        st.tuples(st.just("unwant"), _NUMBERS, st.none()),
        st.tuples(st.just("review"), st.none(), st.none()),
        st.tuples(st.just("review"), st.none(), _COUNTS),
    ),
    max_size=25,
)


@given(variant=st.sampled_from(_BUDGETS), steps=_HISTORY)
def test_what_is_told_as_lost_is_what_is_known_now(variant: dict[str, Any], steps):
    """Whatever comes, goes and is learnt: by the newest ranks, and within the budget."""
    policies = configure({"advertisement_rewriting": "pruning", **variant}).policies
    policy = ADVERTISEMENT_REWRITING["pruning"](policies)
    analyser = FilterAnalyser()
    originals: dict[AdvertisementId, Filter] = {}
    wanted: dict[str, Entry] = {}
    learnt = Selectivities(STATISTICS)
    for order, (action, number, argument) in enumerate([*steps, ("review", None, None)]):
        name, subscription = AdvertisementId(f"a{number}"), f"s{number}"
        if action == "add" and name not in originals:
            policy.add(name, argument)
            originals[name] = argument
        elif action == "remove" and name in originals:
            policy.remove(name)
            del originals[name]
        elif action == "want":
            wanted[subscription] = Entry(
                subscription, analyser.analyse(argument), order, link=BrokerId("B")
            )
            policy.note_subscriptions()
        elif action == "unwant" and subscription in wanted:
            del wanted[subscription]
            policy.note_subscriptions()
        elif action == "review":
            if argument is not None:
                learnt = Selectivities(Statistics(events=100, predicates=argument))
            if policy.is_due(wanted.values(), learnt):
                policy.review(wanted.values(), learnt)
            index = OverlapIndex()
            for entry in wanted.values():
                index.add(entry.id, entry.analysed.filter)
            ranks = OverlapRanks(index, learnt)
            before = {each: rank(filter, ranks) for each, filter in originals.items()}
            after = {each: rank(filter, ranks) for each, filter in policy.rewritten.items()}
            now = sum(min(before[each], after.get(each, inf)) for each in originals)
            whole = sum(before.values())
            told = policy.lost(wanted.values(), learnt)
            assert told == pytest.approx(1 - now / whole if whole else 0.0, abs=1e-9)
            assert told <= variant.get("rank_budget", 1.0) + 1e-9
            assert not policy.is_due(wanted.values(), learnt)


def test_ranks_are_by_what_a_subscription_asks_for_now():
    """Also if it has gone, and another come under its name, before they are asked again."""
    settings = AdvertisementRewritingSettings("pruning", rank_budget=0.0)
    policy = ADVERTISEMENT_REWRITING["pruning"](Policies(advertisement_rewriting=settings))
    name, analyser, learnt = AdvertisementId("a"), FilterAnalyser(), Selectivities(HISTORY)
    policy.add(name, parse("x > 5 and y = 1"))
    for asked, left in (("x < 3", "x > 5"), ("y = 2", "y = 1")):
        policy.note_subscriptions()
        entries = [Entry("s", analyser.analyse(parse(asked)), 1, link=BrokerId("B"))]
        assert policy.is_due(entries, learnt)
        policy.review(entries, learnt)
        assert str(policy.rewritten[name]) == left


def network_of(**policy: Any) -> Network:
    """The publisher at A, and an event has passed, so that advertisements are reviewed."""
    fields = {"advertisement_rewriting": "pruning", "covering": "none", "reviews.events": 1}
    configuration = configure({**fields, "engine": "scan", "durable": True, **policy})
    network = Network(chain("A", "B"), configuration, statistics=HISTORY)
    network.subscribe("B", "never", "s", "x < 3")
    network.subscribe("B", "early", "s", UNWANTED)
    network.subscribe("B", "wants", "s", WANTED)
    network.advertise("A", "p", "a", "x > 5 and y = 1")
    network.settle()
    network.publish("A", "p", "first", x=9, y=1)
    network.settle()
    return network


def asked(network: Network, broker: str) -> list[str]:
    """The advertisements of neighbours that are pruned."""
    rewritten = network.brokers[BrokerId(broker)].state.advertisement_rewriting.rewritten
    return list(map(str, rewritten.values()))


def test_only_what_a_neighbour_advertised_is_pruned():
    """P3-B9: by the original the publisher's broker checks events."""
    network = network_of()
    assert asked(network, "B") == ["x > 5"]
    assert asked(network, "A") == []
    network.publish("A", "p", "wrong", x=1, y=1)
    (refused,) = network.refusals
    assert isinstance(refused, Refuse)
    assert isinstance(refused.error, UnadvertisedError)


def test_what_overlaps_only_by_pruning_is_told_if_it_comes_later():
    network = network_of()
    assert network.holders("early", "s") == ["B"], "not told afterwards"
    network.subscribe("B", "late", "s", UNWANTED)
    network.settle()
    assert network.holders("late", "s") == ["A", "B"]
    network.publish("A", "p", "second", x=8, y=1)
    network.settle()
    assert network.deliveries == [Delivery("wants", "s", "first"), Delivery("wants", "s", "second")]
    # With the advertisement goes all that it called for.
    network.unadvertise("A", "p", "a")
    network.settle()
    assert network.holders("wants", "s") == network.holders("late", "s") == ["B"]


def test_an_advertisement_is_restored_when_the_reason_is_gone():
    """Pruned to the target as long as there are two; what that alone called for is withdrawn."""
    network = network_of(**{"advertisement_rewriting.memory_target": 3})
    assert asked(network, "B") == []
    network.advertise("A", "p", "more", "x > 5 and y = 1")
    network.settle()
    network.publish("A", "p", "second", x=8, y=1)
    network.settle()
    assert asked(network, "B") == ["x > 5"]
    network.subscribe("B", "late", "s", UNWANTED)
    network.settle()
    assert network.holders("late", "s") == ["A", "B"]
    network.unadvertise("A", "p", "more")
    network.settle()
    network.publish("A", "p", "third", x=8, y=1)
    network.settle()
    assert asked(network, "B") == []
    assert network.holders("late", "s") == ["B"]
    assert network.holders("wants", "s") == ["A", "B"]


def test_a_broker_with_its_disk_goes_on_with_what_was_pruned():
    network = network_of()
    network.subscribe("B", "late", "s", UNWANTED)
    network.settle()
    network.restart("B", with_disk=True)
    network.settle()
    assert asked(network, "B") == ["x > 5"]
    assert network.holders("early", "s") == ["B"]
    network.publish("A", "p", "second", x=8, y=1)
    network.settle()
    assert asked(network, "B") == ["x > 5"]
    assert network.holders("late", "s") == network.holders("wants", "s") == ["A", "B"]
    assert [each.publication for each in network.deliveries] == ["first", "second"]


@pytest.mark.parametrize("unsubscription", ["plain", "incremental", "incremental-packing"])
def test_a_removal_reaches_where_only_pruning_had_led(unsubscription):
    """R8 with P4: without history nothing is kept on a guess (P4-E13)."""
    policy = {
        "covering": "active",
        "unsubscription": unsubscription,
        "unsubscription.threshold": 0.0,
    }
    network = network_of(**policy, **{"unsubscription.collects_ghosts": False})
    network.subscribe("B", "late", "s", UNWANTED)
    network.settle()
    assert network.holders("late", "s") == ["A", "B"]
    network.unsubscribe("B", "late", "s")
    network.settle()
    assert network.holders_of("B:1:4") == []
    assert network.confirmed == [("late", "s")]


@pytest.mark.parametrize(
    ("limit", "is_restored"),
    [
        ({"advertisement_rewriting.rank_budget": 0.0}, True),
        ({"advertisement_rewriting.stops_at_cut_off": True}, True),
        ({}, False),
    ],
    ids=["budget", "cut-off", "no limit"],
)
def test_ranks_are_those_of_the_subscriptions_of_now(limit, is_restored):
    """Where nobody subscribes pruning is free; who comes later makes it dear."""
    fields = {"advertisement_rewriting": "pruning", "covering": "none", "reviews.events": 1}
    configuration = configure({**fields, "engine": "scan", **limit})
    network = Network(chain("A", "B"), configuration, statistics=HISTORY)
    network.advertise("A", "p", "a", "x > 5 and y = 1")
    network.advertise("B", "q", "b", "z = 1")
    network.settle()
    network.publish("B", "q", "first", z=1)
    assert len(asked(network, "B")) == 1
    assert network.reports[-1][1].lost_rank == 0.0
    for number in range(5):
        network.subscribe("B", f"c{number}", "s", "x < 3")
        network.subscribe("B", f"d{number}", "s", "y = 2")
    network.settle()
    network.publish("B", "q", "second", z=1)
    network.settle()
    told = [report for broker, report in network.reports if broker == "B"][-1]
    if is_restored:
        assert told.lost_rank <= limit.get("rank_budget", 1.0)
        assert "y = 1" not in asked(network, "B")
        return
    # Nothing is due, so nothing is told; with the next report it is.
    network.advertise("A", "p", "more", "w = 1")
    network.settle()
    network.publish("B", "q", "third", z=1)
    told = [report for broker, report in network.reports if broker == "B"][-1]
    assert asked(network, "B") == ["y = 1"]
    assert told.lost_rank > 0.9
    network.settle()


def test_a_target_that_is_missed_is_told():
    network = network_of(
        **{"advertisement_rewriting.memory_target": 1, "advertisement_rewriting.rank_budget": 0.0}
    )
    told = [report for broker, report in network.reports if broker == "B"][-1]
    missed = "the target of 1 predicates is missed: 2 remain, RankBudget(share=0.0) stopped the run"
    assert f"pruning advertisements: {missed}" in told.warnings
    assert str(told).endswith(missed)


def test_the_report_tells_of_advertisements():
    network = network_of()
    told = [str(report) for broker, report in network.reports if broker == "B"]
    assert told[-1].endswith(
        "1 advertisements of neighbours are pruned, which saves 1 predicates and gives up 2.60% of"
        " what they ruled out"
    )
    impossible = network_of(**{"advertisement_rewriting.memory_target": 0})
    told = [str(report) for broker, report in impossible.reports if broker == "B"]
    assert "no more advertisements were pruned: no pruning leaves 0 predicates" in told[-1]
    assert asked(impossible, "B") == []


def test_what_nothing_satisfies_is_left_as_it_is():
    """Pruned, it would call for subscriptions that no event under it could concern."""
    network = network_of()
    never = parse("x > 8 and x < 3")
    advertise = Advertise(9, AdvertisementId("A:1:9"), never)
    network.act("B", Received(BrokerId("A"), advertise))
    network.publish("A", "p", "second", x=8, y=1)
    network.settle()
    assert asked(network, "B") == ["x > 5"]
    network.act("B", Received(BrokerId("A"), Unadvertise(AdvertisementId("A:1:9"))))


@pytest.mark.parametrize(
    "policy",
    [
        {},
        {"advertisement_rewriting": "none", "merging": "pruning"},
        {"advertisement_rewriting": "none", "sending": "pruned", "sending.degradation": 1.0},
    ],
    ids=["advertisements", "merging", "sending"],
)
def test_statistics_of_other_data_are_told_whatever_chooses_by_them(policy, monkeypatch):
    monkeypatch.setitem(globals(), "HISTORY", Statistics(events=9, predicates={"other = 1": 3}))
    network = network_of(**policy)
    warnings = {warning for _, report in network.reports for warning in report.warnings}
    assert any("of other data" in warning for warning in warnings)


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"propagation": "flood"}, "set propagation.kind 'towards'"),
        (
            {"advertisement_rewriting": "none", "advertisement_rewriting.rank_budget": 0.1},
            "rank_budget limits nothing",
        ),
        ({"advertisement_rewriting.rank_budget": 1.5}, "from 0 to 1, not 1.5"),
        ({"advertisement_rewriting.memory_target": -1}, "from 0 on, not -1"),
    ],
)
def test_what_makes_no_configuration(fields, problem):
    with pytest.raises(ConfigurationError, match=problem):
        configure({"advertisement_rewriting": "pruning", **fields})
