"""What clients ask for: each by names of its own, which the network never sees."""

from boolcast.errors import (
    DuplicateNameError,
    EmptyAdvertisementError,
    UnknownAdvertisementError,
    UnknownSubscriptionError,
)
from boolcast.routing.core import acknowledging, advertising, subscribing
from boolcast.routing.core.state import State
from boolcast.routing.protocol.effects import Refuse
from boolcast.routing.protocol.stimuli import (
    ClientAdvertises,
    ClientLeaves,
    ClientSubscribes,
    ClientUnadvertises,
    ClientUnsubscribes,
)
from boolcast.routing.tables.entries import Entry


def advertises(state: State, stimulus: ClientAdvertises) -> None:
    """Take up an advertisement under the client's name for it; a repeat is ignored (R14)."""
    form = state.form(stimulus.filter)
    client, name = stimulus.client, stimulus.advertisement
    known = state.advertisements.named(client, name)
    if known is None and state.analyser.is_empty(form):
        error = EmptyAdvertisementError(name, str(stimulus.filter))
        state.effects.append(Refuse(client, error))
    elif known is None:
        entry = Entry(state.new_id(), form, state.next_order(), client=client, name=name)
        advertising.install(state, entry, acknowledging.new_operation(state))
    elif known.form is not form:
        state.effects.append(Refuse(client, DuplicateNameError(name)))


def unadvertises(state: State, stimulus: ClientUnadvertises) -> None:
    """Forget an advertisement of the client."""
    known = state.advertisements.named(stimulus.client, stimulus.advertisement)
    if known is None:
        error = UnknownAdvertisementError(stimulus.advertisement)
        state.effects.append(Refuse(stimulus.client, error))
    else:
        advertising.remove(state, known)


def subscribes(state: State, stimulus: ClientSubscribes) -> None:
    """Take up a subscription under the client's name for it; a repeat is ignored (R14)."""
    form = state.form(stimulus.filter)
    client, name = stimulus.client, stimulus.subscription
    known = state.subscriptions.named(client, name)
    if known is None:
        sent = state.form(state.sending.form_to_send(stimulus.filter, state.learning.selectivities))
        entry = Entry(state.new_id(), form, state.next_order(), client=client, name=name, sent=sent)
        subscribing.install(state, entry)
    elif known.form is not form:
        state.effects.append(Refuse(client, DuplicateNameError(name)))


def unsubscribes(state: State, stimulus: ClientUnsubscribes) -> None:
    """Forget a subscription of the client; it is told when that is done everywhere."""
    known = state.subscriptions.named(stimulus.client, stimulus.subscription)
    if known is None:
        error = UnknownSubscriptionError(stimulus.subscription)
        state.effects.append(Refuse(stimulus.client, error))
    else:
        _unsubscribe(state, known)


def leaves(state: State, stimulus: ClientLeaves) -> None:
    """Forget all that the client asked for, subscriptions first."""
    for entry in state.subscriptions.of_client(stimulus.client):
        _unsubscribe(state, entry)
    for entry in state.advertisements.of_client(stimulus.client):
        advertising.remove(state, entry)


def _unsubscribe(state: State, entry: Entry) -> None:
    overlapping = (
        each
        for each in state.advertisements
        if each.link is not None and state.analyser.overlaps(state.held_form(each), entry.sent)
    )
    distances = state.reach.begin(entry.id, overlapping, state.now)
    removal = acknowledging.new_operation(state, entry=entry)
    subscribing.remove(state, entry, distances, removal)
    acknowledging.begin(state, removal)
