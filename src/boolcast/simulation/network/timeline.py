"""Virtual time: one heap of timed actions. Actions due at the same time keep their order.

Time passes only from one action to the next, so an hour without actions takes no time.
"""

from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any

Action = Callable[[Any], None]


class Timeline:
    """The present moment in seconds, and the agenda."""

    def __init__(self) -> None:
        self.now = 0.0
        self._agenda: list[tuple[float, int, Action, Any]] = []
        self._count = 0

    def at(self, time: float, action: Action, argument: object = None) -> None:
        """Call `action(argument)` at that time, which must not have passed."""
        assert time >= self.now
        self._count += 1
        heappush(self._agenda, (time, self._count, action, argument))

    def repeat(self, every: float, until: float, action: Callable[[], None]) -> None:
        """Call `action()` now, before time passes, and every so many seconds up to a time."""

        def act(_: object) -> None:
            action()
            if self.now + every <= until:
                self.at(self.now + every, act)

        self.at(self.now, act)

    def run(self, until: float) -> None:
        """Let time pass up to and including that moment."""
        agenda = self._agenda
        while agenda and agenda[0][0] <= until:
            self.now, _, action, argument = heappop(agenda)
            action(argument)
        self.now = max(self.now, until)
