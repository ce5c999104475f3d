"""What every match engine does. One suite in `tests/matching` tests them all."""

from typing import Protocol, TypeAlias

import pyarrow as pa

from boolcast.filters.expressions import FilterLike

Events: TypeAlias = "pa.Table | pa.RecordBatch | pa.RecordBatchReader | bytes"
"""Many events: Arrow, or JSON lines as bytes."""

MATCHES = pa.schema(
    [("event", pa.int64()), ("subscription", pa.dictionary(pa.int32(), pa.string()))]
)
"""The columns of `match_batch`: the number of the event, and a subscription that accepts it."""


class Engine(Protocol):
    """Subscriptions by id, and the ids of those that accept an event.

    The answer is exactly that of the reference evaluator, in no particular order.
    """

    def add(self, subscription: str, filter: FilterLike) -> None:
        """Add a subscription; it replaces one with the same id.

        Raises FilterError, SubscriptionIdError, and UsageError for arguments of another type.
        """

    def remove(self, subscription: str) -> None:
        """Remove a subscription. Raises UnknownSubscriptionError."""

    def __len__(self) -> int: ...

    def match(self, event: object) -> list[str]:
        """The subscriptions that accept the event.

        The event is a mapping, a dataclass, a msgspec Struct, a pydantic model or a named tuple.
        Raises EventError if it is malformed or anything else.
        """

    def match_batch(self, events: Events) -> pa.RecordBatchReader:
        """The matches of many events, by the state at the call; columns as in `MATCHES`.

        Raises EventError, with the number of the event, when a malformed one is reached. Which
        matches of the events before it have come out by then depends on the engine.
        """
