"""Advertisements come and go, and wake or put to rest the subscriptions they concern (F6)."""

from boolcast.model.identifiers import AdvertisementId, BrokerId
from boolcast.routing.core import acknowledging, subscribing
from boolcast.routing.core.neighbours import Neighbour
from boolcast.routing.core.state import Operation, State
from boolcast.routing.persistence.journal_writer import (
    keep_advertisement,
    keep_forwarded_advertisement,
)
from boolcast.routing.protocol.messages import Advertise, Unadvertise
from boolcast.routing.tables.covering_graph import Change
from boolcast.routing.tables.entries import Entry


def advertised(state: State, link: BrokerId, message: Advertise) -> None:
    """A neighbour says that events may come from it."""
    form = state.form(message.filter)
    known = state.advertisements.get(message.advertisement)
    operation = acknowledging.new_operation(state, link=link, number=message.number)
    if state.is_own_id(message.advertisement):
        state.complain(link, f"the advertisement {message.advertisement} has an id of this broker")
    elif (owner := state.rival(link, message.advertisement)) is not None:
        state.complain(link, f"the advertisement {message.advertisement} has an id of {owner}")
    elif known is None:
        entry = Entry(message.advertisement, form, state.next_order(), link=link)
        install(state, entry, operation)
    elif known.link != link:
        state.complain(
            link, f"the advertisement {message.advertisement} came from elsewhere before"
        )
    elif known.form is not form:
        state.complain(link, f"the advertisement {message.advertisement} had another filter before")
    else:
        known.is_stale = False
        keep_advertisement(state, known)
        await_answers(state, known, operation)
    acknowledging.begin(state, operation)


def unadvertised(state: State, link: BrokerId, message: Unadvertise) -> None:
    """A neighbour takes an advertisement back; an unknown one is ignored (R14)."""
    known = state.advertisements.get(message.advertisement)
    if known is None:
        return
    if known.link != link:
        state.complain(link, f"the advertisement {message.advertisement} came from elsewhere")
        return
    remove(state, known)


def install(state: State, entry: Entry, operation: Operation) -> None:
    """Take up an advertisement, pass it on, and send its sender the subscriptions it concerns."""
    state.index_advertisement(entry)
    keep_advertisement(state, entry)
    if state.propagation.sends_advertisements:
        for neighbour in state.others(entry.link):
            tell(state, neighbour, neighbour.advertisements.insert(entry.id, entry.form))
        await_answers(state, entry, operation)
    if entry.link is not None:
        neighbour = state.neighbours[entry.link]
        told = neighbour.subscriptions
        awakened = state.propagation.awakened(
            entry.form, lambda each: each.link != entry.link and each.id not in told
        )
        changes = [told.insert(each.id, each.sent) for each in awakened]
        subscribing.tell(state, neighbour, subscribing.net(changes))


def remove(state: State, entry: Entry) -> None:
    """Forget an advertisement, and withdraw from its sender what it alone had called for."""
    state.unindex_advertisement(entry)
    keep_advertisement(state, entry)
    for neighbour in state.others(entry.link):
        if entry.id in neighbour.advertisements:
            tell(state, neighbour, neighbour.advertisements.remove(entry.id))
    if entry.link is not None and state.propagation.sends_advertisements:
        withdraw_unneeded(state, state.neighbours[entry.link])


def withdraw_unneeded(state: State, neighbour: Neighbour) -> None:
    """Withdraw from a neighbour what no advertisement of its calls for any more."""
    names = [
        name
        for name in neighbour.subscriptions
        if not state.propagation.is_needed(state.wanted_form(neighbour, name), neighbour.link)
    ]
    subscribing.withdraw(state, neighbour, names)


def await_answers(state: State, entry: Entry, operation: Operation) -> None:
    """Let the operation wait for the neighbours that may still answer with subscriptions.

    Where the advertisement was not sent because another covers it, the answer to that counts.
    """
    for neighbour in state.others(entry.link):
        if entry.id in neighbour.forwarded_advertisements:
            number = neighbour.unacknowledged.get(entry.id)
            numbers = [] if number is None else [number]
        else:
            numbers = list(neighbour.unacknowledged.values())
        operation.awaited |= dict.fromkeys((neighbour.link, number) for number in numbers)


def tell(state: State, neighbour: Neighbour, change: Change) -> None:
    """Send a neighbour the advertisements that it must know more, then those it may forget."""
    for name in change.forward:
        form = state.advertisements.entries[name].form
        number = state.next_number()
        neighbour.forwarded_advertisements[name] = form
        neighbour.unacknowledged[name] = number
        keep_forwarded_advertisement(state, neighbour, name)
        operation = acknowledging.new_operation(state)
        operation.advertisement = name
        operation.awaited[neighbour.link, number] = None
        acknowledging.begin(state, operation)
        state.send(neighbour.link, Advertise(number, AdvertisementId(name), form.filter))
    for name in change.withdraw:
        del neighbour.forwarded_advertisements[name]
        neighbour.unacknowledged.pop(name, None)
        keep_forwarded_advertisement(state, neighbour, name)
        state.send(neighbour.link, Unadvertise(AdvertisementId(name)))
