"""What a broker's process does in one step: the broker, and the links below it.

There are two kinds. `ProtocolProcess` runs `protocol.links` below the broker, and so survives
crashes and wires that lose, repeat and delay. `DirectProcess` is its twin without a link protocol:
messages are the packets. It needs perfect wires and no crashes, and costs a third.

A step is all that follows from one job. Nothing of it is seen from outside until it is committed:
a process that crashes in between has not done it.
"""

from collections.abc import Iterable
from typing import Protocol, TypeVar

import msgspec

from boolcast.matching.relations.analysed_filters import FilterAnalyser
from boolcast.model.identifiers import BrokerId
from boolcast.model.statistics import Statistics
from boolcast.routing.core.broker import Broker
from boolcast.routing.policies.registry import EntryEngine
from boolcast.routing.protocol.configuration import Configuration
from boolcast.routing.protocol.effects import Effect, Persist, Send
from boolcast.routing.protocol.links import (
    Connected,
    Disconnected,
    Established,
    HandUp,
    LinkConfiguration,
    LinkEnd,
    LinkState,
    LinkStimulus,
    Offer,
    PersistLink,
    SetResendTimer,
    Transmit,
)
from boolcast.routing.protocol.messages import Message, Publish
from boolcast.routing.protocol.packets import Packet
from boolcast.routing.protocol.records import Record
from boolcast.routing.protocol.stimuli import (
    ClientPublishes,
    LinkDown,
    LinkUp,
    Received,
    Stimulus,
    TimerFired,
)

T = TypeVar("T")


class LinkJob(msgspec.Struct, frozen=True):
    """Something happened to a link, below the broker."""

    link: BrokerId
    stimulus: LinkStimulus


Job = Stimulus | LinkJob


class Step:
    """What came of a job: what the broker worked on, and what is to be seen of it outside.

    `matched` counts the entries that accept the events worked on. `sent` are the broker's
    messages, `packets` what the link protocol makes of them; without it messages are the packets.
    `effects` are all of the broker's but sending and persisting.
    """

    __slots__ = ("effects", "is_control", "kept", "matched", "packets", "sent", "timers", "work")

    def __init__(self) -> None:
        self.work: list[Stimulus] = []
        self.is_control = False
        self.matched = 0
        self.sent: list[Send] = []
        self.packets: list[tuple[BrokerId, Packet]] = []
        self.effects: list[Effect] = []
        self.timers: list[tuple[BrokerId, float]] = []
        self.kept: list[Persist | tuple[BrokerId, PersistLink]] = []


class Disk:
    """What a broker and its link ends have persisted."""

    def __init__(self) -> None:
        self.records: dict[str, Record] = {}
        self.links: dict[BrokerId, dict[str, LinkState | Message]] = {}

    def write(self, kept: Iterable[Persist | tuple[BrokerId, PersistLink]]) -> None:
        """Take down the changes of a step, all or none."""
        for each in kept:
            if isinstance(each, Persist):
                _put(self.records, each.key, each.record)
            else:
                link, change = each
                _put(self.links.setdefault(link, {}), change.key, change.value)


def _put(kept: dict[str, T], key: str, value: T | None) -> None:
    if value is None:
        kept.pop(key, None)
    else:
        kept[key] = value


class BrokerProcess(Protocol):
    """A broker with its links."""

    broker: Broker

    def beginning(self) -> list[Job]:
        """What a process has to do first."""

    def step(self, job: Job, now: float) -> Step:
        """Do a job."""


class DirectProcess:
    """A broker on perfect wires."""

    def __init__(
        self,
        name: BrokerId,
        configuration: Configuration,
        neighbours: tuple[BrokerId, ...],
        analyser: FilterAnalyser,
        engine: EntryEngine | None = None,
        statistics: Statistics | None = None,
    ) -> None:
        self.broker = Broker(
            name,
            configuration,
            neighbours=neighbours,
            analyser=analyser,
            engine=engine,
            statistics=statistics,
        )
        self._neighbours = neighbours

    def beginning(self) -> list[Job]:
        return [LinkUp(link, fresh=True) for link in self._neighbours]

    def step(self, job: Job, now: float) -> Step:
        assert not isinstance(job, LinkJob)
        step = Step()
        step.work.append(job)
        broker = self.broker
        effects = broker.handle(job, now=now)
        if _is_of_event(job):
            step.matched = broker.matched
        else:
            step.is_control = True
        sent = step.sent
        for effect in effects:
            if type(effect) is Send:
                sent.append(effect)
                # An event may be the one after which a broker merges entries.
                step.is_control |= type(effect.message) is not Publish
            elif type(effect) is Persist:
                step.kept.append(effect)
            else:
                step.effects.append(effect)
        return step


class ProtocolProcess:
    """A broker above the link protocol. With a disk it goes on where that one ended.

    `epoch` numbers the memories of a broker, and so is the session of its link ends.
    """

    def __init__(  # noqa: PLR0913 - a setting each
        self,
        name: BrokerId,
        configuration: Configuration,
        neighbours: tuple[BrokerId, ...],
        analyser: FilterAnalyser,
        engine: EntryEngine | None = None,
        statistics: Statistics | None = None,
        *,
        epoch: int = 1,
        disk: Disk | None = None,
    ) -> None:
        links = LinkConfiguration(durable=configuration.durable)
        self._is_restored = disk is not None
        if disk is None:
            self.broker = Broker(
                name,
                configuration,
                neighbours=neighbours,
                epoch=epoch,
                analyser=analyser,
                engine=engine,
                statistics=statistics,
            )
            self.ends = {link: LinkEnd(epoch, links) for link in neighbours}
        else:
            self.broker = Broker.restore(
                name,
                configuration,
                list(disk.records.values()),
                neighbours=neighbours,
                epoch=epoch,
                analyser=analyser,
                engine=engine,
                statistics=statistics,
            )
            self.ends = {
                link: LinkEnd.restore(epoch, links, disk.links.get(link, {})) for link in neighbours
            }

    def beginning(self) -> list[Job]:
        # A timer that was set before a crash is not set any more; one that fires sets it anew.
        return [TimerFired("acknowledgements")] if self._is_restored else []

    def step(self, job: Job, now: float) -> Step:
        step = Step()
        if isinstance(job, LinkJob):
            self._link(job.link, job.stimulus, now, step)
        else:
            self._broker(job, now, step)
        return step

    def _link(self, link: BrokerId, stimulus: LinkStimulus, now: float, step: Step) -> None:
        for effect in self.ends[link].handle(stimulus, now=now):
            kind = type(effect)
            if kind is Transmit:
                step.packets.append((link, effect.packet))  # type: ignore[union-attr]
            elif kind is HandUp:
                self._broker(Received(link, effect.message), now, step)  # type: ignore[union-attr]
            elif kind is PersistLink:
                step.kept.append((link, effect))  # type: ignore[arg-type]
            elif kind is SetResendTimer:
                step.timers.append((link, effect.at))  # type: ignore[union-attr]
            else:
                assert isinstance(effect, Established)
                self._broker(LinkUp(link, effect.fresh), now, step)
        if type(stimulus) is Disconnected:
            self._broker(LinkDown(link), now, step)

    def _broker(self, stimulus: Stimulus, now: float, step: Step) -> None:
        step.work.append(stimulus)
        effects = self.broker.handle(stimulus, now=now)
        if _is_of_event(stimulus):
            step.matched += self.broker.matched
        else:
            step.is_control = True
        for effect in effects:
            if type(effect) is Send:
                step.sent.append(effect)
                step.is_control |= type(effect.message) is not Publish
                self._link(effect.link, Offer(effect.message), now, step)
            elif type(effect) is Persist:
                step.kept.append(effect)
            else:
                step.effects.append(effect)

    def unreceived(self, link: BrokerId, other: "ProtocolProcess") -> list[Message]:
        """What the broker has sent to another one that this has not taken yet."""
        end, other_end = self.ends[link], other.ends[self.broker.state.broker]
        waiting = list(end.waiting)
        is_one_conversation = end.peer == other_end.session and other_end.peer == end.session
        if is_one_conversation:
            return waiting[max(other_end.received - end.acknowledged, 0) :]
        return waiting

    def inside(self) -> list[Publish]:
        """The events that nobody else may have."""
        return [
            each for end in self.ends.values() for each in end.waiting if isinstance(each, Publish)
        ]


def connected(link: BrokerId) -> LinkJob:
    """There is a connection to a neighbour."""
    return LinkJob(link, Connected())


def disconnected(link: BrokerId) -> LinkJob:
    """There is none any more."""
    return LinkJob(link, Disconnected())


def _is_of_event(stimulus: Stimulus) -> bool:
    if type(stimulus) is Received:
        return type(stimulus.message) is Publish
    return type(stimulus) is ClientPublishes
