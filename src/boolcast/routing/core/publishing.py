"""Events go where a subscription that accepts them came from: each link once, each client once.

Everything else exists for this path, so it allocates little: where no header changes, the message
that came in is the one that goes out.
"""

from boolcast.errors import UnadvertisedError, UnknownAdvertisementError
from boolcast.model.identifiers import AdvertisementId, BrokerId, ClientId
from boolcast.routing.core.outgoing import complain, refuse
from boolcast.routing.core.state import State
from boolcast.routing.protocol.effects import Deliver, Send
from boolcast.routing.protocol.messages import Publish
from boolcast.routing.protocol.stimuli import ClientPublishes
from boolcast.routing.tables.entries import Entry


def client_publishes(state: State, stimulus: ClientPublishes) -> None:
    """Send an event on its way if its publisher has advertised it."""
    if stimulus.advertisement is None:
        own = state.advertisements.of_client(stimulus.client)
    else:
        named = state.advertisements.named(stimulus.client, stimulus.advertisement)
        if named is None:
            error = UnknownAdvertisementError(stimulus.advertisement)
            refuse(state, stimulus.client, error)
            return
        own = [named]
    for entry in own:
        if entry.analysed.filter.accepts(stimulus.event):
            advertisement = AdvertisementId(entry.id)
            route(state, None, Publish(stimulus.publication, advertisement, stimulus.event))
            return
    refuse(state, stimulus.client, UnadvertisedError(stimulus.publication))


def published(state: State, link: BrokerId, message: Publish) -> None:
    """A neighbour forwards an event; an event that cannot have come over this link is dropped.

    The publisher's broker has checked that the advertisement accepts the event.
    """
    known = state.advertisements.get(message.advertisement)
    if known is not None and known.link == link:
        route(state, link, message)
    elif state.is_own_id(message.advertisement):
        complain(state, link, f"the event {message.publication} has an id of this broker")
    elif (owner := state.foreign_owner(link, message.advertisement)) is not None:
        complain(state, link, f"the event {message.publication} has an id of {owner}")
    elif known is not None:
        complain(state, link, f"the advertisement {message.advertisement} came from elsewhere")
    else:
        # One that is covered, or flooding, or gone by now: not every advertisement is known here.
        route(state, link, message)


def route(state: State, origin: BrokerId | None, message: Publish) -> None:
    """Forward and deliver an event that came over a link, or from a client here."""
    state.events += 1
    matched = state.engine.match(message.event)
    state.matched = len(matched)
    links = set(map(state.link_of.get, matched))
    if state.reach.learns and origin is not None:
        link_of = state.link_of
        wanted = sum(link_of.get(name) != origin for name in matched)
        message = state.reach.pass_on(message, wanted)
    for link, neighbour in state.neighbours.items():
        if link == origin:
            continue
        if link not in links and not message.everywhere:
            # Nearly always nothing is outstanding, and the question need not be asked.
            is_settled = neighbour.subscriptions_received and not neighbour.unacknowledged
            if is_settled or not neighbour.may_want(message.advertisement):
                continue
        state.effects.append(Send(link, message))
    if None in links:
        _deliver(state, message, matched)


def _deliver(state: State, message: Publish, matched: list[str]) -> None:
    entries = state.subscriptions.entries
    link_of = state.link_of
    local = [entries[name] for name in matched if name not in link_of]
    local.sort(key=_order)
    names: dict[ClientId, list[str]] = {}
    for entry in local:
        assert entry.client is not None
        names.setdefault(entry.client, []).append(entry.name)
        state.reach.record(message, entry.id, state.now)
    for client, own in names.items():
        state.effects.append(Deliver(client, message.publication, message.event, tuple(own)))


def _order(entry: Entry) -> int:
    return entry.order
