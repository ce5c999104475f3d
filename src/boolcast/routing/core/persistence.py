"""What a broker writes to disk, and how it goes on from there after a restart.

`KeptJournal` turns each change of the tables into a record under a key. A step's records leave
first, as `Persist` effects, so that nothing is sent that the disk does not know. `restore` fills an
empty state from the records that the disk holds: the last one of each key.
"""

from collections.abc import Iterable, Set
from typing import assert_never

from boolcast.filters.expressions import Filter
from boolcast.model.identifiers import AdvertisementId, SubscriptionId
from boolcast.optimising.merging.mergers import Merger
from boolcast.routing.core.state import NoJournal, State
from boolcast.routing.protocol.effects import Effect, Persist
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
from boolcast.routing.tables.neighbours import Forwarded, Neighbour
from boolcast.routing.tables.operations import Operation

PrunedAdvertisements = dict[AdvertisementId, Filter]


class KeptJournal(NoJournal):
    """Records what changes in a state."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._changes: dict[str, Record | None] = {}

    def keep_counters(self) -> None:
        self._changes["counter"] = CounterRecord(self._state.number, self._state.order)

    def keep_advertisement(self, entry: Entry) -> None:
        held = self._state.held(entry)
        self._changes[f"advertisement/{entry.id}"] = (
            AdvertisementRecord(
                AdvertisementId(entry.id),
                entry.analysed.filter,
                entry.order,
                entry.link,
                entry.client,
                entry.name,
                entry.is_stale,
                None if held is entry.analysed else held.filter,
            )
            if entry.id in self._state.advertisements
            else None
        )

    def keep_subscription(self, entry: Entry) -> None:
        self._changes[f"subscription/{entry.id}"] = (
            SubscriptionRecord(
                SubscriptionId(entry.id),
                entry.analysed.filter,
                entry.order,
                entry.link,
                entry.client,
                entry.name,
                entry.is_stale,
                None if entry.sent is entry.analysed else entry.sent.filter,
                self._state.mergers.constituents(SubscriptionId(entry.id)),
            )
            if self._state.known(entry.id) is not None
            else None
        )

    def keep_forwarded_advertisement(self, neighbour: Neighbour, name: str) -> None:
        held = neighbour.forwarded_advertisements.get(name)
        record = None
        if held is not None:
            number = neighbour.unacknowledged.get(name, 0)
            record = ForwardedAdvertisementRecord(
                neighbour.link, AdvertisementId(name), held.filter, number
            )
        self._changes[f"forwarded-advertisement/{neighbour.link}/{name}"] = record

    def keep_forwarded_subscription(self, neighbour: Neighbour, name: str) -> None:
        held = neighbour.forwarded.get(name)
        self._changes[f"forwarded-subscription/{neighbour.link}/{name}"] = (
            held
            and ForwardedSubscriptionRecord(
                neighbour.link, SubscriptionId(name), held.analysed.filter, held.is_ghost
            )
        )

    def keep_operation(self, operation: Operation) -> None:
        self._changes[f"operation/{operation.key}"] = (
            OperationRecord(
                operation.key,
                operation.deadline,
                tuple(operation.awaited),
                tuple(operation.waiting),
                operation.client,
                operation.name,
                operation.advertisement,
            )
            if operation.awaited
            else None
        )

    def keep_link(self, neighbour: Neighbour) -> None:
        self._changes[f"link/{neighbour.link}"] = LinkRecord(
            neighbour.link,
            neighbour.is_open,
            neighbour.advertisements_sent,
            neighbour.advertisements_received,
            neighbour.subscriptions_sent,
            neighbour.subscriptions_received,
        )

    def take(self) -> list[Effect]:
        if not self._changes:
            return []
        changes, self._changes = self._changes, {}
        return [Persist(key, record) for key, record in changes.items()]


def restore(state: State, records: Iterable[Record]) -> PrunedAdvertisements:
    """Fill an empty state. What neighbours were told is taken as told.

    Returns the advertisements that were pruned. Hold them so only when neighbours know what the
    advertisements as they came call for (P3-B9).
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
                analysed = state.analyser.analyse(filter)
                neighbour.forwarded_advertisements[advertisement] = analysed
                if number:
                    neighbour.unacknowledged[advertisement] = number
                neighbour.advertisements.insert_forwarded(advertisement, analysed)
            case ForwardedSubscriptionRecord(link, subscription, filter, is_ghost):
                neighbour = state.meet(link)
                analysed = state.analyser.analyse(filter)
                neighbour.forwarded[subscription] = Forwarded(analysed, is_ghost)
                neighbour.subscriptions.insert_forwarded(subscription, analysed)
            case OperationRecord():
                _restore_operation(state, record)
            case _:
                assert_never(record)
    entries.sort(key=lambda each: each.order)
    subscriptions = [each for each in entries if isinstance(each, SubscriptionRecord)]
    merged = {name for each in subscriptions for name in each.constituents}
    for entry in entries:
        _restore_entry(state, entry, merged)
    for subscription_record in subscriptions:
        if subscription_record.constituents:
            _restore_merger(state, subscription_record)
    return {
        each.advertisement: each.held
        for each in entries
        if isinstance(each, AdvertisementRecord) and each.held is not None
    }


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
            state.index_advertisement(_entry(state, record.advertisement, record))
        case SubscriptionRecord():
            entry = _entry(state, record.subscription, record)
            if record.sent is not None:
                entry.sent = state.analyser.analyse(record.sent)
            if record.subscription in merged:
                state.constituents.add(entry)
            else:
                state.index(entry)
        case _:
            assert_never(record)


def _entry(
    state: State, identifier: str, record: AdvertisementRecord | SubscriptionRecord
) -> Entry:
    entry = Entry(
        identifier,
        state.analyser.analyse(record.filter),
        record.order,
        link=record.link,
        client=record.client,
        name=record.name,
    )
    entry.is_stale = record.is_stale
    return entry


def _restore_merger(state: State, record: SubscriptionRecord) -> None:
    constituents: dict[SubscriptionId, Filter] = {
        name: state.constituents.entries[name].analysed.filter for name in record.constituents
    }
    # Its imperfection was judged when it was made, and is not judged again.
    state.mergers.add(
        Merger(
            id=record.subscription,
            filter=record.filter,
            constituents=constituents,
            imperfection=0.0,
            operations=0,
        )
    )
