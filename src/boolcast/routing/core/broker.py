"""The broker: stimuli in, effects out.

The two tables at the end of this file map stimuli and messages to their handlers.
"""

from collections.abc import Callable, Iterable
from typing import Any, Final

from boolcast.errors import ProtocolError
from boolcast.matching.relations.analysed_filters import FilterAnalyser
from boolcast.model.identifiers import BrokerId
from boolcast.model.statistics import Statistics
from boolcast.routing.core import (
    advertising,
    forwarding,
    outgoing,
    persistence,
    publishing,
    reviewing,
    subscribing,
    synchronising,
    validation,
)
from boolcast.routing.core.state import State
from boolcast.routing.policies.registry import EntryEngine, broker_policies
from boolcast.routing.protocol.configuration import Configuration
from boolcast.routing.protocol.effects import Complain, Effect
from boolcast.routing.protocol.messages import (
    Acknowledge,
    Advertise,
    Message,
    Publish,
    Subscribe,
    Synchronised,
    Unadvertise,
    Unsubscribe,
)
from boolcast.routing.protocol.records import Record
from boolcast.routing.protocol.stimuli import (
    ClientAdvertises,
    ClientLeaves,
    ClientPublishes,
    ClientSubscribes,
    ClientUnadvertises,
    ClientUnsubscribes,
    LinkDown,
    LinkUp,
    Received,
    Stimulus,
    TimerFired,
)
from boolcast.routing.tables.overlaps import OverlapCounts


class Broker:
    """A broker of an acyclic network, without input, output, clock or chance.

    `neighbours` are the links it is to have. Until a neighbour is up and has said what it wants, it
    is sent every event, and the link layer keeps them. `epoch` must grow whenever a broker of the
    same name starts without its records, because its ids contain it. Brokers in one process may
    share an `analyser`, to prove things once. `engine` replaces the one that the configuration
    names and must be empty. Policies that rewrite entries choose by `statistics`; without them the
    engine must be one that counts.

    Raises ConfigurationError if both are missing, and StatisticsError.
    """

    def __init__(
        self,
        broker: BrokerId,
        configuration: Configuration,
        *,
        neighbours: Iterable[BrokerId] = (),
        epoch: int = 1,
        analyser: FilterAnalyser | None = None,
        engine: EntryEngine | None = None,
        statistics: Statistics | None = None,
    ) -> None:
        analyser = analyser or FilterAnalyser()
        policies = broker_policies(configuration, analyser, engine, statistics)
        self.state = State(broker, configuration, policies, neighbours, epoch, analyser)
        if configuration.durable:
            self.state.journal = persistence.KeptJournal(self.state)

    @classmethod
    def restore(  # noqa: PLR0913 - a setting each
        cls,
        broker: BrokerId,
        configuration: Configuration,
        records: Iterable[Record],
        *,
        neighbours: Iterable[BrokerId] = (),
        epoch: int = 1,
        analyser: FilterAnalyser | None = None,
        engine: EntryEngine | None = None,
        statistics: Statistics | None = None,
    ) -> "Broker":
        """The broker that had persisted these records; its links are as they were.

        Its timer is not: let it fire once. A subscription that was quenched through others may now
        be found uncovered, where a proof had needed the one in between; it is forwarded with the
        next effects.
        """
        restored = cls(
            broker,
            configuration,
            neighbours=neighbours,
            epoch=epoch,
            analyser=analyser,
            engine=engine,
            statistics=statistics,
        )
        state = restored.state
        pruned = persistence.restore(state, records)
        # Put what neighbours must know and were not told below what they were told.
        for neighbour in state.others(None):
            forwarding.tell_all(state, neighbour)
        for advertisement, filter in pruned.items():
            state.advertisement_rewriting.resume(advertisement, filter)
            entry = state.advertisements.entries[advertisement]
            state.propagation.hold_advertisement(entry, state.held(entry))
        return restored

    def handle(self, stimulus: Stimulus, *, now: float) -> list[Effect]:
        """React to what happened; `now` in seconds, never less than before."""
        state = self.state
        state.now = now
        _ACTIONS[type(stimulus)](state, stimulus)
        if state.events >= state.next_review:
            reviewing.review(state)
        effects, state.effects = state.effects, []
        persisted = state.journal.take()
        return persisted + effects if persisted else effects

    @property
    def matched(self) -> int:
        """How many entries accepted the last event."""
        return self.state.matched

    @property
    def overlap_figures(self) -> OverlapCounts:
        """How often overlaps were tested, found, and refuted by a proof."""
        return self.state.overlap_figures

    def validate(self) -> None:
        """Assert every invariant of the tables; may be called after each step."""
        validation.validate(self.state)


def _received(state: State, stimulus: Received) -> None:
    link = stimulus.link
    neighbour = state.neighbours.get(link)
    if neighbour is None or not neighbour.is_open:
        error = ProtocolError("the link is not up: a message came before the link was made")
        state.effects.append(Complain(link, error))
        return
    _MESSAGES[type(stimulus.message)](state, link, stimulus.message)


def _client_leaves(state: State, stimulus: ClientLeaves) -> None:
    """Forget all that the client asked for, subscriptions first."""
    for entry in state.subscriptions.of_client(stimulus.client):
        subscribing.end_subscription(state, entry)
    for entry in state.advertisements.of_client(stimulus.client):
        forwarding.remove_advertisement(state, entry)


_MESSAGES: Final[dict[type[Message], Callable[[State, BrokerId, Any], None]]] = {
    Publish: publishing.published,
    Subscribe: subscribing.subscribed,
    Unsubscribe: subscribing.unsubscribed,
    Acknowledge: outgoing.acknowledged,
    Advertise: advertising.advertised,
    Unadvertise: advertising.unadvertised,
    Synchronised: synchronising.synchronised,
}

_ACTIONS: Final[dict[type[Stimulus], Callable[[State, Any], None]]] = {
    Received: _received,
    ClientPublishes: publishing.client_publishes,
    ClientSubscribes: subscribing.client_subscribes,
    ClientUnsubscribes: subscribing.client_unsubscribes,
    ClientAdvertises: advertising.client_advertises,
    ClientUnadvertises: advertising.client_unadvertises,
    ClientLeaves: _client_leaves,
    LinkUp: synchronising.link_up,
    LinkDown: synchronising.link_down,
    TimerFired: outgoing.overdue,
}
