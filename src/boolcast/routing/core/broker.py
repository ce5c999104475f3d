"""The broker: stimuli in, effects out.

The two tables at the end of this file say which function acts on what.
"""

from collections.abc import Callable, Iterable
from typing import Any, Final

from boolcast.errors import ProtocolError
from boolcast.matching.relations.analysed_filters import FilterAnalyser
from boolcast.model.identifiers import BrokerId
from boolcast.model.statistics import Statistics
from boolcast.routing.core import (
    acknowledging,
    advertising,
    clients,
    publishing,
    reviewing,
    subscribing,
    synchronising,
    validation,
)
from boolcast.routing.core.state import EntryEngine, State
from boolcast.routing.persistence import journal_reader
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

    `neighbours` are the links it is to have: until one is up and the neighbour has said what it
    wants, events for it are sent and wait below. `epoch` must be larger whenever a broker of the
    same name starts without its records: the ids that it gives out hold it. `analyser` may be
    shared by brokers in one process, to prove things once; `engine`, which must be empty, stands
    for the one that the configuration names. `statistics` are what policies that rewrite entries
    choose by; without them the engine must be one that counts.

    Raises ConfigurationError where neither is given, and StatisticsError.
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
        self.state = State(
            broker,
            configuration,
            neighbours,
            epoch,
            analyser or FilterAnalyser(),
            engine,
            statistics,
        )

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

        Its timer is not: let it fire once.
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
        journal_reader.restore(restored.state, records)
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
        """How often it was asked what overlaps, what came of it, and what the algebra removed."""
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


_MESSAGES: Final[dict[type[Message], Callable[[State, BrokerId, Any], None]]] = {
    Publish: publishing.published,
    Subscribe: subscribing.subscribed,
    Unsubscribe: subscribing.unsubscribed,
    Acknowledge: acknowledging.acknowledged,
    Advertise: advertising.advertised,
    Unadvertise: advertising.unadvertised,
    Synchronised: synchronising.synchronised,
}

_ACTIONS: Final[dict[type[Stimulus], Callable[[State, Any], None]]] = {
    Received: _received,
    ClientPublishes: publishing.client_publishes,
    ClientSubscribes: clients.subscribes,
    ClientUnsubscribes: clients.unsubscribes,
    ClientAdvertises: clients.advertises,
    ClientUnadvertises: clients.unadvertises,
    ClientLeaves: clients.leaves,
    LinkUp: synchronising.link_up,
    LinkDown: synchronising.link_down,
    TimerFired: acknowledging.overdue,
}
