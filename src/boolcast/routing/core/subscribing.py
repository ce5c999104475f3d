"""Subscriptions come and go (P2-B8, P2-B9, P4-B6).

Whatever happens, a neighbour hears first what it must know more and then what it may forget
(R2): links keep the order, so there is no moment in which an event has no way.
"""

from collections.abc import Iterable

from boolcast.model.identifiers import BrokerId, SubscriptionId
from boolcast.optimising.merging.mergers import Exchange
from boolcast.routing.core import acknowledging
from boolcast.routing.core.neighbours import Forwarded, Neighbour
from boolcast.routing.core.state import Operation, State
from boolcast.routing.persistence.journal_writer import (
    keep_forwarded_subscription,
    keep_subscription,
)
from boolcast.routing.policies.unsubscription import Distances
from boolcast.routing.protocol.messages import Acknowledge, Subscribe, Unsubscribe
from boolcast.routing.tables.covering_graph import Change
from boolcast.routing.tables.entries import Entry


def subscribed(state: State, link: BrokerId, message: Subscribe) -> None:
    """A neighbour asks for what a filter accepts."""
    form = state.form(message.filter)
    known = state.known(message.subscription)
    if state.is_own_id(message.subscription):
        state.complain(link, f"the subscription {message.subscription} has an id of this broker")
    elif (owner := state.rival(link, message.subscription)) is not None:
        state.complain(link, f"the subscription {message.subscription} has an id of {owner}")
    elif known is None and state.is_ghost(message.subscription):
        state.complain(link, f"the subscription {message.subscription} was taken back before")
    elif known is None:
        install(state, Entry(message.subscription, form, state.next_order(), link=link))
    elif known.link != link:
        state.complain(link, f"the subscription {message.subscription} came from elsewhere before")
    elif known.form is not form:
        state.complain(link, f"the subscription {message.subscription} had another filter before")
    else:
        known.is_stale = False
        keep_subscription(state, known)


def unsubscribed(state: State, link: BrokerId, message: Unsubscribe) -> None:
    """A neighbour no longer asks for a subscription; what it asks for instead comes first."""
    for each in message.payload:
        subscribed(state, link, each)
    known = state.known(message.subscription)
    # A merger of this broker is no neighbour's to remove, though it stands for what came from it.
    if known is None or known.link != link or known.id in state.mergers:
        if known is not None:
            state.complain(link, f"the subscription {message.subscription} came from elsewhere")
        # Known or not, it is not in the way of the neighbour any more (R14).
        state.send(link, Acknowledge(message.number))
        return
    removal = acknowledging.new_operation(state, link=link, number=message.number)
    drop(state, known, message.distances, removal)
    acknowledging.begin(state, removal)


def install(state: State, entry: Entry) -> None:
    """Take up a subscription, and tell the neighbours that must know it."""
    state.index(entry)
    keep_subscription(state, entry)
    for neighbour in state.others(entry.link):
        if state.propagation.is_needed(entry.form, neighbour.link):
            tell(state, neighbour, neighbour.subscriptions.insert(entry.id, entry.sent))


def drop(state: State, entry: Entry, distances: Distances, removal: Operation) -> None:
    """Remove a subscription; with one that a merger stands for, the merger goes (P2-B12, R6).

    The others that it stood for are told before: where covering finds them below the merger,
    together with its removal.
    """
    if entry.id in state.subscriptions:
        remove(state, entry, distances, removal)
        return
    state.constituents.remove(entry)
    keep_subscription(state, entry)
    take_apart(state, state.mergers.unsubscribe(SubscriptionId(entry.id)), distances, removal)


def take_apart(state: State, exchange: Exchange, distances: Distances, removal: Operation) -> None:
    """Tell what a merger stood for, and then remove it."""
    for name in exchange.forward:
        remaining = state.constituents.entries[name]
        state.constituents.remove(remaining)
        remaining.order = state.next_order()
        install(state, remaining)
    for name in exchange.withdraw:
        remove(state, state.subscriptions.entries[name], distances, removal)


def remove(state: State, entry: Entry, distances: Distances, removal: Operation) -> None:
    """Forget a subscription, and tell the neighbours that hold it and are to forget it too."""
    state.unindex(entry)
    keep_subscription(state, entry)
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


def tell(state: State, neighbour: Neighbour, change: Change) -> None:
    """Send a neighbour what it must know more, then what it may forget."""
    for name in change.forward:
        form = state.form_of(neighbour, name)
        _hold(state, neighbour, name, Forwarded(form))
        state.send(neighbour.link, Subscribe(SubscriptionId(name), form.filter))
    for name in change.withdraw:
        is_ghost = neighbour.forwarded[name].is_ghost
        removal = acknowledging.new_operation(state)
        _unsubscribe(state, neighbour, name, None, [], removal)
        acknowledging.begin(state, removal)
        if is_ghost and name in neighbour.subscriptions:
            # It was taken over by what covers it, and nobody asks for it (P4-B7).
            neighbour.subscriptions.remove(name)


def withdraw(state: State, neighbour: Neighbour, names: Iterable[str]) -> None:
    """A neighbour need not know these any more; some may be ghosts."""
    changes = [neighbour.subscriptions.remove(name) for name in names]
    tell(state, neighbour, net(changes))
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
    """Let go of ghosts that no longer keep anything from being told (P4-B7)."""
    if not state.configuration.policies.unsubscription.collects_ghosts:
        return
    for name in names:
        held = neighbour.forwarded.get(name)
        if held is not None and held.is_ghost and not neighbour.subscriptions.quenches(name):
            tell(state, neighbour, neighbour.subscriptions.remove(name))


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
        form = state.form_of(neighbour, each)
        _hold(state, neighbour, each, Forwarded(form))
        installed.append(Subscribe(SubscriptionId(each), form.filter))
    del neighbour.forwarded[name]
    keep_forwarded_subscription(state, neighbour, name)
    message = Unsubscribe(number, SubscriptionId(name), distances)
    for part in state.wrapping.wrap(message, tuple(installed)):
        state.send(neighbour.link, part)


def _hold(state: State, neighbour: Neighbour, name: str, forwarded: Forwarded) -> None:
    neighbour.forwarded[name] = forwarded
    keep_forwarded_subscription(state, neighbour, name)
