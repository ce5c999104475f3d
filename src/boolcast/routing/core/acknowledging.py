"""Acknowledgements: who waits for an operation that travels, and when it is done (P2-B8).

Advertisements and removals are acknowledged when they have been carried out here and wherever
they went on to. An advertisement that a neighbour has not acknowledged means that subscriptions
may still be on their way here because of it; events go to that neighbour meanwhile, wanted or
not (`publishing`). A removal needs no such care: links are reliable and in order, and what it
uncovers is installed before it (R2). Its acknowledgement tells the client, at the end of the
chain, that the subscription is gone wherever it had to go. One that stays out makes a neighbour
suspect; to send again is the business of `routing.protocol.links`.
"""

from boolcast.model.identifiers import BrokerId
from boolcast.routing.core.state import Operation, State
from boolcast.routing.persistence.journal_writer import keep_forwarded_advertisement, keep_operation
from boolcast.routing.protocol.effects import Confirm, SetTimer, Suspect
from boolcast.routing.protocol.messages import Acknowledge
from boolcast.routing.protocol.stimuli import TimerFired
from boolcast.routing.tables.entries import Entry


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
    """Wait for acknowledgements; where there is none to wait for, the operation is done."""
    if not operation.awaited:
        _finish(state, operation)
        return
    is_first = not state.operations
    state.operations[operation.key] = operation
    for awaited in operation.awaited:
        state.awaited.setdefault(awaited, []).append(operation)
    keep_operation(state, operation)
    if is_first:
        state.effects.append(SetTimer("acknowledgements", operation.deadline))


def acknowledged(state: State, link: BrokerId, message: Acknowledge) -> None:
    """A neighbour has carried out what it was told."""
    if (link, message.number) not in state.awaited:
        state.complain(link, f"nothing with the number {message.number} is to be acknowledged")
        return
    _settle(state, link, message.number)


def forget_link(state: State, link: BrokerId) -> None:
    """Nothing is to be expected from a link any more: what it owes will be said anew."""
    for awaited in [each for each in state.awaited if each[0] == link]:
        _settle(state, *awaited)
    for operation in state.operations.values():
        # The neighbour does not remember that it asked.
        operation.waiting = [each for each in operation.waiting if each[0] != link]
        keep_operation(state, operation)


def _settle(state: State, link: BrokerId, number: int) -> None:
    for operation in state.awaited.pop((link, number)):
        del operation.awaited[link, number]
        neighbour = state.neighbours[link]
        if neighbour.unacknowledged.get(operation.advertisement) == number:
            del neighbour.unacknowledged[operation.advertisement]
            keep_forwarded_advertisement(state, neighbour, operation.advertisement)
        keep_operation(state, operation)
        if not operation.awaited:
            del state.operations[operation.key]
            _finish(state, operation)


def _finish(state: State, operation: Operation) -> None:
    for link, number in operation.waiting:
        state.send(link, Acknowledge(number))
    if operation.client is not None:
        state.effects.append(Confirm(operation.client, operation.name))


def overdue(state: State, stimulus: TimerFired) -> None:  # noqa: ARG001 - there is one timer only
    """Suspect the neighbours whose acknowledgement is late, again after each further wait."""
    wait = state.configuration.acknowledgement_seconds
    for operation in state.operations.values():
        if operation.deadline <= state.now:
            operation.deadline = state.now + wait
            state.effects += [Suspect(link, number) for link, number in operation.awaited]
    if state.operations:
        earliest = min(operation.deadline for operation in state.operations.values())
        state.effects.append(SetTimer("acknowledgements", earliest))
