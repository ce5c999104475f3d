"""Small networks: synchronisation, crashes and broken links, step by step."""

from collections import deque

from boolcast.model.identifiers import BrokerId
from boolcast.routing.protocol.configuration import Configuration, configure
from boolcast.routing.protocol.messages import Advertise, Publish, Subscribe, Unsubscribe
from tests.routing.network import Delivery, Network, chain

CONFIGURATION = Configuration(engine="scan", durable=True)


def settled_chain() -> Network:
    """The publisher at A, a subscriber at C, everything at rest."""
    network = Network(chain("A", "B", "C"), CONFIGURATION)
    network.advertise("A", "p", "a", "x >= 0")
    network.subscribe("C", "c", "s", "x > 5")
    network.settle()
    return network


def test_a_broker_with_its_disk_goes_on():
    network = settled_chain()
    before = len(network.sent)
    network.restart("B", with_disk=True)
    network.publish("A", "p", "e", x=9)
    network.settle()
    assert network.deliveries == [Delivery("c", "s", "e")]
    assert all(isinstance(sent.message, Publish) for sent in network.sent[before:])


def test_a_broker_without_its_disk_is_told_again_and_forgets_nothing_for_others():
    network = settled_chain()
    before = len(network.sent)
    network.restart("B", with_disk=False)
    # A does not know yet that B knows nothing; B sends to whom it has not heard of.
    network.publish("A", "p", "early", x=9)
    network.mend_links()
    network.publish("A", "p", "meanwhile", x=9)
    network.settle()
    network.publish("A", "p", "late", x=9)
    network.publish("A", "p", "unwanted", x=1)
    network.settle()
    assert [each.publication for each in network.deliveries] == ["early", "meanwhile", "late"]
    again = [sent for sent in network.sent[before:] if isinstance(sent.message, Subscribe)]
    assert [(sent.sender, sent.receiver) for sent in again] == [("C", "B"), ("B", "A")]
    assert not any(isinstance(sent.message, Unsubscribe) for sent in network.sent[before:])


def test_what_is_not_repeated_no_longer_holds():
    """The crashed broker's own clients are gone: their entries go everywhere."""
    network = settled_chain()
    subscription = network.id_of("C", "c", "s")
    network.restart("C", with_disk=False)
    network.mend_links()
    network.settle()
    assert network.holders_of(subscription) == []
    network.subscribe("C", "c", "s", "x > 5")
    network.settle()
    assert network.holders("c", "s") == ["A", "B", "C"]
    assert network.id_of("C", "c", "s") != subscription


def test_an_event_that_overtakes_the_answers_to_its_advertisement_arrives():
    """Decision 22: a subscriber that was there all along gets the first event."""
    network = Network(chain("A", "B", "C", "D"), CONFIGURATION)
    network.subscribe("D", "d", "s", "x > 5")
    network.settle()
    network.advertise("A", "p", "a", "x >= 0")
    network.publish("A", "p", "first", x=9)
    network.settle()
    assert network.deliveries == [Delivery("d", "s", "first")]
    for broker in network.brokers.values():
        assert not any(each.unacknowledged for each in broker.state.neighbours.values())


def test_a_cut_link_holds_up_and_loses_nothing():
    network = settled_chain()
    network.break_link("A", "B")
    network.publish("A", "p", "e", x=9)
    network.unsubscribe("C", "c", "s")
    network.subscribe("C", "c", "t", "x > 7")
    network.settle()
    assert network.deliveries == []
    network.mend_links()
    network.publish("A", "p", "f", x=9)
    network.settle()
    assert Delivery("c", "t", "f") in network.deliveries


def test_a_new_link_joins_two_networks():
    network = Network([("A", "B"), ("C", "D")], CONFIGURATION)
    network.advertise("A", "p", "a", "x >= 0")
    network.subscribe("D", "d", "s", "x > 5")
    network.settle()
    for here, there in (("B", "C"), ("C", "B")):
        network.queues[BrokerId(here), BrokerId(there)] = deque()
    network.connect("B", "C")
    network.publish("A", "p", "meanwhile", x=9)
    network.settle()
    network.publish("A", "p", "late", x=9)
    network.settle()
    assert Delivery("d", "s", "late") in network.deliveries
    passed_on = [sent.receiver for sent in network.sent if isinstance(sent.message, Advertise)]
    assert passed_on == ["B", "C", "D"]


def test_an_event_that_a_new_link_held_up_goes_everywhere():
    """Decision 22: nobody on its way has ever heard of its advertisement."""
    network = Network(chain("A", "B", "C"), CONFIGURATION)
    network.subscribe("C", "c", "s", "x > 5")
    network.settle()
    network.restart("A", with_disk=False)
    network.advertise("A", "p", "a", "x >= 0")
    network.publish("A", "p", "e", x=9)
    network.unadvertise("A", "p", "a")
    network.mend_links()
    network.settle()
    assert network.deliveries == [Delivery("c", "s", "e")]


def test_an_event_takes_only_the_ways_that_lead_to_somebody():
    """P1-T1: the hub B2 sends the event to B3, and not to B1."""
    flood = configure({"engine": "scan", "propagation": "flood", "covering": "none"})
    network = Network([("B1", "B2"), ("B2", "B3"), ("B2", "B4")], flood)
    network.advertise("B4", "P", "a", "x >= 0")
    network.subscribe("B1", "S1", "s1", "x = 1")
    network.subscribe("B2", "S2", "s2", "x > 20")
    network.subscribe("B3", "S3", "s3", "x = 3")
    network.subscribe("B3", "S3", "s4", "x = 24")
    network.settle()
    assert network.table("B4") == ["x = 1", "x = 24", "x = 3", "x > 20"]
    assert network.holders("S1", "s1") == ["B1", "B2", "B3", "B4"]
    before = len(network.sent)
    network.publish("B4", "P", "e24", x=24)
    network.settle()
    events = [sent for sent in network.sent[before:] if isinstance(sent.message, Publish)]
    assert [(sent.sender, sent.receiver) for sent in events] == [("B4", "B2"), ("B2", "B3")]
    assert network.deliveries == [Delivery("S2", "s2", "e24"), Delivery("S3", "s4", "e24")]
