"""Does pruning still pay when the engine is fast? Matching before and after, in two engines.

python -m benchmarks.pruned_matching [--subscriptions 5000] [--classes 1 2 3 1-3] [--json]

The book auction of P1, its table pruned to the estimated cut-off, as brokers do with
`rewriting.stops_at_cut_off`. The counting engine is the paper's, the access engine is Boolcast's
own. Each matches the same events with the original and the pruned table in turns, so that a slow
moment of the machine hits both alike. Events come one by one, as to a broker, and in a batch.
Figures are processor time, medians of rounds; below a ratio of 1 the pruned table is faster.

The cost of pruning is shown too: how many more events match, each of which crosses a link in vain
and is matched again behind it, and after how many events the faster matching has paid for the
pruning. `bytes` is the size of the access engine's index, with the constants of its filters.
"""

import argparse
import gc
from collections.abc import Callable, Iterable
from statistics import median
from time import process_time
from typing import Final

import msgspec
import pyarrow as pa

from boolcast.filters.expressions import Filter
from boolcast.lab.papers.pruning.experiment import SETTINGS, PruningExperiment, Setting
from boolcast.lab.papers.selectivities import learnt_selectivities
from boolcast.matching.counting.engine import CountingMatcher
from boolcast.matching.inputs.protocol import Engine
from boolcast.matching.matcher import Matcher
from boolcast.model.events import Event
from boolcast.model.identifiers import SubscriptionId
from boolcast.optimising.pruning.queues import SelectivityQueue

EVENTS: Final = 5_000
SINGLE_EVENTS: Final = 500
ROUNDS: Final = 7

ENGINES: Final[dict[str, Callable[[], Engine]]] = {"counting": CountingMatcher, "access": Matcher}

Table = dict[SubscriptionId, Filter]


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One class in one engine; microseconds per event, original and pruned.

    After `payback_events` events, one by one, matching has saved the time that pruning took; None
    if it never does.
    """

    setting: Setting
    subscriptions: int
    engine: str
    predicates: tuple[int, int]
    more_matching: float
    single: tuple[float, float]
    batch: tuple[float, float]
    pruning_seconds: float
    payback_events: float | None
    bytes: tuple[int, int] | None

    @property
    def ratios(self) -> tuple[float, float]:
        """Pruned to original, one by one and in a batch."""
        return self.single[1] / self.single[0], self.batch[1] / self.batch[0]


def rows_of(setting: Setting, subscriptions: int) -> list[Row]:
    experiment = PruningExperiment(setting=setting, subscriptions=subscriptions)
    auction = experiment.auction
    whole: Table = {
        SubscriptionId(f"s{row}"): filter
        for row, filter in enumerate(auction.subscription_filters(0, subscriptions))
    }
    selectivities = learnt_selectivities(whole.values(), experiment.lessons())
    begun = process_time()
    queue = SelectivityQueue(selectivities)
    for name, filter in whole.items():
        queue.add(name, filter)
    run = queue.prune(queue.cut_off())
    pruning_seconds = process_time() - begun
    tables = whole, whole | run.changed
    events = auction.events(0, EVENTS)
    singles = [Event.from_python(row) for row in events.slice(0, SINGLE_EVENTS).to_pylist()]
    rows = []
    for kind, made in ENGINES.items():
        engines = [loaded(made(), table, events) for table in tables]
        single = in_turns([one_by_one(engine, singles) for engine in engines], len(singles))
        batch = in_turns([at_once(engine, events) for engine in engines], len(events))
        matching = [matching_events(engine, events) for engine in engines]
        saved = (single[0] - single[1]) / 1e6
        rows.append(
            Row(
                setting=setting,
                subscriptions=subscriptions,
                engine=kind,
                predicates=(run.before.predicates, run.after.predicates),
                more_matching=(matching[1] - matching[0]) / len(events),
                single=single,
                batch=batch,
                pruning_seconds=pruning_seconds,
                payback_events=pruning_seconds / saved if saved > 0 else None,
                bytes=bytes_of(engines),
            )
        )
    return rows


def loaded(engine: Engine, table: Table, events: pa.Table) -> Engine:
    """Load all filters, and let the engine learn from the events."""
    for name, filter in table.items():
        engine.add(name, filter)
    matching_events(engine, events)
    if isinstance(engine, Matcher):
        engine.merge()
    return engine


def matching_events(engine: Engine, events: pa.Table) -> int:
    return len(engine.match_batch(events).read_all()["event"].unique())


def one_by_one(engine: Engine, events: list[Event]) -> Callable[[], object]:
    return lambda: [engine.match(event) for event in events]


def at_once(engine: Engine, events: pa.Table) -> Callable[[], object]:
    return lambda: engine.match_batch(events).read_all()


def in_turns(runs: Iterable[Callable[[], object]], events: int) -> tuple[float, float]:
    """The median microseconds per event of two runs."""
    first, second = runs
    spent: tuple[list[float], list[float]] = [], []
    for number in range(ROUNDS + 1):
        for run, times in zip((first, second), spent, strict=True):
            begun = process_time()
            run()
            # The first round compiles kernels and fills caches.
            if number:
                times.append(process_time() - begun)
    return median(spent[0]) / events * 1e6, median(spent[1]) / events * 1e6


def bytes_of(engines: list[Engine]) -> tuple[int, int] | None:
    stats = [engine.stats(expensive=0) for engine in engines if isinstance(engine, Matcher)]
    sizes = [each.structure_bytes + each.filter_bytes for each in stats]
    return (sizes[0], sizes[1]) if sizes else None


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--subscriptions", type=int, default=5_000)
    parser.add_argument("--classes", nargs="+", choices=list(SETTINGS), default=list(SETTINGS))
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    gc.disable()
    for setting in options.classes:
        for row in rows_of(setting, options.subscriptions):
            if options.json:
                print(msgspec.json.encode(row).decode(), flush=True)
                continue
            single, batch = row.ratios
            back = f"{row.payback_events:,.0f} events" if row.payback_events else "never"
            size = f"; bytes {row.bytes[1] / row.bytes[0]:.2f}" if row.bytes else ""
            print(
                f"class {setting:<3} {row.engine:<8}"
                f" one by one {row.single[0]:,.2f} → {row.single[1]:,.2f} µs (×{single:.2f}),"
                f" batch {row.batch[0]:,.2f} → {row.batch[1]:,.2f} µs (×{batch:.2f});"
                f" predicates {row.predicates[0]:,} → {row.predicates[1]:,}{size};"
                f" {row.more_matching:.1%} more match;"
                f" {row.pruning_seconds:.1f} s won back after {back}",
                flush=True,
            )


if __name__ == "__main__":
    main()
