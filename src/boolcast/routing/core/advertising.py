"""Advertisements come and go, of clients and of neighbours (F6)."""

from boolcast.errors import (
    DuplicateNameError,
    EmptyAdvertisementError,
    UnknownAdvertisementError,
)
from boolcast.model.identifiers import BrokerId
from boolcast.routing.core.forwarding import (
    await_answers,
    install_advertisement,
    remove_advertisement,
)
from boolcast.routing.core.outgoing import begin, complain, new_operation, refuse
from boolcast.routing.core.state import State
from boolcast.routing.protocol.messages import Advertise, Unadvertise
from boolcast.routing.protocol.stimuli import ClientAdvertises, ClientUnadvertises
from boolcast.routing.tables.entries import Entry


def client_advertises(state: State, stimulus: ClientAdvertises) -> None:
    """Add an advertisement under the client's name for it; a repeat is ignored (R14)."""
    analysed = state.analyser.analyse(stimulus.filter)
    client, name = stimulus.client, stimulus.advertisement
    known = state.advertisements.named(client, name)
    if known is None and state.analyser.is_empty(analysed):
        refuse(state, client, EmptyAdvertisementError(name, str(stimulus.filter)))
    elif known is None:
        entry = Entry(state.new_id(), analysed, state.next_order(), client=client, name=name)
        install_advertisement(state, entry, new_operation(state))
    elif known.analysed is not analysed:
        refuse(state, client, DuplicateNameError(name))


def client_unadvertises(state: State, stimulus: ClientUnadvertises) -> None:
    """Forget an advertisement of the client."""
    known = state.advertisements.named(stimulus.client, stimulus.advertisement)
    if known is None:
        refuse(state, stimulus.client, UnknownAdvertisementError(stimulus.advertisement))
    else:
        remove_advertisement(state, known)


def advertised(state: State, link: BrokerId, message: Advertise) -> None:
    """A neighbour says that events may come from it."""
    analysed = state.analyser.analyse(message.filter)
    identifier = message.advertisement
    known = state.advertisements.get(identifier)
    operation = new_operation(state, link=link, number=message.number)
    if state.is_own_id(identifier):
        complain(state, link, f"the advertisement {identifier} has an id of this broker")
    elif (owner := state.foreign_owner(link, identifier)) is not None:
        complain(state, link, f"the advertisement {identifier} has an id of {owner}")
    elif known is None:
        entry = Entry(identifier, analysed, state.next_order(), link=link)
        install_advertisement(state, entry, operation)
    elif known.link != link:
        complain(state, link, f"the advertisement {identifier} came from elsewhere before")
    elif known.analysed is not analysed:
        complain(state, link, f"the advertisement {identifier} had another filter before")
    else:
        known.is_stale = False
        state.journal.keep_advertisement(known)
        await_answers(state, known, operation)
    begin(state, operation)


def unadvertised(state: State, link: BrokerId, message: Unadvertise) -> None:
    """A neighbour takes an advertisement back; an unknown one is ignored (R14)."""
    known = state.advertisements.get(message.advertisement)
    if known is None:
        return
    if known.link != link:
        complain(state, link, f"the advertisement {message.advertisement} came from elsewhere")
        return
    remove_advertisement(state, known)
