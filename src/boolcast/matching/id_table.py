"""The number of each subscription that is there, by its id."""

from collections.abc import Iterable
from typing import Final

_PARTS: Final = 256


class Sequences:
    """Ids and their numbers, in many small dicts.

    A single one of a million ids takes 30 ms and more to grow, and every thread waits for it.
    """

    def __init__(self) -> None:
        self._parts: list[dict[str, int]] = [{} for _ in range(_PARTS)]

    def __contains__(self, subscription: object) -> bool:
        return subscription in self._parts[hash(subscription) % _PARTS]

    def __setitem__(self, subscription: str, sequence: int) -> None:
        self._parts[hash(subscription) % _PARTS][subscription] = sequence

    def update(self, pairs: Iterable[tuple[str, int]]) -> None:
        """Take up many."""
        for subscription, sequence in pairs:
            self[subscription] = sequence

    def pop(self, subscription: str) -> int | None:
        """Forget an id; None if it was not there."""
        return self._parts[hash(subscription) % _PARTS].pop(subscription, None)
