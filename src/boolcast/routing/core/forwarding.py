"""Every change of the tables, and what neighbours are told of it (P2-B8, P2-B9, P4-B6).

Make before break: a neighbour hears first what it must know more, and then what it may forget (R2).
Links keep the order, so at every moment each event has a way.
"""

from collections.abc import Iterable

from boolcast.model.identifiers import AdvertisementId, SubscriptionId
from boolcast.optimising.merging.mergers import Exchange
from boolcast.routing.core.outgoing import begin, new_operation, send
from boolcast.routing.core.state import State
from boolcast.routing.policies.unsubscription import Distances
from boolcast.routing.protocol.messages import Advertise, Subscribe, Unadvertise, Unsubscribe
from boolcast.routing.tables.covering_graph import Change
from boolcast.routing.tables.entries import Entry
from boolcast.routing.tables.neighbours import Forwarded, Neighbour
from boolcast.routing.tables.operations import Operation


def install_subscription(state: State, entry: Entry) -> None:
    """Add a subscription, and tell the neighbours that must know it."""
    state.index(entry)
    state.journal.keep_subscription(entry)
    for neighbour in state.others(entry.link):
        if state.propagation.is_needed(entry.analysed, neighbour.link):
            tell_subscriptions(
                state, neighbour, neighbour.subscriptions.insert(entry.id, entry.sent)
            )


def drop_subscription(state: State, entry: Entry, distances: Distances, removal: Operation) -> None:
    """Remove a subscription. If a merger stands for it, the merger goes too (P2-B12, R6).

    The other constituents are told before: where covering finds them below the merger, together
    with its removal.
    """
    if entry.id in state.subscriptions:
        remove_subscription(state, entry, distances, removal)
        return
    state.constituents.remove(entry)
    state.journal.keep_subscription(entry)
    take_apart(state, state.mergers.unsubscribe(SubscriptionId(entry.id)), distances, removal)


def take_apart(state: State, exchange: Exchange, distances: Distances, removal: Operation) -> None:
    """Tell what a merger stood for, and then remove it."""
    for name in exchange.forward:
        remaining = state.constituents.entries[name]
        state.constituents.remove(remaining)
        remaining.order = state.next_order()
        install_subscription(state, remaining)
    for name in exchange.withdraw:
        remove_subscription(state, state.subscriptions.entries[name], distances, removal)


def remove_subscription(
    state: State, entry: Entry, distances: Distances, removal: Operation
) -> None:
    """Forget a subscription, and tell the neighbours that are to forget it too."""
    state.unindex(entry)
    state.journal.keep_subscription(entry)
    for neighbour in state.others(entry.link):
        told = neighbour.subscriptions
        if entry.id not in told:
            continue
        above = told.above(entry.id)
        if entry.id not in neighbour.forwarded:
            told.remove(entry.id)
            _collect(state, neighbour, [] if above is None else [above])
            continue
        onward = state.reach.onward(distances, state.advertisements_from(neighbour.link))
        if onward.goes_on:
            change = told.remove(entry.id)
            _unsubscribe(state, neighbour, entry.id, onward.distances, change.forward, removal)
        else:
            _hold(state, neighbour, entry.id, Forwarded(entry.sent, is_ghost=True))
            _collect(state, neighbour, [entry.id])


def tell_subscriptions(state: State, neighbour: Neighbour, change: Change) -> None:
    """Send a neighbour what it must know more, then what it may forget."""
    for name in change.forward:
        analysed = state.told_filter(neighbour, name)
        _hold(state, neighbour, name, Forwarded(analysed))
        send(state, neighbour.link, Subscribe(SubscriptionId(name), analysed.filter))
    for name in change.withdraw:
        is_ghost = neighbour.forwarded[name].is_ghost
        removal = new_operation(state)
        _unsubscribe(state, neighbour, name, None, [], removal)
        begin(state, removal)
        if is_ghost and name in neighbour.subscriptions:
            # What covers it took it over, and nobody asks for it (P4-B7).
            neighbour.subscriptions.remove(name)


def withdraw(state: State, neighbour: Neighbour, names: Iterable[str]) -> None:
    """A neighbour need not know these any more; some may be ghosts."""
    changes = [neighbour.subscriptions.remove(name) for name in names]
    tell_subscriptions(state, neighbour, net(changes))
    _collect(state, neighbour, neighbour.ghosts())


def net(changes: Iterable[Change]) -> Change:
    """What several changes in a row amount to."""
    forward: dict[str, None] = {}
    withdrawn: dict[str, None] = {}
    for change in changes:
        forward |= dict.fromkeys(change.forward)
        for name in change.withdraw:
            if name in forward:
                del forward[name]
            else:
                withdrawn[name] = None
    return Change(list(forward), list(withdrawn))


def _collect(state: State, neighbour: Neighbour, names: Iterable[str]) -> None:
    """Remove the ghosts that no longer cover anything (P4-B7)."""
    if not state.configuration.policies.unsubscription.collects_ghosts:
        return
    for name in names:
        held = neighbour.forwarded.get(name)
        if held is not None and held.is_ghost and not neighbour.subscriptions.quenches(name):
            tell_subscriptions(state, neighbour, neighbour.subscriptions.remove(name))


def _unsubscribe(
    state: State,
    neighbour: Neighbour,
    name: str,
    distances: Distances,
    uncovered: list[str],
    removal: Operation,
) -> None:
    number = state.next_number()
    removal.awaited[neighbour.link, number] = None
    installed: list[Subscribe] = []
    for each in uncovered:
        analysed = state.told_filter(neighbour, each)
        _hold(state, neighbour, each, Forwarded(analysed))
        installed.append(Subscribe(SubscriptionId(each), analysed.filter))
    del neighbour.forwarded[name]
    state.journal.keep_forwarded_subscription(neighbour, name)
    message = Unsubscribe(number, SubscriptionId(name), distances)
    for each_message in state.wrapping.wrap(message, tuple(installed)):
        send(state, neighbour.link, each_message)


def _hold(state: State, neighbour: Neighbour, name: str, forwarded: Forwarded) -> None:
    neighbour.forwarded[name] = forwarded
    state.journal.keep_forwarded_subscription(neighbour, name)


def install_advertisement(state: State, entry: Entry, operation: Operation) -> None:
    """Add an advertisement, pass it on, and send its sender the subscriptions it calls for."""
    state.index_advertisement(entry)
    state.journal.keep_advertisement(entry)
    if state.propagation.sends_advertisements:
        for neighbour in state.others(entry.link):
            change = neighbour.advertisements.insert(entry.id, entry.analysed)
            tell_advertisements(state, neighbour, change)
        await_answers(state, entry, operation)
    if entry.link is not None:
        neighbour = state.neighbours[entry.link]
        told = neighbour.subscriptions
        awakened = state.propagation.awakened(
            entry.analysed, lambda each: each.link != entry.link and each.id not in told
        )
        changes = [told.insert(each.id, each.sent) for each in awakened]
        tell_subscriptions(state, neighbour, net(changes))


def remove_advertisement(state: State, entry: Entry) -> None:
    """Forget an advertisement, and withdraw from its sender what it alone had called for."""
    state.unindex_advertisement(entry)
    state.journal.keep_advertisement(entry)
    for neighbour in state.others(entry.link):
        if entry.id in neighbour.advertisements:
            tell_advertisements(state, neighbour, neighbour.advertisements.remove(entry.id))
    if entry.link is not None and state.propagation.sends_advertisements:
        withdraw_unneeded(state, state.neighbours[entry.link])


def withdraw_unneeded(state: State, neighbour: Neighbour) -> None:
    """Withdraw from a neighbour what none of its advertisements calls for any more."""
    names = [
        name
        for name in neighbour.subscriptions
        if not state.propagation.is_needed(state.wanted_filter(neighbour, name), neighbour.link)
    ]
    withdraw(state, neighbour, names)


def await_answers(state: State, entry: Entry, operation: Operation) -> None:
    """Let the operation wait for the neighbours that may still answer with subscriptions.

    If the advertisement was not sent because another covers it, the answer to that one counts.
    """
    for neighbour in state.others(entry.link):
        if entry.id in neighbour.forwarded_advertisements:
            number = neighbour.unacknowledged.get(entry.id)
            numbers = [] if number is None else [number]
        else:
            numbers = list(neighbour.unacknowledged.values())
        operation.awaited |= dict.fromkeys((neighbour.link, number) for number in numbers)


def tell_advertisements(state: State, neighbour: Neighbour, change: Change) -> None:
    """Send a neighbour the advertisements that it must know more, then those it may forget."""
    for name in change.forward:
        analysed = state.advertisements.entries[name].analysed
        number = state.next_number()
        neighbour.forwarded_advertisements[name] = analysed
        neighbour.unacknowledged[name] = number
        state.journal.keep_forwarded_advertisement(neighbour, name)
        operation = new_operation(state)
        operation.advertisement = name
        operation.awaited[neighbour.link, number] = None
        begin(state, operation)
        send(state, neighbour.link, Advertise(number, AdvertisementId(name), analysed.filter))
    for name in change.withdraw:
        del neighbour.forwarded_advertisements[name]
        neighbour.unacknowledged.pop(name, None)
        state.journal.keep_forwarded_advertisement(neighbour, name)
        send(state, neighbour.link, Unadvertise(AdvertisementId(name)))


def tell_all(state: State, neighbour: Neighbour) -> None:
    """Tell a neighbour what it must know and was not told, unless that is covered."""
    if state.propagation.sends_advertisements:
        told = neighbour.advertisements
        changes = [
            told.insert(entry.id, entry.analysed)
            for entry in state.advertisements
            if entry.link != neighbour.link and entry.id not in told
        ]
        tell_advertisements(state, neighbour, net(changes))
    changes = [
        neighbour.subscriptions.insert(entry.id, entry.sent)
        for entry in state.subscriptions
        if entry.link != neighbour.link
        and entry.id not in neighbour.subscriptions
        and state.propagation.is_needed(entry.analysed, neighbour.link)
    ]
    tell_subscriptions(state, neighbour, net(changes))
