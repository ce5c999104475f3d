"""Entries of neighbours made simpler (P1): F5's rows, what is restored when, what is told."""

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import pytest

from boolcast.errors import (
    ConfigurationError,
    PruningTargetError,
    ReplacementTargetError,
    StatisticsError,
)
from boolcast.filters.expressions import Filter
from boolcast.filters.parsing import parse
from boolcast.matching.counting.engine import CountingMatcher
from boolcast.model.events import Event
from boolcast.model.identifiers import BrokerId, SubscriptionId
from boolcast.model.statistics import Statistics
from boolcast.optimising.statistics.selectivities import Selectivities
from boolcast.routing.core.broker import Broker
from boolcast.routing.protocol.configuration import configure
from boolcast.routing.protocol.messages import Publish, Subscribe, Unsubscribe
from boolcast.routing.rewriting.selectivity_source import Counted
from tests.optimising.pruning_histories import read
from tests.routing.network import Delivery, Network, chain, check_that_nothing_is_lost

HISTORY = Statistics(
    events=1_000, predicates={"y = 1": 100, "x < 9": 900, "x < 5": 500, "x >= 0": 1_000}
)
S1, S2 = "y = 1 and x < 9", "y = 1 and x < 5"
PRUNING: dict[str, Any] = {"rewriting": "pruning"}
REPLACEMENT: dict[str, Any] = {"rewriting": "replacement"}
SENDING: dict[str, Any] = {"sending": "pruned", "sending.degradation": 0.2}
MERGING: dict[str, Any] = {"merging": "pruning", "merging.imperfection": 0.5}


def network_of(
    *brokers: str, statistics: Statistics | None = HISTORY, engine: str = "scan", **policy: Any
) -> Network:
    fields = {"covering": "none", "reviews.events": 1, "engine": engine, "durable": True, **policy}
    return Network(chain(*brokers), configure(fields), statistics=statistics)


def row_network(policy: dict[str, Any], second: str = S2) -> Network:
    """F5's scenario: the publisher at B3, s1 ⊇ s2 from clients of B1, and an event has passed."""
    network = network_of("B1", "B2", "B3", **policy)
    network.advertise("B3", "p", "a", "x >= 0")
    network.subscribe("B1", "c1", "s1", S1)
    network.subscribe("B1", "c2", "s2", second)
    network.settle()
    network.publish("B3", "p", "first", x=8, y=1)
    network.settle()
    assert network.deliveries == [Delivery("c1", "s1", "first")]
    return network


ROWS: list[tuple[dict[str, Any], list[str], list[type], list[type], list[str]]] = [
    # What B2 and B3 match by before, what travels on either link, what B3 matches by after.
    (PRUNING, ["y = 1", "y = 1"], [Unsubscribe], [Unsubscribe], ["y = 1"]),
    (REPLACEMENT, ["y = 1 and x < 9"] * 2, [Unsubscribe], [Unsubscribe], [S1]),
    (SENDING, ["y = 1", "y = 1"], [Unsubscribe], [Unsubscribe], ["y = 1"]),
    (MERGING, ["y = 1"], [Unsubscribe], [Subscribe, Unsubscribe], [S2]),
]
IDS = ["pruning", "replacement", "pre-pruning", "merging"]


@pytest.mark.parametrize(("policy", "before", "first", "second", "after"), ROWS, ids=IDS)
def test_what_deregistration_sends(policy, before, first, second, after):
    """F5, P1-B10: one removal by its id; with a merger, what it stood for comes before."""
    network = row_network(policy)
    assert network.matched("B2") == network.matched("B3") == before
    sent = len(network.sent)
    network.unsubscribe("B1", "c1", "s1")
    network.settle()
    for link, messages in ((("B1", "B2"), first), (("B2", "B3"), second)):
        found = [type(each.message) for each in network.sent[sent:] if each[:2] == link]
        assert found == messages
    assert network.matched("B3") == after
    assert network.confirmed == [("c1", "s1")]


@pytest.mark.slow
@pytest.mark.parametrize("policy", [row[0] for row in ROWS], ids=IDS)
def test_no_event_is_lost_meanwhile(policy):
    """F5 with publications in flight: every order of the first five steps, then to the end."""
    check_that_nothing_is_lost(lambda: row_network(policy), steps=5)


@pytest.mark.parametrize("covering", ["active", "lazy"])
@pytest.mark.parametrize("unsubscription", ["packing", "incremental-packing"])
def test_what_a_merger_stood_for_travels_with_its_removal(covering, unsubscription):
    """R6: the merger is P4's S, and the remaining constituents are among its NRS."""
    policy = {
        **MERGING,
        "covering": covering,
        "unsubscription": unsubscription,
        "unsubscription.threshold": 1.0,
    }
    network = row_network(policy, "y = 1 and x < 3 and z = 5 or y = 1 and x < 3 and z = 6")
    assert network.matched("B3") == ["y = 1 and x < 9"], "nothing to merge where one covers all"
    network.subscribe("B1", "c3", "s3", "y = 1 and x > 7")
    network.settle()
    network.publish("B3", "p", "second", x=8, y=1)
    network.settle()
    merger = merger_of(network, "B2")
    assert network.matched("B3") == ["y = 1"]
    sent = len(network.sent)
    network.unsubscribe("B1", "c3", "s3")
    network.settle()
    (removal,) = [each.message for each in network.sent[sent:] if each[:2] == ("B2", "B3")]
    assert isinstance(removal, Unsubscribe)
    assert removal.subscription == merger
    assert [str(each.filter) for each in removal.payload] == [S1]
    assert network.table("B3") == [S1]


def test_a_pruned_entry_lets_events_pass_that_no_client_sees():
    """R1: s2⁺ sends it as far as its broker, where s2 refuses it."""
    network = row_network(PRUNING)
    sent = len(network.sent)
    network.publish("B3", "p", "for nothing", x=10, y=1)
    network.settle()
    assert [type(each.message) for each in network.sent[sent:]] == [Publish, Publish]
    assert len(network.deliveries) == 1
    assert network.matched("B1") == [S2, S1]


def test_a_pruned_entry_is_forwarded_as_it_came():
    """R4: it was pruned at B1's neighbour before the publisher of B3 was heard of."""
    network = network_of("B1", "B2", "B3", **PRUNING, covering="active")
    network.advertise("B2", "q", "a", "x >= 0")
    network.subscribe("B1", "c", "s", S1)
    network.settle()
    network.publish("B2", "q", "e", x=20)
    network.settle()
    assert network.matched("B2") == ["y = 1"]
    network.subscribe("B2", "d", "t", "y = 1 and x > 8")
    network.advertise("B3", "p", "a", "x >= 0")
    network.settle()
    assert network.table("B3") == ["y = 1 and x < 9", "y = 1 and x > 8"]
    network.publish("B3", "p", "wanted", x=10, y=1)
    network.settle()
    assert network.deliveries == [Delivery("d", "t", "wanted")]


def test_entries_are_restored_when_there_is_room_again():
    """The memory target is kept by pruning as long as it takes that."""
    network = row_network({**PRUNING, "memory_target": 3})
    # s1 lost what costs less, x < 9.
    assert network.matched("B2") == ["y = 1", S2]
    network.unsubscribe("B1", "c2", "s2")
    network.settle()
    network.publish("B3", "p", "e", x=8, y=1)
    network.settle()
    assert network.matched("B2") == [S1]
    (name, report) = network.reports[-1]
    assert name in ("B2", "B3")
    assert (report.entries, report.rewritten, report.removed) == (1, 0, 0)


def test_entries_are_restored_when_the_budget_is_overspent():
    """Beside an entry that takes every event pruning is free, and when that goes it is not."""
    network = network_of("B1", "B2", **PRUNING, false_positive_budget=0.001)
    network.advertise("B2", "p", "a", "true")
    network.subscribe("B1", "c", "s", S2)
    network.subscribe("B1", "d", "all", "x >= 0")
    network.settle()
    network.publish("B2", "p", "e", x=1)
    assert network.matched("B2") == ["x >= 0", "y = 1"]
    network.unsubscribe("B1", "d", "all")
    network.settle()
    network.publish("B2", "p", "f", x=1)
    assert network.matched("B2") == [S2]


@pytest.mark.parametrize(
    "policy",
    [
        {**PRUNING, "false_positive_budget": 0.001},
        {**PRUNING, "rewriting.stops_at_cut_off": True},
        {**REPLACEMENT, "false_positive_budget": 0.001},
    ],
    ids=str,
)
def test_what_another_neighbour_gets_anyway_is_no_excuse(policy):
    """Beside one that takes every event, pruning for another is not free."""
    network = network_of("B1", "B2", "B3", **policy)
    network.advertise("B2", "p", "a", "true")
    network.subscribe("B1", "c", "s", S2)
    network.subscribe("B3", "d", "all", "x < 9 or x >= 0")
    network.settle()
    for number in range(4):
        network.publish("B2", "p", f"e{number}", x=number, y=1)
        network.settle()
    assert network.matched("B2") == sorted([S2, "x < 9 or x >= 0"])


def test_a_predicate_comes_back_when_the_one_in_its_place_goes():
    network = row_network(REPLACEMENT)
    network.unsubscribe("B1", "c1", "s1")
    network.settle()
    network.publish("B3", "p", "e", x=3, y=1)
    network.settle()
    assert network.matched("B2") == network.matched("B3") == [S2]


def test_the_cut_off():
    """x < 9 costs nothing to speak of, y = 1 nearly everything; the next entry is seen too."""
    network = row_network({**PRUNING, "rewriting.stops_at_cut_off": True})
    assert network.matched("B2") == ["y = 1", S2]
    network.subscribe("B1", "c3", "s3", "y = 1 and x < 9 and x >= 0")
    network.settle()
    network.publish("B3", "p", "e", x=20, y=1)
    network.settle()
    # The gain is greatest after two of four prunings: x >= 0 for nothing, x < 9 for little.
    assert network.matched("B2") == ["y = 1", S2, S1]


def test_what_is_sent_is_what_covers():
    """R3, P1-B8: towards B2 `y = 1` is what s1 is, so it quenches what s1 alone would not."""
    network = network_of("B1", "B2", **SENDING, covering="active")
    network.advertise("B2", "p", "a", "true")
    network.subscribe("B1", "c1", "s1", S1)
    network.subscribe("B1", "c2", "s2", "y = 1 and z = 5")
    network.settle()
    assert network.table("B1") == [S1, "y = 1 and z = 5"]
    assert network.table("B2") == ["y = 1"]
    network.publish("B2", "p", "e", x=20, y=1, z=5)
    network.publish("B2", "p", "f", x=20, y=1)
    network.settle()
    assert network.deliveries == [Delivery("c2", "s2", "e")]
    network.restart("B1", with_disk=True)
    network.unsubscribe("B1", "c1", "s1")
    network.settle()
    network.publish("B2", "p", "g", x=20, y=1, z=5)
    network.settle()
    assert network.deliveries[1:] == [Delivery("c2", "s2", "g")]


def merger_of(network: Network, broker: str) -> SubscriptionId:
    (merger,) = network.brokers[BrokerId(broker)].state.mergers
    return merger.id


def test_a_merger_travels_under_an_id_of_its_maker():
    """P2-B10: first the merger, then the removal of what it stands for; that is kept (R5)."""
    network = row_network(MERGING)
    merger = merger_of(network, "B2")
    assert merger.startswith("B2:1:")
    told = [each.message for each in network.sent if each[:2] == ("B2", "B3")]
    changes = [each for each in told if isinstance(each, (Subscribe, Unsubscribe))][2:]
    assert [type(each) for each in changes] == [Subscribe, Unsubscribe, Unsubscribe]
    assert changes[0].subscription == merger
    state = network.brokers[BrokerId("B2")].state
    assert [str(entry.analysed.filter) for entry in state.constituents] == [S1, S2]
    assert network.holders_of(merger) == ["B2", "B3"]
    assert len(network.brokers[BrokerId("B3")].state.mergers) == 0


def test_a_merger_outlives_a_crash():
    """What B2 has on its disk is enough to take the merger apart."""
    network = row_network(MERGING)
    network.restart("B2", with_disk=True)
    network.unsubscribe("B1", "c1", "s1")
    network.settle()
    assert network.table("B3") == [S2]
    network.unsubscribe("B1", "c2", "s2")
    network.settle()
    assert network.table("B2") == network.table("B3") == []


@pytest.mark.parametrize("lost", ["B1", "B2", "B3"])
def test_a_merger_and_a_broker_without_its_disk(lost):
    network = row_network(MERGING)
    network.restart(lost, with_disk=False)
    network.mend_links()
    network.settle()
    if lost == "B3":
        network.advertise("B3", "p", "a", "x >= 0")
        network.settle()
    if lost == "B1":
        # Its clients have not asked again, so what it had said holds no longer.
        assert network.table("B2") == network.table("B3") == []
        return
    network.publish("B3", "p", "after", x=1, y=1)
    network.settle()
    assert sorted(network.deliveries[1:]) == [
        Delivery("c1", "s1", "after"),
        Delivery("c2", "s2", "after"),
    ]
    assert len(network.matched("B2")) == 1, "merged again"


def test_a_merger_outlives_a_link_that_is_made_anew():
    """B1 repeats what the merger stands for, and nobody beyond hears of it."""
    network = row_network(MERGING)
    merger = merger_of(network, "B2")
    sent = len(network.sent)
    network.connect("B1", "B2")
    state = network.brokers[BrokerId("B2")].state
    assert [entry.is_stale for entry in state.constituents] == [True, True]
    network.settle()
    assert merger_of(network, "B2") == merger
    assert [entry.is_stale for entry in state.constituents] == [False, False]
    told = [each.message for each in network.sent[sent:] if each[:2] == ("B2", "B3")]
    assert not any(isinstance(each, (Subscribe, Unsubscribe)) for each in told)
    assert network.refusals == []


def test_what_was_not_repeated_goes_with_its_merger():
    """B1 has lost s1 with its memory and made s2 anew; s3, from beyond it, it repeats."""
    network = network_of("B0", "B1", "B2", "B3", **MERGING)
    network.advertise("B3", "p", "a", "x >= 0")
    network.subscribe("B1", "c1", "s1", S1)
    network.subscribe("B0", "c3", "s3", "y = 1 and x > 7")
    network.settle()
    network.publish("B3", "p", "first", x=8, y=1)
    network.settle()
    assert network.matched("B2") == ["y = 1"]
    network.restart("B1", with_disk=False)
    network.mend_links()
    network.settle()
    assert network.table("B2") == network.table("B3") == ["y = 1 and x > 7"]
    network.publish("B3", "p", "second", x=9, y=1)
    network.settle()
    assert network.deliveries[-1] == Delivery("c3", "s3", "second")


def test_a_merger_is_not_the_neighbours_to_remove():
    network = row_network(MERGING)
    merger = merger_of(network, "B2")
    network.queues[BrokerId("B1"), BrokerId("B2")].append(Unsubscribe(99, merger))
    network.settle()
    assert merger_of(network, "B2") == merger
    assert f"the subscription {merger} came from elsewhere" in str(network.refusals[0])


def test_a_target_below_the_floor_is_told_and_nothing_is_pruned():
    network = row_network({**PRUNING, "memory_target": 1})
    assert network.matched("B2") == [S2, S1]
    _, report = network.reports[-1]
    assert isinstance(report.problem, PruningTargetError)
    assert report.problem.floor == 2
    assert "nothing more was rewritten: no pruning leaves 1 predicates" in str(report)
    # It is not told again as long as nothing has changed.
    count = len(network.reports)
    network.publish("B3", "p", "e", x=1)
    network.settle()
    assert len(network.reports) == count


ALTERNATIVES = "a = 1 and b = 1 or b = 1 and c = 1 or c = 1 and d = 1"


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        ({"memory_target": 2}, "3 remain, the cheapest steps lead no further"),
        (
            {"memory_target": 4, "false_positive_budget": 0.0},
            "6 remain, FalsePositiveBudget(share=0.0) stopped the run",
        ),
    ],
)
def test_a_target_that_is_missed_is_told(limits, reason):
    """The floor is no promise: b and c alone would do, and a = 1 goes first."""
    shares = {"a = 1": 900, "b = 1": 910, "c = 1": 100, "d = 1": 50}
    history = Statistics(events=1_000, predicates=shares)
    network = network_of("A", "B", **PRUNING, **limits, propagation="flood", statistics=history)
    network.advertise("B", "p", "a", "true")
    network.subscribe("A", "c", "s", ALTERNATIVES)
    network.settle()
    network.publish("B", "p", "e", a=1)
    _, report = network.reports[-1]
    assert report.problem is None
    told = f"the target of {limits['memory_target']} predicates is missed: {reason}"
    assert report.warnings == (f"rewriting: {told}",)
    assert f"; {told}; " in str(report)
    network.settle()


def test_an_impossible_target_of_replacement():
    network = row_network({**REPLACEMENT, "memory_target": 1})
    assert network.matched("B2") == [S2, S1]
    assert isinstance(network.reports[-1][1].problem, ReplacementTargetError)


def test_statistics_of_other_data_are_told():
    foreign = Statistics(events=9, predicates={"celsius > 30": 2})
    network = network_of("B1", "B2", **PRUNING, statistics=foreign)
    network.advertise("B2", "p", "a", "true")
    network.subscribe("B1", "c", "s", S1)
    network.settle()
    network.publish("B2", "p", "e", x=1, y=1)
    ((_, report),) = network.reports
    assert report.knowledge.is_foreign
    assert "they are empty or of other data" in str(report)
    network.settle()
    assert network.deliveries == [Delivery("c", "s", "e")]


def test_statistics_that_lack_a_predicate_are_told():
    network = network_of("B1", "B2", **PRUNING)
    network.advertise("B2", "p", "a", "true")
    network.subscribe("B1", "c", "s", "y = 1 and z = 5")
    network.settle()
    network.publish("B2", "p", "e", x=1)
    ((_, report),) = network.reports
    assert (report.knowledge.counted, report.knowledge.guess) == (1, 1)
    assert report.knowledge.examples == ("z = 5",)


def test_statistics_that_contradict_themselves_are_refused():
    with pytest.raises(StatisticsError):
        network_of("B1", "B2", **PRUNING, statistics=Statistics(events=1, predicates={"x < 9": 2}))


@pytest.mark.parametrize("policy", [PRUNING, REPLACEMENT, SENDING, MERGING], ids=IDS[:4])
def test_who_chooses_by_selectivities_must_have_some(policy):
    with pytest.raises(ConfigurationError) as caught:
        Broker(BrokerId("B"), configure(policy))
    assert caught.value.rule == "P1-B5"
    Broker(BrokerId("B"), configure({"engine": "counting", **policy}))


def test_a_broker_learns_by_counting():
    """P1-B5: nine of ten events have x < 9, one has y = 1, so x < 9 goes."""
    network = network_of(
        "B1", "B2", **PRUNING, engine="counting", statistics=None, false_positive_budget=0.05
    )
    network.advertise("B2", "p", "a", "true")
    network.subscribe("B1", "c", "s", S1)
    network.settle()
    state = network.brokers[BrokerId("B2")].state
    state.next_review = 20
    for number in range(20):
        network.publish("B2", "p", f"e{number}", x=number % 10, y=1 if number % 10 == 3 else 0)
    (pruned,) = state.rewriting.rewritten.values()
    assert str(pruned) == "y = 1"
    (entry,) = state.subscriptions.of_link(BrokerId("B1"))
    # x < 9 has left the engine, and is known as long as the entry asks for it.
    selectivities = state.learning.learn([entry.analysed.filter])
    assert selectivities.knowledge([entry.analysed.filter]).counted == 2
    forgotten = state.learning.learn([])
    assert forgotten.knowledge([entry.analysed.filter]).counted == 1


def test_a_predicate_that_comes_back_brings_its_history():
    """One event since its return does not outweigh a thousand before."""
    matcher = CountingMatcher()
    learning = Counted(matcher)
    original, pruned, asked = parse("x < 9 and y = 1"), parse("y = 1"), read("x < 9")
    matcher.add("s", original)
    for number in range(1_000):
        matcher.match(Event(x=number % 10, y=1))
    assert learning.learn([]).share(asked) == 0.9
    matcher.add("s", pruned)
    for _ in range(2):
        for _ in range(2_000):
            matcher.match(Event(x=9))
        assert learning.learn([original]).share(asked) == pytest.approx(0.9, abs=1e-3)
    matcher.add("s", original)
    matcher.statistics()
    matcher.match(Event(x=9))
    learnt = learning.learn([])
    assert learnt.share(asked) == pytest.approx(900 / 1_001, abs=1e-3)
    assert learnt.share(read("y = 1")) == pytest.approx(1_000 / 5_001, abs=1e-3)
    # It counts on from there, also when it leaves a second time.
    for _ in range(999):
        matcher.match(Event(x=9))
    assert learning.learn([]).share(asked) == pytest.approx(900 / 2_000, abs=1e-3)
    matcher.add("s", pruned)
    assert learning.learn([original]).share(asked) == pytest.approx(900 / 2_000, abs=1e-3)
    matcher.add("s", original)
    matcher.statistics()
    for _ in range(2_000):
        matcher.match(Event(x=1))
    assert learning.learn([]).share(asked) == pytest.approx(2_900 / 4_000, abs=1e-3)


def test_what_is_counted_now_goes_before_what_was_known():
    """A predicate that never left the engine has no other past."""
    matcher = CountingMatcher()
    learning = Counted(matcher)
    matcher.add("s", parse(S1))
    matcher.match(Event(x=1, y=0))
    assert learning.learn([]).share(read("x < 9")) == 1.0
    for _ in range(3):
        matcher.match(Event(x=10, y=0))
    assert learning.learn([parse(S1)]).share(read("x < 9")) == 0.25


@pytest.mark.parametrize("changes", ["regardless", "still-best", "tolerant"])
@pytest.mark.parametrize("with_news", [True, False])
def test_a_budget_is_judged_by_newer_statistics(changes, with_news):
    """What was free is dear by now: with or without entries that come and go."""
    policy = {
        **PRUNING,
        "reviews.changes": changes,
        "false_positive_budget": 0.05,
        "reviews.events": 20,
    }
    network = network_of("A", "B", **policy, engine="counting", statistics=None)
    network.advertise("B", "p", "a", "true")
    network.subscribe("A", "c", "s", "y = 1 and x = 1")
    network.subscribe("B", "local", "x", "x = 1")
    network.subscribe("B", "local", "y", "y = 1")
    network.settle()
    state = network.brokers[BrokerId("B")].state
    for number in range(20):
        network.publish("B", "p", f"e{number}", x=1, y=number % 2)
    assert list(map(str, state.rewriting.rewritten.values())) == ["y = 1"]
    assert network.reports[-1][1].false_positives == 0.0
    if with_news:
        network.subscribe("A", "c", "t", "w = 1")
        network.settle()
    for number in range(400):
        network.publish("B", "p", f"f{number}", x=2, y=1)
    assert state.rewriting.rewritten == {}
    assert network.reports[-1][1].false_positives == 0.0
    network.settle()


def test_a_report_for_another_reason_tells_what_is_spent_by_now():
    policy = {**PRUNING, "reviews.events": 20}
    network = network_of("A", "B", **policy, engine="counting", statistics=None)
    network.advertise("B", "p", "a", "true")
    network.subscribe("A", "c", "s", "y = 1 and x = 1")
    # So that y = 1 is counted on, which pruning takes out of the entry.
    network.subscribe("B", "local", "y", "y = 1")
    network.settle()
    for number in range(20):
        network.publish("B", "p", f"e{number}", x=1, y=1)
    assert network.reports[-1][1].false_positives == 0.0
    network.subscribe("A", "c", "t", "w = 1")
    network.settle()
    for number in range(20):
        network.publish("B", "p", f"f{number}", x=1, y=2)
    # Now every second event has x = 1, which is left of the entry, and not y = 1.
    assert network.reports[-1][1].false_positives == pytest.approx(0.5, abs=0.03)
    network.settle()


def test_nothing_is_learnt_from_few_more_events(monkeypatch):
    """Statistics of a tenth more events are worth a look, those of fewer are not."""
    network = network_of("A", "B", **PRUNING, engine="counting", statistics=None)
    network.advertise("B", "p", "a", "true")
    network.subscribe("A", "c", "s", S1)
    network.settle()
    looks: list[int] = []
    state = network.brokers[BrokerId("B")].state
    learn = Counted.learn

    def look(self: Counted, rewritten: Iterable[Filter]) -> Selectivities:
        looks.append(state.events)
        return learn(self, rewritten)

    monkeypatch.setattr(Counted, "learn", look)
    for number in range(200):
        network.publish("B", "p", f"e{number}", x=9)
    assert looks[:10] == list(range(1, 11))
    assert len(looks) < 50
    assert all(later >= 1.1 * sooner for sooner, later in pairwise(looks))
    assert looks[-1] > 180


def test_nothing_is_reviewed_where_nothing_is_rewritten():
    network = row_network({})
    assert network.reports == []
    assert network.matched("B2") == [S2, S1]
