"""The broker: stimuli in, effects out."""

from collections.abc import Iterable

from boolcast.model.identifiers import BrokerId
from boolcast.routing.configuration import Configuration
from boolcast.routing.effects import Effect
from boolcast.routing.records import Record
from boolcast.routing.stimuli import Stimulus


class Broker:
    """A broker of an acyclic network, without input, output, clock or chance.

    `epoch` must be larger whenever a broker of the same name starts without its records: the ids
    that it gives out hold it.
    """

    def __init__(self, broker: BrokerId, configuration: Configuration, *, epoch: int = 1) -> None:
        self.broker = broker
        self.configuration = configuration
        self.epoch = epoch

    @classmethod
    def restore(
        cls,
        broker: BrokerId,
        configuration: Configuration,
        records: Iterable[tuple[str, Record]],
        *,
        epoch: int = 1,
    ) -> "Broker":
        """The broker that had persisted these records, by key; its links are as they were."""
        raise NotImplementedError

    def handle(self, stimulus: Stimulus, *, now: float) -> list[Effect]:
        """React to what happened; `now` in seconds, never less than before."""
        raise NotImplementedError

    def validate(self) -> None:
        """Assert every invariant of the tables; may be called after each step."""
        raise NotImplementedError
