"""What a broker says to others, and the acknowledgements it waits for (P2-B8).

An advertisement or a removal is acknowledged when it has been carried out here and wherever it went
on to. While a neighbour has not acknowledged an advertisement, subscriptions may be on their way
here because of it, so the neighbour gets all events under that advertisement (`publishing`). A
removal needs no such care: links are reliable and in order, and the subscriptions it uncovers are
installed before it (R2). Its acknowledgement tells the client at the end of the chain that the
subscription is gone everywhere. A late acknowledgement makes a neighbour suspect; sending again is
the job of `routing.protocol.links`.
"""

from boolcast.errors import InputError, ProtocolError
from boolcast.model.identifiers import BrokerId, ClientId
from boolcast.routing.core.state import State
from boolcast.routing.protocol.effects import Complain, Confirm, Refuse, Send, SetTimer, Suspect
from boolcast.routing.protocol.messages import Acknowledge, Message
from boolcast.routing.protocol.stimuli import TimerFired
from boolcast.routing.tables.entries import Entry
from boolcast.routing.tables.operations import Operation


def send(state: State, link: BrokerId, message: Message) -> None:
    """Send a message to a neighbour."""
    state.effects.append(Send(link, message))


def complain(state: State, link: BrokerId, problem: str) -> None:
    """Tell a neighbour that it broke the protocol."""
    state.effects.append(Complain(link, ProtocolError(problem)))


def refuse(state: State, client: ClientId, error: InputError) -> None:
    """Tell a client why its request was not carried out."""
    state.effects.append(Refuse(client, error))


def new_operation(
    state: State, *, link: BrokerId | None = None, number: int = 0, entry: Entry | None = None
) -> Operation:
    """An operation that a neighbour waits for, or the client of an entry, or nobody."""
    deadline = state.now + state.configuration.acknowledgement_seconds
    operation = Operation(state.next_number(), deadline)
    if link is not None:
        operation.waiting.append((link, number))
    if entry is not None:
        operation.client, operation.name = entry.client, entry.name
    return operation


def begin(state: State, operation: Operation) -> None:
    """Wait for the acknowledgements; without any to wait for, the operation is done."""
    if not operation.awaited:
        _finish(state, operation)
        return
    is_first = not state.operations
    state.operations[operation.key] = operation
    for awaited in operation.awaited:
        state.awaited.setdefault(awaited, []).append(operation)
    state.journal.keep_operation(operation)
    if is_first:
        state.effects.append(SetTimer("acknowledgements", operation.deadline))


def acknowledged(state: State, link: BrokerId, message: Acknowledge) -> None:
    """A neighbour has carried out what it was told."""
    if (link, message.number) not in state.awaited:
        complain(state, link, f"nothing with the number {message.number} is to be acknowledged")
        return
    _settle(state, link, message.number)


def forget_link(state: State, link: BrokerId) -> None:
    """Expect nothing more over a link: the neighbour will say everything anew."""
    for awaited in [each for each in state.awaited if each[0] == link]:
        _settle(state, *awaited)
    for operation in state.operations.values():
        # The neighbour does not remember that it asked.
        operation.waiting = [each for each in operation.waiting if each[0] != link]
        state.journal.keep_operation(operation)


def _settle(state: State, link: BrokerId, number: int) -> None:
    for operation in state.awaited.pop((link, number)):
        del operation.awaited[link, number]
        neighbour = state.neighbours[link]
        if neighbour.unacknowledged.get(operation.advertisement) == number:
            del neighbour.unacknowledged[operation.advertisement]
            state.journal.keep_forwarded_advertisement(neighbour, operation.advertisement)
        state.journal.keep_operation(operation)
        if not operation.awaited:
            del state.operations[operation.key]
            _finish(state, operation)


def _finish(state: State, operation: Operation) -> None:
    for link, number in operation.waiting:
        send(state, link, Acknowledge(number))
    if operation.client is not None:
        state.effects.append(Confirm(operation.client, operation.name))


def overdue(state: State, stimulus: TimerFired) -> None:  # noqa: ARG001 - there is only one timer
    """Suspect the neighbours whose acknowledgement is late, again after each further wait."""
    wait = state.configuration.acknowledgement_seconds
    for operation in state.operations.values():
        if operation.deadline <= state.now:
            operation.deadline = state.now + wait
            state.effects += [Suspect(link, number) for link, number in operation.awaited]
    if state.operations:
        earliest = min(operation.deadline for operation in state.operations.values())
        state.effects.append(SetTimer("acknowledgements", earliest))
