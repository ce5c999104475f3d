"""Polars: a join on the title, then a filter."""

import os
from importlib import import_module
from typing import Any

import pyarrow as pa


class Polars:
    """The subscriptions as a data frame, the events from Arrow, on one thread."""

    what = "lazy join on title, then a filter"
    most_subscriptions = 10**9
    most_events = 10**9

    def __init__(self) -> None:
        # Read when it is imported, and never again.
        os.environ["POLARS_MAX_THREADS"] = "1"
        self._polars: Any = import_module("polars")
        self._subscriptions: Any = None

    def load(self, subscriptions: pa.Table) -> None:
        self._subscriptions = self._polars.from_arrow(subscriptions).rename({"ending": "bound"})

    def match(self, events: pa.Table) -> pa.Table:
        column = self._polars.col
        is_cheap = (column("condition") == "new") & (column("price") < column("new")) | (
            column("condition") == "used"
        ) & (column("price") < column("used"))
        joined = (
            self._polars.from_arrow(events)
            .lazy()
            .with_row_index("event")
            .join(self._subscriptions.lazy(), on="title")
            .filter((column("ending") < column("bound")) & is_cheap)
            .select(column("event").cast(self._polars.Int64), column("subscription"))
        )
        matches: pa.Table = joined.collect().to_arrow()
        return matches
