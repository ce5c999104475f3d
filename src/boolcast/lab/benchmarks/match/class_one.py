"""The access engine and its alternatives on class 1 of the auction, in one batch of events."""

from collections.abc import Callable, Mapping
from typing import Final

import pyarrow as pa

from boolcast.filters.expressions import Comparison
from boolcast.lab.benchmarks.choices import AlternativeName, EngineName
from boolcast.lab.benchmarks.figures import AlternativeFigures, MissingAlternative
from boolcast.lab.benchmarks.match.alternatives.by_duckdb import DuckDB
from boolcast.lab.benchmarks.match.alternatives.by_lambdas import Lambdas
from boolcast.lab.benchmarks.match.alternatives.by_numpy import NumPy
from boolcast.lab.benchmarks.match.alternatives.by_polars import Polars
from boolcast.lab.benchmarks.match.alternatives.by_rule_engine import RuleEngine
from boolcast.lab.benchmarks.match.alternatives.protocol import Alternative
from boolcast.lab.benchmarks.match.engines import ENGINES, auction, load, pairs_of, settle
from boolcast.lab.one_core import median_seconds, seconds
from boolcast.workloads import Auction

BATCH_EVENTS: Final = 20_000

ALTERNATIVES: Final[Mapping[AlternativeName, Callable[[], Alternative]]] = {
    AlternativeName.DUCKDB: DuckDB,
    AlternativeName.POLARS: Polars,
    AlternativeName.NUMPY: NumPy,
    AlternativeName.LAMBDAS: Lambdas,
    AlternativeName.RULE_ENGINE: RuleEngine,
}
"""Creating one raises ImportError if its package is missing."""


class ClassOne:
    """The subscriptions of class 1, as texts for the engine and as columns for alternatives.

    The engine is measured at once, and each alternative is compared with it.
    """

    def __init__(self, subscriptions: int, events: int, repeats: int, seed: int) -> None:
        workload = auction("auction", subscriptions, seed, only_class_1=True)
        self._repeats = repeats
        self._columns = constants_of(workload, subscriptions)
        self._events = workload.events(events, events)
        engine = ENGINES[EngineName.ACCESS].make()
        load_seconds = seconds(lambda: load(engine, workload.subscriptions(0, subscriptions)))
        engine.match_batch(workload.events(0, events)).read_all()
        settle(engine)
        found = engine.match_batch(self._events).read_all()
        taken = median_seconds(lambda: engine.match_batch(self._events).read_all(), repeats)
        self._matches = pairs_of(found)
        self.access = AlternativeFigures(
            alternative="access",
            what="Boolcast's engine for arbitrary filters, loaded from texts",
            subscriptions=subscriptions,
            scaled_to=subscriptions,
            events=events,
            load_seconds=load_seconds,
            events_per_second=events / taken,
            microseconds_per_event=taken / events * 1e6,
            matches_per_event=len(found) / events,
            access_is_faster=1.0,
        )

    def measure(self, name: AlternativeName) -> AlternativeFigures | MissingAlternative:
        """Load the alternative, check its matches, and take the median of several runs."""
        try:
            alternative = ALTERNATIVES[name]()
        except ImportError as error:
            problem = f"{error.name} is not installed: pip install 'boolcast[rivals]'"
            return MissingAlternative(alternative=name, problem=problem)
        columns = self._columns.slice(0, alternative.most_subscriptions)
        events = self._events.slice(0, alternative.most_events)
        load_seconds = seconds(lambda: alternative.load(columns))
        found = alternative.match(events)
        known = set(columns["subscription"].to_pylist())
        expected = {
            (event, subscription)
            for event, subscription in self._matches
            if event < len(events) and subscription in known
        }
        # One that finds other matches is a bug in how we use it.
        assert pairs_of(found) == expected, f"{name} disagrees with the access engine"
        taken = median_seconds(lambda: alternative.match(events), self._repeats)
        microseconds = taken / len(events) * 1e6
        scaled = microseconds * len(self._columns) / len(columns)
        return AlternativeFigures(
            alternative=name,
            what=alternative.what,
            subscriptions=len(columns),
            scaled_to=len(self._columns),
            events=len(events),
            load_seconds=load_seconds,
            events_per_second=len(events) / taken,
            microseconds_per_event=microseconds,
            matches_per_event=len(found) / len(events),
            access_is_faster=scaled / self.access.microseconds_per_event,
        )


def constants_of(workload: Auction, subscriptions: int) -> pa.Table:
    """The constants of class 1 as columns: subscription, title, ending, new and used."""
    rows = []
    for number, filter in enumerate(workload.subscription_filters(0, subscriptions)):
        leaves = [leaf for leaf in filter.predicates() if isinstance(leaf, Comparison)]
        title, ending, _, new, used, _ = (leaf.value for leaf in leaves)
        rows.append((f"s{number}", title, ending, new, used))
    names = ("subscription", "title", "ending", "new", "used")
    return pa.table(dict(zip(names, zip(*rows, strict=True), strict=True)))
