"""Events that an engine has seen, a few of them, to choose by."""

from typing import Final

from boolcast.matching.inputs.chunks import Chunk
from boolcast.matching.values.selectivity import Selectivity
from boolcast.model.events import Event

_SIZE: Final = 256
"""How many events are remembered."""

_FEW: Final = 8
"""So many of a chunk, once there are enough."""


class EventSample:
    """The last events seen one by one, and some of each chunk."""

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._learned = 0

    @property
    def is_full(self) -> bool:
        """True if there are as many as there will ever be."""
        return len(self._events) == _SIZE

    def learn(self, event: Event) -> None:
        """Remember an event; of more than fit, the oldest is forgotten."""
        if self.is_full:
            self._events[self._learned % _SIZE] = event
        else:
            self._events.append(event)
        self._learned += 1

    def learn_from(self, chunk: Chunk) -> None:
        """Remember a few events of a chunk, more of the first one."""
        rows = len(chunk.numbers)
        wanted = _FEW if self.is_full else _SIZE
        for row in range(0, rows, max(rows // wanted, 1)):
            self.learn(chunk.event(row))

    def selectivity(self) -> Selectivity:
        """What is known by them."""
        return Selectivity.from_events(list(self._events))
