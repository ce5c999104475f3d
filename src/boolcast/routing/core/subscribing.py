"""Subscriptions come and go, of clients and of neighbours.

A client uses names of its own, which the network never sees; neighbours use ids.
"""

from boolcast.errors import DuplicateNameError, UnknownSubscriptionError
from boolcast.model.identifiers import BrokerId
from boolcast.routing.core.forwarding import (
    drop_subscription,
    install_subscription,
    remove_subscription,
)
from boolcast.routing.core.outgoing import begin, complain, new_operation, refuse, send
from boolcast.routing.core.state import State
from boolcast.routing.protocol.messages import Acknowledge, Subscribe, Unsubscribe
from boolcast.routing.protocol.stimuli import ClientSubscribes, ClientUnsubscribes
from boolcast.routing.tables.entries import Entry


def client_subscribes(state: State, stimulus: ClientSubscribes) -> None:
    """Add a subscription under the client's name for it; a repeat is ignored (R14)."""
    analysed = state.analyser.analyse(stimulus.filter)
    client, name = stimulus.client, stimulus.subscription
    known = state.subscriptions.named(client, name)
    if known is None:
        outgoing = state.sending.filter_to_send(stimulus.filter, state.learning.selectivities)
        entry = Entry(
            state.new_id(),
            analysed,
            state.next_order(),
            client=client,
            name=name,
            sent=analysed if outgoing is stimulus.filter else state.analyser.analyse(outgoing),
        )
        install_subscription(state, entry)
    elif known.analysed is not analysed:
        refuse(state, client, DuplicateNameError(name))


def client_unsubscribes(state: State, stimulus: ClientUnsubscribes) -> None:
    """Forget a subscription of the client, which is told when it is gone everywhere."""
    known = state.subscriptions.named(stimulus.client, stimulus.subscription)
    if known is None:
        refuse(state, stimulus.client, UnknownSubscriptionError(stimulus.subscription))
    else:
        end_subscription(state, known)


def end_subscription(state: State, entry: Entry) -> None:
    """Remove a client's subscription."""
    overlapping = (
        each
        for each in state.advertisements
        if each.link is not None and state.analyser.overlaps(state.held(each), entry.sent)
    )
    distances = state.reach.begin(entry.id, overlapping, state.now)
    removal = new_operation(state, entry=entry)
    remove_subscription(state, entry, distances, removal)
    begin(state, removal)


def subscribed(state: State, link: BrokerId, message: Subscribe) -> None:
    """A neighbour asks for what a filter accepts."""
    analysed = state.analyser.analyse(message.filter)
    identifier = message.subscription
    known = state.known(identifier)
    if state.is_own_id(identifier):
        complain(state, link, f"the subscription {identifier} has an id of this broker")
    elif (owner := state.foreign_owner(link, identifier)) is not None:
        complain(state, link, f"the subscription {identifier} has an id of {owner}")
    elif known is None and state.is_ghost(identifier):
        complain(state, link, f"the subscription {identifier} was taken back before")
    elif known is None:
        install_subscription(state, Entry(identifier, analysed, state.next_order(), link=link))
    elif known.link != link:
        complain(state, link, f"the subscription {identifier} came from elsewhere before")
    elif known.analysed is not analysed:
        complain(state, link, f"the subscription {identifier} had another filter before")
    else:
        known.is_stale = False
        state.journal.keep_subscription(known)


def unsubscribed(state: State, link: BrokerId, message: Unsubscribe) -> None:
    """A neighbour no longer asks for a subscription; what it asks for instead comes first."""
    for each in message.payload:
        subscribed(state, link, each)
    known = state.known(message.subscription)
    # A merger is this broker's own: no neighbour can remove it, though it stands for their entries.
    if known is None or known.link != link or known.id in state.mergers:
        if known is not None:
            complain(state, link, f"the subscription {message.subscription} came from elsewhere")
        # Known or not, it is not in the neighbour's way any more (R14).
        send(state, link, Acknowledge(message.number))
        return
    removal = new_operation(state, link=link, number=message.number)
    drop_subscription(state, known, message.distances, removal)
    begin(state, removal)
