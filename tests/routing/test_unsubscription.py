"""P4's unsubscription: its worked examples, and F5's rows with publications in flight."""

from typing import Any

import pytest

from boolcast.model.events import Event
from boolcast.model.identifiers import AdvertisementId, BrokerId, PublicationId
from boolcast.routing.policies.unsubscription import UpToTheCriticalBroker, pruning_distance
from boolcast.routing.protocol.configuration import Configuration, UnsubscriptionSettings, configure
from boolcast.routing.protocol.messages import PruningDistance, Publish, Subscribe, Unsubscribe
from tests.routing.network import Delivery, Network, chain, check_that_nothing_is_lost


def configuration(**policy: Any) -> Configuration:
    own = UnsubscriptionSettings.__struct_fields__
    paths = {f"unsubscription.{name}" if name in own else name: policy[name] for name in policy}
    return configure({"engine": "scan", **paths})


def header(network: Network, sender: str, receiver: str) -> tuple[int, int]:
    """Distance and count of the last publication on a link."""
    found = [
        (sent.message.distance, sent.message.count)
        for sent in network.sent
        if (sent.sender, sent.receiver) == (sender, receiver) and isinstance(sent.message, Publish)
    ]
    return found[-1]


def test_the_header_on_the_way():
    """P4-T1: A B C D H I, where C and D are meeting points."""
    network = Network(
        [*chain("A", "B", "C", "D", "H", "I"), ("C", "J"), ("D", "K")],
        configuration(covering="active", unsubscription="incremental"),
    )
    network.advertise("A", "p", "a", "x >= 0")
    network.subscribe("I", "i", "s", "x > 5")
    network.subscribe("J", "j", "s", "x > 6")
    network.subscribe("K", "k", "s", "x > 7")
    network.settle()
    network.publish("A", "p", "e", x=9)
    network.settle()
    assert header(network, "A", "B") == (0, 0)
    assert header(network, "B", "C") == (1, 0)
    assert header(network, "C", "D") == (0, 1)
    assert header(network, "D", "H") == (0, 2)
    assert header(network, "H", "I") == (1, 2)
    reach = network.brokers[BrokerId("I")].state.reach
    assert isinstance(reach, UpToTheCriticalBroker)
    ((row,),) = reach._rows.values()
    assert row.distance == 2


def test_who_stands_behind_the_sender_does_not_count():
    """P4-B4: only subscriptions that the event can still serve make a meeting point."""
    network = Network(
        chain("A", "B", "C"), configuration(covering="active", unsubscription="incremental")
    )
    for broker in "AC":
        network.advertise(broker, "p", "a", "x >= 0")
        network.subscribe(broker, "c", "s", "x > 1")
    network.settle()
    network.publish("A", "p", "e", x=9)
    network.settle()
    assert header(network, "B", "C") == (1, 0)


def test_quenching_is_decided_for_each_link():
    """P4-T2 and property 2: Sn goes to the meeting point that is furthest from its broker."""
    links = [*chain("A", "B", "C", "D", "E"), ("B", "I"), ("A", "J"), ("C", "K"), ("E", "L")]
    network = Network([*links, ("D", "M")], configuration(covering="active"))
    for broker, group in [("I", 1), ("J", 2), ("K", 3), ("L", 4), ("M", 5)]:
        network.advertise(broker, "p", "a", f"group = {group} and x >= 0")
    network.settle()
    network.subscribe("A", "c", "Sr", "group <= 5")
    network.settle()
    network.subscribe("E", "d", "Sn", "group in (1, 3, 5)")
    network.settle()
    assert sorted(network.holders("c", "Sr")) == sorted("ABCDEIJKLM")
    assert sorted(network.holders("d", "Sn")) == sorted("BCDE")


def test_without_covering_a_subscription_spans_the_tree_to_its_publishers():
    """P4's property 1."""
    links = [*chain("A", "B", "C", "D"), ("B", "I"), ("C", "K")]
    network = Network(links, configuration(covering="none"))
    network.advertise("I", "p", "a", "x = 1")
    network.advertise("K", "p", "a", "x = 2")
    network.settle()
    network.subscribe("A", "c", "s", "x = 2")
    network.settle()
    assert sorted(network.holders("c", "s")) == sorted("ABCK")


@pytest.mark.parametrize(
    ("threshold", "expected"),
    [
        *((0.1, 3), (0.3, 3), (0.5, 7), (0.79, 7)),
        *((0.8, 8), (0.85, 8), (0.9, 8), (0.99, 8), (1.0, None)),
    ],
)
def test_pruning_distance_of_table_1(threshold, expected):
    """P4-T3."""
    assert pruning_distance([6, 2, 2, 6, 7], threshold) == expected


@pytest.mark.parametrize("threshold", [0.0, 0.5, 0.9])
def test_no_meeting_point_is_no_distance(threshold):
    """P4-T8: and neither is no history (P4-E13)."""
    assert pruning_distance([None, None, None], threshold) is None
    assert pruning_distance([], threshold) is None


def test_statistics_count_only_within_the_window():
    reach = UpToTheCriticalBroker(
        UnsubscriptionSettings("incremental", threshold=0.5, window_seconds=10)
    )
    for now, distance in [(0.0, 9), (5.0, 4)]:
        message = Publish(PublicationId("e"), AdvertisementId("a"), Event(), distance, 1)
        reach.record(message, "s", now)

    class Advertised:
        id = "a"

    assert reach.begin("s", [Advertised()], 11.0) == (  # type: ignore[list-item]
        PruningDistance(AdvertisementId("a"), 5),
    )
    assert reach.begin("s", [Advertised()], 11.0) == (  # type: ignore[list-item]
        PruningDistance(AdvertisementId("a"), None),
    )


def meeting_chain(brokers: str, meeting: str, **policy: Any) -> Network:
    """A subscriber of s1 at the first broker of a chain, the publisher at the last.

    At `meeting` somebody else wants the same events, and less; two events have come through.
    """
    network = Network(
        chain(*brokers),
        configuration(
            covering="active", unsubscription="incremental", collects_ghosts=False, **policy
        ),
    )
    network.advertise(brokers[-1], "p", "a", "x >= 0")
    network.subscribe(brokers[0], "c", "s1", "x >= 0 and x <= 9")
    network.settle()
    network.subscribe(meeting, "d", "s2", "x >= 1 and x <= 9")
    network.settle()
    for x in (3, 4):
        network.publish(brokers[-1], "p", f"e{x}", x=x)
    network.settle()
    return network


def test_a_removal_stops_behind_the_critical_broker():
    """P4-T4: hop 1 receives 1, hop 2 receives 0 and sends nothing, and hops ≥ 3 keep S."""
    network = meeting_chain("ABCDEF", "B", threshold=0.5)
    subscription = network.id_of("A", "c", "s1")
    assert network.holders_of(subscription) == list("ABCDEF")
    network.unsubscribe("A", "c", "s1")
    network.settle()
    removals = [
        (sent.sender, sent.receiver, sent.message.distances[0].hops)
        for sent in network.sent
        if isinstance(sent.message, Unsubscribe) and sent.message.distances
    ]
    assert removals == [("A", "B", 1), ("B", "C", 0)]
    assert network.holders_of(subscription) == ["D", "E", "F"]
    assert ("c", "s1") in network.confirmed
    network.publish("F", "p", "after", x=5)
    network.publish("F", "p", "nobody's", x=0)
    network.settle()
    assert network.deliveries[-1] == Delivery("d", "s2", "after")


def test_slack_0_stops_at_the_critical_broker():
    """P4-E1."""
    network = meeting_chain("ABCDEF", "B", threshold=0.5, slack=0)
    subscription = network.id_of("A", "c", "s1")
    network.unsubscribe("A", "c", "s1")
    network.settle()
    assert network.holders_of(subscription) == ["C", "D", "E", "F"]


def test_threshold_1_is_active_covering():
    """P4-T10: the same tables everywhere."""
    incremental = meeting_chain("ABCDEF", "B", threshold=1.0)
    active = Network(chain(*"ABCDEF"), configuration(covering="active"))
    active.advertise("F", "p", "a", "x >= 0")
    active.subscribe("A", "c", "s1", "x >= 0 and x <= 9")
    active.settle()
    active.subscribe("B", "d", "s2", "x >= 1 and x <= 9")
    active.settle()
    for network in (incremental, active):
        network.unsubscribe("A", "c", "s1")
        network.settle()
    for broker in "ABCDEF":
        assert incremental.table(broker) == active.table(broker)


def test_threshold_0_keeps_it_from_hop_2_on():
    """P4-T10: with a row of distance 0."""
    network = meeting_chain("ABCDEF", "A", threshold=0.0)
    subscription = network.id_of("A", "c", "s1")
    network.unsubscribe("A", "c", "s1")
    network.settle()
    assert network.holders_of(subscription) == ["C", "D", "E", "F"]


def similarities(network: Network, hops: int) -> list[float]:
    """φ of S at A and at each broker on the way to the publisher, as A has learnt it (P4-A8).

    A row's distance is that of the nearest broker where others wanted the event too.
    """
    network.settle()
    for x in range(1, 101):
        network.publish("D", "p", f"e{x}", x=x)
    network.settle()
    reach = network.brokers[BrokerId("A")].state.reach
    assert isinstance(reach, UpToTheCriticalBroker)
    rows = reach._rows[network.id_of("A", "c", "S")]
    assert len(rows) == 100
    distances = [row.distance for row in rows if row.distance is not None]
    return [sum(each <= hop for each in distances) / len(rows) for hop in range(hops + 1)]


def similarity_network(threshold: float = 0.9) -> Network:
    network = Network(
        [*chain("A", "B", "C", "D"), ("B", "X"), ("C", "Y")],
        configuration(covering="active", unsubscription="incremental", threshold=threshold),
    )
    network.advertise("D", "p", "a", "x >= 0")
    network.subscribe("A", "c", "S", "x between 1 and 100")
    return network


@pytest.mark.parametrize(
    ("others", "similarity", "holders"),
    [
        (["x between 1 and 50", "x between 40 and 110"], 1.0, ["D"]),
        (["x between 1 and 50"], 0.5, []),
    ],
)
def test_similarity(others, similarity, holders):
    """P4-T5: what others want of S, by covered and by intersecting subscriptions."""
    network = similarity_network(threshold=0.6)
    for number, text in enumerate(others):
        network.subscribe("B", f"b{number}", "s", text)
    assert similarities(network, 1) == [0, similarity]
    subscription = network.id_of("A", "c", "S")
    network.unsubscribe("A", "c", "S")
    network.settle()
    assert network.holders_of(subscription) == holders, "it stays where φ is above θ"


def test_similarity_grows_towards_the_publisher():
    """P4's property 3: what a broker passes on to the next one it also finds there."""
    network = similarity_network()
    network.subscribe("X", "x", "s", "x between 1 and 30")
    network.subscribe("Y", "y", "s", "x between 90 and 120")
    assert similarities(network, 3) == [0, 0.3, 0.41, 0.41]


ROWS: list[tuple[dict[str, Any], list[type | tuple[type, int]], list[str]]] = [
    ({"covering": "none"}, [Unsubscribe], ["x < 5"]),
    ({"covering": "active"}, [Subscribe, Unsubscribe], ["x < 5"]),
    ({"covering": "lazy"}, [Subscribe, Unsubscribe], ["x < 5"]),
    ({"covering": "active", "unsubscription": "packing"}, [Unsubscribe], ["x < 5"]),
    ({"covering": "active", "unsubscription": "incremental"}, [Subscribe, Unsubscribe], ["x < 5"]),
    ({"covering": "lazy", "unsubscription": "incremental-packing"}, [Unsubscribe], ["x < 5"]),
]


def row_network(policy: dict[str, Any]) -> Network:
    """F5's scenario: the publisher at B3, s1 ⊇ s2 from clients of B1."""
    network = Network(chain("B1", "B2", "B3"), configuration(**policy))
    network.advertise("B3", "p", "a", "x >= 0")
    network.subscribe("B1", "c1", "s1", "x < 9")
    network.subscribe("B1", "c2", "s2", "x < 5")
    network.settle()
    return network


@pytest.mark.parametrize(("policy", "messages", "after"), ROWS, ids=str)
def test_what_deregistration_sends(policy, messages, after):
    """F5: what travels on each link, in this order, and what is left behind."""
    network = row_network(policy)
    before = len(network.sent)
    network.unsubscribe("B1", "c1", "s1")
    network.settle()
    for sender, receiver in [("B1", "B2"), ("B2", "B3")]:
        assert [
            type(sent.message)
            for sent in network.sent[before:]
            if (sent.sender, sent.receiver) == (sender, receiver)
        ] == messages
    assert network.table("B2") == network.table("B3") == after
    assert network.confirmed == [("c1", "s1")]


@pytest.mark.slow
@pytest.mark.parametrize("policy", [row[0] for row in ROWS], ids=str)
def test_no_event_is_lost_meanwhile(policy):
    """F5 and P2-T11 with publications in flight: every order of the first six steps, to the end."""
    check_that_nothing_is_lost(lambda: row_network(policy), steps=6)


def test_a_preserved_subscription_goes_on_quenching_and_is_let_go():
    """P4-B7: with the last subscription that it quenches the ghost goes, if that is wanted."""
    for collects in (False, True):
        network = Network(
            chain(*"ABC"),
            configuration(
                covering="active",
                unsubscription="incremental",
                threshold=0.0,
                slack=0,
                collects_ghosts=collects,
            ),
        )
        network.advertise("C", "p", "a", "x >= 0")
        network.subscribe("A", "c", "s1", "x < 9")
        network.subscribe("A", "d", "s2", "x < 5")
        network.settle()
        network.publish("C", "p", "e", x=1)
        network.settle()
        network.unsubscribe("A", "c", "s1")
        network.settle()
        network.subscribe("A", "d", "s3", "x < 6")
        network.settle()
        assert network.table("A") == ["x < 5", "x < 6"]
        assert network.table("B") == network.table("C") == ["x < 9"]
        network.unsubscribe("A", "d", "s2")
        network.settle()
        assert network.table("C") == ["x < 9"]
        network.unsubscribe("A", "d", "s3")
        network.settle()
        assert network.table("A") == []
        assert network.table("C") == ([] if collects else ["x < 9"])


def test_a_ghost_is_taken_over_by_an_equal_and_by_a_larger_subscription():
    """P4-B7."""
    network = meeting_chain("ABC", "A", threshold=0.0, slack=0)
    ghost = network.id_of("A", "c", "s1")
    network.unsubscribe("A", "c", "s1")
    network.settle()
    assert network.holders_of(ghost) == ["B", "C"]
    network.subscribe("A", "e", "s3", "x between 0 and 9")
    network.settle()
    assert network.holders_of(ghost) == ["B", "C"]
    assert network.holders("e", "s3") == ["A"]
    network.subscribe("A", "e", "s4", "x between 0 and 10")
    network.settle()
    assert network.holders_of(ghost) == []
    assert network.holders("e", "s4") == ["A", "B", "C"]
    network.publish("C", "p", "after", x=0)
    network.settle()
    assert network.deliveries[-2:] == [
        Delivery("e", "s3", "after"),
        Delivery("e", "s4", "after"),
    ]
