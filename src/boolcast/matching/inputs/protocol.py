"""What every match engine does; `tests/matching` holds one suite that all of them pass."""

from collections.abc import Mapping
from typing import Protocol, TypeAlias

import pyarrow as pa

from boolcast.filters.expressions import Filter

Events: TypeAlias = "pa.Table | pa.RecordBatch | pa.RecordBatchReader | bytes"
"""Many events: Arrow, or JSON lines as bytes."""

MATCHES = pa.schema(
    [("event", pa.int64()), ("subscription", pa.dictionary(pa.int32(), pa.string()))]
)
"""The columns of `match_batch`: the number of the event, and a subscription that accepts it."""


class Engine(Protocol):
    """Subscriptions by id, and the ids of those that accept an event.

    An id is a string; adding one again replaces its filter. What comes out is exactly what
    the reference evaluator says, in no particular order.
    """

    def add(self, subscription: str, filter: Filter | str) -> None:
        """Add a subscription, its filter as a tree or as text. Raises FilterError."""

    def remove(self, subscription: str) -> None:
        """Remove a subscription. Raises UnknownSubscriptionError."""

    def __len__(self) -> int: ...

    def match(self, event: Mapping[str, object]) -> list[str]:
        """The subscriptions that accept the event. Raises EventError if it is malformed."""

    def match_batch(self, events: Events) -> pa.RecordBatchReader:
        """The matches of many events, by the state at the call; columns as in `MATCHES`.

        Raises EventError, with the number of the event, when a malformed one is reached. Which
        matches of the events before it have come out by then depends on the engine.
        """
