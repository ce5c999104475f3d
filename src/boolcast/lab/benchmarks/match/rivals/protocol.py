"""What a rival does."""

from typing import Protocol

import pyarrow as pa

MATCHES = pa.schema([("event", pa.int64()), ("subscription", pa.string())])
"""The columns that a rival gives; the ids may be dictionary-encoded or large strings."""

ASKED = ["title", "ending", "condition", "price"]
"""The attributes that class 1 asks for: no rival needs to read the others."""


class Rival(Protocol):
    """Class 1 of the auction by other means.

    `what` says in a few words what exactly is measured. It is measured with at most
    `most_subscriptions` and `most_events`, so that its run takes seconds.
    """

    what: str
    most_subscriptions: int
    most_events: int

    def load(self, subscriptions: pa.Table) -> None:
        """Take the subscriptions, in place of nothing."""

    def match(self, events: pa.Table) -> pa.Table:
        """The matches, in no particular order."""
