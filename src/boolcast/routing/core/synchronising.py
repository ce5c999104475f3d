"""Two brokers with a fresh link tell each other everything that the other must know.

A link is fresh when it is made, and when a side has lost its memory. Everything the neighbour said
before becomes stale: it stays in force, and is removed if the neighbour has said everything without
repeating it. Until the neighbour has said everything, it gets every event. So an event that meets
a broker which is still learning may go too far, but never astray.

Saying everything has two stages. A broker has said all its advertisements when it has heard all
from its other neighbours. It has said all its subscriptions when it also knows the advertisements
of the neighbour it tells, because those decide what to tell. The network is a tree, so the
conditions are never circular, and the leaves begin.
"""

from boolcast.model.identifiers import BrokerId
from boolcast.routing.core.forwarding import drop_subscription, remove_advertisement, tell_all
from boolcast.routing.core.outgoing import begin, complain, forget_link, new_operation, send
from boolcast.routing.core.state import State
from boolcast.routing.protocol.messages import Synchronised
from boolcast.routing.protocol.stimuli import LinkDown, LinkUp
from boolcast.routing.tables.entries import Entry


def link_up(state: State, stimulus: LinkUp) -> None:
    """Begin anew with a neighbour, if the link is fresh; otherwise nothing was missed."""
    if not stimulus.fresh:
        known = state.neighbours.get(stimulus.link)
        if known is None or not known.is_open:
            complain(state, stimulus.link, "a link that was never there cannot be resumed")
        return
    neighbour = state.meet(stimulus.link)
    forget_link(state, stimulus.link)
    held, advertised = list(neighbour.forwarded), list(neighbour.forwarded_advertisements)
    neighbour.reset()
    for name in held:
        state.journal.keep_forwarded_subscription(neighbour, name)
    for name in advertised:
        state.journal.keep_forwarded_advertisement(neighbour, name)
    neighbour.is_open = True
    for entry in state.advertisements.of_link(stimulus.link):
        entry.is_stale = True
        state.journal.keep_advertisement(entry)
    for entry in _repeatable(state, stimulus.link):
        entry.is_stale = True
        state.journal.keep_subscription(entry)
    tell_all(state, neighbour)
    state.journal.keep_link(neighbour)
    _proceed(state)


def link_down(state: State, stimulus: LinkDown) -> None:
    """Nothing changes: what is sent waits below, and what was said still holds."""


def synchronised(state: State, link: BrokerId, message: Synchronised) -> None:
    """A neighbour has said all of a stage: what is still stale no longer holds."""
    neighbour = state.neighbours[link]
    if message.stage == "advertisements":
        neighbour.advertisements_received = True
        for entry in state.advertisements.of_link(link):
            if entry.is_stale:
                remove_advertisement(state, entry)
    else:
        neighbour.subscriptions_received = True
        for entry in _repeatable(state, link):
            if entry.is_stale:
                removal = new_operation(state)
                drop_subscription(state, entry, None, removal)
                begin(state, removal)
    state.journal.keep_link(neighbour)
    _proceed(state)


def _repeatable(state: State, link: BrokerId) -> list[Entry]:
    """What a neighbour said of subscriptions; mergers of them are this broker's own."""
    matched = state.subscriptions.of_link(link)
    return [each for each in matched if each.id not in state.mergers] + state.constituents.of_link(
        link
    )


def _proceed(state: State) -> None:
    """Say that all of a stage was said, to whom that is true of by now."""
    for neighbour in state.others(None):
        rest = [each for each in state.neighbours.values() if each is not neighbour]
        if not neighbour.advertisements_sent and all(each.advertisements_received for each in rest):
            neighbour.advertisements_sent = True
            send(state, neighbour.link, Synchronised("advertisements"))
            state.journal.keep_link(neighbour)
        if (
            not neighbour.subscriptions_sent
            and neighbour.advertisements_received
            and all(each.subscriptions_received for each in rest)
        ):
            neighbour.subscriptions_sent = True
            send(state, neighbour.link, Synchronised("subscriptions"))
            state.journal.keep_link(neighbour)
