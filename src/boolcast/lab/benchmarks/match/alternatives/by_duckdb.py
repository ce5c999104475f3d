"""DuckDB: a hash join on the title."""

from importlib import import_module
from typing import Any, Final

import pyarrow as pa

_JOIN: Final = """
    SELECT event, subscription
    FROM events JOIN subscriptions
    ON events.title = subscriptions.title
    AND events.ending < subscriptions.ending
    AND (condition = 'new' AND price < "new" OR condition = 'used' AND price < used)
"""


class DuckDB:
    """The subscriptions as a table of its own, the events read from Arrow, on one thread."""

    what = "hash join on title, the rest as its condition"
    most_subscriptions = 10**9
    most_events = 10**9

    def __init__(self) -> None:
        duckdb: Any = import_module("duckdb")
        self._connection = duckdb.connect(config={"threads": 1})

    def load(self, subscriptions: pa.Table) -> None:
        self._connection.register("given", subscriptions)
        self._connection.execute("CREATE TABLE subscriptions AS SELECT * FROM given")
        self._connection.unregister("given")

    def match(self, events: pa.Table) -> pa.Table:
        numbered = events.append_column("event", pa.array(range(len(events)), pa.int64()))
        self._connection.register("events", numbered)
        matches: pa.Table = self._connection.sql(_JOIN).to_arrow_table()
        self._connection.unregister("events")
        return matches
