"""Compiled Python: a lambda for each subscription, found by the event's title."""

from collections.abc import Callable
from typing import Any, Final

import pyarrow as pa

from boolcast.lab.benchmarks.match.alternatives.protocol import ASKED, MATCHES

_SOURCE: Final = (
    "lambda event: event['ending'] < {ending} and "
    "(event['condition'] == 'new' and event['price'] < {new}"
    " or event['condition'] == 'used' and event['price'] < {used})"
)


class Lambdas:
    """A dict from titles to lists of lambdas: the index is made by hand, for this class only."""

    what = "a compiled lambda for each, in a dict by title made by hand"
    most_subscriptions = 10**9
    most_events = 10**9

    def load(self, subscriptions: pa.Table) -> None:
        self._by_title: dict[str, list[tuple[str, Callable[[dict[str, Any]], bool]]]] = {}
        for entry in subscriptions.to_pylist():
            accepts = eval(_SOURCE.format_map(entry))  # noqa: S307 - whole numbers, drawn by us
            self._by_title.setdefault(entry["title"], []).append((entry["subscription"], accepts))

    def match(self, events: pa.Table) -> pa.Table:
        rows: list[int] = []
        found: list[str] = []
        for row, event in enumerate(events.select(ASKED).to_pylist()):
            for subscription, accepts in self._by_title.get(event["title"], ()):
                if accepts(event):
                    rows.append(row)
                    found.append(subscription)
        return pa.table([rows, found], schema=MATCHES)
