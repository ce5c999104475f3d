"""What goes wrong, and when: broken links, partitions, slow and clogged links, crashes, pauses.

A fault begins at a time and ends after another. What happens to single packets (loss, repetition,
lateness) is a property of the wires.
"""

from collections.abc import Iterable
from math import inf
from random import Random
from typing import TYPE_CHECKING, Final, assert_never

import msgspec

from boolcast.model.identifiers import BrokerId
from boolcast.routing.protocol.topology import Topology

if TYPE_CHECKING:
    from boolcast.simulation.network.simulator import Simulation

MOST_SECONDS: Final = 100_000_000
"""How much virtual time a run may have: three years."""

_LONGEST_SECONDS: Final = 100_000
"""How long a fault may last: a day; links try again and again meanwhile."""


class _Fault(msgspec.Struct, frozen=True, kw_only=True):
    at: float
    seconds: float


class BrokenLink(_Fault, frozen=True, kw_only=True, tag="cut"):
    """Links that are down: one, or several that part the network in two.

    On the command line and in files it is called `cut`.
    """

    links: tuple[tuple[BrokerId, BrokerId], ...]


class Slow(_Fault, frozen=True, kw_only=True, tag="slow"):
    """A link that takes `factor` times as long, both ways."""

    link: tuple[BrokerId, BrokerId]
    factor: float


class Clog(_Fault, frozen=True, kw_only=True, tag="clog"):
    """A link that holds up what goes one way; nobody is told."""

    sender: BrokerId
    receiver: BrokerId


class Crash(_Fault, frozen=True, kw_only=True, tag="crash"):
    """A broker that is down, and up again with or without what it had on its disk.

    `noticed`: its neighbours see that the connection is gone.
    """

    broker: BrokerId
    with_disk: bool
    noticed: bool = True


class Pause(_Fault, frozen=True, kw_only=True, tag="pause"):
    """A broker that does nothing for a while."""

    broker: BrokerId


Fault = BrokenLink | Slow | Clog | Crash | Pause


def problem_of(fault: Fault, topology: Topology) -> str | None:
    """What is wrong with a fault in this network, if anything."""
    match fault:
        case BrokenLink(links=links):
            pass
        case Slow(link=link):
            links = (link,)
        case Clog(sender=sender, receiver=receiver):
            links = ((sender, receiver),)
        case Crash(broker=broker) | Pause(broker=broker):
            links = ()
            if broker not in topology.brokers:
                return f"there is no broker {broker}"
        case _:
            assert_never(fault)
    known = set(map(frozenset, topology.links))
    for left, right in links:
        if frozenset((left, right)) not in known:
            return f"there is no link {left}-{right}"
    if not 0 <= fault.at <= MOST_SECONDS or not 0 <= fault.seconds <= _LONGEST_SECONDS:
        return (
            f"a fault begins at 0 s or later, up to {MOST_SECONDS:,} s, and lasts 0 s or longer, up"
            f" to {_LONGEST_SECONDS:,} s"
        )
    if isinstance(fault, Slow) and not 0 < fault.factor < inf:
        return "a link is slowed down by more than 0"
    return None


def plan(simulation: "Simulation", faults: Iterable[Fault]) -> None:
    """Put the beginnings and ends of faults on the agenda."""
    timeline = simulation.timeline
    for fault in faults:
        timeline.at(fault.at, lambda each: begin(simulation, each), fault)
        timeline.at(fault.at + fault.seconds, lambda each: end(simulation, each), fault)


def begin(simulation: "Simulation", fault: Fault) -> None:
    """Let a fault strike. A broker that is down already cannot crash."""
    match fault:
        case BrokenLink():
            for left, right in fault.links:
                simulation.break_link(left, right)
        case Slow():
            _slow_down(simulation, fault.link, fault.factor)
        case Clog():
            simulation.wires[fault.sender, fault.receiver].clog()
        case Crash():
            if simulation.queues[fault.broker].is_up:
                simulation.crash(fault.broker, with_disk=fault.with_disk, noticed=fault.noticed)
        case Pause():
            simulation.queues[fault.broker].pause()
        case _:
            assert_never(fault)


def end(simulation: "Simulation", fault: Fault) -> None:
    """Let a fault pass."""
    match fault:
        case BrokenLink():
            for left, right in fault.links:
                simulation.mend_link(left, right)
        case Slow():
            _slow_down(simulation, fault.link, 1 / fault.factor)
        case Clog():
            simulation.wires[fault.sender, fault.receiver].unclog()
        case Crash():
            if not simulation.queues[fault.broker].is_up:
                simulation.restart(fault.broker)
        case Pause():
            simulation.queues[fault.broker].resume()
        case _:
            assert_never(fault)


def _slow_down(simulation: "Simulation", link: tuple[BrokerId, BrokerId], factor: float) -> None:
    left, right = link
    for direction in ((left, right), (right, left)):
        simulation.wires[direction].slowness *= factor


KINDS: Final = ("cut", "partition", "slow", "clog", "crash", "amnesia", "pause")
"""What can be drawn: `amnesia` is a crash without the disk."""


def draw(
    chance: Random,
    topology: Topology,
    kinds: Iterable[str],
    *,
    count: int,
    start: float,
    seconds: float,
) -> list[Fault]:
    """So many faults of these kinds that begin within that time, each over in a tenth of it."""
    kinds = list(kinds)
    faults = [
        _draw_one(
            chance,
            topology,
            chance.choice(kinds),
            at=start + chance.random() * seconds,
            seconds=chance.random() ** 2 * seconds / 10,
        )
        for _ in range(count if topology.links and kinds else 0)
    ]
    return sorted(faults, key=lambda fault: fault.at)


def _draw_one(chance: Random, topology: Topology, kind: str, *, at: float, seconds: float) -> Fault:
    broker = chance.choice(topology.brokers)
    left, right = chance.choice(topology.links)
    match kind:
        case "cut":
            return BrokenLink(at=at, seconds=seconds, links=((left, right),))
        case "partition":
            side = {each for each in topology.brokers if chance.random() < 0.5}
            links = tuple(link for link in topology.links if len(side.intersection(link)) == 1)
            return BrokenLink(at=at, seconds=seconds, links=links)
        case "slow":
            return Slow(at=at, seconds=seconds, link=(left, right), factor=chance.choice((4, 32)))
        case "clog":
            sender, receiver = (left, right) if chance.random() < 0.5 else (right, left)
            return Clog(at=at, seconds=seconds, sender=sender, receiver=receiver)
        case "crash" | "amnesia":
            return Crash(
                at=at,
                seconds=seconds,
                broker=broker,
                with_disk=kind == "crash",
                noticed=chance.random() < 0.7,
            )
        case "pause":
            return Pause(at=at, seconds=seconds, broker=broker)
        case _:
            raise AssertionError(f"there is no fault {kind}")
