"""The engines and workloads behind their names, and how an engine is loaded and measured."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple

import pyarrow as pa
from msgspec.structs import replace

from boolcast.lab.benchmarks.choices import EngineName, WorkloadName
from boolcast.matching.counting.engine import CountingMatcher
from boolcast.matching.diagrams.engine import MbdEngine
from boolcast.matching.inputs.protocol import Engine
from boolcast.matching.matcher import Matcher
from boolcast.matching.scan import ScanMatcher
from boolcast.workloads import PRESETS, Auction, Diverse, Unselective, Workload


class MeasuredEngine(NamedTuple):
    """An engine, and how many times fewer events than the fastest it gets."""

    make: Callable[[], Engine]
    fewer_events: int


ENGINES: Final[Mapping[EngineName, MeasuredEngine]] = {
    EngineName.ACCESS: MeasuredEngine(Matcher, 1),
    EngineName.COUNTING: MeasuredEngine(CountingMatcher, 20),
    EngineName.MBD: MeasuredEngine(MbdEngine, 4),
    EngineName.SCAN: MeasuredEngine(ScanMatcher, 5_000),
}

WORKLOADS: Final[Mapping[WorkloadName, Callable[[int, int], Workload]]] = {
    WorkloadName.AUCTION: lambda size, seed: auction("auction", size, seed),
    WorkloadName.AUCTION_ZIPF: lambda size, seed: auction("auction-zipf", size, seed),
    WorkloadName.AUCTION_RANDOM: lambda size, seed: auction("auction-random", size, seed),
    WorkloadName.FIXED: lambda size, seed: auction("fixed", size, seed),
    WorkloadName.DIVERSE: lambda size, seed: Diverse(seed=seed),
    WorkloadName.UNSELECTIVE: lambda size, seed: Unselective(seed=seed),
}
"""A workload for a number of subscriptions and a seed."""


def auction(preset: str, size: int, seed: int, *, only_class_1: bool = False) -> Auction:
    """A preset with as many titles as subscriptions, optionally of class 1 only."""
    parameters = replace(PRESETS[preset], titles=size)
    if only_class_1:
        parameters = replace(parameters, subscription_classes=("S1",))
    return Auction(parameters, seed=seed)


class Footprint(NamedTuple):
    """Bytes and candidates so far, as the engine reports them; None if it does not."""

    structure_bytes: int | None = None
    filter_bytes: int | None = None
    id_bytes: int | None = None
    text_bytes: int | None = None
    candidates: int | None = None


def load(engine: Engine, subscriptions: pa.Table) -> None:
    """Add all subscriptions from their texts, in one call if the engine can."""
    table = subscriptions.select(["subscription", "filter"])
    if isinstance(engine, Matcher):
        rejects = engine.add_many(table)
        assert not len(rejects), rejects.slice(0, 5).to_pylist()
    else:
        for entry in table.to_pylist():
            engine.add(entry["subscription"], entry["filter"])


def settle(engine: Engine) -> None:
    """Let the engine use what it has learnt from events so far."""
    if isinstance(engine, Matcher):
        engine.merge()
    elif isinstance(engine, MbdEngine):
        engine.index()


def footprint(engine: Engine) -> Footprint:
    """What the engine reports about itself."""
    if not isinstance(engine, Matcher):
        return Footprint()
    stats = engine.stats(expensive=0)
    return Footprint(
        structure_bytes=stats.structure_bytes,
        filter_bytes=stats.filter_bytes,
        id_bytes=stats.id_bytes,
        text_bytes=stats.text_bytes,
        candidates=round(stats.candidates_per_event * stats.events),
    )


def count_matches(engine: Engine, batches: Iterable[pa.Table]) -> int:
    """Match batches of events, and count the matches."""
    return sum(batch.num_rows for events in batches for batch in engine.match_batch(events))


def pairs(engine: Engine, events: pa.Table) -> set[tuple[int, str]]:
    """The matches as pairs of an event's number and a subscription."""
    return pairs_of(engine.match_batch(events).read_all())


def pairs_of(matches: pa.Table) -> set[tuple[int, str]]:
    """The rows of a table with the columns `event` and `subscription`."""
    columns = (matches["event"].to_pylist(), matches["subscription"].to_pylist())
    return set(zip(*columns, strict=True))
