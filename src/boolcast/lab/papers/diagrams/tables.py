"""What covering and merging leave of a table, and what routing with it takes (P2-X2, P2-X3).

All subscriptions come from one neighbour. The diagrams match events in batches; the scan is the
reference evaluator, which looks at every entry. One is compiled and the other is not, so beside
their times stands what both look at, which is the same on every machine: predicates and nodes.
P2's evaluation passes through all diagrams (P2-B4); ours begins at what an event makes true.
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
from boolcast.lab.papers.diagrams.events import accepted_events
from boolcast.lab.papers.diagrams.merged_tables import CoveringByRemainder, TableLeft, table_left
from boolcast.matching.diagrams.engine import MbdEngine
from boolcast.matching.scan import ScanMatcher
from boolcast.model.events import Event
from boolcast.model.identifiers import SubscriptionId
from boolcast.optimising.merging.by_rules import MergingRules, Threshold
from boolcast.optimising.merging.groups import AttributeOrder
from boolcast.optimising.merging.merger_imperfection import Advertised, AllEvents, Audience
from boolcast.optimising.statistics.probabilities import Uniform
from boolcast.workloads.pairs import ATTRIBUTES, PAIR_SETS, Pairs

SetName = Literal["A", "B"]
Method = Literal["none", "covering", "perfect", "imperfect"]

METHODS: Final[tuple[Method, ...]] = ("none", "covering", "perfect", "imperfect")
UNLIMITED: Final = 1.0
"""The threshold that admits every merger, as in P2-X1's calibration."""

FULL: Final = 200_000
"""The subscriptions for which a set has its number of pairs."""

PROVEN: Final = 5_000
"""So many events are made that a subscription accepts."""

_SCANNED: Final = 3
LEARNT: Final = 4_096
"""From so many subscriptions the order of attributes is learnt."""


class TableSetting(msgspec.Struct, frozen=True, kw_only=True, tag="table"):
    """Subscriptions of a set, and events to route; `shuffle` 0 is the chosen order.

    Another number draws an order of the attributes at random; then sizes alone are found.
    """

    set: SetName
    subscriptions: int
    events: int
    seed: int
    shuffle: int = 0

    @property
    def label(self) -> str:
        """A name of its own for each run of a reproduction."""
        order = f"-order{self.shuffle}" if self.shuffle else ""
        return f"table-{self.set}{order}-{self.subscriptions}-{self.events}-{self.seed}"

    @property
    def work(self) -> float:
        """About how long it takes, in subscriptions."""
        return self.subscriptions * (1.0 if self.shuffle else 4.0)


class MethodFigures(msgspec.Struct, frozen=True, kw_only=True):
    """A table that a method leaves.

    `visited` and `scanned` are predicates and nodes that an event makes the diagrams and the scan
    look at. `missed` are events that a subscription accepts and no entry, `passing` those that
    the table lets pass, and `in_vain` those of them that no subscription accepts. `proven` are
    events made so that a subscription accepts each by the reference evaluator; `missed` counts
    those of them as well.
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
        """What evaluating each diagram once looks at, as in P2-B4."""
        return self.nodes + self.variables


class TableFigures(msgspec.Struct, frozen=True, kw_only=True, tag="table"):
    """What the methods leave, one after the other."""

    setting: TableSetting
    methods: list[MethodFigures]

    def of(self, method: Method) -> MethodFigures:
        """The figures of a method."""
        return next(each for each in self.methods if each.method == method)


def pairs_of(name: SetName, subscriptions: int, seed: int) -> Pairs:
    """A set with as many subscriptions to a pair as the full size has."""
    whole = PAIR_SETS[name]
    pairs = max(round(whole.pairs * subscriptions / FULL), 1)
    return Pairs(msgspec.structs.replace(whole, pairs=pairs), seed=seed)


def filters_of(pairs: Pairs, count: int) -> dict[SubscriptionId, Filter]:
    """The first subscriptions by name."""
    filters = pairs.subscription_filters(0, count)
    return {SubscriptionId(f"s{number}"): each for number, each in enumerate(filters)}


def uniform(pairs: Pairs) -> Uniform:
    """The law of the events."""
    return Uniform.of_schema(pairs.schema)


def rules_of(
    pairs: Pairs,
    order: Sequence[str],
    threshold: float | None = None,
    advertisements: Sequence[Filter] = (),
) -> MergingRules:
    """The rules, with definition 2 if there are advertisements; without a threshold perfect."""
    names = AttributeOrder(order)
    if threshold is None:
        return MergingRules(names, schema=pairs.schema)
    chances = uniform(pairs)
    audience: Audience = AllEvents(chances)
    if advertisements:
        audience = Advertised(chances, advertisements)
    return MergingRules(names, schema=pairs.schema, threshold=Threshold(threshold, audience))


def tables(
    filters: Mapping[SubscriptionId, Filter], pairs: Pairs, order: Sequence[str]
) -> Iterator[tuple[Method, TableLeft]]:
    """What each method leaves; the order is that of merging, which alone depends on it."""
    covering = CoveringByRemainder(AttributeOrder(ATTRIBUTES))
    yield "none", table_left(filters)
    yield "covering", table_left(filters, covering=covering)
    for method, threshold in (("perfect", None), ("imperfect", UNLIMITED)):
        rules = rules_of(pairs, order, threshold)
        yield method, table_left(filters, covering=covering, rules=rules)  # type: ignore[misc]


def table_figures(setting: TableSetting) -> TableFigures:
    """Run one."""
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
    """How many predicates a scan evaluates: of a conjunction those up to the first that fails."""
    count = 0
    for filter in filters:
        node = filter
        for leaf in node.children if isinstance(node, And) else (node,):
            count += 1
            if not evaluate(leaf, event, True):
                break
    return count
