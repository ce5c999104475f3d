"""The access engine against its rivals on class 1 of the auction, in one batch of events."""

from typing import Final

import pyarrow as pa

from boolcast.filters.expressions import Comparison
from boolcast.lab.benchmarks.choices import EngineName, RivalName
from boolcast.lab.benchmarks.figures import MissingRival, RivalFigures
from boolcast.lab.benchmarks.match.contenders import CONTENDERS, auction, load, pairs_of, settle
from boolcast.lab.benchmarks.match.rivals import RIVALS
from boolcast.lab.one_core import median_seconds, seconds
from boolcast.workloads import Auction

BATCH_EVENTS: Final = 20_000


class ClassOne:
    """The subscriptions of class 1, as texts for the engine and as columns for its rivals.

    The engine is measured when this is made, and each rival against that.
    """

    def __init__(self, subscriptions: int, events: int, repeats: int, seed: int) -> None:
        workload = auction("auction", subscriptions, seed, only_class_1=True)
        self._repeats = repeats
        self._columns = constants_of(workload, subscriptions)
        self._events = workload.events(events, events)
        engine = CONTENDERS[EngineName.ACCESS].make()
        load_seconds = seconds(lambda: load(engine, workload.subscriptions(0, subscriptions)))
        engine.match_batch(workload.events(0, events)).read_all()
        settle(engine)
        found = engine.match_batch(self._events).read_all()
        taken = median_seconds(lambda: engine.match_batch(self._events).read_all(), repeats)
        self._matches = pairs_of(found)
        self.access = RivalFigures(
            rival="access",
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

    def measure(self, name: RivalName) -> RivalFigures | MissingRival:
        """Load the rival, check its matches, and take the median of several runs."""
        try:
            rival = RIVALS[name]()
        except ImportError as error:
            problem = f"{error.name} is not installed: pip install 'boolcast[rivals]'"
            return MissingRival(rival=name, problem=problem)
        columns = self._columns.slice(0, rival.most_subscriptions)
        events = self._events.slice(0, rival.most_events)
        load_seconds = seconds(lambda: rival.load(columns))
        found = rival.match(events)
        known = set(columns["subscription"].to_pylist())
        expected = {
            (event, subscription)
            for event, subscription in self._matches
            if event < len(events) and subscription in known
        }
        # They stand in one table: a rival that finds other matches is a bug in how we use it.
        assert pairs_of(found) == expected, f"{name} disagrees with the access engine"
        taken = median_seconds(lambda: rival.match(events), self._repeats)
        microseconds = taken / len(events) * 1e6
        scaled = microseconds * len(self._columns) / len(columns)
        return RivalFigures(
            rival=name,
            what=rival.what,
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
