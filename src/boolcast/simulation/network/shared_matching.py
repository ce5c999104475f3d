"""One match engine for all brokers of a simulation: an event is matched once, not once a hop.

Brokers on the way of an event hold much the same filters, and in one process they see the very
same event. So all distinct filters are indexed once, an event is matched against all of them, and
a broker takes from the answer what it holds. That is exact, as long as the answer is thrown away
when a filter comes or goes for good.

A broker's own engine costs some 9 µs an event; this one, at every broker but the first, a look-up
for each filter that accepts the event.
"""

from collections import deque
from typing import Final

from boolcast.errors import UnknownSubscriptionError
from boolcast.filters.expressions import Filter
from boolcast.matching.matcher import Matcher
from boolcast.model.events import Event

_REMEMBERED: Final = 4_096
"""How many events are remembered: those on their way, as a rule."""


class SharedFilters:
    """The distinct filters of all brokers, and the answers for the last events."""

    def __init__(self) -> None:
        self._engine = Matcher()
        self._keys: dict[Filter, str] = {}
        self._uses: dict[str, int] = {}
        self._filters: dict[str, Filter] = {}
        self._next = 0
        self._answers: dict[int, tuple[Event, list[str]]] = {}
        self._order: deque[int] = deque()

    def take(self, filter: Filter) -> str:
        """Hold a filter; returns its key."""
        key = self._keys.get(filter)
        if key is None:
            self._next += 1
            key = self._keys[filter] = str(self._next)
            self._filters[key] = filter
            self._uses[key] = 0
            self._engine.add(key, filter)
            self._forget_answers()
        self._uses[key] += 1
        return key

    def release(self, key: str) -> None:
        """Let go of a filter that was taken."""
        self._uses[key] -= 1
        if not self._uses[key]:
            del self._uses[key], self._keys[self._filters.pop(key)]
            self._engine.remove(key)
            self._forget_answers()

    def match(self, event: Event) -> list[str]:
        """The keys of the filters that accept the event."""
        known = self._answers.get(id(event))
        if known is not None:
            # The event is kept with the answer, so no other can have its id.
            return known[1]
        found = self._engine.match(event)
        self._answers[id(event)] = (event, found)
        self._order.append(id(event))
        if len(self._order) > _REMEMBERED:
            del self._answers[self._order.popleft()]
        return found

    def merge(self) -> None:
        """Tidy up, when many filters have come and events are to follow."""
        self._engine.merge()

    def _forget_answers(self) -> None:
        self._answers.clear()
        self._order.clear()


class SharedMatcher:
    """What one broker holds of the shared filters; an engine like any other."""

    def __init__(self, shared: SharedFilters) -> None:
        self._shared = shared
        self._key_of: dict[str, str] = {}
        self._holders: dict[str, dict[str, None]] = {}

    def __len__(self) -> int:
        return len(self._key_of)

    def __contains__(self, subscription: object) -> bool:
        return subscription in self._key_of

    def add(self, subscription: str, filter: Filter) -> None:
        """Add a subscription; one of the same id is replaced."""
        key = self._shared.take(filter)
        if subscription in self._key_of:
            self.remove(subscription)
        self._key_of[subscription] = key
        self._holders.setdefault(key, {})[subscription] = None

    def remove(self, subscription: str) -> None:
        """Remove a subscription. Raises UnknownSubscriptionError."""
        key = self._key_of.pop(subscription, None)
        if key is None:
            raise UnknownSubscriptionError(subscription)
        holders = self._holders[key]
        del holders[subscription]
        if not holders:
            del self._holders[key]
        self._shared.release(key)

    def match(self, event: Event) -> list[str]:
        """The subscriptions that accept the event."""
        holders = self._holders
        return [
            name for key in self._shared.match(event) if key in holders for name in holders[key]
        ]
