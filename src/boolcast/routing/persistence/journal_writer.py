"""From the tables to the journal: what is kept of each thing, and under which key."""

from boolcast.model.identifiers import AdvertisementId, SubscriptionId
from boolcast.routing.core.neighbours import Neighbour
from boolcast.routing.core.state import Operation, State
from boolcast.routing.protocol.records import (
    AdvertisementRecord,
    ForwardedAdvertisementRecord,
    ForwardedSubscriptionRecord,
    LinkRecord,
    OperationRecord,
    SubscriptionRecord,
)
from boolcast.routing.tables.entries import Entry


def keep_advertisement(state: State, entry: Entry) -> None:
    """Keep an advertisement, or forget one that is no longer there."""
    record = AdvertisementRecord(
        AdvertisementId(entry.id),
        entry.form.filter,
        entry.order,
        entry.link,
        entry.client,
        entry.name,
        entry.is_stale,
        None if (held := state.held_form(entry)) is entry.form else held.filter,
    )
    is_there = entry.id in state.advertisements
    state.journal.put(f"advertisement/{entry.id}", record if is_there else None)


def keep_subscription(state: State, entry: Entry) -> None:
    """Keep a subscription, or forget one that is no longer there."""
    record = SubscriptionRecord(
        SubscriptionId(entry.id),
        entry.form.filter,
        entry.order,
        entry.link,
        entry.client,
        entry.name,
        entry.is_stale,
        None if entry.sent is entry.form else entry.sent.filter,
        state.mergers.constituents(SubscriptionId(entry.id)),
    )
    is_there = state.known(entry.id) is not None
    state.journal.put(f"subscription/{entry.id}", record if is_there else None)


def keep_forwarded_advertisement(state: State, neighbour: Neighbour, name: str) -> None:
    """Keep that a neighbour holds an advertisement from us, or that it does not."""
    form = neighbour.forwarded_advertisements.get(name)
    record = None
    if form is not None:
        number = neighbour.unacknowledged.get(name, 0)
        record = ForwardedAdvertisementRecord(
            neighbour.link, AdvertisementId(name), form.filter, number
        )
    state.journal.put(f"forwarded-advertisement/{neighbour.link}/{name}", record)


def keep_forwarded_subscription(state: State, neighbour: Neighbour, name: str) -> None:
    """Keep that a neighbour holds a subscription from us, or that it does not."""
    held = neighbour.forwarded.get(name)
    record = held and ForwardedSubscriptionRecord(
        neighbour.link, SubscriptionId(name), held.form.filter, held.is_ghost
    )
    state.journal.put(f"forwarded-subscription/{neighbour.link}/{name}", record)


def keep_operation(state: State, operation: Operation) -> None:
    """Keep an operation until it is done."""
    record = OperationRecord(
        operation.key,
        operation.deadline,
        tuple(operation.awaited),
        tuple(operation.waiting),
        operation.client,
        operation.name,
        operation.advertisement,
    )
    state.journal.put(f"operation/{operation.key}", record if operation.awaited else None)


def keep_link(state: State, neighbour: Neighbour) -> None:
    """Keep how far the two sides of a link are."""
    record = LinkRecord(
        neighbour.link,
        neighbour.is_open,
        neighbour.advertisements_sent,
        neighbour.advertisements_received,
        neighbour.subscriptions_sent,
        neighbour.subscriptions_received,
    )
    state.journal.put(f"link/{neighbour.link}", record)
