"""Random networks and histories, played under any policy, and what must be delivered.

The checker knows only what clients did, the moments of rest, and the reference evaluator. A
subscription is *settled* for an event if it was made before the last moment of rest before the
publication and not taken back before the next one. Such a pair must be delivered exactly once;
any other pair at most once, and only if the filter accepts the event.
"""

from collections import Counter
from itertools import cycle
from typing import Any

from hypothesis import strategies as st

from boolcast.filters.parsing import parse
from boolcast.model.statistics import Statistics
from boolcast.routing.protocol.configuration import Configuration
from boolcast.routing.protocol.effects import Refuse
from boolcast.simulation.scenarios.combinations import simplifications
from boolcast.simulation.scenarios.histories import ALIKE
from tests.routing.network import Delivery, Network

PLAIN = {"covering": "none", "unsubscription": "plain"}
POLICIES: list[dict[str, Any]] = [
    {"propagation": "flood", **PLAIN},
    PLAIN,
    {"covering": "active"},
    {"covering": "lazy"},
    {"propagation": "flood", "covering": "active"},
    {"propagation": "flood", "covering": "lazy", "unsubscription": "packing"},
    {"covering": "active", "covering.advertisements": "active"},
    {"covering": "lazy", "covering.advertisements": "lazy", "unsubscription": "packing"},
    {"covering": "active", "propagation.overlap": "exact"},
    {"covering": "lazy", "covering.advertisements": "active", "propagation.overlap": "index"},
    {
        "covering": "active",
        "unsubscription": "incremental",
        "unsubscription.threshold": 0.0,
        "propagation.overlap": "index",
    },
    {"covering": "active", "unsubscription": "packing"},
    *(
        {
            "covering": covering,
            "unsubscription": unsubscription,
            "unsubscription.threshold": threshold,
            "unsubscription.slack": slack,
            "unsubscription.collects_ghosts": collects,
        }
        for covering, unsubscription, threshold, slack, collects in [
            ("active", "incremental", 0.0, 1, False),
            ("active", "incremental", 0.0, 0, True),
            ("active", "incremental", 0.5, 1, True),
            ("lazy", "incremental", 0.1, 0, False),
            ("lazy", "incremental-packing", 0.0, 0, True),
            ("active", "incremental-packing", 0.9, 1, False),
            ("active", "incremental-packing", 0.0, 0, False),
            ("active", "incremental", 1.0, 1, True),
        ]
    ),
    {
        "covering": "active",
        "covering.advertisements": "active",
        "unsubscription": "incremental-packing",
        "unsubscription.threshold": 0.0,
        "unsubscription.slack": 0,
        "unsubscription.collects_ghosts": False,
    },
]


POLICIES += [
    {
        **base,
        # Where advertisements stay at home there are none to prune (P3-B9).
        **({"propagation": "towards"} if "advertisement_rewriting" in simplification else {}),
        **simplification,
    }
    for base, simplification in zip(
        cycle(POLICIES),
        simplifications()[1:],
        strict=False,
    )
]
STATISTICS = Statistics(
    events=100,
    predicates={"y = 1": 30, "x < 4": 60, "x = 2": 15, "x != 1": 80, "x < 3": 40, "x > 1": 70},
)
"""Some predicates are known, the others have to be guessed."""

INTERVALS = [(low, high) for low in range(6) for high in range(low, 6)]
FILTERS = [
    *(f"x between {low} and {high}" for low, high in INTERVALS),
    *("true", "x != 2", "x < 2 or x > 3", "x = 1 or y = 1", "not (x < 2 and y = 1)"),
    *("y = 1 and x > 1", "y is null", "x between 1 and 4 and y is null", "x = y"),
]
EVENTS = [{"x": x} for x in range(6)] + [{"x": x, "y": 1} for x in range(6)] + [{"y": 3}]

_FILTER = st.one_of(st.sampled_from(FILTERS), st.sampled_from(list(map(str, ALIKE))))
_SLOT = st.integers(0, 5)
_PLACE = st.integers(0, 6)
STEPS = st.one_of(
    st.tuples(st.just("subscribe"), _SLOT, _PLACE, _FILTER),
    st.tuples(st.just("subscribe"), _SLOT, _PLACE, _FILTER),
    st.tuples(st.just("unsubscribe"), _SLOT),
    st.tuples(st.just("advertise"), st.integers(0, 3), _PLACE, _FILTER),
    st.tuples(st.just("unadvertise"), st.integers(0, 3)),
    st.tuples(st.just("publish"), st.integers(0, 3), st.sampled_from(EVENTS)),
    st.tuples(st.just("publish"), st.integers(0, 3), st.sampled_from(EVENTS)),
    st.tuples(st.just("publish"), st.integers(0, 3), st.sampled_from(EVENTS)),
    st.tuples(st.just("move"), st.lists(st.integers(0, 11), min_size=1, max_size=8)),
    st.tuples(st.just("rest")),
)


FAULTS = st.one_of(
    st.tuples(st.just("crash"), _PLACE, st.booleans()),
    st.tuples(st.just("cut"), _PLACE),
    st.tuples(st.just("heal")),
)


def _beginning(
    parents: list[int], advertised: list[tuple[int, str]], subscribed: list[tuple[int, str]]
) -> tuple[list[int], list[tuple[Any, ...]]]:
    """A network with publishers and subscribers, so that what follows bears on them."""
    steps: list[tuple[Any, ...]] = [
        ("advertise", slot, place, filter) for slot, (place, filter) in enumerate(advertised)
    ]
    steps += [("subscribe", slot, place, filter) for slot, (place, filter) in enumerate(subscribed)]
    return parents, [*steps, ("rest",)]


BEGINNINGS = st.builds(
    _beginning,
    # Broker i + 1 is linked to an earlier one.
    st.lists(st.integers(0, 5), min_size=2, max_size=5),
    st.lists(st.tuples(_PLACE, st.sampled_from(["true", *FILTERS])), min_size=1, max_size=3),
    st.lists(st.tuples(_PLACE, _FILTER), min_size=3, max_size=6),
)
HISTORIES = st.tuples(BEGINNINGS, st.lists(STEPS, min_size=12, max_size=30))
FAULTY_HISTORIES = st.tuples(
    BEGINNINGS, st.lists(st.one_of(STEPS, STEPS, FAULTS), min_size=12, max_size=30)
)


class Player:
    """Plays a history on a network, and checks the deliveries."""

    def __init__(self, parents: list[int], configuration: Configuration) -> None:
        links = [(f"B{parent % (i + 1)}", f"B{i + 1}") for i, parent in enumerate(parents)]
        self.size = len(parents) + 1
        self.network = Network(links, configuration, statistics=STATISTICS)
        self.network.settle()
        self.rests = 0
        self.serial = 0
        self.live: dict[int, tuple[str, str, str]] = {}
        self.advertised: dict[int, tuple[str, str, str]] = {}
        self.advertisements: dict[str, str] = {}
        self.subscriptions: dict[str, dict[str, Any]] = {}
        self.publications: list[dict[str, Any]] = []

    def play(self, steps: list[tuple[Any, ...]]) -> None:
        for step in steps:
            getattr(self, f"_{step[0]}")(*step[1:])
        self._rest()
        self.check()

    def _subscribe(self, slot: int, place: int, filter: str) -> None:
        if slot in self.live:
            return
        self.serial += 1
        broker, client, name = f"B{place % self.size}", f"c{slot}", f"s{self.serial}"
        self.live[slot] = (broker, client, name)
        self.subscriptions[name] = {
            "client": client,
            "filter": parse(filter),
            "from": self.rests,
            "to": None,
        }
        self.network.subscribe(broker, client, name, filter)

    def _unsubscribe(self, slot: int) -> None:
        if slot in self.live:
            broker, client, name = self.live.pop(slot)
            self.subscriptions[name]["to"] = self.rests
            self.network.unsubscribe(broker, client, name)

    def _advertise(self, slot: int, place: int, filter: str) -> None:
        if slot not in self.advertised:
            self.serial += 1
            broker, client, name = f"B{place % self.size}", f"p{slot}", f"a{self.serial}"
            self.advertised[slot] = (broker, client, name)
            self.advertisements[name] = filter
            self.network.advertise(broker, client, name, filter)

    def _unadvertise(self, slot: int) -> None:
        if slot in self.advertised:
            self.network.unadvertise(*self.advertised.pop(slot))

    def _publish(self, slot: int, event: dict[str, Any]) -> None:
        if slot not in self.advertised:
            return
        self.serial += 1
        broker, client, _ = self.advertised[slot]
        refused = len(self.network.refusals)
        self.network.publish(broker, client, f"e{self.serial}", **event)
        if len(self.network.refusals) == refused:
            self.publications.append(
                {
                    "id": f"e{self.serial}",
                    "event": event,
                    "at": self.rests,
                    "publisher": f"{client} at {broker}",
                }
            )

    def _move(self, choices: list[int]) -> None:
        for choice in choices:
            if ready := self.network.ready():
                self.network.move(ready[choice % len(ready)])

    def _crash(self, place: int, with_disk: bool) -> None:
        crashed = f"B{place % self.size}"
        self.network.restart(crashed, with_disk=with_disk)
        if with_disk:
            return
        # Its clients ask again for what it has forgotten.
        for slot, (broker, client, name) in list(self.live.items()):
            if broker == crashed:
                known = self.subscriptions[name]
                known["to"] = self.rests
                self.serial += 1
                again = f"s{self.serial}"
                self.live[slot] = (broker, client, again)
                self.subscriptions[again] = {**known, "from": self.rests, "to": None}
                self.network.subscribe(broker, client, again, known["filter"])
        for broker, client, name in self.advertised.values():
            if broker == crashed:
                self.network.advertise(broker, client, name, self.advertisements[name])

    def _cut(self, place: int) -> None:
        links = [direction for direction in self.network.queues if direction[0] < direction[1]]
        self.network.break_link(*links[place % len(links)])

    def _heal(self) -> None:
        self.network.mend_links()

    def _rest(self) -> None:
        self.network.mend_links()
        self.network.settle()
        self.rests += 1

    def check(self) -> None:
        assert all(isinstance(each, Refuse) for each in self.network.refusals)
        counted = Counter(self.network.deliveries)
        for name, known in self.subscriptions.items():
            for publication in self.publications:
                times = counted.pop(Delivery(known["client"], name, publication["id"]), 0)
                accepts = known["filter"].accepts(publication["event"])
                settled = known["from"] < publication["at"] and (
                    known["to"] is None or known["to"] > publication["at"]
                )
                if accepts and settled and publication["id"] not in self.network.lost:
                    assert times == 1, (name, publication)
                else:
                    assert times <= accepts, (name, publication)
        assert not counted
        assert self._in_publisher_order()

    def _in_publisher_order(self) -> bool:
        number = {each["id"]: count for count, each in enumerate(self.publications)}
        publisher = {each["id"]: each["publisher"] for each in self.publications}
        rows: dict[tuple[str, str], list[int]] = {}
        for client, subscription, publication in self.network.deliveries:
            key = (f"{client}/{subscription}", publisher[publication])
            rows.setdefault(key, []).append(number[publication])
        return all(row == sorted(row) for row in rows.values())
