"""Merging by rules among brokers (P2): made, grown, cancelled, covered, looked at again."""

from itertools import product
from typing import Any

import pytest

from boolcast.errors import ConfigurationError
from boolcast.model.identifiers import BrokerId
from boolcast.model.schemas import Attribute, Schema
from boolcast.model.statistics import AttributeStatistics, Statistics, ValueBin
from boolcast.model.values import Kind
from boolcast.optimising.merging.mergers import Merger
from boolcast.routing.core.broker import Broker
from boolcast.routing.protocol.configuration import configure
from boolcast.routing.protocol.messages import Subscribe, Unsubscribe
from tests.routing.network import Delivery, Network, chain

TRIP = "time = 'July 20,2004' and destination = 'Ottawa'"
S1, S2, S4 = (f"price {each} and {TRIP}" for each in ("= 150", "< 150", "< 200"))
PRICES = Statistics(
    events=201,
    attributes={
        "price": AttributeStatistics(
            events=201,
            kinds={Kind.NUMBER: 201},
            bins={Kind.NUMBER: tuple(ValueBin(value, value, 1, 1) for value in range(201))},
        )
    },
)
"""Each price from 0 to 200 once."""

PERFECT: dict[str, Any] = {"merging": "perfect"}
IMPERFECT: dict[str, Any] = {"merging": "imperfect", "merging.imperfection": 3 / 201}


def network_of(links: list[tuple[str, str]], **policy: Any) -> Network:
    fields = {"covering": "none", "reviews.events": 1, "engine": "scan", "durable": True, **policy}
    return Network(links, configure(fields), statistics=PRICES)


def line(*filters: str, **policy: Any) -> Network:
    """B1, B2 and B3 with a publisher at B3, subscriptions at B1, and an event that has passed."""
    network = network_of(chain("B1", "B2", "B3"), **policy)
    network.advertise("B3", "p", "a", "price >= 0")
    network.advertise("B2", "q", "a", "price = 1000")
    for number, filter in enumerate(filters):
        network.subscribe("B1", f"c{number}", f"s{number}", filter)
    network.settle()
    review(network)
    return network


def review(network: Network) -> None:
    """Let B2 see an event that nobody wants: then it looks at its entries anew."""
    network.publish("B2", "q", f"passing {len(network.sent)}", price=1_000)
    network.settle()


def mergers_of(network: Network, broker: str) -> list[Merger]:
    return list(network.brokers[BrokerId(broker)].state.mergers)


def told(network: Network, since: int, sender: str = "B2", receiver: str = "B3") -> list[str]:
    """What one broker has told another of subscriptions."""
    return [
        str(each.message.filter) if isinstance(each.message, Subscribe) else "-"
        for each in network.sent[since:]
        if each[:2] == (sender, receiver) and isinstance(each.message, Subscribe | Unsubscribe)
    ]


def test_a_perfect_merger():
    """P2-T2, P2-B10: first the merger, then the removal of what it stands for."""
    network = line(S1, S2, **PERFECT)
    (merger,) = mergers_of(network, "B2")
    assert network.table("B2") == network.table("B3") == [f"price <= 150 and {TRIP}"]
    assert merger.imperfection == 0
    assert told(network, 0) == [S1, S2, f"price <= 150 and {TRIP}", "-", "-"]
    assert network.table("B1") == sorted([S1, S2]), "never across clients (P2-E13)"


def test_an_imperfect_merger():
    """P2-T7."""
    filters = ["price > 150", "price = 145", "price = 147", "price = 148"]
    network = line(*filters, **IMPERFECT)
    (merger,) = mergers_of(network, "B2")
    assert str(merger.filter) == "price >= 145"
    assert merger.imperfection == pytest.approx(3 / 201)
    assert network.table("B3") == ["price >= 145"]
    tight = line(*filters, **{**IMPERFECT, "merging.imperfection": 2.9 / 201})
    assert tight.table("B3") == ["price = 145", "price >= 147"]


FIGURE_9 = [("N1", "N3"), ("N2", "N3"), ("N5", "N3"), ("N3", "N4"), ("N4", "N6")]


def figure_9(**policy: Any) -> Network:
    """Node 3 has S1 from 1 and S2 from 2, and 4 has their merger S3 from 3."""
    network = network_of(FIGURE_9, **policy)
    network.advertise("N6", "p", "a", "price >= 0")
    network.subscribe("N1", "c1", "S1", S1)
    network.subscribe("N2", "c2", "S2", S2)
    network.settle()
    network.publish("N6", "p", "before", price=1)
    network.settle()
    network.publish("N6", "p", "first", **trip(150))
    network.settle()
    assert network.table("N3") == sorted([S1, S2]), "they came from different neighbours"
    assert network.table("N4") == network.table("N6") == [f"price <= 150 and {TRIP}"]
    assert network.deliveries == [Delivery("c1", "S1", "first")]
    return network


def trip(price: int) -> dict[str, object]:
    return {"price": price, "time": "July 20,2004", "destination": "Ottawa"}


COVERINGS = ["none", "active", "lazy"]


@pytest.mark.parametrize("covering", COVERINGS)
def test_a_constituent_goes(covering):
    """P2-T10 (b): beyond node 4 travel S2, and the removal of S3."""
    network = figure_9(**PERFECT, covering=covering)
    (merger,) = mergers_of(network, "N4")
    sent = len(network.sent)
    network.unsubscribe("N1", "c1", "S1")
    network.settle()
    assert network.table("N3") == network.table("N4") == network.table("N6") == [S2]
    beyond = [each.message for each in network.sent[sent:] if each[:2] == ("N4", "N6")]
    assert [type(each) for each in beyond] == [Subscribe, Unsubscribe]
    assert isinstance(beyond[1], Unsubscribe)
    assert beyond[1].subscription == merger.id
    network.publish("N6", "p", "second", **trip(149))
    network.settle()
    assert network.deliveries[1:] == [Delivery("c2", "S2", "second")]


@pytest.mark.parametrize("covering", ["active", "lazy"])
def test_a_subscription_comes_that_covers_the_merger(covering):
    """P2-T10 (c): node 3 has all three, node 4 only S4 where covering cleans up."""
    network = figure_9(**PERFECT, covering=covering)
    network.subscribe("N5", "c5", "S4", S4)
    network.settle()
    assert network.table("N3") == sorted([S1, S2, S4])
    if covering == "active":
        assert network.table("N4") == network.table("N6") == [S4]
        assert mergers_of(network, "N4") == []
    network.publish("N6", "p", "second", **trip(150))
    network.settle()
    assert sorted(network.deliveries[1:]) == [
        Delivery("c1", "S1", "second"),
        Delivery("c5", "S4", "second"),
    ]
    network.unsubscribe("N5", "c5", "S4")
    network.settle()
    network.publish("N6", "p", "third", **trip(150))
    network.settle()
    assert network.deliveries[3:] == [Delivery("c1", "S1", "third")]


ROWS: list[tuple[dict[str, Any], str, str, str]] = [
    (PERFECT, "price < 9", "price < 5", "price < 9"),
    (PERFECT, "price = 5", "price < 5", "price <= 5"),
    ({**IMPERFECT, "merging.imperfection": 0.5}, "price > 90", "price < 5", "price is not null"),
    (
        {**IMPERFECT, "merging.imperfection": 0.5, "merging.imperfection_of": "advertised"},
        "price > 90",
        "price < 5",
        "price is not null",
    ),
    (
        {**IMPERFECT, "merging.imperfection": 1.0, "merging.dropped_predicates": 1},
        "price = 9",
        "price = 1",
        "true",
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize(("policy", "first", "second", "merger"), ROWS)
def test_no_event_is_lost_meanwhile(policy, first, second, merger):
    """F5's row of merging with publications in flight: every order of the first five steps."""
    for choices in product(range(3), repeat=5):
        network = line(first, second, **policy)
        assert network.table("B3") == [merger]
        network.unsubscribe("B1", "c0", "s0")
        published = 0
        for choice in choices:
            ready = network.ready()
            if choice < len(ready):
                network.move(ready[choice])
            else:
                network.publish("B3", "p", f"e{published}", price=1)
                published += 1
        network.publish("B3", "p", f"e{published}", price=1)
        network.settle()
        assert network.table("B3") == [second]
        delivered = [each.publication for each in network.deliveries if each.client == "c1"]
        assert delivered == [f"e{number}" for number in range(published + 1)], choices


def test_a_merger_grows():
    """It is made anew of originals; they stay where they are, and the former merger goes."""
    network = line("price > 150", "price = 150", **IMPERFECT)
    (former,) = mergers_of(network, "B2")
    assert str(former.filter) == "price >= 150"
    network.subscribe("B1", "d", "t", "price = 147")
    network.settle()
    sent = len(network.sent)
    review(network)
    (merger,) = mergers_of(network, "B2")
    assert merger.id != former.id
    assert len(merger.constituents) == 3
    # 148 and 149.
    assert merger.imperfection == pytest.approx(2 / 201)
    assert told(network, sent) == ["price >= 147", "-", "-"]
    assert network.table("B2") == network.table("B3") == ["price >= 147"]
    network.restart("B2", with_disk=True)
    network.unsubscribe("B1", "c0", "s0")
    network.settle()
    assert network.table("B3") == ["price = 147", "price = 150"]


@pytest.mark.parametrize("covering", COVERINGS)
def test_a_merger_takes_up_what_it_covers(covering):
    """Its filter is the same, so nobody beyond hears of a merger."""
    network = line("price > 150", "price = 150", covering=covering, **PERFECT)
    (former,) = mergers_of(network, "B2")
    network.subscribe("B1", "d", "t", "price = 170")
    network.settle()
    sent = len(network.sent)
    review(network)
    (merger,) = mergers_of(network, "B2")
    assert merger.id == former.id
    assert len(merger.constituents) == (3 if covering == "none" else 2)
    assert told(network, sent) == (["-"] if covering == "none" else [])
    assert network.table("B3") == ["price >= 150"]
    network.restart("B2", with_disk=True)
    network.unsubscribe("B1", "c0", "s0")
    network.settle()
    assert network.table("B3") == ["price = 150", "price = 170"]


def test_an_advertisement_makes_a_merger_possible():
    """P2-T8, definition 2: between the values that are advertised there is nothing."""
    filters = ["price > 150", "price = 130", "price = 120"]
    policy = {**IMPERFECT, "merging.imperfection": 0.0, "merging.imperfection_of": "advertised"}
    network = network_of(chain("B1", "B2", "B3"), **policy)
    network.advertise("B3", "p", "a", "price > 150 or price in (120, 130)")
    for number, filter in enumerate(filters):
        network.subscribe("B1", f"c{number}", f"s{number}", filter)
    network.settle()
    network.publish("B3", "p", "e", price=151)
    network.settle()
    assert network.table("B2") == ["price >= 120"]
    # What comes from B1 itself does not go back to it.
    network.advertise("B1", "r", "a", "price > 110")
    network.settle()
    network.publish("B3", "p", "f", price=152)
    network.settle()
    assert network.table("B2") == ["price >= 120"]


def test_mergers_are_looked_at_again_when_advertisements_change():
    """P2-E15: more is advertised, so the merger has become too imperfect."""
    policy = {**IMPERFECT, "merging.imperfection": 0.0, "merging.imperfection_of": "advertised"}
    network = network_of(chain("B1", "B2", "B3"), **policy)
    network.advertise("B3", "p", "a", "price > 150 or price in (129, 130)")
    for number, filter in enumerate(["price > 150", "price = 130", "price = 129"]):
        network.subscribe("B1", f"c{number}", f"s{number}", filter)
    network.settle()
    network.publish("B3", "p", "e", price=151)
    network.settle()
    assert network.table("B2") == ["price >= 129"]
    network.advertise("B3", "p", "b", "price = 140")
    network.settle()
    assert network.table("B2") == ["price >= 129"], "until the next review"
    sent = len(network.sent)
    network.publish("B3", "p", "f", price=152)
    network.settle()
    assert network.table("B2") == ["price = 129", "price = 130", "price > 150"]
    assert told(network, sent) == ["price > 150", "price = 130", "price = 129", "-"]
    network.unadvertise("B3", "p", "b")
    network.settle()
    network.publish("B3", "p", "g", price=153)
    network.settle()
    assert network.table("B2") == ["price >= 129"]
    assert [each.publication for each in network.deliveries] == ["e", "f", "g"]


def test_what_a_schema_makes_perfect_is_not_taken_apart():
    """Nothing was counted, so half prices might be many; the schema says that there are none."""
    integers = Schema({"price": Attribute("number", integer=True)})
    policy = {**IMPERFECT, "merging.imperfection": 0.0, "merging.imperfection_of": "advertised"}
    configuration = configure(
        {
            "covering": "none",
            "reviews.events": 1,
            "engine": "scan",
            "durable": True,
            "merging.schema": integers,
            **policy,
        }
    )
    network = Network(chain("B1", "B2"), configuration, statistics=Statistics(events=9))
    network.advertise("B2", "p", "a", "price >= 0")
    network.subscribe("B1", "c", "s", "price <= 5")
    network.subscribe("B1", "c", "t", "price = 6")
    network.settle()
    network.publish("B2", "p", "e", price=1)
    (merger,) = mergers_of(network, "B2")
    assert str(merger.filter) == "price <= 6"
    network.advertise("B2", "p", "b", "price < 0")
    network.publish("B2", "p", "f", price=1)
    assert mergers_of(network, "B2") == [merger]


@pytest.mark.parametrize(
    ("moment", "least", "is_merged"),
    [
        ("review", 0.0, True),
        ("entries", 4.0, True),
        ("entries", 5.0, False),
        ("group-size", 2.0, True),
        ("group-size", 2.1, False),
    ],
)
def test_when_there_is_merging(moment, least, is_merged):
    """P2-B10: four entries in two groups."""
    filters = ["price = 5", "price < 5", "price = 7 and time = 1", "time = 1 and price < 7"]
    order = ("price", "time")
    network = line(
        *filters,
        **PERFECT,
        **{"merging.moment": moment, "merging.starts_at": least, "merging.attribute_order": order},
    )
    assert len(mergers_of(network, "B2")) == (2 if is_merged else 0)


@pytest.mark.parametrize(
    ("moment", "least", "is_merged"),
    [
        ("entries", 4.0, True),
        ("entries", 5.0, False),
        ("group-size", 2.0, True),
        ("group-size", 2.1, False),
    ],
)
@pytest.mark.parametrize(
    ("alike", "policy"),
    [
        (
            ["price = 5", "price < 5"],
            {"merging": "perfect", "merging.attribute_order": ("price", "time")},
        ),
        (
            ["price < 5 and time = 1", "price < 5 and time = 2"],
            {"merging": "pruning", "merging.imperfection": 1.0},
        ),
    ],
    ids=["perfect", "pruning"],
)
def test_entries_in_no_group_are_entries(alike, policy, moment, least, is_merged):
    """Two in a group, and two with an OR at the top."""
    others = ["price = 7 or time = 3", "price = 8 or time = 4"]
    network = line(
        *alike, *others, **policy, **{"merging.moment": moment, "merging.starts_at": least}
    )
    assert len(mergers_of(network, "B2")) == is_merged


def test_mergers_are_entries():
    """Two and one that came later."""
    network = line(
        *("price = 5", "price < 5", "price = 7 and time = 1", "time = 1 and price < 7"),
        **PERFECT,
        **{
            "merging.moment": "entries",
            "merging.starts_at": 3.0,
            "merging.attribute_order": ("price", "time"),
        },
    )
    assert network.table("B2") == ["price <= 5", "price <= 7 and time = 1"]
    network.subscribe("B1", "c9", "s9", "time = 1 and price < 9")
    network.settle()
    review(network)
    assert network.table("B2") == ["price < 9 and time = 1", "price <= 5"]


@pytest.mark.parametrize(
    ("moment", "least", "count"), [("entries", 3.0, 0), ("group-size", 2.0, 1)]
)
def test_pruned_mergers_have_their_moment_too(moment, least, count):
    network = line(
        *("price < 5 and time = 1", "price < 5 and time = 2"),
        merging="pruning",
        **{"merging.imperfection": 1.0, "merging.moment": moment, "merging.starts_at": least},
    )
    assert len(mergers_of(network, "B2")) == count


def test_a_schema_makes_more_perfect():
    integers = Schema({"price": Attribute("number", integer=True)})
    filters = ["price <= 5", "price = 6", "price > 8"]
    assert line(*filters, **PERFECT).table("B3") == sorted(filters)
    with_schema = line(*filters, **PERFECT, **{"merging.schema": integers})
    assert with_schema.table("B3") == ["price <= 6", "price > 8"]
    assert line("price <= 6", "price > 6", **PERFECT, **{"merging.schema": integers}).table(
        "B3"
    ) == ["price is not null"]


def test_a_perfect_merger_needs_no_statistics():
    Broker(BrokerId("B"), configure(PERFECT))
    with pytest.raises(ConfigurationError) as caught:
        Broker(BrokerId("B"), configure(IMPERFECT))
    assert caught.value.rule == "P1-B5"
    Broker(BrokerId("B"), configure({"engine": "counting", **IMPERFECT}))


def test_counted_constituents_are_still_known():
    """What mergers stand for is matched no more, and yet it is what they are judged by."""
    network = Network(
        chain("B1", "B2", "B3"),
        configure(
            {
                "covering": "none",
                "reviews.events": 1,
                "engine": "counting",
                "durable": True,
                **IMPERFECT,
                "merging.imperfection": 0.5,
                "merging.imperfection_of": "advertised",
            },
        ),
    )
    network.advertise("B3", "p", "a", "price >= 0")
    for number, filter in enumerate(["price < 5", "price > 8"]):
        network.subscribe("B1", f"c{number}", f"s{number}", filter)
    network.settle()
    state = network.brokers[BrokerId("B2")].state
    state.next_review = 20
    for number in range(20):
        network.publish("B3", "p", f"e{number}", price=number % 10)
        network.settle()
    # B3 has merged long ago, so all 20 came by, and 8 of them lay in between.
    assert network.table("B2") == ["price is not null"]
    constituents = [entry.analysed.filter for entry in state.constituents]
    assert state.learning.selectivities is not None
    assert state.learning.selectivities.knowledge(constituents).counted == 2
    network.advertise("B3", "p", "b", "price < 0")
    network.settle()
    network.publish("B3", "p", "last", price=1)
    network.settle()
    assert network.table("B2") == ["price is not null"], "looked at again, and still fit"
    assert state.learning.selectivities.knowledge(constituents).counted == 2
