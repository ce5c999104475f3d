"""What an alternative must do."""

from typing import Protocol

import pyarrow as pa

MATCHES = pa.schema([("event", pa.int64()), ("subscription", pa.string())])
"""The columns of matches; ids may be dictionary-encoded or large strings."""

ASKED = ["title", "ending", "condition", "price"]
"""The attributes in filters of class 1; no alternative needs to read the others."""


class Alternative(Protocol):
    """Another way to match class 1 of the auction.

    `what` describes in a few words what is measured. `most_subscriptions` and `most_events` limit
    the input, so that a run takes seconds.
    """

    what: str
    most_subscriptions: int
    most_events: int

    def load(self, subscriptions: pa.Table) -> None:
        """Load the subscriptions; called once."""

    def match(self, events: pa.Table) -> pa.Table:
        """The matches, in no particular order."""
