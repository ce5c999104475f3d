"""What covering and merging leave of a table, and what routing with it costs (P2-X2, P2-X3).

All subscriptions come from one neighbour. The diagrams match events in batches; the scan is the
reference evaluator, which tests every entry. One is compiled and the other is not, so besides
times we count the predicates and nodes that each evaluates, which are the same on every machine.
P2's evaluation passes through all diagrams (P2-B4); ours starts from what an event makes true.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from time import process_time
from typing import Final, Literal

import msgspec
import numpy as np
import pyarrow as pa

from boolcast.filters.evaluation import evaluate
from boolcast.filters.expressions import And, Filter
from boolcast.lab.papers.diagrams.merged_tables import CoveringByRemainder, TableLeft, table_left
from boolcast.lab.papers.diagrams.workload import (
    LEARNT,
    PROVEN,
    SetName,
    accepted_events,
    filters_of,
    pairs_of,
    rules_of,
)
from boolcast.matching.diagrams.engine import MbdEngine
from boolcast.matching.scan import ScanMatcher
from boolcast.model.events import Event
from boolcast.model.identifiers import SubscriptionId
from boolcast.optimising.merging.groups import AttributeOrder
from boolcast.workloads.pairs import ATTRIBUTES, Pairs

Method = Literal["none", "covering", "perfect", "imperfect"]

METHODS: Final[tuple[Method, ...]] = ("none", "covering", "perfect", "imperfect")
UNLIMITED: Final = 1.0
"""The threshold that admits every merger, as in P2-X1's calibration."""

_SCANNED: Final = 3


class TableSetting(msgspec.Struct, frozen=True, kw_only=True, tag="table"):
    """Subscriptions of a set, and events to route; `shuffle` 0 is the chosen order.

    Any other number draws a random order of the attributes; then only sizes are measured.
    """

    set: SetName
    subscriptions: int
    events: int
    seed: int
    shuffle: int = 0

    @property
    def label(self) -> str:
        """A name that no other run of the reproduction has."""
        order = f"-order{self.shuffle}" if self.shuffle else ""
        return f"table-{self.set}{order}-{self.subscriptions}-{self.events}-{self.seed}"

    @property
    def work(self) -> float:
        """Roughly how long it takes, in subscriptions."""
        return self.subscriptions * (1.0 if self.shuffle else 4.0)


class MethodFigures(msgspec.Struct, frozen=True, kw_only=True):
    """The table that a method leaves.

    `visited` and `scanned` count the predicates and nodes that the diagrams and the scan evaluate
    for an event. `passing` events match an entry; `in_vain` of them match no subscription.
    `missed` events match a subscription but no entry. `proven` events were built so that a
    subscription accepts each by the reference evaluator; `missed` includes those of them too.
    """

    method: Method
    entries: int
    diagrams: int
    nodes: int
    variables: int
    microseconds: float | None = None
    scan_microseconds: float | None = None
    visited: float | None = None
    scanned: float | None = None
    passing: int = 0
    in_vain: int = 0
    missed: int = 0
    proven: int = 0

    @property
    def whole(self) -> int:
        """What evaluating every diagram once takes, as in P2-B4."""
        return self.nodes + self.variables


class TableFigures(msgspec.Struct, frozen=True, kw_only=True, tag="table"):
    """The table of each method."""

    setting: TableSetting
    methods: list[MethodFigures]

    def of(self, method: Method) -> MethodFigures:
        """The figures of a method."""
        return next(each for each in self.methods if each.method == method)


def tables(
    filters: Mapping[SubscriptionId, Filter], pairs: Pairs, order: Sequence[str]
) -> Iterator[tuple[Method, TableLeft]]:
    """The table of each method; only merging depends on the order."""
    covering = CoveringByRemainder(AttributeOrder(ATTRIBUTES))
    yield "none", table_left(filters)
    yield "covering", table_left(filters, covering=covering)
    for method, threshold in (("perfect", None), ("imperfect", UNLIMITED)):
        rules = rules_of(pairs, order, threshold)
        yield method, table_left(filters, covering=covering, rules=rules)  # type: ignore[misc]


def table_figures(setting: TableSetting) -> TableFigures:
    """Carry out one run."""
    pairs = pairs_of(setting.set, setting.subscriptions, setting.seed)
    filters = filters_of(pairs, setting.subscriptions)
    order = AttributeOrder.of(islice(filters.values(), LEARNT)).names
    if setting.shuffle:
        draw = np.random.default_rng([setting.seed, setting.shuffle])
        order = tuple(draw.permutation(list(ATTRIBUTES)).tolist())
    events = pairs.events(0, setting.events)
    certain = accepted_events(pairs, list(filters.values()), PROVEN)
    accepted: set[int] | None = None
    found: list[MethodFigures] = []
    for method, table in tables(filters, pairs, order):
        engine = MbdEngine(order=order)
        for name, filter in table.entries.items():
            engine.add(name, filter)
        sizes = engine.figures()
        figures = MethodFigures(
            method=method,
            entries=len(table),
            diagrams=sizes.diagrams,
            nodes=sizes.nodes,
            variables=sizes.variables,
        )
        if not setting.shuffle:
            passing = _passing(engine, events)
            accepted = passing if accepted is None else accepted
            figures = _routed(figures, engine, table.entries, events, passing, accepted)
            lost = len(certain) - len(_passing(engine, certain))
            figures = msgspec.structs.replace(
                figures, missed=figures.missed + lost, proven=len(certain)
            )
        found.append(figures)
    return TableFigures(setting=setting, methods=found)


def _routed(
    figures: MethodFigures,
    engine: MbdEngine,
    entries: Mapping[SubscriptionId, Filter],
    events: pa.Table,
    passing: set[int],
    accepted: set[int],
) -> MethodFigures:
    engine.index()
    start = process_time()
    _passing(engine, events)
    taken = process_time() - start
    sample = events.slice(0, _SCANNED).to_pylist()
    return msgspec.structs.replace(
        figures,
        microseconds=taken / len(events) * 1e6,
        visited=sum(engine.visits()),
        scan_microseconds=_scan_seconds(entries, sample) / len(sample) * 1e6,
        scanned=sum(_looks(entries.values(), Event(each)) for each in sample) / len(sample),
        passing=len(passing),
        in_vain=len(passing - accepted),
        missed=len(accepted - passing),
    )


def _passing(engine: MbdEngine, events: pa.Table) -> set[int]:
    """The numbers of the events that some entry accepts."""
    matches = engine.match_batch(events)
    return set(chain.from_iterable(np.unique(batch.column("event")).tolist() for batch in matches))


def _scan_seconds(
    entries: Mapping[SubscriptionId, Filter], events: Sequence[dict[str, int]]
) -> float:
    scan = ScanMatcher()
    for name, filter in entries.items():
        scan.add(name, filter)
    start = process_time()
    for event in events:
        scan.match(event)
    return process_time() - start


def _looks(filters: Iterable[Filter], event: Event) -> int:
    """The predicates that a scan evaluates: in a conjunction, up to the first that fails."""
    count = 0
    for filter in filters:
        node = filter
        for leaf in node.children if isinstance(node, And) else (node,):
            count += 1
            if not evaluate(leaf, event, True):
                break
    return count
