"""Two brokers that share a link tell each other again what the other must know.

That happens when a link is made, and when a side has lost its memory. What a neighbour said
before is stale from then on: it stays in force, and goes if the neighbour has said all and not
this. Until the neighbour has said all, it gets every event. So an event that meets a broker
which is still learning goes too far, and never astray.

*All* has two stages. A broker has said all its advertisements when it has heard all from its
other neighbours; and all its subscriptions when moreover it knows the advertisements of the very
neighbour that it tells, because those decide what to tell. The network is a tree, so the
conditions are never circular, and the leaves begin.
"""

from boolcast.model.identifiers import BrokerId
from boolcast.routing.core import acknowledging, advertising, subscribing
from boolcast.routing.core.neighbours import Neighbour
from boolcast.routing.core.state import State
from boolcast.routing.persistence.journal_writer import (
    keep_advertisement,
    keep_forwarded_advertisement,
    keep_forwarded_subscription,
    keep_link,
    keep_subscription,
)
from boolcast.routing.protocol.messages import Synchronised
from boolcast.routing.protocol.stimuli import LinkDown, LinkUp
from boolcast.routing.tables.entries import Entry


def link_up(state: State, stimulus: LinkUp) -> None:
    """Begin anew with a neighbour, if the link is fresh; otherwise nothing was missed."""
    if not stimulus.fresh:
        known = state.neighbours.get(stimulus.link)
        if known is None or not known.is_open:
            state.complain(stimulus.link, "a link that was never there cannot be resumed")
        return
    neighbour = state.meet(stimulus.link)
    acknowledging.forget_link(state, stimulus.link)
    held, advertised = list(neighbour.forwarded), list(neighbour.forwarded_advertisements)
    neighbour.reset()
    for name in held:
        keep_forwarded_subscription(state, neighbour, name)
    for name in advertised:
        keep_forwarded_advertisement(state, neighbour, name)
    neighbour.is_open = True
    for entry in state.advertisements.of_link(stimulus.link):
        entry.is_stale = True
        keep_advertisement(state, entry)
    for entry in _repeatable(state, stimulus.link):
        entry.is_stale = True
        keep_subscription(state, entry)
    tell_all(state, neighbour)
    keep_link(state, neighbour)
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
                advertising.remove(state, entry)
    else:
        neighbour.subscriptions_received = True
        for entry in _repeatable(state, link):
            if entry.is_stale:
                removal = acknowledging.new_operation(state)
                subscribing.drop(state, entry, None, removal)
                acknowledging.begin(state, removal)
    keep_link(state, neighbour)
    _proceed(state)


def _repeatable(state: State, link: BrokerId) -> list[Entry]:
    """What a neighbour said of subscriptions; mergers of them are this broker's own."""
    matched = state.subscriptions.of_link(link)
    return [each for each in matched if each.id not in state.mergers] + state.constituents.of_link(
        link
    )


def tell_all(state: State, neighbour: Neighbour) -> None:
    """Tell a neighbour what it must know and was not told, unless that is covered."""
    if state.propagation.sends_advertisements:
        told = neighbour.advertisements
        changes = [
            told.insert(entry.id, entry.form)
            for entry in state.advertisements
            if entry.link != neighbour.link and entry.id not in told
        ]
        advertising.tell(state, neighbour, subscribing.net(changes))
    changes = [
        neighbour.subscriptions.insert(entry.id, entry.sent)
        for entry in state.subscriptions
        if entry.link != neighbour.link
        and entry.id not in neighbour.subscriptions
        and state.propagation.is_needed(entry.form, neighbour.link)
    ]
    subscribing.tell(state, neighbour, subscribing.net(changes))


def _proceed(state: State) -> None:
    """Say that all of a stage was said, to whom that is true of by now."""
    for neighbour in state.others(None):
        rest = [each for each in state.neighbours.values() if each is not neighbour]
        if not neighbour.advertisements_sent and all(each.advertisements_received for each in rest):
            neighbour.advertisements_sent = True
            state.send(neighbour.link, Synchronised("advertisements"))
            keep_link(state, neighbour)
        if (
            not neighbour.subscriptions_sent
            and neighbour.advertisements_received
            and all(each.subscriptions_received for each in rest)
        ):
            neighbour.subscriptions_sent = True
            state.send(neighbour.link, Synchronised("subscriptions"))
            keep_link(state, neighbour)
