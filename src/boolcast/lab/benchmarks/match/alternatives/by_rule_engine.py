"""The package rule-engine: a rule for each subscription, all of them asked."""

from importlib import import_module
from typing import Any, Final

import pyarrow as pa

from boolcast.lab.benchmarks.match.alternatives.protocol import ASKED, MATCHES

_RULE: Final = (
    "title == '{title}' and ending < {ending} and "
    "(condition == 'new' and price < {new} or condition == 'used' and price < {used})"
)


class RuleEngine:
    """No index: an event is put to every rule, so the time grows with their number."""

    what = "each event put to every rule"
    most_subscriptions = 2_000
    most_events = 50

    def __init__(self) -> None:
        self._engine: Any = import_module("rule_engine")

    def load(self, subscriptions: pa.Table) -> None:
        self._rules = [
            (entry["subscription"], self._engine.Rule(_RULE.format_map(entry)))
            for entry in subscriptions.to_pylist()
        ]

    def match(self, events: pa.Table) -> pa.Table:
        rows: list[int] = []
        found: list[str] = []
        for row, event in enumerate(events.select(ASKED).to_pylist()):
            for subscription, rule in self._rules:
                if rule.matches(event):
                    rows.append(row)
                    found.append(subscription)
        return pa.table([rows, found], schema=MATCHES)
