"""A few of the events that a matcher has seen, to choose index cuts by."""

from typing import TYPE_CHECKING, Final

from boolcast.matching.values.selectivity import Selectivity
from boolcast.model.events import Event

if TYPE_CHECKING:
    from boolcast.matching.inputs.chunks import Chunk

_SIZE: Final = 256
"""How many events are remembered."""

_FEW: Final = 8
"""How many events of a chunk are remembered, once the sample is full."""

_MOST_NAMES: Final = 1_000


class EventSample:
    """The last events seen one by one, and some of each chunk.

    `names` holds the attributes of all events ever sampled, up to a thousand.
    """

    def __init__(self) -> None:
        self.names: dict[str, None] = {}
        self._events: list[Event] = []
        self._learned = 0

    def copy(self) -> "EventSample":
        """An independent sample of the same events."""
        other = EventSample()
        other.names = dict(self.names)
        other._events = list(self._events)
        other._learned = self._learned
        return other

    @property
    def is_full(self) -> bool:
        """True if the sample does not grow any more."""
        return len(self._events) == _SIZE

    def learn(self, event: Event) -> None:
        """Remember an event; a full sample forgets the oldest."""
        if self.is_full:
            self._events[self._learned % _SIZE] = event
        else:
            self._events.append(event)
        self._learned += 1
        if len(self.names) < _MOST_NAMES:
            self.names.update(dict.fromkeys(list(event)[: _MOST_NAMES - len(self.names)]))

    def learn_from(self, chunk: "Chunk") -> None:
        """Remember a few events of a chunk, more of the first one."""
        rows = len(chunk.numbers)
        wanted = _FEW if self.is_full else _SIZE
        for row in range(0, rows, max(rows // wanted, 1)):
            self.learn(chunk.event(row))

    def selectivity(self) -> Selectivity:
        """Estimates from the sampled events."""
        return Selectivity.from_events(list(self._events))
