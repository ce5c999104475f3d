"""What a broker's work costs in virtual time: by kind of message, and by entry."""

from collections.abc import Sequence

import msgspec

from boolcast.routing.protocol.messages import (
    Advertise,
    Publish,
    Subscribe,
    Unadvertise,
    Unsubscribe,
)
from boolcast.routing.protocol.stimuli import (
    ClientAdvertises,
    ClientLeaves,
    ClientPublishes,
    ClientSubscribes,
    ClientUnadvertises,
    ClientUnsubscribes,
    Received,
    Stimulus,
)


class Costs(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Milliseconds for each message that a broker handles; the defaults are P4-X2's active column.

    A subscription pays for matching and for covering, one in the payload of a removal for
    matching only (P4-X1). A client that leaves pays for the end of each of its subscriptions.
    `matched_entry_ms` is added for every entry that accepts an event,
    `table_entry_ms` for every entry of the table that it is matched against. Acknowledgements
    and the like are free.
    """

    subscription_matching_ms: float = 0.81
    subscription_covering_ms: float = 12.0
    unsubscription_ms: float = 1.4
    publication_ms: float = 3.0
    advertisement_ms: float = 0.81
    matched_entry_ms: float = 0.0
    table_entry_ms: float = 0.0


FREE = Costs(
    subscription_matching_ms=0.0,
    subscription_covering_ms=0.0,
    unsubscription_ms=0.0,
    publication_ms=0.0,
    advertisement_ms=0.0,
)
"""A broker that takes no time."""


class Tariff:
    """The costs of one kind of broker, by what it handles."""

    def __init__(self, costs: Costs) -> None:
        subscription = costs.subscription_matching_ms + costs.subscription_covering_ms
        milliseconds: dict[type, float] = {
            Publish: costs.publication_ms,
            ClientPublishes: costs.publication_ms,
            Subscribe: subscription,
            ClientSubscribes: subscription,
            Unsubscribe: costs.unsubscription_ms,
            ClientUnsubscribes: costs.unsubscription_ms,
            Advertise: costs.advertisement_ms,
            Unadvertise: costs.advertisement_ms,
            ClientAdvertises: costs.advertisement_ms,
            ClientUnadvertises: costs.advertisement_ms,
        }
        self._seconds = {kind: each / 1_000 for kind, each in milliseconds.items()}
        self._packed = costs.subscription_matching_ms / 1_000
        self._matched_entry = costs.matched_entry_ms / 1_000
        self._table_entry = costs.table_entry_ms / 1_000

    def seconds(
        self, work: Sequence[Stimulus], matched: int, entries: int, removed: int = 0
    ) -> float:
        """The time that a broker with so many entries takes; `matched` accept the events.

        So many entries were `removed` in it.
        """
        total = matched * self._matched_entry
        for stimulus in work:
            done = stimulus.message if type(stimulus) is Received else stimulus
            kind = type(done)
            total += self._seconds.get(kind, 0.0)
            if kind is Publish or kind is ClientPublishes:
                total += entries * self._table_entry
            elif type(done) is Unsubscribe:
                total += len(done.payload) * self._packed
            elif kind is ClientLeaves:
                total += removed * self._seconds[ClientUnsubscribes]
        return total
