"""Brokers, wires and clients in virtual time.

`Simulation` interprets the effects of brokers, as the network does: processes do their jobs, wires
carry packets, clients ask and get. Faults are methods here; `scenarios.faults` says when they
strike. Observers hear what happens (`observation`).

Clients do not give up. If their broker is down, they ask again when it is up. If it has lost its
memory, they ask for everything anew. Only publications that no broker had accepted are lost.
"""

from collections.abc import Iterable
from typing import assert_never

from boolcast.errors import UsageError
from boolcast.matching.relations.analysed_filters import FilterAnalyser
from boolcast.model.identifiers import BrokerId, PublicationId
from boolcast.model.statistics import Statistics
from boolcast.routing.core.broker import Broker
from boolcast.routing.policies.registry import EntryEngine
from boolcast.routing.protocol.configuration import Configuration
from boolcast.routing.protocol.effects import Confirm, Deliver, Refuse, SetTimer
from boolcast.routing.protocol.links import Arrived, ResendTimerFired
from boolcast.routing.protocol.messages import Message, Publish
from boolcast.routing.protocol.packets import Packet
from boolcast.routing.protocol.stimuli import (
    ClientAdvertises,
    ClientLeaves,
    ClientPublishes,
    ClientSubscribes,
    ClientUnadvertises,
    ClientUnsubscribes,
    Received,
    Request,
    TimerFired,
)
from boolcast.routing.protocol.topology import Topology
from boolcast.simulation.chance import stream
from boolcast.simulation.network.broker_process import (
    BrokerProcess,
    DirectProcess,
    Disk,
    Job,
    LinkJob,
    ProtocolProcess,
    Step,
    connected,
    disconnected,
)
from boolcast.simulation.network.clients import Wishes, is_request
from boolcast.simulation.network.costs import FREE, Costs, Tariff
from boolcast.simulation.network.job_queue import JobQueue
from boolcast.simulation.network.observation import Observer, hearers
from boolcast.simulation.network.packet_sizes import Sizes
from boolcast.simulation.network.shared_matching import SharedFilters, SharedMatcher
from boolcast.simulation.network.timeline import Action, Timeline
from boolcast.simulation.network.wires import Wire, WireSettings

Direction = tuple[BrokerId, BrokerId]


class Simulation:
    """A network that begins with all brokers up and all links whole.

    `is_direct` leaves out the link protocol: faster, but wires must be perfect and no broker may
    crash. With `shares_matching` one match engine serves all brokers, to the same effect, if they
    use the engine `access`. `statistics` are for policies that need selectivities. Raises
    UsageError if wires are not perfect with `is_direct`.
    """

    def __init__(  # noqa: PLR0913 - a setting each
        self,
        topology: Topology,
        configuration: Configuration,
        *,
        seed: int = 0,
        wires: WireSettings | None = None,
        costs: Costs | None = None,
        observers: Iterable[Observer] = (),
        is_direct: bool = False,
        shares_matching: bool = True,
        statistics: Statistics | None = None,
    ) -> None:
        wires = wires or WireSettings()
        if is_direct and not wires.is_perfect:
            raise UsageError("wires that are not perfect need the link protocol")
        self.topology = topology
        self.configuration = configuration
        self.statistics = statistics
        self.is_direct = is_direct
        self.timeline = Timeline()
        self.analyser = FilterAnalyser()
        is_shared = shares_matching and configuration.engine == "access"
        self._shared = SharedFilters() if is_shared else None
        self.messages = 0
        """How many messages brokers have sent to each other."""
        self._neighbours = topology.neighbours()
        self._chance = stream(seed, "simulation")
        self._tariff = tariff = Tariff(costs or Costs())
        self.queues = {
            name: JobQueue(name, self._new_process(name), tariff, self.timeline, self._commit)
            for name in topology.brokers
        }
        self.wires: dict[Direction, Wire] = {
            (sender, receiver): Wire(
                wires, self.timeline, stream(seed, f"{sender}>{receiver}"), arrive
            )
            for sender, receivers in self._neighbours.items()
            for receiver in receivers
            for arrive in [self._arrive_at(sender, receiver)]
        }
        self._wires_from = {
            name: {other: self.wires[name, other] for other in others}
            for name, others in self._neighbours.items()
        }
        self._broken = dict.fromkeys(map(frozenset, topology.links), 0)
        """How many faults break each link."""
        self._connected: set[Direction] = set()
        """The ends of links that are connected, or will be when their jobs are done."""
        self._wishes = {name: Wishes() for name in topology.brokers}
        self._sizes = Sizes()
        self._timers: dict[tuple[BrokerId, BrokerId | None], float] = {}
        # Of perfect wires: what is on its way is counted. The 1 is for what begins it all.
        self._control_in_flight = 1
        self._events_in_flight = 0
        observers = list(observers)
        self._on_advertises = hearers(observers, "advertises")
        self._on_unadvertises = hearers(observers, "unadvertises")
        self._on_subscribes = hearers(observers, "subscribes")
        self._on_unsubscribes = hearers(observers, "unsubscribes")
        self._on_confirms = hearers(observers, "confirms")
        self._on_publishes = hearers(observers, "publishes")
        self._on_accepts = hearers(observers, "accepts")
        self._on_refuses = hearers(observers, "refuses")
        self._on_delivers = hearers(observers, "delivers")
        self._on_crashes = hearers(observers, "crashes")
        self._on_calms = hearers(observers, "calms")
        self._on_rests = hearers(observers, "rests")
        self._on_steps = hearers(observers, "steps")
        self._on_remarks = hearers(observers, "remarks")
        self.timeline.at(0.0, self._begin)

    def _begin(self, _: object) -> None:
        self._control_in_flight += 2 * len(self.topology.links) - 1
        for queue in self.queues.values():
            queue.start(queue.process)
        if not self.is_direct:
            for name, others in self._neighbours.items():
                for other in others:
                    self._connect(name, other)

    def broker(self, name: BrokerId) -> Broker:
        """The broker of that name, as it is now: after a crash it is another object."""
        return self.queues[name].process.broker

    @property
    def now(self) -> float:
        """The virtual time in seconds."""
        return self.timeline.now

    def _new_process(self, name: BrokerId) -> DirectProcess | ProtocolProcess:
        kind = DirectProcess if self.is_direct else ProtocolProcess
        return kind(
            name,
            self.configuration,
            self._neighbours[name],
            self.analyser,
            self._engine(),
            self.statistics,
        )

    def _engine(self) -> EntryEngine | None:
        return None if self._shared is None else SharedMatcher(self._shared)

    def _arrive_at(self, sender: BrokerId, receiver: BrokerId) -> Action:
        queue = self.queues[receiver]
        if self.is_direct:

            def arrive_directly(message: Message) -> None:
                queue.put(Received(sender, message))

            return arrive_directly

        def arrive(packet: Packet) -> None:
            queue.put(LinkJob(sender, Arrived(packet)))

        return arrive

    # What clients do

    def request(self, broker: BrokerId, request: Request) -> None:
        """Let a client ask its broker for something, now."""
        self._tell_of(broker, request)
        self._wishes[broker].note(request)
        if type(request) is ClientPublishes:
            self._events_in_flight += 1
        else:
            self._control_in_flight += 1
        queue = self.queues[broker]
        if queue.is_up:
            queue.put(request)
        else:
            self._wishes[broker].waiting.append(request)

    def set_up(
        self,
        requests: Iterable[tuple[BrokerId, Request]],
        limit: float = 3_600.0,
        *,
        spacing: float = 0.0,
    ) -> bool:
        """Carry out requests at no cost, one after the other; False if that never came to rest.

        For what is there when the clock starts. Without `spacing`, in seconds, all are made in
        the same moment, and a broker hears those from near before those from afar.
        """
        for queue in self.queues.values():
            queue.tariff = Tariff(FREE)
        self.timeline.run(self.now)
        for broker, request in requests:
            self.request(broker, request)
            if spacing:
                self.timeline.run(self.now + spacing)
        is_at_rest = self.settle(limit)
        if self._shared is not None:
            self._shared.merge()
        for queue in self.queues.values():
            queue.tariff = self._tariff
        return is_at_rest

    def _tell_of(self, broker: BrokerId, request: Request) -> None:
        now = self.timeline.now
        match request:
            case ClientAdvertises(client, name, filter):
                for hear in self._on_advertises:
                    hear(now, broker, client, name, filter)
            case ClientUnadvertises(client, name):
                for hear in self._on_unadvertises:
                    hear(now, broker, client, name)
            case ClientSubscribes(client, name, filter):
                for hear in self._on_subscribes:
                    hear(now, broker, client, name, filter)
            case ClientUnsubscribes(client, name):
                for hear in self._on_unsubscribes:
                    hear(now, broker, client, name)
            case ClientLeaves(client):
                for end in self._wishes[broker].ends_of(client):
                    self._tell_of(broker, end)
            case ClientPublishes(client, publication, event):
                for hear in self._on_publishes:
                    hear(now, broker, client, publication, event)
            case _:
                assert_never(request)

    # What brokers do

    def _commit(self, queue: JobQueue, job: Job, step: Step) -> None:
        """Let a step be seen: disk first, then everything else in order."""
        name, now = queue.name, self.timeline.now
        for hear in self._on_steps:
            hear(now, name, job, step)
        if step.kept:
            queue.disk.write(step.kept)
        self.messages += len(step.sent)
        wires, size_of = self._wires_from[name], self._sizes.of
        if self.is_direct:
            self._count_in_flight(job, step)
            for effect in step.sent:
                message = effect.message
                wires[effect.link].put(message, size_of(message))
        else:
            for link, packet in step.packets:
                wires[link].put(packet, size_of(packet))
            for link, at in step.timers:
                self._set_timer(queue, link, at)
        if step.effects or type(job) is ClientPublishes:
            self._carry_out(queue, job, step)

    def _carry_out(self, queue: JobQueue, job: Job, step: Step) -> None:
        now = self.timeline.now
        if type(job) is ClientPublishes:
            is_refused = any(type(effect) is Refuse for effect in step.effects)
            for hear in self._on_refuses if is_refused else self._on_accepts:
                hear(now, queue.name, job.publication)
        for effect in step.effects:
            match effect:
                case Deliver():
                    self._deliver(queue.name, effect)
                case Confirm(client, name):
                    for hear in self._on_confirms:
                        hear(now, queue.name, client, name)
                case SetTimer(_, at):
                    self._set_timer(queue, None, at)
                case _:
                    for hear in self._on_remarks:
                        hear(now, queue.name, effect)

    def _deliver(self, broker: BrokerId, effect: Deliver) -> None:
        for hear in self._on_delivers:
            hear(
                self.timeline.now,
                broker,
                effect.client,
                effect.publication,
                effect.event,
                effect.subscriptions,
            )

    def _set_timer(self, queue: JobQueue, link: BrokerId | None, at: float) -> None:
        """Set a broker's timer, or that of a link; an earlier setting no longer counts."""
        self._timers[queue.name, link] = at
        self.timeline.at(max(at, self.now), self._fire, (queue, queue.incarnation, link, at))

    def _fire(self, timer: tuple[JobQueue, int, BrokerId | None, float]) -> None:
        queue, incarnation, link, at = timer
        if queue.incarnation == incarnation and self._timers[queue.name, link] == at:
            if link is None:
                queue.put(TimerFired("acknowledgements"))
            else:
                queue.put(LinkJob(link, ResendTimerFired()))

    # Faults

    def break_link(self, left: BrokerId, right: BrokerId) -> None:
        """Break a link. What is in the wires may still come out, late."""
        link = frozenset((left, right))
        self._broken[link] += 1
        if self._broken[link] > 1:
            return
        if self.is_direct:
            self.wires[left, right].clog()
            self.wires[right, left].clog()
        else:
            self._disconnect(left, right)
            self._disconnect(right, left)

    def mend_link(self, left: BrokerId, right: BrokerId) -> None:
        """Mend a link, unless another fault keeps it from working."""
        link = frozenset((left, right))
        self._broken[link] -= 1
        if self._broken[link]:
            return
        if self.is_direct:
            self.wires[left, right].unclog()
            self.wires[right, left].unclog()
        elif self.queues[left].is_up and self.queues[right].is_up:
            self._connect(left, right)
            self._connect(right, left)

    def crash(self, broker: BrokerId, *, with_disk: bool, noticed: bool = True) -> None:
        """End a process. Its neighbours notice that the connection is gone, or do not.

        With its disk it does again what it was about; if it had just given a client an event,
        the client gets that twice.
        """
        assert not self.is_direct, "without the link protocol no broker can crash"
        queue = self.queues[broker]
        assert queue.is_up
        process = queue.process
        assert isinstance(process, ProtocolProcess)
        wishes = self._wishes[broker]
        if with_disk and queue.current is not None and self._chance.random() < 0.5:
            for effect in queue.current[1].effects:
                if isinstance(effect, Deliver):
                    self._deliver(broker, effect)
        lost: list[PublicationId] = []
        undone = queue.stop()
        if with_disk:
            wishes.waiting = [job for job in undone if is_request(job)]
        else:
            lost = [each.publication for each in process.inside()]
            queue.disk = Disk()
            queue.epoch += 1
            wishes.waiting = []
        wishes.are_forgotten = wishes.are_forgotten or not with_disk
        for hear in self._on_crashes:
            hear(self.now, broker, lost, with_disk=with_disk)
        for other in self._neighbours[broker]:
            self._connected.discard((broker, other))
            if noticed:
                self._disconnect(other, broker)

    def restart(self, broker: BrokerId) -> None:
        """Start a process that has crashed."""
        queue = self.queues[broker]
        wishes = self._wishes[broker]
        queue.start(
            ProtocolProcess(
                broker,
                self.configuration,
                self._neighbours[broker],
                self.analyser,
                self._engine(),
                self.statistics,
                epoch=queue.epoch,
                disk=None if wishes.are_forgotten else queue.disk,
            )
        )
        for other in self._neighbours[broker]:
            if self.queues[other].is_up and not self._broken[frozenset((broker, other))]:
                self._connect(broker, other)
                if (other, broker) not in self._connected:
                    self._connect(other, broker)
        for wish in wishes.anew():
            self._tell_of(broker, wish)
            queue.put(wish)
        waiting, wishes.waiting = wishes.waiting, []
        for request in waiting:
            queue.put(request)

    def _connect(self, here: BrokerId, there: BrokerId) -> None:
        self._connected.add((here, there))
        self.queues[here].put(connected(there))

    def _disconnect(self, here: BrokerId, there: BrokerId) -> None:
        if (here, there) in self._connected:
            self._connected.discard((here, there))
            self.queues[here].put(disconnected(there))

    # Rest

    def look_for_rest(self) -> None:
        """Tell the observers if nothing, or no control message, is on its way."""
        control, events = self.in_flight()
        if not control:
            for hear in self._on_calms:
                hear(self.now)
            if not events:
                for hear in self._on_rests:
                    hear(self.now)

    def in_flight(self) -> tuple[int, int]:
        """How many control messages and events are on their way.

        A broker that has not heard all from a neighbour waits for a control message.
        """
        if self.is_direct:
            return self._control_in_flight, self._events_in_flight
        control = events = 0
        for name, queue in self.queues.items():
            requests = [*queue.inbox, *self._wishes[name].waiting]
            published = sum(type(job) is ClientPublishes for job in requests)
            events += published
            control += sum(map(is_request, requests)) - published
            if not queue.is_up:
                control += 1
                continue
            if queue.current is not None:
                control += queue.current[1].is_control
                events += 1
            for neighbour in queue.process.broker.state.neighbours.values():
                control += not neighbour.subscriptions_received
                control += not neighbour.advertisements_received
            more_control, more_events = self._unreceived(name, queue.process)
            control += more_control
            events += more_events
        return control, events

    def _unreceived(self, name: BrokerId, process: BrokerProcess) -> tuple[int, int]:
        assert isinstance(process, ProtocolProcess)
        control = events = 0
        for other in self._neighbours[name]:
            if not process.ends[other].waiting:
                continue
            receiver = self.queues[other].process
            assert isinstance(receiver, ProtocolProcess)
            unreceived = process.unreceived(other, receiver)
            of_events = sum(type(message) is Publish for message in unreceived)
            events += of_events
            control += len(unreceived) - of_events
        return control, events

    def _count_in_flight(self, job: Job, step: Step) -> None:
        """On perfect wires what is sent arrives, and what is asked is done: counting is enough."""
        done = job.message if type(job) is Received else job
        is_event = type(done) is Publish or type(done) is ClientPublishes
        of_events = (
            sum(type(effect.message) is Publish for effect in step.sent)
            if step.is_control
            else len(step.sent)
        )
        self._events_in_flight += of_events
        self._control_in_flight += len(step.sent) - of_events
        if is_event:
            self._events_in_flight -= 1
        elif type(done) is not TimerFired:
            self._control_in_flight -= 1

    def settle(self, limit: float = 3_600.0) -> bool:
        """Let time pass until nothing is on its way; False if that took longer than `limit`."""
        end = self.now + limit
        pause = 0.001
        while self.in_flight() != (0, 0):
            if self.now >= end:
                return False
            self.timeline.run(min(self.now + pause, end))
            pause = min(pause * 1.5, 1.0)
        self.look_for_rest()
        return True
