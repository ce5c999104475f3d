"""A broker with its disk goes on as if it had not stopped."""

from collections.abc import Iterable, Set
from typing import assert_never

from boolcast.filters.expressions import Filter
from boolcast.model.identifiers import AdvertisementId, SubscriptionId
from boolcast.optimising.merging.mergers import Merger
from boolcast.routing.core import synchronising
from boolcast.routing.core.neighbours import Forwarded
from boolcast.routing.core.state import Operation, State
from boolcast.routing.protocol.records import (
    AdvertisementRecord,
    CounterRecord,
    ForwardedAdvertisementRecord,
    ForwardedSubscriptionRecord,
    LinkRecord,
    OperationRecord,
    Record,
    SubscriptionRecord,
)
from boolcast.routing.tables.entries import Entry


def restore(state: State, records: Iterable[Record]) -> None:
    """Fill an empty state. What neighbours were told is taken as told.

    A subscription that was quenched through others may now be found uncovered, where a proof
    had needed the one in between; it is forwarded with the next effects.
    """
    entries: list[AdvertisementRecord | SubscriptionRecord] = []
    for record in records:
        match record:
            case CounterRecord():
                state.number, state.order = record.number, record.order
            case LinkRecord():
                _restore_link(state, record)
            case AdvertisementRecord() | SubscriptionRecord():
                entries.append(record)
            case ForwardedAdvertisementRecord(link, advertisement, filter, number):
                neighbour = state.meet(link)
                form = state.form(filter)
                neighbour.forwarded_advertisements[advertisement] = form
                if number:
                    neighbour.unacknowledged[advertisement] = number
                neighbour.advertisements.insert_forwarded(advertisement, form)
            case ForwardedSubscriptionRecord(link, subscription, filter, is_ghost):
                neighbour = state.meet(link)
                form = state.form(filter)
                neighbour.forwarded[subscription] = Forwarded(form, is_ghost)
                neighbour.subscriptions.insert_forwarded(subscription, form)
            case OperationRecord():
                _restore_operation(state, record)
            case _:
                assert_never(record)
    entries.sort(key=lambda each: each.order)
    merged = {
        name
        for each in entries
        if isinstance(each, SubscriptionRecord)
        for name in each.constituents
    }
    for entry in entries:
        _restore_entry(state, entry, merged)
    for entry in entries:
        if isinstance(entry, SubscriptionRecord) and entry.constituents:
            _restore_merger(state, entry)
    # Put what neighbours must know and were not told below what they were told.
    for neighbour in state.others(None):
        synchronising.tell_all(state, neighbour)
    # Only then: what a pruned advertisement calls for was told, or need not be (P3-B9).
    for entry in entries:
        if isinstance(entry, AdvertisementRecord) and entry.held is not None:
            _restore_pruning(state, entry.advertisement, entry.held)


def _restore_link(state: State, record: LinkRecord) -> None:
    neighbour = state.meet(record.link)
    neighbour.is_open = record.is_open
    neighbour.advertisements_sent = record.advertisements_sent
    neighbour.advertisements_received = record.advertisements_received
    neighbour.subscriptions_sent = record.subscriptions_sent
    neighbour.subscriptions_received = record.subscriptions_received


def _restore_operation(state: State, record: OperationRecord) -> None:
    operation = Operation(record.key, record.deadline)
    operation.awaited = dict.fromkeys(record.awaited)
    operation.waiting = list(record.waiting)
    operation.client = record.client
    operation.name = record.name
    operation.advertisement = record.advertisement
    state.operations[operation.key] = operation
    for awaited in record.awaited:
        state.awaited.setdefault(awaited, []).append(operation)


def _restore_entry(
    state: State, record: AdvertisementRecord | SubscriptionRecord, merged: Set[SubscriptionId]
) -> None:
    match record:
        case AdvertisementRecord():
            entry = _entry(state, record.advertisement, record)
            state.index_advertisement(entry)
        case SubscriptionRecord():
            entry = _entry(state, record.subscription, record)
            if record.sent is not None:
                entry.sent = state.form(record.sent)
            if record.subscription in merged:
                state.constituents.add(entry)
            else:
                state.index(entry)
        case _:
            assert_never(record)


def _restore_pruning(state: State, advertisement: AdvertisementId, held: Filter) -> None:
    state.advertisement_rewriting.resume(advertisement, held)
    entry = state.advertisements.entries[advertisement]
    state.propagation.hold_advertisement(entry, state.held_form(entry))


def _entry(
    state: State, identifier: str, record: AdvertisementRecord | SubscriptionRecord
) -> Entry:
    entry = Entry(
        identifier,
        state.form(record.filter),
        record.order,
        link=record.link,
        client=record.client,
        name=record.name,
    )
    entry.is_stale = record.is_stale
    return entry


def _restore_merger(state: State, record: SubscriptionRecord) -> None:
    constituents: dict[SubscriptionId, Filter] = {
        name: state.constituents.entries[name].form.filter for name in record.constituents
    }
    # How imperfect it is was asked when it was made, and is not asked again.
    state.mergers.add(
        Merger(
            id=record.subscription,
            filter=record.filter,
            constituents=constituents,
            imperfection=0.0,
            operations=0,
        )
    )
