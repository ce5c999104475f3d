"""How far imperfect mergers shrink a table, and what they cost, by threshold (P2-X5)."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

import msgspec
import pyarrow as pa

from boolcast.filters.expressions import Filter, disjunction
from boolcast.lab.papers.diagrams.merged_tables import CoveringByRemainder, TableLeft, table_left
from boolcast.lab.papers.diagrams.workload import (
    LEARNT,
    PROVEN,
    SetName,
    accepted_events,
    filters_of,
    judged,
    pairs_of,
    rules_of,
)
from boolcast.matching.diagrams.engine import MbdEngine
from boolcast.model.events import Event
from boolcast.model.identifiers import SubscriptionId
from boolcast.optimising.merging.groups import AttributeOrder
from boolcast.workloads.pairs import ATTRIBUTES

THRESHOLDS: Final = (0.0, 1e-7, 1e-6, 3e-6, 1e-5, 3e-5, 1e-4, 0.001, 0.01, 0.1, 0.15, 0.5, 1.0)
"""Tails of two or three equalities keep the IMT of every merger far below the paper's 0.1."""

ADVERTISEMENTS: Final = 20
_JUDGED: Final = 200
_JUDGED_EVENTS: Final = 1_000
"""The number of mergers that are judged, and of events for each."""

Found = Mapping[str, set[int]]
"""The numbers of the events that each entry accepts."""


class ImtSetting(msgspec.Struct, frozen=True, kw_only=True, tag="imt"):
    """Subscriptions and events of a set; definition 2 if `advertised`, else definition 1."""

    set: SetName
    subscriptions: int
    events: int
    seed: int
    advertised: bool

    @property
    def label(self) -> str:
        """A name that no other run of the reproduction has."""
        known = "-advertised" if self.advertised else ""
        return f"imt-{self.set}{known}-{self.subscriptions}-{self.events}-{self.seed}"

    @property
    def work(self) -> float:
        """Roughly how long it takes, in subscriptions."""
        return self.subscriptions * len(THRESHOLDS)


class ImtPoint(msgspec.Struct, frozen=True, kw_only=True):
    """The table at one threshold.

    `passing` events pass, `in_vain` of them for no subscription. `false` counts matches of mergers
    without a match of a constituent; `expected` is the number that their imperfections predict.
    At the last threshold, some mergers are judged one by one with events built for each. Enough
    false positives are expected of `telling` mergers, and `apart` of these are more than three
    standard errors off. The `proven` events were built so that a subscription accepts each by the
    reference evaluator; `missed` counts random and proven events that do not pass but should.
    """

    threshold: float
    entries: int
    mergers: int
    passing: int
    in_vain: int
    missed: int
    matches: int
    false: int
    expected: float
    telling: int
    apart: int
    proven: int = 0

    @property
    def share_in_vain(self) -> float:
        """The share of passing events that no subscription wants."""
        return self.in_vain / self.passing if self.passing else 0.0

    @property
    def share_false(self) -> float:
        """The share of the table's matches that are false."""
        return self.false / self.matches if self.matches else 0.0


class ImtFigures(msgspec.Struct, frozen=True, kw_only=True, tag="imt"):
    """The table at each threshold, in rising order."""

    setting: ImtSetting
    points: list[ImtPoint]


def imt_figures(setting: ImtSetting) -> ImtFigures:
    """Carry out one run."""
    pairs = pairs_of(setting.set, setting.subscriptions, setting.seed)
    filters = filters_of(pairs, setting.subscriptions)
    order = AttributeOrder.of(islice(filters.values(), LEARNT)).names
    covering = CoveringByRemainder(AttributeOrder(ATTRIBUTES))
    advertisements = list(pairs.advertisement_filters(0, ADVERTISEMENTS))
    advertised = disjunction(tuple(advertisements))
    events = _published(pairs.events(0, setting.events), advertised)
    uncovered = table_left(filters, covering=covering)
    originals = _matches(uncovered.entries, order, events)
    accepted = set().union(*originals.values())
    certain = accepted_events(pairs, list(filters.values()), PROVEN)
    points: list[ImtPoint] = []
    table = uncovered
    for threshold in THRESHOLDS:
        known = advertisements if setting.advertised else []
        rules = rules_of(pairs, order, threshold, known)
        table = table_left(uncovered.entries, covering=covering, rules=rules)
        found = _matches(table.entries, order, events)
        point = _point(threshold, table, found, originals, accepted, len(events))
        passing = set().union(*_matches(table.entries, order, certain).values())
        missed = point.missed + len(certain) - len(passing)
        points.append(msgspec.structs.replace(point, missed=missed, proven=len(certain)))
    drawn = pairs.events(setting.events, _JUDGED_EVENTS).to_pylist()
    telling, apart = judged(_some(table, uncovered.entries), advertised, pairs, drawn)
    points[-1] = msgspec.structs.replace(points[-1], telling=telling, apart=apart)
    return ImtFigures(setting=setting, points=points)


def _some(
    table: TableLeft, filters: Mapping[SubscriptionId, Filter]
) -> Iterator[tuple[Filter, list[Filter], float]]:
    """Some imperfect mergers of a table, with their constituents and imperfections."""
    imperfect = [
        each
        for name, each in table.mergers.items()
        if name in table.entries and each.imperfection > 0.0
    ]
    for each in imperfect[:: max(len(imperfect) // _JUDGED, 1)]:
        yield each.filter, [filters[name] for name in each.entries], each.imperfection


def _published(events: pa.Table, advertised: Filter) -> pa.Table:
    """The events that are advertised: all but about one in 25,000."""
    accepted = [advertised.accepts(Event(each)) for each in events.to_pylist()]
    return events.filter(pa.array(accepted))


def _matches(
    entries: Mapping[SubscriptionId, Filter], order: Sequence[str], events: pa.Table
) -> dict[str, set[int]]:
    engine = MbdEngine(order=order)
    for name, filter in entries.items():
        engine.add(name, filter)
    found: dict[str, set[int]] = {}
    for batch in engine.match_batch(events):
        names = batch.column("subscription").to_pylist()
        for event, name in zip(batch.column("event").to_pylist(), names, strict=True):
            found.setdefault(name, set()).add(event)
    return found


def _point(
    threshold: float,
    table: TableLeft,
    found: Found,
    originals: Found,
    accepted: set[int],
    events: int,
) -> ImtPoint:
    none: set[int] = set()
    passing = none.union(*found.values())
    false, expected = 0, 0.0
    for name, merged in table.mergers.items():
        if name not in table.entries:
            continue
        own = none.union(*(originals.get(each, none) for each in merged.entries))
        measured = len(found.get(str(name), none) - own)
        false += measured
        expected += merged.imperfection * events
    return ImtPoint(
        threshold=threshold,
        entries=len(table),
        mergers=sum(name in table.entries for name in table.mergers),
        passing=len(passing),
        in_vain=len(passing - accepted),
        missed=len(accepted - passing),
        matches=sum(map(len, found.values())),
        false=false,
        expected=expected,
        telling=0,
        apart=0,
    )
