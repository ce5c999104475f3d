"""The sequence number of each subscription, by its id."""

from collections.abc import Iterable
from typing import Final

_DICTS: Final = 256


class IdTable:
    """Ids and their numbers, in many small dicts.

    A single dict of a million ids takes 30 ms and more to grow, and every thread waits for it.
    """

    def __init__(self) -> None:
        self._dicts: list[dict[str, int]] = [{} for _ in range(_DICTS)]

    def copy(self) -> "IdTable":
        """An independent table of the same ids."""
        other = IdTable()
        other._dicts = [each.copy() for each in self._dicts]
        return other

    def __contains__(self, subscription: str) -> bool:
        return subscription in self._dicts[hash(subscription) % _DICTS]

    def __setitem__(self, subscription: str, sequence: int) -> None:
        self._dicts[hash(subscription) % _DICTS][subscription] = sequence

    def get(self, subscription: str) -> int | None:
        """The number of an id; None if the id is unknown."""
        return self._dicts[hash(subscription) % _DICTS].get(subscription)

    def update(self, pairs: Iterable[tuple[str, int]]) -> None:
        """Add many ids with their numbers."""
        for subscription, sequence in pairs:
            self[subscription] = sequence

    def pop(self, subscription: str) -> int | None:
        """Remove an id and return its number; None if the id is unknown."""
        return self._dicts[hash(subscription) % _DICTS].pop(subscription, None)
