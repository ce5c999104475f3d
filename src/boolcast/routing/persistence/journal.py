"""What changed in a step and must outlive the process, or nothing at all."""

from typing import Protocol

from boolcast.routing.protocol.effects import Effect, Persist
from boolcast.routing.protocol.records import Record


class Journal(Protocol):
    """Takes down what to keep, and hands it over when the step is done."""

    def put(self, key: str, record: Record | None) -> None:
        """Keep the record under the key; None: keep nothing."""

    def take(self) -> list[Effect]:
        """What was put since, each key once, in the order of first mention."""


class KeptJournal:
    """Turns every change into a `Persist`."""

    def __init__(self) -> None:
        self._changes: dict[str, Record | None] = {}

    def put(self, key: str, record: Record | None) -> None:
        self._changes[key] = record

    def take(self) -> list[Effect]:
        if not self._changes:
            return []
        changes, self._changes = self._changes, {}
        return [Persist(key, record) for key, record in changes.items()]


class NoJournal:
    """A broker without a disk."""

    def put(self, key: str, record: Record | None) -> None:
        pass

    def take(self) -> list[Effect]:
        return []
